"""The command line: `mcpconnect run` and `mcpconnect try`."""

from .main import main as main
