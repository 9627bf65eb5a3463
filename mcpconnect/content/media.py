"""Media as parameters, and the refusal of media inside data: what a serializer of the server knows about them.

`Serializer(media=media_serializer)` asks here for a class after the user's own serializers. A parameter annotated
`BinaryIO`, `IO[bytes]`, `io.BytesIO` or `PIL.Image.Image` takes base64 or a `data:` URL. The other way round there is
no JSON for a picture or a stream: below the top level of a result they are an error that names the mend, and never a
flood of base64 in a text.
"""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from ..errors import SerializationError
from ..serialization import CustomSerializer
from .blocks import BLOCKS
from .builder import ContentList
from .data import decode_text
from .pictures import open_picture, picture_class
from .results import ToolResult

if TYPE_CHECKING:
    from PIL import Image

_SCHEMA = {"type": "string", "contentEncoding": "base64"}
_BYTE_STREAMS = frozenset({io.BytesIO, io.BufferedIOBase, io.IOBase, BinaryIO, IO})
"""The stream classes that an `io.BytesIO` satisfies."""


def media_serializer(cls: type) -> CustomSerializer | None:
    """Return the serializer for a class of media or content; None for any other class."""
    if cls in _BYTE_STREAMS:
        return _STREAM
    image = picture_class()
    if image is not None and issubclass(cls, image):
        return _PICTURE if cls is image else _FOREIGN_PICTURE
    if issubclass(cls, (io.IOBase, IO)) or cls.__module__ == "tempfile":
        return _OTHER_STREAM
    return _CONTENT if issubclass(cls, (*BLOCKS, ToolResult, ContentList)) else None


def is_media_serializer(custom: object) -> bool:
    """Tell whether a serializer comes from here, so that its type has no JSON form in results."""
    return any(custom is known for known in (_STREAM, _OTHER_STREAM, _PICTURE, _FOREIGN_PICTURE, _CONTENT))


def _load_stream(data: Any) -> io.BytesIO:
    return io.BytesIO(_decoded(data))


def _load_picture(data: Any) -> Image.Image:
    return open_picture(_decoded(data))


def _decoded(data: Any) -> bytes:
    if not isinstance(data, str):
        raise TypeError("expected base64 text or a data: URL")
    try:
        return decode_text(data).data
    except ValueError:
        raise ValueError("expected base64 text or a data: URL") from None


def _refuse(what: str) -> Any:
    def dump(value: Any) -> Any:
        raise SerializationError(
            f"{what} ({type(value).__name__}) cannot stand inside data; return a list that holds it"
        )

    return dump


_STREAM = CustomSerializer(_refuse("a stream"), _load_stream, _SCHEMA)
_OTHER_STREAM = CustomSerializer(_refuse("a stream"))
_PICTURE = CustomSerializer(_refuse("a picture"), _load_picture, _SCHEMA)
_FOREIGN_PICTURE = CustomSerializer(_refuse("a picture"))
_CONTENT = CustomSerializer(_refuse("content"))
