"""Results put together by hand: `ContentList`, a list of blocks with a memory for the rest, and its fluent builder.

The MIME type comes first, then the data. Every `add_…` reads at once and leaves a stream open for its owner, so that
the result no longer depends on anything outside. Only `add` may keep a value as it is: records and other data take
their form from the server's serializer and encoders, which are known when the tool returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from . import mime as mimes
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
from .data import Readable, check_order, is_stream, read_stream, stream_name
from .pictures import is_picture
from .results import UNSET, ToolResult
from .uris import attachment_uri


class Adding:
    """The methods that `ContentList` and `ToolResultBuilder` share. Each returns the object it is called on."""

    __slots__ = ()

    def _put(self, item: Any) -> None:
        raise NotImplementedError

    def as_error(self, is_error: bool = True) -> Self:
        """Mark the result as the report of a failure, for the model to read."""
        raise NotImplementedError

    def add_text(
        self, text: str, *, annotations: Annotations | None = None, meta: dict[str, Any] | None = None
    ) -> Self:
        """Add a text, exactly as it is."""
        if not isinstance(text, str):
            raise TypeError(f"add_text takes a str, not {type(text).__name__}; add(value) takes anything")
        self._put(TextContent(text, annotations=annotations, meta=meta))
        return self

    def add_image(
        self,
        mime: str | None,
        data: Readable,
        *,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Self:
        """Add a picture: bytes, a stream, a `Path`, a PIL image, base64 text or a `data:` URL.

        Without a MIME type it is told from the data. Raises TypeError if the two are swapped, ValueError for text
        that is no base64 and for a type that is not a picture's.
        """
        check_order(mime, data)
        made = ImageContent.of(data, mime)
        self._put(ImageContent(made.data, made.mime_type, annotations=annotations, meta=meta))
        return self

    def add_audio(
        self,
        mime: str | None,
        data: Readable,
        *,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Self:
        """Add a sound; the data and the errors are those of `add_image`."""
        check_order(mime, data)
        made = AudioContent.of(data, mime)
        self._put(AudioContent(made.data, made.mime_type, annotations=annotations, meta=meta))
        return self

    def add_blob(
        self,
        mime: str | None,
        data: Readable,
        *,
        uri: str | None = None,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Self:
        """Embed data of any type as a resource; the data and the errors are those of `add_image`.

        Without a MIME type a `Path` or a `data:` URL tells it, else it is `application/octet-stream`. Without a URI
        the resource gets a new one.
        """
        check_order(mime, data)
        resource = EmbeddedResource.of(data, mime, uri=uri).resource
        return self.add_resource(resource, annotations=annotations, meta=meta)

    def add_resource(
        self,
        resource: TextResource | BlobResource,
        *,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Self:
        """Embed a text or a blob with its own URI and `_meta`."""
        if not isinstance(resource, TextResource | BlobResource):
            raise TypeError(f"add_resource takes a TextResource or a BlobResource, not {type(resource).__name__}")
        self._put(EmbeddedResource(resource, annotations=annotations, meta=meta))
        return self

    def add_link(
        self,
        mime: str | None,
        uri: str,
        description: str | None = None,
        *,
        name: str | None = None,
        title: str | None = None,
        size: int | None = None,
        annotations: Annotations | None = None,
        icons: Iterable[Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Self:
        """Add a link to a resource; its name is the last part of the URI unless one is given. `size` is in bytes.

        Raises TypeError if MIME type and URI are swapped, ValueError if there is no URI.
        """
        check_order(mime, uri)
        if not uri:
            raise ValueError("a link needs a URI")
        link = ResourceLink(
            uri,
            name or "",
            title=title,
            description=description,
            mime_type=mime,
            size=size,
            annotations=annotations,
            icons=None if icons is None else tuple(icons),
            meta=meta,
        )
        self._put(link)
        return self

    def add(self, value: Any) -> Self:
        """Add any value, as if it were an item of a returned list.

        Texts and media become blocks at once. A result or another `ContentList` is taken apart; its error flag stays.
        Anything else becomes blocks by the server's encoders and serializer when the tool returns it.
        """
        if isinstance(value, ContentList | ToolResult):
            for item in value if isinstance(value, ContentList) else value.content:
                self._put(item)
            return self.as_error() if value.is_error else self
        self._put(block_of(value) or value)
        return self


class ContentList(list[Any], Adding):
    """A list of content blocks that also carries `is_error`, `structured` and `meta`; a tool returns it as it is.

    Values that are not blocks may stand between them: they become blocks by the server's table when it is returned.
    """

    __slots__ = ("is_error", "meta", "structured")

    def __init__(
        self,
        items: Iterable[Any] = (),
        *,
        is_error: bool = False,
        structured: Any = UNSET,
        meta: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(items)
        self.is_error = is_error
        self.structured = structured
        self.meta = meta

    def _put(self, item: Any) -> None:
        self.append(item)

    def as_error(self, is_error: bool = True) -> Self:
        """Mark the result as the report of a failure, for the model to read."""
        self.is_error = is_error
        return self

    def __repr__(self) -> str:
        flag = ", is_error=True" if self.is_error else ""
        return f"{type(self).__name__}({super().__repr__()}{flag})"


class ToolResultBuilder(Adding):
    """Puts a tool's result together, call by call, and builds a new `ContentList` of it any number of times.

    ```python
    ToolResultBuilder().add_text("Sold.").add_link("text/html", "https://tickets.example/1").build()
    ```
    """

    __slots__ = ("_content",)

    def __init__(self) -> None:
        self._content = ContentList()

    def _put(self, item: Any) -> None:
        self._content.append(item)

    def as_error(self, is_error: bool = True) -> Self:
        """Mark the result as the report of a failure, for the model to read."""
        self._content.is_error = is_error
        return self

    def structured(self, value: Any) -> Self:
        """Set the structured content: any value that the server's serializer can dump."""
        self._content.structured = value
        return self

    def meta(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Add entries to the result's `_meta`."""
        self._content.meta = {**(self._content.meta or {}), **(values or {}), **more}
        return self

    def build(self) -> ContentList:
        """Return what was added so far as a new list."""
        content = self._content
        meta = None if content.meta is None else dict(content.meta)
        return ContentList(content, is_error=content.is_error, structured=content.structured, meta=meta)


def block_of(value: Any) -> Block | None:
    """Return the block that a text, a medium or a block stands for by itself; None for everything else."""
    if isinstance(value, BLOCKS):
        return value
    if type(value) is str:
        return TextContent(value)
    if is_picture(value):
        return ImageContent.of(value)
    if isinstance(value, TextResource | BlobResource):
        return EmbeddedResource(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return blob_block(bytes(value))
    if is_stream(value):
        return stream_block(value)
    return None


def blob_block(data: bytes, mime: str | None = None, name: str | None = None) -> EmbeddedResource:
    """Return bytes as an embedded resource; `application/octet-stream` unless `mime` says otherwise."""
    told = mime or mimes.BINARY
    return EmbeddedResource(BlobResource(data, attachment_uri(told, name), told))


def stream_block(stream: Any, mime: str | None = None, limit: int | None = None) -> TextContent | EmbeddedResource:
    """Read a stream and return its text, or its bytes as an embedded resource named after its file."""
    content = read_stream(stream, limit)
    return TextContent(content) if isinstance(content, str) else blob_block(content, mime, stream_name(stream))
