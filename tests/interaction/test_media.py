"""Pictures, sounds and files as a client decodes them: right pixels under the right type, or an error that says why."""

import base64
import io
import json
import mimetypes
import tempfile
from pathlib import Path
from typing import Annotated, Any

import pytest
from PIL import Image

from mcpconnect import (
    Annotations,
    AudioContent,
    BlobResource,
    ContentList,
    EmbeddedResource,
    ImageContent,
    ImageContentType,
    Limits,
    Mime,
    ResourceLink,
    TextContent,
    TextResource,
    Tool,
    ToolResultBuilder,
    tool,
)
from tests.interaction.seen import UNSAID, Seen, seen
from tests.wire import REVISIONS, connected, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)
PNG = b"\x89PNG\r\n\x1a\n"


def png(colour: Any = "red", size: tuple[int, int] = (2, 2)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


@pytest.mark.fault(110)
@every_revision
@pytest.mark.parametrize("mime", ["image/png", "image/jpeg", "image/webp"])
async def test_pictures_of_other_colour_spaces_keep_their_colours(mime: str, revision: str) -> None:
    pictures = [Image.new("CMYK", (2, 2), (0, 255, 255, 0)), Image.new("RGB", (2, 2), "red").convert("YCbCr")]
    pictures += [Image.new("RGB", (2, 2), "red").convert("HSV"), Image.new("RGB", (2, 2), "red").convert("P")]
    for picture in pictures:
        outcome = await seen(picture, Annotated[Image.Image, Mime(mime)], revision=revision)
        assert outcome.content[0]["mimeType"] == mime
        red, green, blue = outcome.picture().convert("RGB").getpixel((1, 1))  # type: ignore[misc]
        assert red > 235
        assert max(green, blue) < 20


@pytest.mark.fault(111)
async def test_wide_pixels_are_scaled_by_a_rule_or_refused() -> None:
    integers = Image.new("I", (2, 1), 1000)
    integers.putpixel((1, 0), 65535)
    assert [(await seen(integers)).picture().getpixel((x, 0)) for x in (0, 1)] == [1000, 65535]
    integers.putpixel((1, 0), 2**31 - 1)
    spread = (await seen(integers)).picture()
    assert [spread.getpixel((x, 0)) for x in (0, 1)] == [0, 65535]
    floats = Image.new("F", (3, 1))
    for x, value in enumerate((0.0, 0.5, 1.0)):
        floats.putpixel((x, 0), value)
    shown = (await seen(floats)).picture()
    assert [shown.getpixel((x, 0)) for x in range(3)] == [0, 128, 255]
    floats.putpixel((0, 0), float("nan"))
    refused = await seen(floats)
    assert refused.is_error
    assert "mode F" in refused.text


@pytest.mark.fault(112)
@pytest.mark.parametrize("mime", ["image/png", "image/jpeg"])
async def test_sixteen_bits_keep_their_upper_values(mime: str) -> None:
    picture = Image.new("I;16", (32, 16), 1000)
    picture.paste(65535, (16, 0, 32, 16))
    shown = (await seen(picture, Annotated[Image.Image, Mime(mime)])).picture()
    dark, bright = (shown.getpixel((x, 8)) for x in (4, 28))
    assert (dark, bright) == ((1000, 65535) if mime == "image/png" else (4, 255))


@pytest.mark.fault(113)
@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "PA", "La", "RGBa"])
async def test_clear_pixels_are_white_where_the_format_has_no_alpha(mode: str) -> None:
    clear = Image.new("RGBA", (2, 2), (255, 0, 0, 0))
    through = {"La": "LA", "PA": "P"}.get(mode)
    picture = (clear.convert(through) if through else clear).convert(mode)
    if mode == "P":
        picture.info["transparency"] = picture.getpixel((0, 0))
    built = ToolResultBuilder().add_image("image/jpeg", picture).build()
    for value, annotation in ((built, ContentList), (picture, Annotated[Image.Image, Mime("jpg")])):
        outcome = await seen(value, annotation)
        assert outcome.content[0]["mimeType"] == "image/jpeg"
        assert min(outcome.picture().convert("RGB").getpixel((0, 0))) > 250  # type: ignore[type-var]


