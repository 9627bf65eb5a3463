"""`ContentList` and `ToolResultBuilder`: every method of both."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from mcpconnect.content import (
    UNSET,
    Annotations,
    AudioContent,
    BlobResource,
    ContentList,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResource,
    ToolResult,
    ToolResultBuilder,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
ENCODED = base64.b64encode(PNG).decode()


@pytest.fixture(params=[ContentList, ToolResultBuilder])
def adding(request):
    """Either class that has the `add_…` methods."""
    return request.param()


def built(adding) -> ContentList:
    return adding if isinstance(adding, ContentList) else adding.build()


def test_every_method_returns_its_object(adding) -> None:
    chained = (
        adding.add_text("t")
        .add_image("image/png", PNG)
        .add_audio("audio/wav", b"RIFF")
        .add_blob(None, b"b")
        .add_link("text/html", "https://a.example/1")
        .add_resource(TextResource("r"))
        .add("x")
        .as_error()
    )

    assert chained is adding
    assert [block.type for block in built(adding)] == [
        "text",
        "image",
        "audio",
        "resource",
        "resource_link",
        "resource",
        "text",
    ]
    assert built(adding).is_error


def test_texts_stay_exactly_as_they_are(adding) -> None:
    adding.add_text("").add_text(' {"a": 1}\n')

    assert [block.text for block in built(adding)] == ["", ' {"a": 1}\n']
    with pytest.raises(TypeError, match=r"add\(value\) takes anything"):
        adding.add_text(5)


@pytest.mark.fault(122)
def test_image_data_is_the_bare_picture_in_every_accepted_form(adding, tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(PNG)
    forms = [PNG, bytearray(PNG), memoryview(PNG), io.BytesIO(PNG), file, ENCODED, f"data:image/png;base64,{ENCODED}"]
    for data in (*forms, f"{ENCODED[:8]}\r\n{ENCODED[8:]}"):
        adding.add_image("image/png", data)

    assert all(block == ImageContent(PNG, "image/png") for block in built(adding))
    for text in ("logo.png", "ÄÖÜ=", "abc", ENCODED[:-1], "data:image/png;base64", "data:image/png;base64,***", ""):
        with pytest.raises(ValueError):
            adding.add_image("image/png", text)


def test_a_data_url_that_says_another_type_is_refused(adding) -> None:
    with pytest.raises(ValueError, match=r"says image/jpeg.*given is image/png"):
        adding.add_image("image/png", f"data:image/jpeg;base64,{ENCODED}")
    adding.add_image("image/jpg", f"data:image/jpeg;base64,{ENCODED}")
    adding.add_image("image/png", f"data:;base64,{ENCODED}")
    adding.add_image(None, f"data:image/gif;base64,{ENCODED}")
    assert [block.mime_type for block in built(adding)] == ["image/jpeg", "image/png", "image/gif"]


def test_data_urls_may_be_percent_encoded(adding) -> None:
    adding.add_blob(None, "data:text/plain;charset=utf-8,gr%C3%BCn")

    assert built(adding)[0].resource.blob == "grün".encode()
    assert built(adding)[0].resource.mime_type == "text/plain; charset=utf-8"


def test_a_pil_image_is_written_in_the_type_asked_for(adding) -> None:
    adding.add_image("image/jpeg", Image.new("RGBA", (2, 2))).add_image(None, Image.new("RGB", (2, 2)))

    assert [Image.open(io.BytesIO(block.data)).format for block in built(adding)] == ["JPEG", "PNG"]


@pytest.mark.parametrize(
    ("mime", "data"),
    [
        (PNG, "image/png"),
        (io.BytesIO(PNG), "image/png"),
        (Path("a.png"), "image/png"),
        (ENCODED, "image/png"),
        (f"data:image/png;base64,{ENCODED}", "image/png"),
        ("abcd/efgh", "image/png"),
        (Image.new("L", (1, 1)), "image/png"),
    ],
)
def test_swapped_type_and_data_are_told_so(adding, mime, data) -> None:
    for method in (adding.add_image, adding.add_audio, adding.add_blob, adding.add_link):
        with pytest.raises(TypeError, match="swapped"):
            method(mime, data)
    assert not built(adding)


def test_a_type_that_is_none_is_refused(adding) -> None:
    with pytest.raises(ValueError, match="not a MIME type"):
        adding.add_image("picture", PNG)
    with pytest.raises(ValueError, match="not an image type"):
        adding.add_image("audio/wav", PNG)
    with pytest.raises(TypeError, match="must be a str"):
        adding.add_image(5, PNG)


def test_a_file_in_text_mode_is_refused(adding) -> None:
    with pytest.raises(TypeError, match="'rb'"):
        adding.add_image("image/png", io.StringIO("x"))


def test_adding_reads_at_once_and_leaves_the_stream_to_the_caller(adding) -> None:
    stream = io.BytesIO()
    stream.write(PNG)  # now at its end

    adding.add_image("image/png", stream).add_blob(None, stream).add(stream)

    assert not stream.closed
    assert [len(b.data if isinstance(b, ImageContent) else b.resource.blob) for b in built(adding)] == [16, 16, 16]
    stream.close()
    with pytest.raises(Exception, match="closed"):
        adding.add_blob(None, stream)


def test_a_stream_that_cannot_seek_is_read_from_where_it_stands(adding) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    pipe = Pipe(b"abcdef")
    pipe.read(3)

    adding.add_blob("text/plain", pipe)

    assert built(adding)[0].resource.blob == b"def"


@pytest.mark.fault(124)
def test_a_blob_without_type_or_uri_gets_both(adding) -> None:
    adding.add_blob(None, PNG).add_blob(None, b"").add_blob("", b"x")

    for block in built(adding):
        assert block.resource.mime_type == "application/octet-stream"
        assert block.resource.uri
    assert len({block.resource.uri for block in built(adding)}) == 3


def test_a_blob_keeps_the_type_and_uri_it_is_given(adding, tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(b"%PDF-1.7")

    adding.add_blob("pdf", b"x", uri="file:///x.pdf").add_blob(None, file)

    assert built(adding)[0].resource == BlobResource(b"x", "file:///x.pdf", "application/pdf")
    assert built(adding)[1].resource.mime_type == "application/pdf"


def test_links_have_a_name_and_nothing_that_was_not_given(adding) -> None:
    icon = Icon("https://a.example/i.png")
    adding.add_link("text/html", "https://a.example/receipts/1", "Receipt")
    adding.add_link(None, "https://a.example/2", name="Two", title="T", size=5, icons=[icon], meta={"k": 1})

    assert built(adding) == [
        ResourceLink("https://a.example/receipts/1", "1", mime_type="text/html", description="Receipt"),
        ResourceLink("https://a.example/2", "Two", title="T", size=5, icons=(icon,), meta={"k": 1}),
    ]
    with pytest.raises(ValueError, match="URI"):
        adding.add_link("text/html", "")


def test_resources_are_embedded_with_their_uri(adding) -> None:
    adding.add_resource(TextResource("x", "file:///x")).add_resource(BlobResource(b"x", "file:///y"))

    assert [block.resource.uri for block in built(adding)] == ["file:///x", "file:///y"]
    with pytest.raises(TypeError, match="TextResource or a BlobResource"):
        adding.add_resource("x")


def test_annotations_and_meta_stand_on_every_kind_of_block(adding) -> None:
    notes = {"annotations": Annotations("user", 0.5), "meta": {"k": 1}}
    (
        adding.add_text("t", **notes)
        .add_image("image/png", PNG, **notes)
        .add_audio("audio/wav", b"RIFF", **notes)
        .add_blob(None, b"b", **notes)
        .add_link(None, "https://a.example", **notes)
        .add_resource(TextResource("r"), **notes)
    )

    assert len(built(adding)) == 6
    assert all((block.annotations, block.meta) == (Annotations("user", 0.5), {"k": 1}) for block in built(adding))


def test_add_takes_texts_and_media_at_once_and_keeps_other_values(adding) -> None:
    block = AudioContent(b"a", "audio/wav")
    adding.add("t").add(b"b").add(Image.new("L", (1, 1))).add(io.StringIO("s")).add(block).add(TextResource("r"))
    adding.add({"a": 1}).add(None).add(0)

    content = built(adding)
    assert content[0] == TextContent("t")
    assert isinstance(content[1], EmbeddedResource)
    assert content[2].mime_type == "image/png"
    assert content[3] == TextContent("s")
    assert content[4] is block
    assert content[5].resource.text == "r"
    assert content[6:] == [{"a": 1}, None, 0]


def test_add_takes_another_result_apart(adding) -> None:
    adding.add(ContentList([TextContent("a")])).add(ToolResult("b", is_error=True)).add(ToolResult("c"))

    assert built(adding) == [TextContent("a"), TextContent("b"), TextContent("c")]
    assert built(adding).is_error


def test_as_error_can_be_taken_back(adding) -> None:
    adding.as_error().as_error(False)

    assert not built(adding).is_error


def test_building_twice_gives_two_equal_lists_that_do_not_share() -> None:
    builder = ToolResultBuilder().add_text("a").structured({"a": 1}).meta(k=1).as_error()

    first, second = builder.build(), builder.build()
    first.append(TextContent("b"))
    assert first.meta is not None
    first.meta["k"] = 2

    assert second == [TextContent("a")]
    assert (second.structured, second.meta, second.is_error) == ({"a": 1}, {"k": 1}, True)
    assert builder.add_text("c").build() == [TextContent("a"), TextContent("c")]


def test_meta_adds_up() -> None:
    built = ToolResultBuilder().meta({"a.example/x": 1}, k=1).meta(k=2).build()

    assert built.meta == {"a.example/x": 1, "k": 2}
    assert ToolResultBuilder().build().meta is None


def test_content_list_is_a_list_with_a_memory() -> None:
    content = ContentList([TextContent("a")], is_error=True, structured={"a": 1}, meta={"k": 1})

    assert isinstance(content, list)
    assert (content.is_error, content.structured, content.meta) == (True, {"a": 1}, {"k": 1})
    assert "is_error" in repr(content)
    assert "is_error" not in repr(ContentList())
    assert ContentList().structured is UNSET
