"""PIL images of every mode, and what is wrong with some."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageCms, ImageDraw

from mcpconnect.content.pictures import WRITABLE, encode_picture, is_picture, open_picture
from mcpconnect.errors import SerializationError

MODES = [
    "1",
    "L",
    "LA",
    "La",
    "P",
    "PA",
    "RGB",
    "RGBA",
    "RGBa",
    "RGBX",
    "CMYK",
    "YCbCr",
    "LAB",
    "HSV",
    "I",
    "I;16",
    "I;16B",
    "I;16L",
    "I;16N",
    "F",
]


def reread(image: Image.Image, mime: str = "image/png") -> Image.Image:
    decoded = Image.open(io.BytesIO(encode_picture(image, mime)))
    decoded.load()
    assert Image.MIME[str(decoded.format)] == mime
    return decoded


def of_pixels(mode: str, *pixels) -> Image.Image:
    image = Image.new(mode, (len(pixels), 1))
    for x, pixel in enumerate(pixels):
        image.putpixel((x, 0), pixel)
    return image


def pixels(image: Image.Image) -> list:
    return [image.getpixel((x, 0)) for x in range(image.width)]


@pytest.mark.parametrize("mime", WRITABLE)
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_can_be_written_in_every_format(mode: str, mime: str) -> None:
    assert reread(Image.new(mode, (20, 10)), mime).size == (20, 10)


@pytest.mark.fault(110)
@pytest.mark.parametrize(
    ("mode", "red", "tolerance"),
    [
        ("CMYK", (0, 255, 255, 0), 0),
        ("YCbCr", (76, 85, 255), 2),
        ("HSV", (0, 255, 255), 0),
        ("RGBX", (255, 0, 0, 0), 0),
        ("RGBa", (255, 0, 0, 255), 0),
        ("RGB", (255, 0, 0), 0),
    ],
)
def test_pixels_keep_their_colour(mode: str, red: tuple[int, ...], tolerance: int) -> None:
    decoded = reread(Image.new(mode, (2, 2), red)).convert("RGB")

    assert all(abs(a - b) <= tolerance for a, b in zip(decoded.getpixel((1, 1)), (255, 0, 0), strict=True))


def test_lab_keeps_its_colour() -> None:
    to_lab = ImageCms.buildTransform(ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB")
    lab = ImageCms.applyTransform(Image.new("RGB", (2, 2), (200, 30, 60)), to_lab)
    assert lab is not None

    decoded = reread(lab)

    assert all(abs(a - b) <= 4 for a, b in zip(decoded.getpixel((0, 0)), (200, 30, 60), strict=True))


def test_recoloured_pictures_lose_their_profile_and_others_keep_it() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    cmyk, rgb = Image.new("CMYK", (1, 1)), Image.new("RGB", (1, 1))
    cmyk.info["icc_profile"] = rgb.info["icc_profile"] = profile

    assert "icc_profile" not in reread(cmyk).info
    assert reread(rgb).info["icc_profile"] == profile
    assert cmyk.info["icc_profile"] == profile


def test_alpha_survives() -> None:
    half = (10, 200, 30, 128)

    assert reread(Image.new("RGBA", (1, 1), half)).getpixel((0, 0)) == half
    assert reread(Image.new("LA", (1, 1), (9, 128))).getpixel((0, 0)) == (9, 128)
    assert reread(Image.new("LA", (1, 1), (9, 255)).convert("La")).getpixel((0, 0)) == (9, 255)


@pytest.mark.fault(111)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0, 1000, 65535), (0, 1000, 65535)),
        ((-5, 70000, 34997), (0, 65535, 32768)),
        ((70000, 70000), (0, 0)),
        ((-(2**31), 2**31 - 1), (0, 65535)),
    ],
)
def test_integer_pixels_stay_or_are_spread(values: tuple[int, ...], expected: tuple[int, ...]) -> None:
    decoded = reread(of_pixels("I", *values))

    assert decoded.mode == "I;16"
    assert all(abs(a - b) <= 1 for a, b in zip(pixels(decoded), expected, strict=True))


@pytest.mark.fault(111)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.0, 0.5, 1.0), (0, 128, 255)),
        ((0.0, 127.6, 255.0), (0, 128, 255)),
        ((-1.0, 0.0, 1.0), (0, 128, 255)),
        ((1000.0, 3000.0), (0, 255)),
        ((-7.0, -7.0), (0, 0)),
    ],
)
def test_float_pixels_are_spread_over_eight_bits(values: tuple[float, ...], expected: tuple[int, ...]) -> None:
    decoded = reread(of_pixels("F", *values))

    assert decoded.mode == "L"
    assert pixels(decoded) == list(expected)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_float_pixels_that_are_no_numbers_are_refused(bad: float) -> None:
    for values in ((0.0, bad), (bad, 0.0), (0.5, bad, 1.0)):
        with pytest.raises(SerializationError, match="mode F"):
            encode_picture(of_pixels("F", *values))


@pytest.mark.fault(112)
@pytest.mark.parametrize("mode", ["I;16", "I;16B", "I;16L", "I;16N"])
def test_sixteen_bits_stay_sixteen_bits(mode: str) -> None:
    assert pixels(reread(of_pixels(mode, 1000, 65535))) == [1000, 65535]


@pytest.mark.fault(112)
@pytest.mark.parametrize("mime", ["image/jpeg", "image/webp", "image/bmp"])
def test_sixteen_bits_are_scaled_for_formats_of_eight(mime: str) -> None:
    image = Image.new("I;16", (16, 16), 0)
    image.paste(32896, (8, 0, 16, 16))

    decoded = reread(image, mime).convert("L")

    assert abs(decoded.getpixel((2, 2)) - 0) < 8
    assert abs(decoded.getpixel((13, 2)) - 128) < 8


@pytest.mark.fault(113)
@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA", "RGBa", "La"])
def test_clear_pixels_are_white_in_a_format_without_alpha(mode: str) -> None:
    image = Image.new(mode, (16, 16))

    for mime in ("image/jpeg", "image/bmp"):
        assert min(reread(image, mime).convert("RGB").getpixel((8, 8))) >= 250


@pytest.mark.fault(113)
def test_half_clear_pixels_are_mixed_with_white() -> None:
    red, green, blue = reread(Image.new("RGBA", (16, 16), (0, 0, 0, 128)), "image/bmp").getpixel((0, 0))

    assert red == green == blue
    assert abs(red - 127) <= 1


def palette(transparency: object = None) -> Image.Image:
    image = Image.new("P", (3, 1))
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    for x in range(3):
        image.putpixel((x, 0), x)
    if transparency is not None:
        image.info["transparency"] = transparency
    return image


@pytest.mark.fault(114)
def test_palettes_keep_colours_and_transparency() -> None:
    clear = [(255, 0, 0, 0), (0, 255, 0, 255), (0, 0, 255, 255)]

    assert pixels(reread(palette()).convert("RGB")) == [pixel[:3] for pixel in clear]
    assert pixels(reread(palette(0)).convert("RGBA")) == clear
    assert pixels(reread(palette(b"\0\xff\x80")).convert("RGBA")) == [*clear[:2], (0, 0, 255, 128)]
    jpeg = reread(palette(0).resize((30, 10), Image.Resampling.NEAREST), "image/jpeg")
    assert min(jpeg.getpixel((4, 5))) >= 240


@pytest.mark.fault(114)
def test_one_clear_colour_of_other_modes_survives() -> None:
    image = Image.new("RGB", (2, 1), (1, 2, 3))
    image.putpixel((1, 0), (9, 9, 9))
    image.info["transparency"] = (1, 2, 3)

    assert pixels(reread(image).convert("RGBA")) == [(1, 2, 3, 0), (9, 9, 9, 255)]


def animated(kind: str = "gif") -> Image.Image:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue")]
    file = io.BytesIO()
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return Image.open(file)


@pytest.mark.fault(115)
@pytest.mark.parametrize("kind", ["gif", "webp", "png"])
def test_an_animation_is_a_png_of_the_frame_it_stands_at(kind: str) -> None:
    image = animated(kind)

    first = reread(image)
    image.seek(2)
    third = reread(image)

    assert getattr(first, "n_frames", 1) == 1
    assert first.convert("RGB").getpixel((4, 4))[0] > 200
    assert third.convert("RGB").getpixel((4, 4))[2] > 200


@pytest.mark.fault(115)
@pytest.mark.parametrize("mime", ["image/gif", "image/webp"])
def test_an_animation_stays_one_where_the_format_can(mime: str) -> None:
    decoded = reread(animated(), mime)
    colours = []
    for frame in range(decoded.n_frames):
        decoded.seek(frame)
        colours.append(max(range(3), key=decoded.convert("RGB").getpixel((4, 4)).__getitem__))

    assert colours == [0, 1, 2]


@pytest.mark.fault(118)
def test_a_changed_picture_without_source_format_is_a_png(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), "red").save(tmp_path / "a.jpg")

    resized = Image.open(tmp_path / "a.jpg").resize((2, 2))

    assert resized.format is None
    assert reread(resized).size == (2, 2)
    assert reread(Image.open(tmp_path / "a.jpg")).format == "PNG"


def test_a_turned_photograph_is_written_upright(tmp_path: Path) -> None:
    photo = Image.new("RGB", (4, 2), "black")
    ImageDraw.Draw(photo).rectangle((0, 0, 1, 1), "white")
    exif = Image.Exif()
    exif[0x0112] = 6  # turn clockwise to see it upright
    photo.save(tmp_path / "a.jpg", exif=exif, quality=95)

    decoded = reread(Image.open(tmp_path / "a.jpg"))

    assert decoded.size == (2, 4)
    assert decoded.getexif().get(0x0112, 1) == 1


@pytest.mark.fault(119)
def test_a_closed_picture_is_refused_with_its_cause(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")

    def closed() -> Image.Image:
        with Image.open(tmp_path / "a.png") as image:
            return image

    with pytest.raises(SerializationError, match=r"closed by now, return image\.copy\(\)"):
        encode_picture(closed())
    fully = Image.new("RGB", (8, 8))
    fully.close()
    with pytest.raises(SerializationError, match="closed"):
        encode_picture(fully)


@pytest.mark.fault(119)
@pytest.mark.parametrize("size", [(0, 0), (0, 5), (5, 0)])
def test_an_empty_picture_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(SerializationError, match="empty"):
        encode_picture(Image.new("RGB", size))


@pytest.mark.fault(119)
def test_a_broken_file_is_refused() -> None:
    data = encode_picture(Image.effect_noise((64, 64), 50))

    with pytest.raises(SerializationError, match="cannot be written"):
        encode_picture(Image.open(io.BytesIO(data[:500])))


def test_a_format_that_pillow_cannot_write_is_refused() -> None:
    with pytest.raises(SerializationError, match=r"image/svg\+xml; possible are image/png"):
        encode_picture(Image.new("RGB", (1, 1)), "image/svg+xml")


def test_writing_leaves_the_picture_as_it_was() -> None:
    image = Image.new("RGBA", (2, 2), (1, 2, 3, 4))
    before = (image.mode, image.info.copy(), image.tobytes(), set(vars(image)))

    encode_picture(image)
    encode_picture(image, "image/jpeg")

    assert (image.mode, image.info, image.tobytes(), set(vars(image))) == before


def test_pictures_are_recognised_by_class() -> None:
    assert is_picture(Image.new("L", (1, 1)))
    assert not is_picture(b"")


def test_opening_reads_the_whole_picture_or_refuses() -> None:
    data = encode_picture(Image.effect_noise((64, 64), 50))

    assert open_picture(data).size == (64, 64)
    for bad in (b"", b"hello", data[:200], b"\x89PNG\r\n\x1a\n" + b"\0" * 30):
        with pytest.raises(ValueError, match="no picture"):
            open_picture(bad)


def test_opening_refuses_a_picture_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    for side in (11, 20):
        data = io.BytesIO()
        Image.new("L", (side, side)).save(data, "PNG")
        with pytest.raises(ValueError, match="no picture"):
            open_picture(data.getvalue())