@pytest.mark.fault(114)
async def test_a_palette_keeps_its_colours_and_its_clear_index() -> None:
    picture = Image.new("P", (3, 1))
    picture.putpalette([9, 9, 9, 255, 0, 0, 0, 0, 255])
    for x in range(3):
        picture.putpixel((x, 0), x)
    picture.info["transparency"] = 0
    shown = (await seen(picture)).picture().convert("RGBA")
    pixels = [shown.getpixel((x, 0)) for x in range(3)]
    assert pixels[0][3] == 0  # type: ignore[index]
    assert pixels[1:] == [(255, 0, 0, 255), (0, 0, 255, 255)]


@pytest.mark.fault(115)
async def test_an_animation_is_one_picture_or_all_of_it_as_its_type_says() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "lime", "blue")]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])

    def animation() -> Image.Image:
        return Image.open(io.BytesIO(file.getvalue()))

    still = (await seen(animation())).picture()
    assert (still.format, getattr(still, "n_frames", 1)) == ("PNG", 1)
    assert still.convert("RGB").getpixel((0, 0)) == (255, 0, 0)
    for mime in ("image/gif", "image/webp"):
        moving = (await seen(animation(), Annotated[Image.Image, Mime(mime)])).picture()
        assert moving.n_frames == 3  # type: ignore[attr-defined]
        colours = []
        for frame in range(3):
            moving.seek(frame)
            colours.append(max(range(3), key=lambda band: moving.convert("RGB").getpixel((0, 0))[band]))  # type: ignore[index]
        assert colours == [0, 1, 2]


NAMES = [
    ("jpg", "image/jpeg"),
    ("JPEG", "image/jpeg"),
    ("image/jpg", "image/jpeg"),
    ("svg", "image/svg+xml"),
    ("tif", "image/tiff"),
    ("wav", "audio/wav"),
    ("audio/x-wav", "audio/wav"),
    ("mp3", "audio/mpeg"),
]


@pytest.mark.fault(116)
@every_revision
@pytest.mark.parametrize(("name", "mime"), NAMES)
async def test_a_format_name_becomes_its_registered_type(name: str, mime: str, revision: str) -> None:
    builder = ToolResultBuilder().add_blob(name, b"data")
    builder = builder.add_audio(name, b"data") if mime.startswith("audio/") else builder.add_image(name, b"data")
    outcome = await seen(builder.build(), revision=revision)
    assert outcome.content[0]["resource"]["mimeType"] == mime
    if mime.startswith("image/") or revision != "2024-11-05":
        assert outcome.content[1]["mimeType"] == mime


@pytest.mark.fault(117)
async def test_the_table_of_types_is_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mimetypes, "guess_type", lambda *_args, **_more: ("audio/x-wav", None))
    mimetypes.add_type("audio/x-wav", ".wav")
    for name, mime in (
        ("x.wav", "audio/wav"),
        ("X.WAV", "audio/wav"),
        ("x.mp3", "audio/mpeg"),
        ("x.ts", "text/typescript"),
    ):
        file = tmp_path / name
        file.write_bytes(b"data")
        block: Any = EmbeddedResource.of(file)
        assert (await seen(block)).content[0]["resource"]["mimeType"] == mime
    sound = AudioContent.of(tmp_path / "x.wav")
    assert (await seen(sound)).content[0]["mimeType"] == "audio/wav"


@pytest.mark.fault(118)
async def test_a_changed_picture_that_forgot_its_format_is_a_png(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), "red").save(tmp_path / "a.jpg")
    with Image.open(tmp_path / "a.jpg") as opened:
        changed = [
            opened.resize((2, 2)),
            opened.rotate(90),
            opened.convert("L"),
            opened.copy(),
            opened.crop((0, 0, 2, 2)),
        ]
    for picture in changed:
        assert picture.format is None
        outcome = await seen(picture)
        assert outcome.content[0]["mimeType"] == "image/png"
        assert outcome.picture().size == picture.size


