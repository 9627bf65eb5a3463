"""MIME types: an own fixed table, the same on every machine.

The standard library's `mimetypes` is never asked, because it reads the system's tables: there a `.wav` may be
`audio/x-wav` and a `.ts` a film. Rule: a type is written in its registered form (`canonical`), a file's type follows
from its extension, and where there is none from the first bytes of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

BINARY = "application/octet-stream"
JSON = "application/json"
TEXT = "text/plain"

TYPES = MappingProxyType(
    {
        # pictures
        "avif": "image/avif",
        "bmp": "image/bmp",
        "gif": "image/gif",
        "heic": "image/heic",
        "ico": "image/vnd.microsoft.icon",
        "jp2": "image/jp2",
        "jpg": "image/jpeg",
        "jpeg": "image/jpeg",
        "jpe": "image/jpeg",
        "png": "image/png",
        "apng": "image/apng",
        "svg": "image/svg+xml",
        "tiff": "image/tiff",
        "tif": "image/tiff",
        "webp": "image/webp",
        # sound and film
        "aac": "audio/aac",
        "aiff": "audio/aiff",
        "flac": "audio/flac",
        "m4a": "audio/mp4",
        "mid": "audio/midi",
        "mp3": "audio/mpeg",
        "ogg": "audio/ogg",
        "oga": "audio/ogg",
        "opus": "audio/opus",
        "wav": "audio/wav",
        "weba": "audio/webm",
        "avi": "video/x-msvideo",
        "mkv": "video/matroska",
        "mov": "video/quicktime",
        "mp4": "video/mp4",
        "mpeg": "video/mpeg",
        "webm": "video/webm",
        # texts
        "txt": TEXT,
        "log": TEXT,
        "ini": TEXT,
        "rst": "text/x-rst",
        "css": "text/css",
        "csv": "text/csv",
        "html": "text/html",
        "htm": "text/html",
        "ics": "text/calendar",
        "js": "text/javascript",
        "mjs": "text/javascript",
        "md": "text/markdown",
        "markdown": "text/markdown",
        "py": "text/x-python",
        "sh": "text/x-shellscript",
        "sql": "application/sql",
        "ts": "text/typescript",
        "tsx": "text/typescript",
        "tsv": "text/tab-separated-values",
        "json": JSON,
        "jsonl": "application/jsonl",
        "ndjson": "application/x-ndjson",
        "toml": "application/toml",
        "xml": "application/xml",
        "yaml": "application/yaml",
        "yml": "application/yaml",
        # documents, archives and the rest
        "bin": BINARY,
        "bz2": "application/x-bzip2",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip",
        "gz": "application/gzip",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odt": "application/vnd.oasis.opendocument.text",
        "parquet": "application/vnd.apache.parquet",
        "pdf": "application/pdf",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rtf": "application/rtf",
        "sqlite": "application/vnd.sqlite3",
        "tar": "application/x-tar",
        "wasm": "application/wasm",
        "woff": "font/woff",
        "woff2": "font/woff2",
        "ttf": "font/ttf",
        "otf": "font/otf",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "zip": "application/zip",
        "7z": "application/x-7z-compressed",
    }
)
"""Extension (lower case, no dot) → MIME type. The first extension of a type is the one written for it."""

ALIASES = MappingProxyType(
    {
        "image/jpg": "image/jpeg",
        "image/pjpeg": "image/jpeg",
        "image/x-png": "image/png",
        "image/svg": "image/svg+xml",
        "image/tif": "image/tiff",
        "image/x-bmp": "image/bmp",
        "image/x-ms-bmp": "image/bmp",
        "image/ico": "image/vnd.microsoft.icon",
        "image/x-icon": "image/vnd.microsoft.icon",
        "audio/wave": "audio/wav",
        "audio/x-wav": "audio/wav",
        "audio/vnd.wave": "audio/wav",
        "audio/mp3": "audio/mpeg",
        "audio/x-mp3": "audio/mpeg",
        "audio/m4a": "audio/mp4",
        "audio/x-m4a": "audio/mp4",
        "audio/x-flac": "audio/flac",
        "audio/x-aiff": "audio/aiff",
        "audio/x-aac": "audio/aac",
        "text/json": JSON,
        "text/xml": "application/xml",
        "text/yaml": "application/yaml",
        "text/x-yaml": "application/yaml",
        "application/x-yaml": "application/yaml",
        "text/x-markdown": "text/markdown",
        "application/javascript": "text/javascript",
        "application/x-javascript": "text/javascript",
        "application/x-pdf": "application/pdf",
        "application/x-gzip": "application/gzip",
        "application/x-zip-compressed": "application/zip",
    }
)
"""Spellings met in the wild → the registered type."""

EXTENSIONS = MappingProxyType({mime: extension for extension, mime in reversed(list(TYPES.items()))})
"""MIME type → extension (no dot)."""

_KINDS = frozenset({"application", "audio", "font", "image", "message", "model", "multipart", "text", "video"})
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/vnd.microsoft.icon"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"MThd", "audio/midi"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)
_RIFF = {b"WAVE": "audio/wav", b"WEBP": "image/webp", b"AVI ": "video/x-msvideo"}
_ISO_BRANDS = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"M4A ": "audio/mp4",
    b"qt  ": "video/quicktime",
    b"isom": "video/mp4",
    b"mp41": "video/mp4",
    b"mp42": "video/mp4",
}
_MPEG_FRAMES = (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")
_TEXT_SUFFIXES = ("+json", "+xml", "+yaml")
_TEXTS = frozenset(
    mime for mime in TYPES.values() if mime.split("/")[1] in {"json", "jsonl", "x-ndjson", "xml", "yaml", "toml", "sql"}
)


@dataclass(frozen=True, slots=True)
class Mime:
    """Marks an annotation with the MIME type of its bytes: `-> Annotated[bytes, Mime("application/pdf")]`.

    Raises ValueError if `type` is no MIME type.
    """

    type: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", canonical(self.type))


def canonical(mime: str) -> str:
    """Return the registered spelling of a MIME type, a format name or an extension.

    `image/jpg`, `JPEG` and `.jpg` are all `image/jpeg`; parameters (`; charset=utf-8`) stay.
    Raises ValueError if it is none of these.
    """
    name, semicolon, parameters = mime.partition(";")
    name = name.strip().lower()
    known = ALIASES.get(name) or TYPES.get(name.removeprefix(".")) or name
    if not is_mime(known):
        raise ValueError(f"{mime!r} is not a MIME type such as 'image/png'")
    return known + semicolon + parameters


def is_mime(text: str) -> bool:
    """Tell whether a text has the form `type/subtype`, with or without parameters."""
    kind, slash, subtype = text.partition(";")[0].strip().partition("/")
    return bool(slash) and _is_token(kind) and _is_token(subtype)


def is_registered(text: str) -> bool:
    """Tell whether a text is a MIME type of a registered kind, which base64 with a slash in it is not."""
    return text.partition("/")[0].lower() in _KINDS and is_mime(text)


def of_file_name(name: str) -> str | None:
    """Return the MIME type that a file's extension stands for, or None if it is unknown."""
    stem, dot, extension = name.rpartition(".")
    return TYPES.get(extension.lower()) if dot and stem else None


