"""Media as parameters: what the serializer of a server loads, and refuses to dump."""

import base64
import io
from dataclasses import dataclass
from typing import IO, BinaryIO

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from mcpconnect.content import ImageContent, TextContent, ToolResult, media_serializer
from mcpconnect.content.media import is_media_serializer
from mcpconnect.errors import LoadError, SerializationError
from mcpconnect.serialization import Serializer

ENCODED = base64.b64encode(ImageContent.of(Image.new("RGB", (3, 2), "red")).data).decode()


def serializer() -> Serializer:
    return Serializer(media=media_serializer)


@pytest.mark.parametrize("annotation", [BinaryIO, IO[bytes], io.BytesIO, io.BufferedIOBase, io.IOBase])
@pytest.mark.parametrize("strict", [True, False])
def test_a_stream_is_loaded_from_base64_or_a_data_url(annotation, strict: bool) -> None:
    for text in ("aGk=", "data:text/plain;base64,aGk=", "data:,hi"):
        stream = serializer().load(annotation, text, strict=strict)
        assert stream.read() == b"hi"


@pytest.mark.parametrize("strict", [True, False])
def test_a_picture_is_loaded_from_base64_or_a_data_url(strict: bool) -> None:
    for text in (ENCODED, f"data:image/png;base64,{ENCODED}"):
        picture = serializer().load(Image.Image, text, strict=strict)
        assert (picture.size, picture.getpixel((0, 0))) == ((3, 2), (255, 0, 0))
    assert serializer().load(list[Image.Image], [ENCODED])[0].size == (3, 2)
    assert serializer().load(Image.Image | None, None) is None


@pytest.mark.parametrize("data", ["not base64", "aGk", 5, None, ["aGk="], {"data": "aGk="}, "größe"])
def test_anything_else_is_refused_with_what_was_expected(data) -> None:
    for annotation in (BinaryIO, Image.Image):
        with pytest.raises(LoadError, match=r"base64|text|null|missing|expected"):
            serializer().load(annotation, data)


def test_base64_that_is_no_picture_is_refused() -> None:
    for text in ("aGk=", "", f"data:image/png;base64,{ENCODED[:40]}"):
        with pytest.raises(LoadError, match="no picture"):
            serializer().load(Image.Image, text)


def test_parameters_are_described_as_base64() -> None:
    for annotation in (BinaryIO, Image.Image):
        schema = serializer().json_schema(annotation, view="input")
        assert schema["type"] == "string"
        assert schema["contentEncoding"] == "base64"


def test_media_inside_data_are_refused() -> None:
    @dataclass
    class Card:
        chart: object

    class Own(TextContent): ...

    media = [Image.new("L", (1, 1)), io.BytesIO(), io.StringIO(), TextContent("x"), Own("x"), ToolResult("x")]
    for medium in media:
        with pytest.raises(SerializationError, match=r"\$\.chart.*return a list"):
            serializer().dump(Card(medium))
        with pytest.raises(SerializationError, match="return a list"):
            serializer().dumps([medium])


def test_only_media_and_content_are_claimed() -> None:
    for cls in (io.BytesIO, io.FileIO, BinaryIO, Image.Image, PngImageFile, TextContent, ToolResult):
        assert is_media_serializer(media_serializer(cls))
    for other in (int, str, bytes, dict, Serializer):
        assert media_serializer(other) is None
    assert not is_media_serializer(None)
