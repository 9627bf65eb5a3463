"""PIL images to bytes: every mode ends in correct pixels or in a clear error.

Pillow is used only if the program has loaded it already (an object can be a PIL image only then), so nothing here
imports it at start. Each target format names the modes it can hold; a picture is brought into the nearest of them:

- `La RGBa PA` lose nothing; `CMYK YCbCr HSV LAB RGBX` become RGB (their colour profile no longer applies and goes).
- Integer pixels (`I`, `I;16…`) stay exact while they fit into 0…65535; otherwise min…max is spread over 0…65535. A
  format of eight bits gets them divided by 257.
- Float pixels (`F`) become eight-bit grey: 0.0…1.0 is spread over 0…255, 0…255 is rounded, anything else is min…max.
- Formats without alpha show the picture on white. Turned photographs (EXIF) are written upright.
- An animated picture keeps all its frames in GIF and WebP; elsewhere the frame that it stands at is sent.
"""

from __future__ import annotations

import array
import io
import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

from ..errors import SerializationError

if TYPE_CHECKING:
    from PIL import Image

PNG = "image/png"

_EXIF_ORIENTATION = 0x0112


@dataclass(frozen=True, slots=True)
class _Format:
    """What Pillow calls a format, the modes that it holds, and how it is written."""

    name: str
    modes: frozenset[str]
    options: dict[str, Any] = field(default_factory=dict)
    animated: bool = False


def _format(name: str, modes: str, *, animated: bool = False, **options: Any) -> _Format:
    return _Format(name, frozenset(modes.split()), options, animated)


_FORMATS = {
    # Level 4 costs a third of the default's time for a tenth more bytes.
    "image/png": _format("PNG", "1 L LA P RGB RGBA I;16", compress_level=4),
    "image/jpeg": _format("JPEG", "L RGB"),
    "image/webp": _format("WEBP", "RGB RGBA", animated=True),
    "image/gif": _format("GIF", "1 L P RGB RGBA", animated=True),
    "image/bmp": _format("BMP", "1 L P RGB"),
    "image/tiff": _format("TIFF", "1 L LA P RGB RGBA I;16"),
    "image/avif": _format("AVIF", "RGB RGBA"),
    "image/jp2": _format("JPEG2000", "L LA RGB RGBA I;16"),
}
"""The formats that a picture can be written in, by MIME type."""

WRITABLE = tuple(_FORMATS)

_PLAIN = {"La": "LA", "RGBa": "RGBA", "PA": "RGBA"}
_SIXTEEN_BITS = frozenset({"I;16B", "I;16L", "I;16N"})
_RECOLOURED = frozenset({"CMYK", "YCbCr", "HSV", "LAB", "RGBX"})


def is_picture(value: object) -> TypeGuard[Image.Image]:
    """Tell whether an object is a PIL image, without importing Pillow."""
    image = picture_class()
    return image is not None and isinstance(value, image)


def picture_class() -> type[Image.Image] | None:
    """Return `PIL.Image.Image` if the program has loaded it."""
    module = sys.modules.get("PIL.Image")
    return None if module is None else getattr(module, "Image", None)


