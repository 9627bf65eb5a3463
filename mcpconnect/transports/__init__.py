"""How messages travel: stdin and stdout, or memory."""

from .memory import MemoryLink
from .stdio import Descriptors, run_stdio, serve_stdio, take_over

__all__ = ["Descriptors", "MemoryLink", "run_stdio", "serve_stdio", "take_over"]
