"""`mcpconnect run`: which server of a file is served, and that nothing the file does disturbs the messages."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcpconnect import DefinitionError, McpServer
from mcpconnect.cli.loading import load_server, split_target

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "fails"}}
NOISY = """
import os
import subprocess
import sys
print("printed while it is imported")
os.write(1, b"written to descriptor 1\\n")
subprocess.run([sys.executable, "-c", "print('from a child')"])
sys.stdin.read()
from mcpconnect import McpServer, tool
@tool
def fails() -> str:
    raise ValueError("the reason")
server = McpServer("noisy")
server.register(fails)
"""


@pytest.mark.parametrize(("errors", "shown"), [([], False), (["--errors", "message"], True)])
def test_only_messages_reach_the_output(errors: list[str], shown: bool, tmp_path: Path) -> None:
    file = tmp_path / "noisy.py"
    file.write_text(NOISY, encoding="utf-8")
    lines = "".join(json.dumps(message) + "\n" for message in (INITIALIZE, CALL))
    run = subprocess.run(
        [sys.executable, "-m", "mcpconnect", "run", str(file), *errors],
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == [1, 2]
    text = next(answer for answer in answers if answer["id"] == 2)["result"]["content"][0]["text"]
    assert ("the reason" in text) is shown
    for noise in ("printed while it is imported", "written to descriptor 1", "from a child"):
        assert noise in run.stderr


def loaded(tmp_path: Path, text: str, name: str = "") -> McpServer:
    file = tmp_path / "some_server.py"
    file.write_text("from mcpconnect import McpServer\n" + text, encoding="utf-8")
    return load_server(f"{file}{name}")


def test_the_server_is_found_by_name_by_convention_or_alone(tmp_path: Path) -> None:
    assert loaded(tmp_path, "app = McpServer('only')").name == "only"
    assert loaded(tmp_path, "app = McpServer('a')\nserver = McpServer('b')").name == "b"
    assert loaded(tmp_path, "app = McpServer('a')\nserver = McpServer('b')", ":app").name == "a"
    assert loaded(tmp_path, "app = other = McpServer('same')").name == "same"


@pytest.mark.parametrize(
    ("text", "name", "match"),
    [
        ("x = 1", "", "has no McpServer"),
        ("a = McpServer('a')\nb = McpServer('b')", "", "several servers.*a, b"),
        ("a = McpServer('a')", ":b", "no server named 'b'; it has a"),
        ("a = 5", ":a", "no server named 'a'; it has none"),
    ],
)
def test_an_unclear_server_is_an_error_that_lists_them(text: str, name: str, match: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=match):
        loaded(tmp_path, text, name)


def test_a_drive_letter_is_no_separator() -> None:
    assert split_target("C:\\x\\server.py") == (Path("C:\\x\\server.py"), None)
    assert split_target("C:\\x\\server.py:app") == (Path("C:\\x\\server.py"), "app")
    assert split_target("server.py:app") == (Path("server.py"), "app")
    assert split_target("server.py") == (Path("server.py"), None)


def test_a_file_imports_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_server.py").write_text("NAME = 'from next door'", encoding="utf-8")
    assert loaded(tmp_path, "from neighbour_of_server import NAME\nserver = McpServer(NAME)").name == "from next door"


def test_over_http_it_says_where_it_listens() -> None:
    file = Path(__file__).resolve().parents[2] / "samples/tickets.py"
    command = [sys.executable, "-m", "mcpconnect", "run", str(file), "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            assert any("listening at ('127.0.0.1'" in line for line in process.stderr)
        finally:
            process.terminate()
