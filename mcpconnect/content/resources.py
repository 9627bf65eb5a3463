"""Values to the contents of a resource: the conversion table's column for resources.

Rule: the order of decision is that of tools: ready-made, the user's encoders, then the rows. Text or binary is decided
by what was returned, never by the MIME type; exactly one of the two goes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from ..errors import SerializationError
from ..limits import Limits
from ..serialization import Serializer
from . import mime as mimes
from .blocks import (
    BLOCKS,
    AudioContent,
    BlobResource,
    Block,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResource,
)
from .builder import ContentList
from .builtin import JsonText, YamlText
from .content_type import ContentType
from .converter import Settings
from .encoders import Encoder, EncoderRegistry
from .inner import close_streams, holds, inner_converter, is_itemwise, names
from .kinds import Kind, is_scalar_class, kind_of
from .messages import PromptMessage, PromptResult, ResourceResult
from .results import ToolResult
from .rows import Keep, never

_OWN = (ResourceResult, TextResource, BlobResource)
_FOREIGN = (PromptMessage, PromptResult)
_PLAIN: Final = "text/plain"
_DATA_MIMES: Final[Mapping[type, str]] = {JsonText: "application/json", YamlText: "application/yaml"}
"""What a content type writes; the texts of others are only known to be texts."""

_Used = tuple[Encoder[Any], ...]


class ResourceConverter:
    """The conversion of one resource or template, made at registration and shared by all its calls.

    Raises DefinitionError for an annotation that no resource can return.
    """

    def __init__(
        self,
        annotation: Any,
        *,
        serializer: Serializer,
        encoders: EncoderRegistry,
        default_content_type: ContentType,
        limits: Limits,
        mime_type: str | None,
    ) -> None:
        self._encoders = encoders
        self._mime = mime_type
        self._serializer = serializer
        self._data_mime = _DATA_MIMES.get(type(default_content_type), _PLAIN)
        settings = Settings(
            serializer=serializer, encoders=EncoderRegistry(), own=None, default=default_content_type, limits=limits
        )
        self._declared, self._blocks = inner_converter(annotation, settings, _OWN, _FOREIGN, "a resource", mime_type)
        self._is_own = names(annotation, _OWN)

    def __call__(self, value: Any, uri: str, keep: Keep = never) -> ResourceResult | None:
        """Return the contents for a value, under the requested URI; None says that there is no such resource."""
        try:
            result = self._convert(value, keep, ())
        finally:
            close_streams(value, keep)
        if result is None:
            return None
        return ResourceResult(tuple(_placed(part, uri) for part in result.contents), result.meta, result.cache)

    def _convert(self, value: Any, keep: Keep, used: _Used) -> ResourceResult | None:
        if value is None:
            return None
        if isinstance(value, _OWN):
            return value if isinstance(value, ResourceResult) else ResourceResult(self._typed(value))
        if isinstance(value, _FOREIGN):
            raise SerializationError(f"a {type(value).__name__} is what a prompt returns, not a resource")
        if isinstance(value, ContentList):
            joined = _joined(self._convert(item, keep, used) for item in value)
            return ResourceResult(joined.contents, value.meta or joined.meta, joined.cache)
        if isinstance(value, (*BLOCKS, ToolResult)):
            result = self._blocks(value, keep)
            return ResourceResult([self._contents(block, None) for block in result.content], result.meta)
        for encoder in self._encoders.find(type(value), "resource"):
            if encoder not in used and encoder.supports(value):
                return self._convert(encoder.encode(value), keep, (*used, encoder))
        if kind_of(value) is Kind.LIST and self._by_item(value):
            return _joined(self._convert(item, keep, used) for item in value)
        mime = self._mime_of(value)
        return ResourceResult([self._contents(block, mime) for block in self._blocks(value, keep).content])

    def _by_item(self, values: Any) -> bool:
        if self._is_own or (len(values) and (is_itemwise(self._declared) or holds(values, _OWN))):
            return True
        return any(self._encoders.find(cls, "resource") for cls in set(map(type, values)))

    def _mime_of(self, value: Any) -> str:
        kind = kind_of(value)
        if kind is Kind.LIST:
            return self._data_mime
        if kind is not Kind.DATA or is_scalar_class(type(value)):
            return _PLAIN
        is_scalar = self._serializer.is_custom(type(value)) and not isinstance(
            self._serializer.dump(value), (dict, list)
        )
        return _PLAIN if is_scalar else self._data_mime

    def _contents(self, block: Block, mime: str | None) -> TextResource | BlobResource:
        match block:
            case TextContent(text=text, meta=meta):
                return TextResource(text, None, self._mime or mime or _PLAIN, meta)
            case ImageContent(data=data, mime_type=own) | AudioContent(data=data, mime_type=own):
                return BlobResource(data, None, own, block.meta)
            case EmbeddedResource(resource=BlobResource() as blob) if mime is not None:
                own_type = blob.mime_type if blob.mime_type != mimes.BINARY else None
                return BlobResource(blob.blob, None, own_type or self._mime or mimes.BINARY, blob.meta)
            case EmbeddedResource(resource=resource):
                return resource
            case _:
                raise SerializationError("a link is no contents of a resource")

    def _typed(self, contents: TextResource | BlobResource) -> TextResource | BlobResource:
        return replace(contents, mime_type=self._mime) if contents.mime_type is None and self._mime else contents


def _placed(contents: TextResource | BlobResource, uri: str) -> TextResource | BlobResource:
    return contents if contents.uri else replace(contents, uri=uri)


def _joined(results: Iterable[ResourceResult | None]) -> ResourceResult:
    contents: list[TextResource | BlobResource] = []
    meta, cache = None, None
    for result in results:
        if result is None:
            raise SerializationError("a list of contents holds None")
        contents.extend(result.contents)
        meta = {**(meta or {}), **result.meta} if result.meta else meta
        cache = cache or result.cache
    return ResourceResult(contents, meta, cache)
