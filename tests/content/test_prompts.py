"""The conversion of prompts by itself: what the interaction tests cannot see from outside."""

import io
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from PIL import Image

from mcpconnect import (
    JSON_TEXT,
    ContentType,
    DefinitionError,
    EmbeddedResource,
    ImageContent,
    Limits,
    Mime,
    PromptMessage,
    PromptResult,
    SerializationError,
    Serializer,
    TextContent,
    ToolResult,
)
from mcpconnect.content import BlobResource, EncoderRegistry, PromptConverter, ResourceResult, media_serializer
from mcpconnect.serialization import SerializerConfig


@dataclass
class Person:
    name: str


def convert(value: Any, annotation: Any = Any, *, keep: Any = lambda _: False, **options: Any) -> PromptResult:
    settings = {"encoders": EncoderRegistry(), "default_content_type": JSON_TEXT, "limits": Limits(), **options}
    serializer = Serializer(SerializerConfig(), media=media_serializer)
    return PromptConverter(annotation, serializer=serializer, **settings)(value, keep)


def contents(result: PromptResult) -> list[Any]:
    return [message.content for message in result.messages]


def test_the_type_beside_the_annotation_holds_for_media_and_for_items() -> None:
    [block] = contents(convert(b"%PDF", Annotated[bytes, Mime("application/pdf")]))
    assert isinstance(block, EmbeddedResource)
    assert isinstance(block.resource, BlobResource)
    assert block.resource.mime_type == "application/pdf"
    webp = Annotated[Image.Image, Mime("image/webp")]
    picture = Image.new("RGB", (2, 2))
    for value, annotation in ((picture, webp), ([picture], list[webp]), (picture, webp | None)):
        [block] = contents(convert(value, annotation))
        assert isinstance(block, ImageContent)
        assert block.mime_type == "image/webp"


def test_lists_in_which_anything_ready_or_a_medium_stands_go_item_by_item() -> None:
    values: list[Any] = [Person("Ada"), 3, PromptMessage.assistant("hello"), PromptResult("inner", "told", {"a": 1})]
    result = convert(values)
    assert [message.role for message in result.messages] == ["user", "user", "assistant", "user"]
    assert contents(result) == [
        TextContent('{"name":"Ada"}'),
        TextContent("3"),
        TextContent("hello"),
        TextContent("inner"),
    ]
    assert (result.description, result.meta) == ("told", {"a": 1})
    assert contents(convert([1, [2]])) == [TextContent("[1,[2]]")]


def test_a_tools_result_gives_its_blocks_and_its_meta() -> None:
    result = convert(ToolResult(["a", "b"], meta={"m": 1}))
    assert contents(result) == [TextContent("a"), TextContent("b")]
    assert result.meta == {"m": 1}


def test_streams_are_read_from_their_start_and_closed_unless_kept() -> None:
    stream = io.BytesIO(b"ab")
    stream.read()
    [block] = contents(convert(stream))
    assert isinstance(block, EmbeddedResource)
    assert isinstance(block.resource, BlobResource)
    assert block.resource.blob == b"ab"
    assert stream.closed
    kept = io.BytesIO(b"ab")
    convert([kept, "x"], keep=lambda each: each is kept)
    assert not kept.closed


def test_streams_that_an_encoder_takes_are_closed_too() -> None:
    encoders = EncoderRegistry()
    encoders.add(io.BytesIO, lambda _: "encoded")
    stream = io.BytesIO(b"a")
    assert contents(convert(stream, encoders=encoders)) == [TextContent("encoded")]
    assert stream.closed


def test_a_stream_beyond_the_limit_is_refused() -> None:
    with pytest.raises((SerializationError, ValueError), match="stream_bytes"):
        convert(io.BytesIO(b"abcd"), limits=Limits(stream_bytes=3))


@pytest.mark.parametrize("value", [ResourceResult([]), [ResourceResult([]), PromptMessage.user("x")], object()])
def test_what_no_prompt_can_return_is_refused(value: Any) -> None:
    with pytest.raises(SerializationError):
        convert(value)


def test_a_content_type_that_is_not_installed_is_told_when_registered() -> None:
    class Missing(ContentType):
        def check(self) -> None:
            raise DefinitionError("install it")

        def formatter(self, serializer: Serializer) -> Any:
            raise NotImplementedError

    with pytest.raises(DefinitionError, match="install it"):
        convert("x", default_content_type=Missing())


def test_an_annotation_that_does_not_resolve_is_no_error() -> None:
    assert contents(convert("x", "Ghost")) == [TextContent("x")]
    assert contents(convert(Person("Ada"), list["Ghost"])) == [TextContent('{"name":"Ada"}')]  # type: ignore[name-defined] # noqa: F821
