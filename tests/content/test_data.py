"""Bytes out of whatever a person has at hand."""

import codecs
import io
import mmap
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from PIL import Image

from mcpconnect.content.data import Data, decode_text, is_stream, read, read_stream
from mcpconnect.errors import SerializationError


def test_every_form_gives_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"hi")

    assert read(b"hi") == read(bytearray(b"hi")) == read(memoryview(b"hi")) == Data(b"hi", None)
    assert read(io.BytesIO(b"hi")) == Data(b"hi", None)
    assert read(file) == Data(b"hi", "text/csv", "a.csv")
    with file.open("rb") as stream:
        assert read(stream) == Data(b"hi", "text/csv", "a.csv")
    assert read("aGk=") == Data(b"hi", None)
    assert read("data:text/plain;base64,aGk=") == Data(b"hi", "text/plain")
    assert read(Image.new("L", (1, 1))).mime == "image/png"


def test_the_type_given_beats_the_one_told(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"hi")

    assert read(file, "text/plain").mime == "text/plain"
    assert read("data:application/octet-stream;base64,aGk=", "text/plain").mime == "text/plain"
    assert read(b"hi", "PDF").mime == "application/pdf"


def test_memory_that_is_not_contiguous_is_read() -> None:
    assert read(memoryview(b"abcdef")[::2]).data == b"ace"


@pytest.mark.parametrize("value", [5, None, ["a"], {"a": 1}, object()])
def test_other_classes_are_refused_by_name(value) -> None:
    with pytest.raises(TypeError, match=type(value).__name__):
        read(value)


def test_a_missing_file_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.png")


@pytest.mark.parametrize(
    ("url", "data", "mime"),
    [
        ("data:,", b"", None),
        ("data:,a%20b", b"a b", None),
        ("DATA:image/PNG;base64,aGk=", b"hi", "image/png"),
        ("data:text/plain;charset=utf-8;BASE64,aGk%3D", b"hi", "text/plain; charset=utf-8"),
        ("data:image/jpg;base64,aGk=", b"hi", "image/jpeg"),
    ],
)
def test_data_urls_in_every_spelling(url: str, data: bytes, mime: str | None) -> None:
    assert decode_text(url) == Data(data, mime)


@pytest.mark.parametrize("text", ["data:", "data:text/plain", "data:;base64,%%%", "data:no type,x", "a-b_", "aGk", "é"])
def test_text_that_is_neither_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode_text(text)


def test_streams_are_told_by_their_class(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"hi")
    with (
        (tmp_path / "a").open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as mapped,
        tempfile.NamedTemporaryFile() as named,
        tempfile.SpooledTemporaryFile() as spooled,
        tempfile.TemporaryDirectory() as folder,
        codecs.open(str(tmp_path / "a"), encoding="utf-8") as decoded,
    ):
        assert all(map(is_stream, [file, mapped, named, spooled, decoded, io.StringIO(), io.BytesIO()]))
        assert not any(map(is_stream, [folder, b"", "x", Path("a"), MagicMock(), object()]))
        assert read_stream(mapped) == b"hi"
        assert read_stream(decoded) == "hi"


def test_a_closed_stream_is_an_error_with_its_cause() -> None:
    stream = io.BytesIO(b"hi")
    stream.close()

    with pytest.raises(SerializationError, match=r"cannot be read.*closed"):
        read_stream(stream)


def test_a_limit_counts_what_is_read() -> None:
    assert read_stream(io.BytesIO(b"hi"), 2) == b"hi"
    with pytest.raises(SerializationError, match="more than 1 bytes"):
        read_stream(io.BytesIO(b"hi"), 1)


def test_a_stream_that_gives_little_at_a_time_is_read_to_its_end() -> None:
    class Socket(io.RawIOBase):
        def __init__(self) -> None:
            self.parts = [b"a", b"bc", b"d"]

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            return self.parts.pop(0) if self.parts else b""

    assert read_stream(Socket(), 4) == b"abcd"
    with pytest.raises(SerializationError, match="more than 3 bytes"):
        read_stream(Socket(), 3)


def test_the_names_of_pipes_and_descriptors_are_no_file_names() -> None:
    from mcpconnect.content.data import stream_name

    class Named(io.BytesIO):
        def __init__(self, name: object) -> None:
            super().__init__()
            self.name = name

    assert stream_name(Named("/a/b.txt")) == "b.txt"
    assert [stream_name(Named(name)) for name in (3, "<stdin>", "", None)] == [None] * 4