@pytest.mark.fault(119)
@every_revision
async def test_a_picture_that_cannot_be_written_is_an_error_with_its_cause(revision: str, tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), "red").save(tmp_path / "a.png")
    noise = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(noise, "PNG")

    class Broken(Tool):
        @tool
        def closed(self) -> Image.Image:
            with Image.open(tmp_path / "a.png") as picture:
                return picture

        @tool
        def loaded(self) -> Image.Image:
            with Image.open(tmp_path / "a.png") as picture:
                picture.load()
                return picture

        @tool
        def empty(self) -> Image.Image:
            return Image.new("RGB", (0, 0))

        @tool
        def cut(self) -> list[Image.Image]:
            return [Image.open(io.BytesIO(noise.getvalue()[:200]))]

    async with connected(serving(Broken), revision) as wire:
        for name, words in (("closed", "image.copy()"), ("empty", "0 × 0 pixels"), ("cut", "cannot be written")):
            result = await wire.call(name)
            assert result["isError"] is True
            assert words in result["content"][0]["text"]
        outcome = Seen({}, await wire.call("loaded"))
        assert outcome.is_error or outcome.picture().size == (8, 8)


@pytest.mark.fault(120)
@every_revision
async def test_pictures_in_a_list_are_blocks(revision: str) -> None:
    pictures = [Image.new("RGB", (2, 2), colour) for colour in ("red", "blue")]
    for annotation in (list[Image.Image], tuple[Image.Image, ...], list, UNSAID, list[Image.Image | str]):
        outcome = await seen(pictures, annotation, revision=revision)
        assert outcome.kinds == ["image", "image"]
        assert [outcome.picture(n).getpixel((0, 0)) for n in (0, 1)] == [(255, 0, 0), (0, 0, 255)]
        assert "outputSchema" not in outcome.definition


@pytest.mark.fault(121)
@every_revision
async def test_media_inside_data_are_an_error_that_says_what_to_do(revision: str) -> None:
    picture = Image.effect_noise((200, 200), 50)
    for medium in (picture, io.BytesIO(b"x" * 1000), TextContent("x"), ContentList([TextContent("x")])):
        for value in ({"chart": medium, "title": "x"}, [[medium]], {"a": [{"b": medium}]}):
            outcome = await seen(value, revision=revision)
            assert outcome.is_error
            assert "return a list" in outcome.text
            assert "$" in outcome.text
            assert len(outcome.text) < 400


@pytest.mark.fault(122)
async def test_data_is_bare_base64_whatever_the_builder_was_given(tmp_path: Path) -> None:
    data = png()
    encoded = base64.b64encode(data).decode()
    wrapped = "\n".join(encoded[at : at + 20] for at in range(0, len(encoded), 20))
    (tmp_path / "p.png").write_bytes(data)
    givens = [data, bytearray(data), memoryview(data), encoded, wrapped, f"data:image/png;base64,{encoded}"]
    givens += [io.BytesIO(data), tmp_path / "p.png"]
    for given in givens:
        outcome = await seen(ToolResultBuilder().add_image("image/png", given).build())
        assert outcome.content[0]["data"] == encoded
        assert outcome.picture().size == (2, 2)
    for bad in (
        "not base64!",
        "AAA",
        "data:image/gif;base64," + encoded,
        "data:image/png;base64,???",
        "/etc/passwd",
        "",
    ):
        with pytest.raises(ValueError, match=r"base64|data: URL|empty"):
            ToolResultBuilder().add_image("image/png", bad)
    with pytest.raises(TypeError, match="swapped"):
        ToolResultBuilder().add_image(data, "image/png")  # type: ignore[arg-type]


@pytest.mark.fault(123)
async def test_a_file_name_is_kept_as_it_is(tmp_path: Path) -> None:
    for name in ("report.v2", "archive.tar.gz", "noext", "a.b.c", "x.txt"):
        file = tmp_path / name
        file.write_text("hello")
        content = ContentList().add_blob("text/plain", file)
        content.append(ResourceLink.of(file))
        outcome = await seen(content)
        resource = outcome.content[0]["resource"]
        assert resource["mimeType"] == "text/plain"
        assert resource["uri"].endswith(f"/{name}")
        assert outcome.content[-1].get("name", name) == name


