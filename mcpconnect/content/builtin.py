"""The content types that come with the package: `JSON_TEXT`, `YAML_TEXT`, `PNG_IMAGE`, `ImageContentType(mime)`.

Rule: both text types write the same JSON value, only the notation differs; the image types write what they are given
as a picture of their type, and refuse by name what is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import DefinitionError, SerializationError
from . import mime as mimes
from .blocks import Block, ImageContent, TextContent
from .content_type import ContentFormatter, ContentType
from .data import is_stream, read_stream
from .pictures import PNG, WRITABLE, encode_picture, is_picture, open_picture
from .yaml_text import write_yaml, yaml_dumper

if TYPE_CHECKING:
    from ..serialization import Serializer


@dataclass(frozen=True, slots=True)
class JsonText(ContentType):
    """JSON as the serializer writes it: compact unless `SerializerConfig(indent=…)` says otherwise."""

    def formatter(self, serializer: Serializer) -> ContentFormatter:
        """Return a new formatter for one call."""
        return _TextFormatter(serializer, _json)


@dataclass(frozen=True, slots=True)
class YamlText(ContentType):
    """Compact YAML: `yaml.safe_load` of it gives the JSON value back. Needs the extra `yaml`."""

    def check(self) -> None:
        """Raise DefinitionError if PyYAML is not installed."""
        yaml_dumper()

    def formatter(self, serializer: Serializer) -> ContentFormatter:
        """Return a new formatter for one call."""
        return _TextFormatter(serializer, _yaml)


@dataclass(frozen=True, slots=True)
class ImageContentType(ContentType):
    """A picture of one type, made of a PIL image, or of bytes or a stream that hold a picture of that type already.

    Bytes of another picture type are converted where Pillow can. Raises DefinitionError for a type that is no
    picture's or that Pillow cannot write.
    """

    mime: str
    takes_everything: ClassVar[bool] = True

    def __post_init__(self) -> None:
        try:
            mime = mimes.canonical(self.mime)
        except ValueError as error:
            raise DefinitionError(str(error)) from None
        if mime not in WRITABLE:
            raise DefinitionError(f"pictures cannot be written as {mime}; possible are {', '.join(WRITABLE)}")
        object.__setattr__(self, "mime", mime)

    def formatter(self, serializer: Serializer) -> ContentFormatter:  # noqa: ARG002 - pictures need none
        """Return a new formatter for one call."""
        return _ImageFormatter(self.mime)


class _TextFormatter(ContentFormatter):
    def __init__(self, serializer: Serializer, write: Any) -> None:
        self._serializer = serializer
        self._write = write
        self._text = ""

    def format(self, value: Any) -> None:
        self._text = self._write(self._serializer, value, self.annotation)

    def finish(self) -> Block:
        return TextContent(self._text)


class _ImageFormatter(ContentFormatter):
    def __init__(self, mime: str) -> None:
        self._mime = mime
        self._data = b""

    def format(self, value: Any) -> None:
        if is_picture(value):
            self._data = encode_picture(value, self._mime)
        elif isinstance(value, bytes | bytearray | memoryview):
            self._data = self._converted(bytes(value))
        elif is_stream(value):
            self._data = self._converted(self._bytes_of(value))
        else:
            raise SerializationError(
                f"an {self._mime} is made of bytes, a stream or a PIL image, not of {type(value).__name__}"
            )

    def finish(self) -> Block:
        return ImageContent(self._data, self._mime)

    def _bytes_of(self, stream: Any) -> bytes:
        content = read_stream(stream)
        if isinstance(content, str):
            raise SerializationError(f"an {self._mime} is made of a binary stream, not of one of text")
        return content

    def _converted(self, data: bytes) -> bytes:
        seen = mimes.of_bytes(data)
        if seen is None or seen == self._mime:
            return data
        try:
            return encode_picture(open_picture(data), self._mime)
        except ValueError as error:
            raise SerializationError(str(error)) from error


def _json(serializer: Serializer, value: Any, annotation: Any) -> str:
    return serializer.dumps(value, annotation).decode()


def _yaml(serializer: Serializer, value: Any, annotation: Any) -> str:
    return write_yaml(serializer.dump(value, annotation))


JSON_TEXT = JsonText()
YAML_TEXT = YamlText()
PNG_IMAGE = ImageContentType(PNG)