def open_picture(data: bytes) -> Image.Image:
    """Return the picture that the bytes hold, decoded whole.

    Raises ValueError for bytes that Pillow cannot read, and for a picture so large that it may be an attack.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(io.BytesIO(data))
        # Pillow only warns up to twice this size; changing the warning filters would not be safe in worker threads.
        if Image.MAX_IMAGE_PIXELS is not None and image.width * image.height > Image.MAX_IMAGE_PIXELS:
            raise ValueError(f"{image.width} × {image.height} pixels are too many")
        image.load()
    except UnidentifiedImageError:  # its text shows the address of our buffer
        raise ValueError("the data is no picture that can be read (it has none of the known formats)") from None
    except Exception as error:  # Pillow's plugins raise anything, from OSError to struct.error
        raise ValueError(f"the data is no picture that can be read ({error})") from error
    return image


def encode_picture(image: Image.Image, mime: str = PNG) -> bytes:
    """Write a picture in the format of a MIME type (see `WRITABLE`).

    Raises SerializationError for a picture that is closed, empty, broken or of an unknown mode, and for a format
    that Pillow cannot write.
    """
    target = _FORMATS.get(mime)
    if target is None:
        raise SerializationError(f"a picture cannot be written as {mime}; possible are {', '.join(WRITABLE)}")
    if not (image.width and image.height):
        raise SerializationError(f"the picture is empty: its size is {image.width} × {image.height} pixels")
    try:
        return _write(image, target)
    except SerializationError:
        raise
    except Exception as error:  # Pillow raises anything from AttributeError to SyntaxError for closed and broken files
        raise SerializationError(
            f"the picture of mode {image.mode} cannot be written as {mime} ({type(error).__name__}: {error}); "
            "if its file is closed by now, return image.copy()"
        ) from error


def _write(image: Image.Image, target: _Format) -> bytes:
    buffer = io.BytesIO()
    if target.animated and getattr(image, "is_animated", False):
        image.save(buffer, target.name, save_all=True, **target.options)
    else:
        _fit(_upright(image), target).save(buffer, target.name, **target.options)
    return buffer.getvalue()


def _upright(image: Image.Image) -> Image.Image:
    """Return the picture turned as its EXIF data says; always another object than the one given.

    Pillow's `save` writes to attributes of the image; the same image may be in use by another call.
    """
    if "exif" in image.info and image.getexif().get(_EXIF_ORIENTATION, 1) != 1:
        from PIL import ImageOps

        return ImageOps.exif_transpose(image)
    return image.copy()


def _fit(image: Image.Image, target: _Format) -> Image.Image:
    plain = _plain(image)
    if plain.mode in target.modes:
        return plain
    if plain.mode == "I;16":
        return _grey(plain.convert("F"), 1 / 257)
    if plain.has_transparency_data:
        rgba = plain.convert("RGBA")
        return rgba if "RGBA" in target.modes else _on_white(rgba)
    return plain.convert("L" if plain.mode in {"1", "L"} and "L" in target.modes else "RGB")


def _plain(image: Image.Image) -> Image.Image:
    """Bring a picture into one of the modes `1 L LA P RGB RGBA I;16`."""
    if image.mode == "I":
        return _sixteen_bits(image)
    if image.mode in _SIXTEEN_BITS:  # straight to I;16 Pillow would cut them off at 255
        return image.convert("I").convert("I;16")
    if image.mode == "F":
        return _eight_bits(image)
    if image.mode in _RECOLOURED:
        recoloured = image.convert("RGB")
        recoloured.info.pop("icc_profile", None)
        return recoloured
    return image.convert(_PLAIN[image.mode]) if image.mode in _PLAIN else image


def _sixteen_bits(image: Image.Image) -> Image.Image:
    low, high = _extrema(image)
    if low >= 0 and high <= 0xFFFF:
        return image.convert("I;16")
    # A flat picture outside the range has no contrast to keep.
    scale = 0xFFFF / (high - low) if high > low else 0.0
    return _linear(image.convert("F"), scale, -low * scale + 0.5).convert("I").convert("I;16")


def _eight_bits(image: Image.Image) -> Image.Image:
    if not math.isfinite(sum(array.array("f", image.tobytes()))):
        raise SerializationError("the picture of mode F has pixels that are not finite numbers")
    low, high = _extrema(image)
    if low >= 0 and high <= 1:
        return _grey(image, 255)
    if low >= 0 and high <= 255:
        return _grey(image, 1)
    scale = 255 / (high - low) if high > low else 0.0
    return _grey(image, scale, -low * scale)


def _grey(image: Image.Image, scale: float, offset: float = 0.0) -> Image.Image:
    # Pillow cuts the fraction off, half a step more makes it rounding.
    return _linear(image, scale, offset + 0.5).convert("L")


def _linear(image: Image.Image, scale: float, offset: float) -> Image.Image:
    # Pillow evaluates this expression once, symbolically: number pictures take no other kind of function.
    return image.point(lambda pixel: pixel * scale + offset)


def _extrema(image: Image.Image) -> tuple[float, float]:
    low, high = image.getextrema()
    return low, high  # type: ignore[return-value]  # pairs of pairs are for several bands only


def _on_white(image: Image.Image) -> Image.Image:
    from PIL import Image

    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground
