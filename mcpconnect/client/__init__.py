"""A client for any MCP server: what testing, the command line and the developer page speak through."""

from .client import Client
from .results import CallResult
from .stdio import StdioTransport
from .transport import Transport

__all__ = ["CallResult", "Client", "StdioTransport", "Transport"]
