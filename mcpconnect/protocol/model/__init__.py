"""The newest shapes as dataclasses, one file for each page of the specification's schema."""

from .common import CacheableResult, Implementation, Page, Result
from .completion import CompleteResult, Completion
from .lifecycle import DiscoverResult, InitializeResult, ListCapability, ResourcesCapability, ServerCapabilities
from .notices import Cancelled, Progress
from .prompts import ListPromptsResult, PromptArgument, PromptDefinition
from .resources import ListResourcesResult, ListTemplatesResult, ResourceDefinition, TemplateDefinition
from .tools import ListToolsResult, ToolAnnotations, ToolDefinition

__all__ = [
    "CacheableResult",
    "Cancelled",
    "CompleteResult",
    "Completion",
    "DiscoverResult",
    "Implementation",
    "InitializeResult",
    "ListCapability",
    "ListPromptsResult",
    "ListResourcesResult",
    "ListTemplatesResult",
    "ListToolsResult",
    "Page",
    "Progress",
    "PromptArgument",
    "PromptDefinition",
    "ResourceDefinition",
    "ResourcesCapability",
    "Result",
    "ServerCapabilities",
    "TemplateDefinition",
    "ToolAnnotations",
    "ToolDefinition",
]
