"""Content blocks: what a tool result or a prompt message is made of, and nothing but data.

The fields are those of the newest revision, in Python spelling; `type` is the tag on the wire. Bytes are kept as bytes
and become base64 only when a message is written. Every block has `.of(data, mime=None)`, which takes bytes, a `Path`, a
stream, a PIL image, base64 text or a `data:` URL, reads it at once and tells the MIME type where it can.

Source: specification, "Content types" (server/tools) and "Resource contents" (server/resources).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias

from . import mime as mimes
from .annotations import Annotations, Icon, Meta
from .data import Readable, is_stream, read, read_stream
from .uris import attachment_uri, data_url, last_part


@dataclass(frozen=True, slots=True)
class TextContent:
    """A text for the model to read."""

    type: Literal["text"] = field(init=False, default="text")
    text: str
    _: KW_ONLY
    annotations: Annotations | None = None
    meta: Meta = None

    @classmethod
    def of(cls, data: Any, mime: str | None = None, *, annotations: Annotations | None = None) -> TextContent:
        """Make a block of a text, or of the text in bytes, a `Path` or a stream.

        Bytes are UTF-8 unless `mime` names another charset. Raises ValueError where they are not.
        """
        return cls(_text(data, mime), annotations=annotations)


@dataclass(frozen=True, slots=True)
class ImageContent:
    """A picture: its bytes and their MIME type."""

    type: Literal["image"] = field(init=False, default="image")
    data: bytes
    mime_type: str
    _: KW_ONLY
    annotations: Annotations | None = None
    meta: Meta = None

    def __post_init__(self) -> None:
        _settle(self)

    @classmethod
    def of(cls, data: Readable, mime: str | None = None, *, annotations: Annotations | None = None) -> ImageContent:
        """Make a block of a picture; PNG is written for a PIL image unless `mime` says otherwise.

        Raises ValueError for data that is empty, for text that is no base64, and where no image type can be told.
        """
        found, told = _of_kind("image", data, mime)
        return cls(found, told, annotations=annotations)


@dataclass(frozen=True, slots=True)
class AudioContent:
    """A sound: its bytes and their MIME type."""

    type: Literal["audio"] = field(init=False, default="audio")
    data: bytes
    mime_type: str
    _: KW_ONLY
    annotations: Annotations | None = None
    meta: Meta = None

    def __post_init__(self) -> None:
        _settle(self)

    @classmethod
    def of(cls, data: Readable, mime: str | None = None, *, annotations: Annotations | None = None) -> AudioContent:
        """Make a block of a sound.

        Raises ValueError for data that is empty, for text that is no base64, and where no audio type can be told.
        """
        found, told = _of_kind("audio", data, mime)
        return cls(found, told, annotations=annotations)


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """A pointer to something that the client may read; without a name it takes the last part of its URI.

    `size` is in bytes.
    """

    type: Literal["resource_link"] = field(init=False, default="resource_link")
    uri: str
    name: str = ""
    _: KW_ONLY
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Meta = None

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", last_part(self.uri))
        if self.mime_type is not None:
            object.__setattr__(self, "mime_type", mimes.canonical(self.mime_type))
        if self.icons is not None:
            object.__setattr__(self, "icons", tuple(self.icons))

    @classmethod
    def of(cls, data: Any, mime: str | None = None, *, name: str = "", description: str | None = None) -> ResourceLink:
        """Make a link to a URI (text) or a file (`Path`); anything else is put into a `data:` URL.

        A file's size is told where it exists.
        """
        if isinstance(data, str):
            return cls(data, name, description=description, mime_type=mime)
        if isinstance(data, PurePath):
            path = Path(data).absolute()
            told = mime or mimes.of_file_name(path.name)
            size = path.stat().st_size if path.is_file() else None
            return cls(path.as_uri(), name or path.name, description=description, mime_type=told, size=size)
        found = read(data, mime)
        told = found.mime or mimes.BINARY
        url = data_url(told, found.data)
        size = len(found.data)
        return cls(url, name or found.name or "data", description=description, mime_type=told, size=size)


@dataclass(frozen=True, slots=True)
class TextResource:
    """The text of a resource. Without a `uri` it takes the one asked for, or as an embedded resource a new one."""

    text: str
    uri: str | None = None
    mime_type: str | None = None
    meta: Meta = None

    def __post_init__(self) -> None:
        if self.mime_type is not None:
            object.__setattr__(self, "mime_type", mimes.canonical(self.mime_type))


@dataclass(frozen=True, slots=True)
class BlobResource:
    """The bytes of a resource. Without a `uri` it takes the one asked for, or as an embedded resource a new one."""

    blob: bytes
    uri: str | None = None
    mime_type: str | None = None
    meta: Meta = None

    def __post_init__(self) -> None:
        if type(self.blob) is not bytes:
            object.__setattr__(self, "blob", read(self.blob).data)
        if self.mime_type is not None:
            object.__setattr__(self, "mime_type", mimes.canonical(self.mime_type))


@dataclass(frozen=True, slots=True)
class EmbeddedResource:
    """A resource carried whole inside a result.

    The wire wants a URI, and clients read a blob without a type as text: both are filled in where they are missing
    (`attachment://…`, `application/octet-stream`).
    """

    type: Literal["resource"] = field(init=False, default="resource")
    resource: TextResource | BlobResource
    _: KW_ONLY
    annotations: Annotations | None = None
    meta: Meta = None

    def __post_init__(self) -> None:
        resource = self.resource
        mime = resource.mime_type or (mimes.BINARY if isinstance(resource, BlobResource) else None)
        if not resource.uri or mime != resource.mime_type:
            uri = resource.uri or attachment_uri(mime or mimes.TEXT)
            object.__setattr__(self, "resource", replace(resource, uri=uri, mime_type=mime))

    @classmethod
    def of(cls, data: Readable, mime: str | None = None, *, uri: str | None = None) -> EmbeddedResource:
        """Make a blob of bytes, a stream, a `Path`, a PIL image or base64; `TextResource` is for text."""
        found = read(data, mime)
        told = found.mime or mimes.BINARY
        return cls(BlobResource(found.data, uri or attachment_uri(told, found.name), told))


Block: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
"""Any content block."""

BLOCKS = (TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource)
"""The classes of the content blocks, for `isinstance`."""


def _settle(block: ImageContent | AudioContent) -> None:
    """Bring what was given to the constructor into the form of the wire: bytes, and a registered MIME type."""
    if type(block.data) is not bytes:
        object.__setattr__(block, "data", read(block.data, block.mime_type).data)
    registered = mimes.ALIASES.get(block.mime_type)
    if registered is not None:
        object.__setattr__(block, "mime_type", registered)


def _of_kind(kind: str, data: Readable, mime: str | None) -> tuple[bytes, str]:
    found = read(data, mime)
    if not found.data:
        raise ValueError(f"the {kind} is empty; a stream that cannot seek may have been read before")
    told = found.mime or mimes.of_bytes(found.data)
    if told is None:
        raise ValueError(f"the type of the {kind} cannot be told from its bytes; pass a MIME type")
    if not told.startswith(kind + "/"):
        raise ValueError(f"{told} is not an {kind} type")
    return found.data, told


def _text(data: Any, mime: str | None) -> str:
    if isinstance(data, PurePath):
        data = Path(data).read_bytes()
    elif is_stream(data):
        data = read_stream(data)
    if isinstance(data, str):
        return data
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data).decode(mimes.charset(mime or mimes.TEXT))
    raise TypeError(f"cannot read text from an object of class {type(data).__name__}")