@pytest.mark.fault(124)
@every_revision
async def test_a_blob_always_has_a_type_and_a_uri(revision: str) -> None:
    built = (
        ToolResultBuilder().add_blob(None, b"\x00\x01").add_blob(None, "AAE=").add_resource(BlobResource(b"\x00\x01"))
    )
    for value in (built.build(), [b"\x00\x01"] * 3):
        outcome = await seen(value, revision=revision)
        for block in outcome.content:
            assert block["resource"]["mimeType"] == "application/octet-stream"
            assert block["resource"]["blob"] == "AAE="
            assert block["resource"]["uri"]
        assert len({block["resource"]["uri"] for block in outcome.content}) == 3


@pytest.mark.fault(125)
@every_revision
async def test_an_audience_is_a_list(revision: str) -> None:
    notes = Annotations(audience="user", priority=0.5)
    both = Annotations(audience=["user", "assistant"])
    built = (
        ToolResultBuilder()
        .add_image("image/png", png(), annotations=notes)
        .add_text("x", annotations=both)
        .add_blob(None, b"x", annotations=notes)
        .build()
    )
    outcome = await seen(built, revision=revision)
    assert [block["annotations"]["audience"] for block in outcome.content] == [
        ["user"],
        ["user", "assistant"],
        ["user"],
    ]
    assert outcome.content[0]["annotations"]["priority"] == 0.5


async def test_a_stream_above_the_limit_is_refused_and_nothing_is_ever_cut() -> None:
    class Large(Tool):
        @tool
        def text(self) -> str:
            return "x" * 3_000_000

        @tool
        def stream(self) -> Any:
            return io.BytesIO(b"x" * 3_000_000)

        @tool
        def noise(self) -> Image.Image:
            return Image.effect_noise((1500, 1000), 50)

    async with connected(serving(Large, limits=Limits(stream_bytes=1_000_000))) as wire:
        assert [len(text) for text in await wire.texts("text")] == [3_000_000]
        refused = await wire.call("stream")
        assert refused["isError"] is True
        assert "1000000 bytes" in refused["content"][0]["text"]
        assert Seen({}, await wire.call("noise")).picture().size == (1500, 1000)


async def test_every_kind_of_block_arrives_in_every_revision_in_the_form_it_knows() -> None:
    content = ContentList(
        [
            TextContent("t"),
            ImageContent(PNG, "image/png"),
            AudioContent(b"RIFF", "audio/wav"),
            ResourceLink("https://a.example/b", description="d"),
            EmbeddedResource(TextResource("x", "file:///x", "text/plain")),
            EmbeddedResource(BlobResource(b"x", "file:///y")),
        ]
    )
    newest = ["text", "image", "audio", "resource_link", "resource", "resource"]
    for revision in REVISIONS:
        kinds = (await seen(content, revision=revision)).kinds
        assert len(kinds) == 6
        if revision >= "2025-06-18":
            assert kinds == newest


async def test_a_servers_and_a_tools_picture_type() -> None:
    outcome = await seen(png(), content_type=ImageContentType("image/webp"))
    assert outcome.content[0]["mimeType"] == "image/webp"
    assert outcome.picture().convert("RGB").getpixel((0, 0))[0] > 230  # type: ignore[index]
    refused = await seen({"a": 1}, content_type=ImageContentType("image/webp"))
    assert refused.is_error
    assert "dict" in refused.text


async def test_returned_files_are_read_and_closed() -> None:
    opened: list[Any] = []

    class Files(Tool):
        @tool
        def binary(self) -> Annotated[Any, Mime("text/csv")]:
            opened.append(tempfile.TemporaryFile())  # noqa: SIM115 - the conversion closes it
            opened[-1].write(b"a,b")
            return opened[-1]

        @tool
        def text(self) -> io.StringIO:
            opened.append(io.StringIO("grün"))
            return opened[-1]

        @tool
        def several(self) -> list[io.BytesIO]:
            opened.extend([io.BytesIO(b"1"), io.BytesIO(b"2")])
            return opened[-2:]

    async with connected(serving(Files)) as wire:
        resource = (await wire.call("binary"))["content"][0]["resource"]
        assert (resource["mimeType"], base64.b64decode(resource["blob"])) == ("text/csv", b"a,b")
        assert await wire.texts("text") == ["grün"]
        several = (await wire.call("several"))["content"]
        assert [base64.b64decode(block["resource"]["blob"]) for block in several] == [b"1", b"2"]
        assert json.dumps(several)
    assert all(file.closed for file in opened)
