"""The conversion of resources by itself: what the interaction tests cannot see from outside."""

import io
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from PIL import Image

from mcpconnect import (
    JSON_TEXT,
    AudioContent,
    BlobResource,
    CacheControl,
    EmbeddedResource,
    Limits,
    Mime,
    PromptResult,
    ResourceLink,
    ResourceResult,
    SerializationError,
    Serializer,
    TextContent,
    TextResource,
    ToolResult,
)
from mcpconnect.content import EncoderRegistry, ResourceConverter, media_serializer
from mcpconnect.serialization import SerializerConfig

URI = "x://asked"


def convert(
    value: Any,
    annotation: Any = Any,
    mime: str | None = None,
    keep: Callable[[Any], bool] = lambda _: False,
    **options: Any,
) -> ResourceResult | None:
    settings = {"encoders": EncoderRegistry(), "default_content_type": JSON_TEXT, "limits": Limits(), **options}
    serializer = Serializer(SerializerConfig(), media=media_serializer)
    return ResourceConverter(annotation, serializer=serializer, mime_type=mime, **settings)(value, URI, keep)


def parts(*arguments: Any, **options: Any) -> tuple[TextResource | BlobResource, ...]:
    result = convert(*arguments, **options)
    assert result is not None
    return result.contents


def test_none_says_that_there_is_nothing() -> None:
    assert convert(None) is None
    assert convert(None, str | None) is None


def test_contents_without_a_uri_take_the_requested_one() -> None:
    own = TextResource("a", "x://own", "a/a", {"m": 1})
    assert parts([own, TextResource("b")]) == (own, TextResource("b", URI))
    blob = BlobResource(b"a", "x://own", "b/b")
    assert parts(EmbeddedResource(blob)) == (blob,)
    assert parts(TextContent("a", meta={"m": 1})) == (TextResource("a", URI, "text/plain", {"m": 1}),)


def test_meta_and_cache_of_a_result_stay_and_are_joined_in_lists() -> None:
    first = ResourceResult(TextResource("a"), {"a": 1}, CacheControl(1))
    second = ResourceResult(TextResource("b"), {"b": 2}, CacheControl(2))
    result = convert([first, second])
    assert result is not None
    assert [part.uri for part in result.contents] == [URI, URI]
    assert (result.meta, result.cache) == ({"a": 1, "b": 2}, CacheControl(1))
    result = convert(ToolResult(["a"], meta={"m": 1}))
    assert result is not None
    assert result.meta == {"m": 1}


@pytest.mark.parametrize(
    ("annotation", "declared", "expected"),
    [
        (bytes, None, "application/octet-stream"),
        (bytes, "application/pdf", "application/pdf"),
        (Annotated[bytes, Mime("application/pdf")], "text/plain", "application/pdf"),
        (Any, "text/plain", "text/plain"),
    ],
)
def test_the_type_of_bytes_is_the_nearest_that_is_declared(
    annotation: Any, declared: str | None, expected: str
) -> None:
    assert parts(b"x", annotation, declared) == (BlobResource(b"x", URI, expected),)
    assert parts([b"x", b"y"], list[annotation], declared)[1] == BlobResource(b"y", URI, expected)


def test_a_declared_type_that_no_picture_has_does_not_change_pictures() -> None:
    for mime in ("text/plain", "image/x-unknown", "image/svg+xml"):
        [part] = parts(Image.new("L", (1, 1)), Any, mime)
        assert part.mime_type == "image/png"
    [part] = parts(AudioContent(b"x", "audio/wav"), Any, "audio/mpeg")
    assert part.mime_type == "audio/wav"


def test_streams_are_closed_unless_kept_whoever_reads_them() -> None:
    encoders = EncoderRegistry()
    encoders.add(io.StringIO, lambda _: "encoded")
    words, data, kept = io.StringIO("words"), io.BytesIO(b"a"), io.BytesIO(b"b")
    found = parts([words, data, kept], encoders=encoders, keep=lambda each: each is kept)
    assert found[0] == TextResource("encoded", URI, "text/plain")
    assert words.closed
    assert data.closed
    assert not kept.closed


@pytest.mark.parametrize(
    "value", [ResourceLink("x://y", "y"), PromptResult(), [TextResource("a"), None], {"a": io.BytesIO()}, object()]
)
def test_what_no_resource_can_return_is_refused(value: Any) -> None:
    with pytest.raises(SerializationError):
        convert(value)
