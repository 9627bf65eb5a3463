"""The rows of the conversion table: a value of a known kind to its result.

Rule: a row takes the value and gives the result; choosing among the rows is `convert.py`'s business. Each is as direct
as its kind allows, because most calls of a server end in one of them. JSON is encoded once: the text block and the
structured copy are the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from ..errors import SerializationError
from ..limits import Limits
from .blocks import Block, ImageContent, TextContent
from .builder import blob_block, stream_block
from .content_type import ContentType
from .declared import Declared
from .kinds import Kind
from .pictures import PNG, encode_picture
from .results import ToolResult, finished
from .structured import Structure, Write, lenient_writer

if TYPE_CHECKING:
    from ..serialization import Serializer

Keep: TypeAlias = Callable[[Any], bool]
Route: TypeAlias = Callable[[Any, Keep], ToolResult]

EMPTY_LIST = finished((TextContent("[]"),))
_NULL = finished((TextContent("null"),))
_NOTHING = finished(())
_TRUE = finished((TextContent("true"),))
_FALSE = finished((TextContent("false"),))
_QUOTE = ord('"')
_CONTAINER = b"{["
_PLAIN = (Any, int, bool)
"""Annotations beside which no note can change how a number is written."""


class Rows:
    """The rows for one declared return type. Every method with a value and `_keep` is a route."""

    def __init__(self, declared: Declared, serializer: Serializer, limits: Limits, structure: Structure | None) -> None:
        self._declared = declared
        self._serializer = serializer
        self._limits = limits
        self._structure = structure
        self._picture_type = declared.mime if declared.mime and declared.mime.startswith("image/") else PNG

    @cached_property
    def _write(self) -> Write:
        if self._structure is not None:
            return self._structure.encode
        return lenient_writer(self._serializer, self._declared.annotation)

    def direct(self, cls: type, kind: Kind) -> Route | None:
        """Return the row that a class has by itself; None where a content type decides."""
        if cls in {int, bool} and self._structure is None and self._declared.annotation in _PLAIN:
            return self.integer if cls is int else self.boolean
        if kind is Kind.TEXT:
            return self.text if cls is str else self.derived_text
        rows: dict[Kind, Route] = {
            Kind.NOTHING: self.nothing,
            Kind.BYTES: self.blob,
            Kind.STREAM: self.stream,
            Kind.PICTURE: self.picture,
        }
        return rows.get(kind)

    def block(self, value: Block, _keep: Keep) -> ToolResult:
        """A block, as it is."""
        return finished((value,))

    def nothing(self, _value: None, _keep: Keep) -> ToolResult:
        """None: no blocks, unless the annotation or an output schema speaks of null."""
        return _NULL if self._declared.nullable or self._structure else _NOTHING

    def text(self, value: str, _keep: Keep) -> ToolResult:
        """One block with exactly this text."""
        return finished((TextContent(value),))

    def derived_text(self, value: str, _keep: Keep) -> ToolResult:
        """One block with the text of a subclass of `str`."""
        return finished((TextContent(str.__str__(value)),))

    def integer(self, value: int, _keep: Keep) -> ToolResult:
        """One block with the digits."""
        try:
            return finished((TextContent(str(value)),))
        except ValueError:  # more digits than the interpreter writes
            return self.json(value, _keep)

    def boolean(self, value: bool, _keep: Keep) -> ToolResult:
        """One block with `true` or `false`."""
        return _TRUE if value else _FALSE

    def blob(self, value: bytes | bytearray | memoryview, _keep: Keep) -> ToolResult:
        """An embedded resource."""
        return finished((blob_block(bytes(value), self._declared.mime),))

    def stream(self, value: Any, _keep: Keep) -> ToolResult:
        """An embedded resource, or a text if the stream is one of text."""
        return finished((stream_block(value, self._declared.mime, self._limits.stream_bytes),))

    def picture(self, value: Any, _keep: Keep) -> ToolResult:
        """An image block."""
        mime = self._picture_type
        return finished((ImageContent(encode_picture(value, mime), mime),))

    def json(self, value: Any, _keep: Keep) -> ToolResult:
        """One block with the JSON text; a JSON string without its quotes."""
        data = self._write(value)
        block = TextContent(_text(data))
        if self._structure is None:
            return finished((block,))
        return finished((block,), self._structure.content(data))

    def brief(self, value: Any, _keep: Keep) -> ToolResult:
        """Structured content, and one line that says so in the place of the JSON text."""
        data = self._write(value)
        result = finished((TextContent(_summary(value, data)),))
        return result if self._structure is None else finished(result.content, self._structure.content(data))

    def formatted(self, content_type: ContentType, *, may_be_scalar: bool) -> Route:
        """Return the row of a content type; a value that turns out to be a JSON scalar is written as JSON."""
        annotation = self._declared.annotation

        def present(value: Any, _keep: Keep) -> ToolResult:
            if may_be_scalar and (data := self._write(value))[0] not in _CONTAINER:
                return finished((TextContent(_text(data)),))
            try:
                block = content_type.present(value, self._serializer, annotation)
            except SerializationError:
                if annotation is Any or self._structure is not None:
                    raise
                block = content_type.present(value, self._serializer)
            return finished((block,))

        return present


def never(_stream: Any) -> bool:
    """Tell that a stream is not kept: the default of a conversion's `keep`."""
    return False


def _text(data: bytes) -> str:
    return msgspec.json.decode(data, type=str) if data[0] == _QUOTE else data.decode()


def _summary(value: Any, data: bytes) -> str:
    """Return what stands in the place of JSON that the structured content repeats; scalars are short enough."""
    if data[0] not in _CONTAINER:
        return _text(data)
    what = type(value).__name__
    if data[0] == ord("["):
        count = len(value)
        what = f"list with {count} item{'' if count == 1 else 's'}"
    return f"The result ({what}) is in the structured content."
