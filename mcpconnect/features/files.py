"""Files as resources: what `server.add_file` and `server.add_directory` offer.

Rule: there is no way out of a directory: what is listed is found by walking it, a link that leads elsewhere is left
out, and a file is opened only if it still lies below when it is read. Whether a file is text is decided by its type and
its bytes: text is UTF-8, without a byte order mark.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from ..content import BlobResource, TextResource
from ..content import mime as mimes
from ..errors import DefinitionError, ResourceNotFound
from ..limits import Limits
from .declare_resources import resource

_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))]
)


class FileSource:
    """One file, read anew each time. `root` is the directory that it may not leave, if it came from one."""

    def __init__(self, path: Path, mime_type: str | None, root: Path | None = None) -> None:
        self.path = path
        self.root = root
        self.mime_type = mime_type or mimes.of_file_name(path.name)

    def read(self, uri: str, limits: Limits) -> TextResource | BlobResource:
        """Return the contents; runs in a worker thread.

        Raises:
            ResourceNotFound: the file is gone, is no file any more, or leads out of its directory.
        """
        try:
            with self._resolved().open("rb") as stream:
                # What was looked at may have been exchanged before it was opened.
                if not os.path.samestat(os.fstat(stream.fileno()), self._resolved().stat()):
                    raise OSError
                data = stream.read(limits.stream_bytes + 1)
        except OSError:
            raise ResourceNotFound(f"no resource {uri}", data={"uri": uri}) from None
        if len(data) > limits.stream_bytes:
            raise ValueError(f"{self.path} has more than {limits.stream_bytes} bytes (Limits.stream_bytes)")
        return contents(data, uri, self.mime_type)

    def _resolved(self) -> Path:
        path = self.path.resolve(strict=True)
        if not path.is_file() or (self.root is not None and not path.is_relative_to(self.root)):
            raise OSError
        return path


def contents(data: bytes, uri: str, mime_type: str | None) -> TextResource | BlobResource:
    """Return bytes as text where they are text, else as a blob."""
    if mime_type is None or mimes.is_text(mime_type):
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = None
        if text is not None and "\0" not in text:
            return TextResource(text, uri, mime_type or "text/plain")
    return BlobResource(data, uri, mime_type or mimes.of_bytes(data) or mimes.BINARY)


def directory_resources(root: Path, pattern: str, uri_prefix: str, limits: Limits) -> Iterator[Callable[..., Any]]:
    """Yield a declared resource for each file of a directory that matches a pattern.

    Raises:
        DefinitionError: there is no such directory, or the pattern leads out of it.
    """
    for below, path in files_below(root, pattern):
        yield file_resource(FileSource(path, None, root), uri_below(uri_prefix, below), limits, name=shown(below))


def existing_file(path: str | Path) -> Path:
    """Return an absolute path to a file that is there.

    Raises:
        DefinitionError: it is not.
    """
    found = Path(path).absolute()
    if not found.is_file():
        raise DefinitionError(f"add_file({str(path)!r}): there is no such file")
    return found


def files_below(root: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    """Yield each file of a directory that matches, with its path below it, in the order of the paths.

    Raises:
        DefinitionError: the directory is not there, or the pattern leads out of it.
    """
    if not root.is_dir():
        raise DefinitionError(f"add_directory({str(root)!r}): there is no such directory")
    if ".." in Path(pattern).parts or Path(pattern).is_absolute():
        raise DefinitionError(f"add_directory(pattern={pattern!r}): the pattern leads out of the directory")
    for path in sorted(root.glob(pattern)):
        below = path.relative_to(root)
        if path.is_file() and path.resolve().is_relative_to(root) and not _is_device(below):
            yield below.as_posix(), path


def _is_device(path: Path) -> bool:
    return any(part.partition(".")[0].lower() in _DEVICES for part in path.parts)


def uri_below(prefix: str, below: str) -> str:
    """Return the URI of a file of a directory: its path with every special character escaped."""
    return (prefix if prefix.endswith("/") else prefix + "/") + quote(os.fsencode(below))


def shown(below: str) -> str:
    """Return a path for people; what is no text in it becomes a question mark."""
    return os.fsencode(below).decode("utf-8", "replace").replace("\ufffd", "?")


def file_resource(file: FileSource, uri: str, limits: Limits, **options: Any) -> Callable[..., Any]:
    """Return a function that reads a file, declared as a resource."""

    def read() -> TextResource | BlobResource:
        return file.read(uri, limits)

    size = file.path.stat().st_size
    return resource(uri, mime_type=file.mime_type, size=size, **options)(read)