def of_bytes(data: bytes) -> str | None:
    """Return the MIME type that the first bytes of a picture, a sound or a document tell, or None."""
    for signature, mime in _SIGNATURES:
        if data.startswith(signature):
            return mime
    if data.startswith(b"RIFF"):
        return _RIFF.get(data[8:12])
    if data[4:8] == b"ftyp":
        return _ISO_BRANDS.get(data[8:12])
    if data.startswith(_MPEG_FRAMES):
        return "audio/mpeg"
    return "image/svg+xml" if b"<svg" in data[:256] else None


def is_text(mime: str) -> bool:
    """Tell whether data of this type is text that a person or a model can read."""
    name = mime.partition(";")[0].strip()
    return name.startswith("text/") or name in _TEXTS or name.endswith(_TEXT_SUFFIXES)


def charset(mime: str) -> str:
    """Return the `charset` parameter of a MIME type; UTF-8 where there is none."""
    for parameter in mime.split(";")[1:]:
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "charset":
            return value.strip('" ')
    return "utf-8"


def extension(mime: str) -> str:
    """Return the extension for a MIME type with its dot; `.bin` where none is known."""
    return "." + EXTENSIONS.get(mime.partition(";")[0].strip(), "bin")


def _is_token(text: str) -> bool:
    return bool(text) and all(c.isascii() and (c.isalnum() or c in "!#$&-^_.+*%'`|~") for c in text)
