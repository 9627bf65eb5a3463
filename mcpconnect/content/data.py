"""Bytes out of whatever a person has at hand: bytes, a stream, a `Path`, a PIL image, base64 text or a `data:` URL.

`read(data, mime)` is the one place that knows these forms; blocks, builder and media parameters all come here. Rules:
text is base64 or a `data:` URL and nothing else (a file is a `Path`), and it is checked; a stream that can seek is read
from its start, any other from where it stands, and stays open; nothing is read twice.
"""

from __future__ import annotations

import binascii
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias
from urllib.parse import unquote_to_bytes

from ..errors import SerializationError
from . import mime as mimes
from .pictures import PNG, encode_picture, is_picture

if TYPE_CHECKING:
    from PIL import Image

_PART = 1024 * 1024

Readable: TypeAlias = "bytes | bytearray | memoryview | BinaryIO | Path | Image.Image | str"
"""What `read` takes; text is base64 or a `data:` URL."""


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes, their MIME type if something tells it, and the file name if there is one."""

    data: bytes
    mime: str | None
    name: str | None = None


def read(data: Any, mime: str | None = None) -> Data:
    """Return the bytes behind `data`, at once, with the MIME type given, or that of the `data:` URL or file name.

    Raises TypeError if it is none of the readable kinds, ValueError for text that is neither base64 nor a `data:` URL
    and for a MIME type that is none, SerializationError for a picture that cannot be written.
    """
    told = mimes.canonical(mime) if mime else None
    if isinstance(data, str):
        return _read_text(data, told)
    if is_picture(data):
        return Data(encode_picture(data, told or PNG), told or PNG)
    if isinstance(data, PurePath):
        return _named(Path(data).read_bytes(), told, data.name)
    if isinstance(data, bytes | bytearray | memoryview):
        return Data(bytes(data), told)
    if is_stream(data):
        return _named(read_binary(data), told, stream_name(data))
    raise TypeError(
        f"cannot read bytes from {_article(data)}; pass bytes, a stream, a Path, a PIL image or base64 text"
    )


def check_order(mime: Any, data: Any) -> None:
    """Raise TypeError if MIME type and data were swapped, saying so, or if the MIME type is no text."""
    if (
        isinstance(data, str)
        and mimes.is_registered(data)
        and not (isinstance(mime, str) and mimes.is_registered(mime))
    ):
        if mime is not None:
            raise TypeError("MIME type and data are swapped: the MIME type comes first, then the data")
    elif not isinstance(mime, str | None):
        raise TypeError(f"the MIME type must be a str such as 'image/png', not {_article(mime)}")


def decode_text(text: str) -> Data:
    """Return the bytes of base64 text or of a `data:` URL (then with its MIME type).

    White space in base64 is skipped, padding is required. Raises ValueError for anything else.
    """
    if text[:5].lower() == "data:":
        return _read_data_url(text)
    return Data(_base64(text), None)


def is_stream(value: Any) -> bool:
    """Tell whether an object is a file or a stream: of `io`, or one that reads like it (`mmap`, `tempfile`'s wrapper).

    Only methods of the class count, so that an object which answers to any name is none.
    """
    cls = type(value)
    if isinstance(value, io.IOBase) or (
        callable(getattr(cls, "read", None)) and callable(getattr(cls, "readline", None))
    ):
        return True
    return cls.__module__ == "tempfile" and hasattr(value, "read")


def read_stream(stream: Any, limit: int | None = None) -> bytes | str:
    """Read a stream to its end (from its start if it can seek), and leave it open.

    Raises SerializationError if it is closed, has more than `limit` bytes, or gives anything but bytes or text.
    """
    try:
        if _can_seek(stream):
            stream.seek(0)
        content = stream.read() if limit is None else _read_bounded(stream, limit)
    except (ValueError, OSError) as error:
        raise SerializationError(f"the stream cannot be read: {error}") from error
    if not isinstance(content, bytes | bytearray | memoryview | str):
        raise SerializationError(f"the stream gave {_article(content)} instead of bytes or text")
    return content if isinstance(content, str) else bytes(content)


def _read_bounded(stream: Any, limit: int) -> Any:
    """Read part by part: a pipe gives less than it is asked for, and a file allocates all that it is asked for."""
    parts = [stream.read(min(limit + 1, _PART))]
    size = len(parts[0] or ())
    while parts[-1] and size <= limit:
        parts.append(stream.read(min(limit + 1 - size, _PART)))
        size += len(parts[-1] or ())
    if size > limit:
        raise SerializationError(f"the stream has more than {limit} bytes (Limits.stream_bytes)")
    return parts[0] if size == len(parts[0] or ()) else type(parts[0])().join(filter(None, parts))


def read_binary(stream: Any) -> bytes:
    """Read a stream of bytes; TypeError if it is one of text."""
    content = read_stream(stream)
    if isinstance(content, str):
        raise TypeError("the stream gives text; open the file in binary mode ('rb')")
    return content


def stream_name(stream: Any) -> str | None:
    """Return the file name behind a stream, without its folders."""
    name = getattr(stream, "name", None)
    return os.path.basename(name) if isinstance(name, str) and name and not name.startswith("<") else None


def _can_seek(stream: Any) -> bool:
    seekable = getattr(stream, "seekable", None)
    return bool(seekable()) if callable(seekable) else False


def _read_text(text: str, told: str | None) -> Data:
    found = decode_text(text)
    if told and found.mime and _conflict(told, found.mime):
        raise ValueError(f"the data: URL says {found.mime}, the MIME type given is {told}")
    return Data(found.data, told or found.mime)


def _conflict(told: str, found: str) -> bool:
    bare = {mime.partition(";")[0].strip() for mime in (told, found)}
    return len(bare) == 2 and mimes.BINARY not in bare


def _named(data: bytes, told: str | None, name: str | None) -> Data:
    return Data(data, told or (mimes.of_file_name(name) if name else None), name)


def _read_data_url(url: str) -> Data:
    head, comma, body = url[5:].partition(",")
    if not comma:
        raise ValueError("a data: URL has the form data:image/png;base64,…")
    kind, *parameters = (part.strip() for part in head.split(";"))
    encoded = bool(parameters) and parameters[-1].lower() == "base64"
    mime = mimes.canonical(_joined(kind, parameters[:-1] if encoded else parameters)) if kind else None
    return Data(_base64(unquote_to_bytes(body).decode("ascii")) if encoded else unquote_to_bytes(body), mime)


def _joined(kind: str, parameters: Iterable[str]) -> str:
    return "; ".join((kind, *parameters))


def _base64(text: str) -> bytes:
    try:
        return binascii.a2b_base64("".join(text.split()), strict_mode=True)
    except ValueError as error:  # binascii.Error is one; so is the refusal of non-ASCII text
        raise ValueError(
            f"the text is neither base64 nor a data: URL ({error}); to send a file, pass a pathlib.Path"
        ) from None


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
