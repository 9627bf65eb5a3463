"""mcpconnect: a class-based SDK for MCP servers."""

from ._version import __version__ as __version__
