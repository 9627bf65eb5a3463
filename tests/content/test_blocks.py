"""Content blocks: constructors, `.of`, and what is filled in."""

import base64
import io
from dataclasses import FrozenInstanceError, dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from mcpconnect.content import (
    Annotations,
    AudioContent,
    BlobResource,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResource,
)
from mcpconnect.protocol.wire import dump
from tests.schema_check import check

WIRE_CHECKS = ("2025-06-18", "2025-11-25", "2026-07-28")
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
WAV = b"RIFF\x04\0\0\0WAVE"


def test_each_block_carries_its_tag() -> None:
    blocks = [
        TextContent("x"),
        ImageContent(PNG, "image/png"),
        AudioContent(WAV, "audio/wav"),
        ResourceLink("https://a.example/b", "b"),
        EmbeddedResource(TextResource("x", "file:///x")),
    ]

    assert [block.type for block in blocks] == ["text", "image", "audio", "resource_link", "resource"]


def test_blocks_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        TextContent("x").text = "y"  # type: ignore[misc]


@pytest.mark.parametrize("make", [lambda data: data, lambda data: bytearray(data), memoryview, io.BytesIO])
def test_image_of_bytes_and_streams_tells_the_type_from_the_bytes(make) -> None:
    block = ImageContent.of(make(PNG))

    assert (block.data, block.mime_type) == (PNG, "image/png")


def test_image_of_text_is_base64_or_a_data_url() -> None:
    encoded = base64.b64encode(PNG).decode()

    assert ImageContent.of(encoded).data == PNG
    assert ImageContent.of(f"data:image/png;base64,{encoded}").data == PNG
    with pytest.raises(ValueError, match="neither base64 nor a data: URL"):
        ImageContent.of("pictures/logo.png")


def test_image_of_a_path_takes_the_type_of_its_extension(tmp_path: Path) -> None:
    file = tmp_path / "photo.JPG"
    file.write_bytes(b"anything")

    block = ImageContent.of(file)

    assert (block.data, block.mime_type) == (b"anything", "image/jpeg")


def test_image_of_a_pil_image_is_a_png_unless_another_type_is_given() -> None:
    picture = Image.new("RGB", (2, 2), "red")

    assert ImageContent.of(picture).data.startswith(b"\x89PNG")
    assert Image.open(io.BytesIO(ImageContent.of(picture, "image/webp").data)).format == "WEBP"


def test_image_of_nothing_or_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        ImageContent.of(b"", "image/png")
    with pytest.raises(ValueError, match="cannot be told"):
        ImageContent.of(b"no picture")
    with pytest.raises(ValueError, match="audio/wav is not an image type"):
        ImageContent.of(WAV)
    with pytest.raises(TypeError, match="cannot read bytes from an int"):
        ImageContent.of(5)  # type: ignore[arg-type]


def test_audio_of_bytes_tells_the_type_from_the_bytes() -> None:
    assert AudioContent.of(WAV).mime_type == "audio/wav"
    assert AudioContent.of(b"ID3\x04", "mp3").mime_type == "audio/mpeg"


def test_constructors_take_encoded_data_once() -> None:
    encoded = base64.b64encode(PNG).decode()

    assert ImageContent(encoded, "image/png").data == PNG  # type: ignore[arg-type]
    assert AudioContent(bytearray(WAV), "audio/x-wav") == AudioContent(WAV, "audio/wav")  # type: ignore[arg-type]
    assert BlobResource(io.BytesIO(PNG)).blob == PNG  # type: ignore[arg-type]


def test_constructor_writes_a_pil_image_in_the_type_it_claims() -> None:
    block = ImageContent(Image.new("L", (1, 1)), "image/gif")  # type: ignore[arg-type]

    assert Image.open(io.BytesIO(block.data)).format == "GIF"


