"""The newest shapes as dataclasses, one file for each page of the specification's schema."""

from .common import CacheableResult, Implementation, Page, Result
from .lifecycle import DiscoverResult, InitializeResult, ServerCapabilities, ToolsCapability
from .notices import Cancelled, Progress
from .tools import ListToolsResult, ToolAnnotations, ToolDefinition

__all__ = [
    "CacheableResult",
    "Cancelled",
    "DiscoverResult",
    "Implementation",
    "InitializeResult",
    "ListToolsResult",
    "Page",
    "Progress",
    "Result",
    "ServerCapabilities",
    "ToolAnnotations",
    "ToolDefinition",
    "ToolsCapability",
]
