"""`mcpconnect try`: the command of the README, on the samples and on servers with something wrong."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def mcpconnect(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcpconnect", *arguments], capture_output=True, text=True, timeout=120, cwd=cwd
    )


def written(folder: Path, text: str) -> str:
    file = folder / "server.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_the_tickets_are_shown_to_people(tmp_path: Path) -> None:
    run = mcpconnect("try", str(ROOT / "samples/tickets.py"), "--output", "pictures", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    header = next(
        line for line in run.stdout.splitlines() if "ticketId" in line and "title" in line and "price" in line
    )
    assert re.search(r"ticketId\W+title\W+price", header)
    assert "get_tickets()" in run.stdout
    assert re.search(r"find_ticket\(title=\"work\"\)\s+\d+\.\d ms", run.stdout)
    assert "https://tickets.example/receipts/1" in run.stdout
    assert "all well" in run.stdout
    saved = re.findall(r"image/png, [\d,]+ bytes: (\S+)", run.stdout)
    assert len(saved) == 2
    for path in saved:
        assert (tmp_path / path).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_the_tickets_are_one_json_object_a_call_for_programs(tmp_path: Path) -> None:
    run = mcpconnect("try", str(ROOT / "samples/tickets.py"), "--json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    calls = [json.loads(line) for line in run.stdout.splitlines()]
    assert [call["name"] for call in calls] == [
        "get_tickets",
        "seat_map",
        "free_seats",
        "opening_hours",
        "find_ticket",
        "buy_ticket",
    ]
    assert all(call["milliseconds"] > 0 for call in calls)
    assert calls[4]["arguments"] == {"title": "work"}
    assert [block["type"] for block in calls[5]["blocks"]] == ["text", "image", "resource_link"]
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("sample", ["serialization.py", "builder.py"])
def test_the_other_samples_are_all_well(sample: str, tmp_path: Path) -> None:
    run = mcpconnect("try", str(ROOT / "samples" / sample), cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "not called, no example for" in run.stdout


FAILING = """
from mcpconnect import McpServer, Tool, tool
class Broken(Tool):
    @tool
    def fails(self) -> str:
        raise ValueError("the reason")
server = McpServer("broken")
server.register(Broken)
"""


def test_a_call_without_required_arguments_must_not_fail(tmp_path: Path) -> None:
    run = mcpconnect("try", written(tmp_path, FAILING), cwd=tmp_path)
    assert run.returncode == 1
    assert "ValueError: the reason" in run.stdout, "errors=message is set"
    run = mcpconnect("try", "--json", written(tmp_path, FAILING), cwd=tmp_path)
    assert run.returncode == 1
    assert json.loads(run.stdout)["is_error"] is True


def test_an_error_of_a_call_with_required_arguments_is_no_fault(tmp_path: Path) -> None:
    text = FAILING.replace("def fails(self)", "def fails(self, x: Annotated[int, Param(examples=[1, 2])])").replace(
        "import McpServer", "import McpServer, Param"
    )
    run = mcpconnect("try", written(tmp_path, "from typing import Annotated\n" + text), cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "fails(x=1)" in run.stdout
    assert "fails(x=2)" in run.stdout


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import sys; sys.exit(3)", "the server ended (exit code 3)"),
        ("x = 1", "the server ended (exit code 1)"),
        (
            "import os, sys; from mcpconnect import McpServer\nclass S(McpServer):\n    def run(self, *a, **k):\n        import mcpconnect.transports.stdio.descriptors as d; os.write(d.take_over().output, b'{\"nonsense\": 1}\\n'); sys.stdin.read(); import time; time.sleep(0.5)\nserver = S('x')",
            "JSON-RPC",
        ),
    ],
    ids=["exits", "no-server", "nonsense"],
)
def test_a_server_that_does_not_answer_properly_is_named(text: str, problem: str, tmp_path: Path) -> None:
    run = mcpconnect("try", written(tmp_path, text), "--timeout", "10", cwd=tmp_path)
    assert run.returncode == 1
    assert problem in run.stdout, run.stdout + run.stderr


def test_a_schema_that_does_not_compile_is_named(tmp_path: Path) -> None:
    text = """
from mcpconnect import McpServer, Tool, tool
from mcpconnect.features import ToolFeature
class Fine(Tool):
    @tool(description="fine", title="T")
    def fine(self) -> str:
        return "fine"
server = McpServer("x")
server.register(Fine)
feature = server.tools.get("fine")
feature.definition.input_schema["properties"] = {"a": {"type": "no such type"}}
"""
    run = mcpconnect("try", written(tmp_path, text), cwd=tmp_path)
    assert run.returncode == 1
    assert "fine: inputSchema does not compile" in run.stdout


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for command in ("try", "run"):
        run = mcpconnect(command, "missing.py", cwd=tmp_path)
        assert run.returncode == 1
        assert "missing.py is not a file" in run.stderr


def test_the_version_is_said(tmp_path: Path) -> None:
    from mcpconnect import __version__

    assert mcpconnect("--version", cwd=tmp_path).stdout.strip() == f"mcpconnect {__version__}"
