"""What a file is, by its name and its bytes; and how it is read."""

import threading
from pathlib import Path
from typing import Any

import pytest

from mcpconnect import BlobResource, Limits, McpServer, ResourceNotFound, TextResource
from mcpconnect.features.files import FileSource, contents, files_below, shown, uri_below
from tests.wire import connected


@pytest.mark.parametrize(
    ("data", "mime", "expected"),
    [
        (b"words", "text/plain", TextResource("words", "x://f", "text/plain")),
        (b"words", None, TextResource("words", "x://f", "text/plain")),
        (b"", None, TextResource("", "x://f", "text/plain")),
        (b"\xef\xbb\xbf\xc3\xa9", "text/csv", TextResource("é", "x://f", "text/csv")),
        (b"\xff", "text/plain", BlobResource(b"\xff", "x://f", "text/plain")),
        (b"a\0", "text/plain", BlobResource(b"a\0", "x://f", "text/plain")),
        (b"\xff", None, BlobResource(b"\xff", "x://f", "application/octet-stream")),
        (b"GIF89a\xff", None, BlobResource(b"GIF89a\xff", "x://f", "image/gif")),
        (b"", "image/png", BlobResource(b"", "x://f", "image/png")),
        (b"{}", "application/json; charset=utf-8", TextResource("{}", "x://f", "application/json; charset=utf-8")),
    ],
)
def test_what_is_text_is_told_by_type_and_bytes(data: bytes, mime: str | None, expected: Any) -> None:
    assert contents(data, "x://f", mime) == expected


def test_a_uri_holds_the_path_and_nothing_that_means_something_else() -> None:
    assert uri_below("x://", "a/b c.txt") == "x://a/b%20c.txt"
    assert uri_below("x://d", "50%#?.txt") == "x://d/50%25%23%3F.txt"
    assert uri_below("x://d/", "é") == "x://d/%C3%A9"
    assert shown("caf\udce9") == "caf?"


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("b", "a", "c/a"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert [below for below, _ in files_below(tmp_path, "**/*")] == ["a", "b", "c/a"]
    assert [below for below, _ in files_below(tmp_path, "*")] == ["a", "b"]


def test_a_file_of_a_directory_is_opened_only_below_it(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    root = (tmp_path / "root").resolve()
    for path in (root / ".." / "secret", root / "ghost", root, Path("/dev/zero")):
        with pytest.raises(ResourceNotFound) as caught:
            FileSource(path, None, root).read("x://f", Limits())
        assert caught.value.data == {"uri": "x://f"}
        assert "secret" not in str(caught.value)


@pytest.mark.anyio
async def test_files_are_read_in_a_worker_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    threads = []
    read = FileSource.read

    def watched(self: FileSource, uri: str, limits: Limits) -> Any:
        threads.append(threading.current_thread())
        return read(self, uri, limits)

    monkeypatch.setattr(FileSource, "read", watched)
    server = McpServer("files")
    server.add_file(tmp_path / "a.txt", uri="x://a")
    async with connected(server) as wire:
        assert "result" in await wire.ask("resources/read", {"uri": "x://a"})
    assert threads
    assert threads[0] is not threading.current_thread()