def test_text_of_bytes_paths_and_streams(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("grün", encoding="utf-8")

    assert TextContent.of("grün").text == "grün"
    assert TextContent.of("grün".encode()).text == "grün"
    assert TextContent.of(file).text == "grün"
    assert TextContent.of(io.StringIO("grün")).text == "grün"
    assert TextContent.of(io.BytesIO("grün".encode("latin-1")), "text/plain; charset=latin-1").text == "grün"
    with pytest.raises(ValueError):
        TextContent.of(b"\xff\xfe\xff")
    with pytest.raises(TypeError, match="int"):
        TextContent.of(5)


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("https://tickets.example/receipts/1", "1"),
        ("https://tickets.example/a/report.v2?x=1#top", "report.v2"),
        ("file:///srv/files/", "files"),
        ("https://tickets.example", "tickets.example"),
        ("https://tickets.example/My%20File.txt", "My File.txt"),
        ("urn:isbn:0451450523", "isbn:0451450523"),
        ("data:text/plain,hi", "data"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_link_without_a_name_takes_the_last_part_of_its_uri(uri: str, name: str) -> None:
    assert ResourceLink(uri).name == name


def test_link_of_a_path_is_a_file_uri_with_type_and_size(tmp_path: Path) -> None:
    file = tmp_path / "a b.pdf"
    file.write_bytes(b"12345")

    link = ResourceLink.of(file)

    assert (link.uri, link.name, link.mime_type, link.size) == (file.as_uri(), "a b.pdf", "application/pdf", 5)
    assert ResourceLink.of(tmp_path / "none.bin").size is None


def test_link_of_text_is_its_uri_and_of_bytes_a_data_url() -> None:
    assert ResourceLink.of("https://a.example/b", "text/html", name="B", description="d") == ResourceLink(
        "https://a.example/b", "B", mime_type="text/html", description="d"
    )
    link = ResourceLink.of(b"hi")
    assert (link.uri, link.name, link.size) == ("data:application/octet-stream;base64,aGk=", "data", 2)


def test_embedded_blob_always_has_a_type_and_a_uri() -> None:
    resource = EmbeddedResource(BlobResource(b"x")).resource

    assert resource.mime_type == "application/octet-stream"
    assert resource.uri is not None
    assert resource.uri.startswith("attachment://")
    assert EmbeddedResource(BlobResource(b"x")).resource.uri != resource.uri


def test_embedded_text_keeps_its_type_and_gets_a_uri() -> None:
    resource = EmbeddedResource(TextResource("x")).resource

    assert resource.mime_type is None
    assert resource.uri is not None
    assert EmbeddedResource(TextResource("x", "file:///x", "text/md")).resource == TextResource(
        "x", "file:///x", "text/md"
    )


def test_embedded_resource_of_a_path_keeps_the_name_but_not_the_folders(tmp_path: Path) -> None:
    file = tmp_path / "report.v2"
    file.write_bytes(b"x")

    resource = EmbeddedResource.of(file).resource

    assert resource.uri is not None
    assert resource.uri.endswith("/report.v2")
    assert str(tmp_path) not in resource.uri
    assert resource.mime_type == "application/octet-stream"


@pytest.mark.fault(123)
def test_a_file_name_with_an_unknown_suffix_stays_as_it_is(tmp_path: Path) -> None:
    for name in ("report.v2", "archive.tar.gz", "Makefile", "a.b.c"):
        file = tmp_path / name
        file.write_bytes(b"x")
        uri = EmbeddedResource.of(file, "text/plain").resource.uri
        assert uri is not None
        assert uri.rpartition("/")[2] == name
        assert ResourceLink(f"https://a.example/{name}", mime_type="text/plain").name == name
        assert ResourceLink.of(file, "text/plain").name == name


@pytest.mark.fault(125)
def test_one_audience_becomes_a_list_of_one() -> None:
    assert Annotations(audience="user").audience == ("user",)
    assert Annotations(audience=["user", "assistant"]).audience == ("user", "assistant")
    assert Annotations().audience is None


def test_annotations_refuse_what_the_specification_does_not_know() -> None:
    with pytest.raises(ValueError, match="audience"):
        Annotations(audience="system")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0 to 1"):
        Annotations(priority=2)


def test_last_modified_is_written_with_its_offset() -> None:
    assert (
        Annotations(last_modified=datetime(2025, 1, 12, 15, 0, 58, tzinfo=UTC)).last_modified == "2025-01-12T15:00:58Z"
    )
    assert Annotations(last_modified=datetime(2025, 1, 12, 15, 0, 58)).last_modified == "2025-01-12T15:00:58Z"
    assert Annotations(last_modified="2025-01-12").last_modified == "2025-01-12"


def test_icon_takes_one_size_or_several_and_checks_the_theme() -> None:
    icon = Icon("https://a.example/i.png", "image/jpg", "48x48", "dark")

    assert (icon.mime_type, icon.sizes) == ("image/jpeg", ("48x48",))
    assert Icon("https://a.example/i.png", sizes=["any"]).sizes == ("any",)
    assert Icon("https://a.example/i.png").sizes is None
    with pytest.raises(ValueError, match="theme"):
        Icon("https://a.example/i.png", theme="blue")  # type: ignore[arg-type]


def test_link_keeps_its_icons_as_a_tuple() -> None:
    icon = Icon("https://a.example/i.png")

    assert ResourceLink("https://a.example", icons=[icon]).icons == (icon,)  # type: ignore[arg-type]


def test_blocks_can_be_subclassed() -> None:
    @dataclass(frozen=True, slots=True)
    class Warning(TextContent):
        pass

    assert Warning("x").type == "text"
    assert isinstance(Warning.of("x"), Warning)


@pytest.mark.parametrize("revision", WIRE_CHECKS)
def test_blocks_have_the_form_of_the_wire(revision: str) -> None:
    notes = {"annotations": Annotations("user", 0.5, "2025-01-12T15:00:58Z"), "meta": {"own_key": None}}
    icons = (Icon("https://a.example/i.png", "image/png", "any", "dark"),)
    blocks = [
        TextContent("x", **notes),
        ImageContent(PNG, "image/png", **notes),
        AudioContent(WAV, "audio/wav", **notes),
        ResourceLink("https://a.example/b", title="B", size=0, icons=icons, **notes),
        EmbeddedResource(TextResource("x"), **notes),
        EmbeddedResource(BlobResource(b"x", meta={"k": 1}), **notes),
    ]
    for block in blocks:
        wire = dump(block)
        check(revision, "ContentBlock", wire)
        assert wire["_meta"] == {"own_key": None}
        assert wire["annotations"] == {"audience": ["user"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"}
    assert dump(ImageContent(PNG, "image/png")) == {
        "type": "image",
        "data": base64.b64encode(PNG).decode(),
        "mimeType": "image/png",
    }
    assert dump(TextContent("")) == {"type": "text", "text": ""}
