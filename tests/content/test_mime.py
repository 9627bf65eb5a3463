"""The MIME table."""

import mimetypes

import pytest

from mcpconnect.content import mime


@pytest.mark.fault(116)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jpg", "image/jpeg"),
        ("JPEG", "image/jpeg"),
        (".jpg", "image/jpeg"),
        ("image/jpg", "image/jpeg"),
        ("svg", "image/svg+xml"),
        ("image/svg", "image/svg+xml"),
        ("tif", "image/tiff"),
        ("wav", "audio/wav"),
        ("mp3", "audio/mpeg"),
        ("audio/mp3", "audio/mpeg"),
        ("Image/PNG", "image/png"),
        ("text/plain; charset=UTF-8", "text/plain; charset=UTF-8"),
        ("application/vnd.own+json", "application/vnd.own+json"),
    ],
)
def test_names_become_registered_types(name: str, expected: str) -> None:
    assert mime.canonical(name) == expected


@pytest.mark.parametrize("text", ["", "picture", "image/", "/png", "image/p ng", "a/b/c", "bild/größe"])
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a MIME type"):
        mime.canonical(text)


@pytest.mark.fault(117)
def test_the_systems_table_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    mimetypes.add_type("audio/x-wav", ".wav")
    mimetypes.add_type("video/mp2t", ".ts")
    try:
        assert mime.of_file_name("x.wav") == "audio/wav"
        assert mime.of_file_name("x.ts") == "text/typescript"
        assert mime.canonical("audio/x-wav") == "audio/wav"
    finally:
        mimetypes.init()


def test_only_a_known_extension_tells_a_type() -> None:
    assert mime.of_file_name("Photo.JPEG") == "image/jpeg"
    assert mime.of_file_name("report.v2") is None
    assert mime.of_file_name("png") is None
    assert mime.of_file_name(".png") is None


def test_every_extension_leads_back_to_its_type() -> None:
    for extension, kind in mime.TYPES.items():
        assert mime.TYPES[mime.EXTENSIONS[kind]] == kind
        assert mime.canonical(extension) == kind == mime.canonical(kind)
    assert mime.extension("image/jpeg") == ".jpg"
    assert mime.extension("text/plain; charset=utf-8") == ".txt"
    assert mime.extension("application/x-unheard-of") == ".bin"


def test_aliases_lead_to_types_that_are_no_aliases() -> None:
    assert not set(mime.ALIASES) & (set(mime.ALIASES.values()) | set(mime.TYPES.values()))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"RIFF\0\0\0\0????", None),
        (b"\0\0\0\x1cftypavif", "image/avif"),
        (b"\0\0\0\x1cftyp????", None),
        (b"\xff\xfb\x90", "audio/mpeg"),
        (b'<?xml version="1.0"?><svg>', "image/svg+xml"),
        (b"hello", None),
        (b"", None),
    ],
)
def test_first_bytes_tell_the_type(data: bytes, expected: str | None) -> None:
    assert mime.of_bytes(data) == expected


def test_texts_are_told_from_other_data() -> None:
    assert all(
        map(mime.is_text, ["text/plain", "application/json", "image/svg+xml", "application/yaml; charset=utf-8"])
    )
    assert not any(map(mime.is_text, ["application/pdf", "image/png", "application/octet-stream"]))


def test_charset_is_utf8_unless_said_otherwise() -> None:
    assert mime.charset("text/plain") == "utf-8"
    assert mime.charset('text/plain; format=flowed; Charset="latin-1"') == "latin-1"


def test_marker_holds_the_registered_type() -> None:
    assert mime.Mime("PDF").type == "application/pdf"
    with pytest.raises(ValueError):
        mime.Mime("no type")
