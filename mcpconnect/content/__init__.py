"""What return values become: blocks, results, the builder, encoders and content types."""

from .annotations import Annotations, Icon
from .blocks import (
    BLOCKS,
    AudioContent,
    BlobResource,
    Block,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResource,
)
from .builder import ContentList, ToolResultBuilder
from .builtin import JSON_TEXT, PNG_IMAGE, YAML_TEXT, ImageContentType
from .cache import CacheControl
from .content_type import ContentFormatter, ContentType
from .convert import ToolConverter
from .encoders import Encoder, EncoderRegistry
from .media import media_serializer
from .messages import PromptMessage, PromptResult, ResourceResult
from .mime import Mime
from .prompts import PromptConverter
from .resources import ResourceConverter
from .results import UNSET, ToolResult

__all__ = [
    "BLOCKS",
    "JSON_TEXT",
    "PNG_IMAGE",
    "UNSET",
    "YAML_TEXT",
    "Annotations",
    "AudioContent",
    "BlobResource",
    "Block",
    "CacheControl",
    "ContentFormatter",
    "ContentList",
    "ContentType",
    "EmbeddedResource",
    "Encoder",
    "EncoderRegistry",
    "Icon",
    "ImageContent",
    "ImageContentType",
    "Mime",
    "PromptConverter",
    "PromptMessage",
    "PromptResult",
    "ResourceConverter",
    "ResourceLink",
    "ResourceResult",
    "TextContent",
    "TextResource",
    "ToolConverter",
    "ToolResult",
    "ToolResultBuilder",
    "media_serializer",
]
