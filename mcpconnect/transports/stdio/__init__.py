"""The stdio transport: descriptors, lines, reading, writing, ending, serving."""

from .descriptors import Descriptors, take_over
from .serve import run_stdio, serve_stdio

__all__ = ["Descriptors", "run_stdio", "serve_stdio", "take_over"]
