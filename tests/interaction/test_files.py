"""Files as resources: what is listed, what is read, and that nothing leads out."""

import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from mcpconnect import DefinitionError, Limits, McpServer
from tests.wire import NEWEST, REVISIONS, Wire, connected

pytestmark = pytest.mark.anyio

WAYS_OUT = [
    "../secret.txt",
    "%2e%2e/secret.txt",
    "..%2Fsecret.txt",
    "..%5Csecret.txt",
    "a/../../secret.txt",
    "/etc/passwd",
    "%00",
    "a.txt%00",
    "a.txt%00.png",
    "CON",
    "nul.txt",
    "aux",
    "com1.log",
    "a.txt/",
    "./a.txt",
    ".",
    "//a.txt",
    "a.txt/.",
]


async def listed(wire: Wire) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in (await wire.ask("resources/list"))["result"]["resources"]}


async def read(wire: Wire, uri: str) -> Any:
    """Return the text or the bytes and their type, or the code of the error."""
    answer = await wire.ask("resources/read", {"uri": uri})
    if "error" in answer:
        return answer["error"]["code"]
    [part] = answer["result"]["contents"]
    assert part["uri"] == uri
    return part["text"] if "text" in part else base64.b64decode(part["blob"]), part["mimeType"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_file_is_read_anew_each_time_until_it_is_gone(tmp_path: Path, revision: str) -> None:
    file = tmp_path / "notes.md"
    file.write_text("one", encoding="utf-8")
    server = McpServer("files")
    server.add_file(file)
    server.add_file(str(file), uri="x://notes", name="again", title="T", description="D", mime_type="text/x-notes")
    async with connected(server, revision) as wire:
        found = await listed(wire)
        assert (found["notes.md"]["uri"], found["notes.md"]["mimeType"]) == (file.as_uri(), "text/markdown")
        assert (found["again"]["description"], found["again"]["mimeType"]) == ("D", "text/x-notes")
        assert ("title" in found["again"]) is (revision >= "2025-06-18")
        assert await read(wire, file.as_uri()) == ("one", "text/markdown")
        file.write_text("two", encoding="utf-8")
        assert await read(wire, "x://notes") == ("two", "text/x-notes")
        file.unlink()
        missing = -32602 if revision == NEWEST else -32002
        assert await read(wire, "x://notes") == missing
        file.mkdir()
        assert await read(wire, "x://notes") == missing


@pytest.mark.fault(180)
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
async def test_text_is_utf8_without_its_mark(tmp_path: Path, start: bytes) -> None:
    (tmp_path / "é.txt").write_bytes(start + "é".encode())
    server = McpServer("files")
    server.add_directory(tmp_path, uri_prefix="x://d")
    async with connected(server) as wire:
        assert await read(wire, "x://d/%C3%A9.txt") == ("é", "text/plain")
        assert (await wire.ask("resources/read", {"uri": "x://d/é.txt"}))["result"]["contents"][0]["text"] == "é"


@pytest.mark.fault(180)
def test_the_machines_locale_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "é.txt").write_bytes("\ufeffé".encode())
    code = (
        "import sys, anyio\n"
        "from mcpconnect import McpServer\n"
        "from mcpconnect.testing import TestClient\n"
        "async def main():\n"
        "    server = McpServer('files')\n"
        "    server.add_directory(sys.argv[1], uri_prefix='x://d')\n"
        "    async with TestClient(server) as client:\n"
        "        [each] = await client.list_resources()\n"
        "        [part] = (await client.read_resource(each.uri)).contents\n"
        "        print(ascii((each.uri, part.text)))\n"
        "anyio.run(main)\n"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=environment, capture_output=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == ascii(("x://d/%C3%A9.txt", "é")).encode()


@pytest.mark.fault(173)
async def test_every_file_of_a_directory_is_read_under_the_uri_that_is_listed(tmp_path: Path) -> None:
    names = ["50%.txt", "a#b.txt", "a b.txt", "a%20b.txt", "a?b.txt", "[a].txt", "{a}.txt", "ü.txt", "a+b&c=d;e.txt"]
    names += ["..a.txt", "a\\b.txt", "-.txt", "~.txt", "under/over.txt", "under/.hidden"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    for prefix in ("x://", "x://d", "x://d/"):
        server = McpServer("files")
        server.add_directory(tmp_path, uri_prefix=prefix)
        async with connected(server) as wire:
            found = await listed(wire)
            assert sorted(found) == sorted(names)
            for name, each in found.items():
                assert unquote(each["uri"]) == ("x://" if prefix == "x://" else "x://d/") + name
                assert (await read(wire, each["uri"]))[0] == name
                assert each["size"] == len(name.encode())


@pytest.mark.fault(188)
async def test_types_are_sensible_and_text_is_text(tmp_path: Path) -> None:
    expected = {
        "app.ts": "typescript",
        "conf.yaml": "yaml",
        "notes": "text/plain",
        "a.md": "text/markdown",
        "a.json": "application/json",
        "a.svg": "image/svg+xml",
        "a.py": "python",
        "a.toml": "toml",
        "unknown.zzz": "text/plain",
        "empty": "text/plain",
        "empty.txt": "text/plain",
    }
    for name in expected:
        (tmp_path / name).write_text("" if "empty" in name else "words", encoding="utf-8")
    binary = {"a.png": "image/png", "seen": "image/png", "raw": "application/octet-stream", "empty.png": "image/png"}
    png = b"\x89PNG\r\n\x1a\n\0"
    for name in binary:
        (tmp_path / name).write_bytes(b"" if "empty" in name else b"\xff\xfe\0" if name == "raw" else png)
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    (tmp_path / "zero.txt").write_bytes(b"a\0b")
    server = McpServer("files")
    server.add_directory(tmp_path, uri_prefix="x://d")
    async with connected(server) as wire:
        for name, mime in expected.items():
            text, told = await read(wire, f"x://d/{name}")
            assert text == ("" if "empty" in name else "words")
            assert mime in told
            assert "linguist" not in told
        for name, mime in binary.items():
            data, told = await read(wire, f"x://d/{name}")
            assert isinstance(data, bytes)
            assert told == mime
        assert (await read(wire, "x://d/latin.txt"))[0] == b"\xe9"
        assert (await read(wire, "x://d/zero.txt"))[0] == b"a\0b"


@pytest.mark.fault(271)
async def test_no_link_leads_out_of_a_directory(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
        (folder / "file.txt").write_text(folder.name, encoding="utf-8")
    (inside / "link.txt").symlink_to(outside / "file.txt")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "fine.txt").symlink_to(inside / "file.txt")
    (inside / "later.txt").write_text("later", encoding="utf-8")
    (inside / "nowhere.txt").symlink_to(inside / "ghost")
    server = McpServer("files")
    server.add_directory(inside, uri_prefix="x://d")
    server.add_directory(inside, uri_prefix="y://d", pattern="*/*")
    async with connected(server) as wire:
        uris = [each["uri"] for each in (await wire.ask("resources/list"))["result"]["resources"]]
        assert [uri for uri in uris if uri.startswith("x")] == [
            f"x://d/{name}.txt" for name in ("file", "fine", "later")
        ]
        assert not [uri for uri in uris if "folder" in uri]
        assert await read(wire, "x://d/fine.txt") == ("inside", "text/plain")
        (inside / "later.txt").unlink()
        (inside / "later.txt").symlink_to(outside / "file.txt")
        assert await read(wire, "x://d/later.txt") == -32002
        (inside / "fine.txt").unlink()
        (inside / "fine.txt").symlink_to(outside)
        assert await read(wire, "x://d/fine.txt") == -32002


@pytest.mark.fault(271)
@pytest.mark.parametrize("put_back", [False, True])
async def test_a_file_that_is_exchanged_while_it_is_opened_is_not_read(
    put_back: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    shown = tmp_path / "d" / "a.txt"
    shown.parent.mkdir()
    shown.write_text("a", encoding="utf-8")
    server = McpServer("files")
    server.add_directory(shown.parent, uri_prefix="x://d")
    opened = Path.open

    def open_late(path: Path, *arguments: Any) -> Any:
        if path != shown:
            return opened(path, *arguments)
        shown.rename(tmp_path / "kept")
        shown.symlink_to(tmp_path / "secret.txt")
        stream = opened(path, *arguments)
        if put_back:
            (tmp_path / "kept").rename(shown)
        return stream

    async with connected(server) as wire:
        assert await read(wire, "x://d/a.txt") == ("a", "text/plain")
        monkeypatch.setattr(Path, "open", open_late)
        assert await read(wire, "x://d/a.txt") == -32002


async def test_a_directory_that_is_itself_a_link_is_served(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("a", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    server = McpServer("files")
    server.add_directory(tmp_path / "link", uri_prefix="x://d")
    async with connected(server) as wire:
        assert await read(wire, "x://d/a.txt") == ("a", "text/plain")


@pytest.mark.parametrize("way", WAYS_OUT)
async def test_no_spelling_leads_out_of_a_directory(tmp_path: Path, way: str) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "d").mkdir()
    for name in ("a.txt", "CON", "nul.txt", "com1.log", "aux"):
        (tmp_path / "d" / name).write_text("a", encoding="utf-8")
    server = McpServer("files")
    server.add_directory(tmp_path / "d", uri_prefix="x://d")
    async with connected(server) as wire:
        assert list(await listed(wire)) == ["a.txt"]
        assert await read(wire, f"x://d/{way}") == -32002


async def test_pipes_are_no_files_and_stop_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    server = McpServer("files")
    server.add_directory(tmp_path, uri_prefix="x://d")
    with pytest.raises(DefinitionError, match="no such file"):
        server.add_file(tmp_path / "pipe")
    async with connected(server) as wire:
        assert list(await listed(wire)) == ["a.txt"]
        (tmp_path / "a.txt").unlink()
        os.mkfifo(tmp_path / "a.txt")
        assert await read(wire, "x://d/a.txt") == -32002


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_a_name_that_is_no_text_is_listed_and_read(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("x", encoding="utf-8")
    server = McpServer("files")
    server.add_directory(tmp_path, uri_prefix="x://d")
    async with connected(server) as wire:
        found = await listed(wire)
        assert list(found) == ["caf?.txt"]
        assert await read(wire, found["caf?.txt"]["uri"]) == ("x", "text/plain")


async def test_a_file_beyond_the_limit_is_refused_and_the_largest_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "fits.txt").write_bytes(b"a" * 1000)
    (tmp_path / "large.txt").write_bytes(b"a" * 1001)
    server = McpServer("files", limits=Limits(stream_bytes=1000))
    server.add_directory(tmp_path, uri_prefix="x://d")
    async with connected(server) as wire:
        assert await read(wire, "x://d/fits.txt") == ("a" * 1000, "text/plain")
        assert await read(wire, "x://d/large.txt") == -32603


async def test_a_directory_comes_as_a_whole_or_not_at_all_and_is_told_once(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("x", encoding="utf-8")
    server = McpServer("files")
    told: list[str] = []
    server.hub.subscribe(told.append)
    server.add_directory(tmp_path, uri_prefix="x://d", pattern="[0-2].txt")
    assert told == ["resources"]
    with pytest.raises(DefinitionError, match="is there already"):
        server.add_directory(tmp_path, uri_prefix="x://d")
    assert len(server.resources) == 3
    assert told == ["resources"]
    server.unregister("x://d/1.txt")
    assert len(server.resources) == 2


def test_what_is_not_there_or_leads_out_is_refused(tmp_path: Path) -> None:
    server = McpServer("files")
    with pytest.raises(DefinitionError, match="no such file"):
        server.add_file(tmp_path / "ghost")
    with pytest.raises(DefinitionError, match="no such file"):
        server.add_file(tmp_path)
    with pytest.raises(DefinitionError, match="no such directory"):
        server.add_directory(tmp_path / "ghost", uri_prefix="x://d")
    for pattern in ("../*", "a/../../*", "/etc/*"):
        with pytest.raises(DefinitionError, match="leads out"):
            server.add_directory(tmp_path, uri_prefix="x://d", pattern=pattern)
    assert len(server.resources) == 0
