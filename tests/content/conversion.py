"""Short ways to convert a value and to look at the result, for the tests of the table."""

import inspect
from collections.abc import Callable
from typing import Any

import msgspec

from mcpconnect.content import UNSET, EncoderRegistry, TextContent, ToolConverter, ToolResult, media_serializer
from mcpconnect.serialization import Serializer, SerializerConfig

NO_ANNOTATION = inspect.Signature.empty


def converter(
    annotation: Any = NO_ANNOTATION,
    *,
    config: SerializerConfig | None = None,
    encoders: EncoderRegistry | None = None,
    **options: Any,
) -> ToolConverter:
    """Return a converter for an annotation under default settings."""
    serializer = Serializer(config or SerializerConfig(), media=media_serializer)
    registry = EncoderRegistry() if encoders is None else encoders
    return ToolConverter(annotation, serializer=serializer, encoders=registry, **options)


def convert(value: Any, annotation: Any = NO_ANNOTATION, **options: Any) -> ToolResult:
    """Convert a value twice, since the second time takes the route that the first one chose, and return the result."""
    convert_one = converter(annotation, **options)
    first, second = convert_one(value), convert_one(value)
    assert texts(first) == texts(second)
    assert structured(first) == structured(second)
    return second


def convert_once(value: Any, annotation: Any = NO_ANNOTATION, **options: Any) -> ToolResult:
    """Convert a value that is used up by it."""
    return converter(annotation, **options)(value)


def texts(result: ToolResult) -> list[str]:
    """Return the texts of the text blocks."""
    return [block.text for block in result.content if isinstance(block, TextContent)]


def only_text(result: ToolResult) -> str:
    """Return the text of a result that is one text block."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def kinds(result: ToolResult) -> list[str]:
    """Return the types of the blocks."""
    return [block.type for block in result.content]


def structured(result: ToolResult) -> Any:
    """Return the structured content decoded; UNSET if there is none."""
    if result.structured is UNSET:
        return UNSET
    assert isinstance(result.structured, msgspec.Raw)
    return msgspec.json.decode(result.structured)


def encoder_registry(entries: dict[type, Callable[[Any], Any]]) -> EncoderRegistry:
    """Return a registry with some encoders."""
    registry = EncoderRegistry()
    for cls, encode in entries.items():
        registry.add(cls, encode)
    return registry
