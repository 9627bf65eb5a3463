"""`mcpconnect check`: what of a server cannot be said in older revisions."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpconnect", "check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)


def test_findings_are_listed_by_revision_and_feature() -> None:
    run = check("samples/tickets.py", "--revision", "2025-03-26")
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert "2025-03-26: tool get_tickets: outputSchema is left out (tickets.TicketTool.get_tickets)" in lines
    assert lines[-1] == "2 findings"


def test_a_server_that_any_revision_can_say_has_none() -> None:
    assert check("samples/builder.py", "--revision", "2025-11-25").stdout == "everything can be said\n"


def test_an_unknown_revision_and_a_missing_file_are_named() -> None:
    assert "no revision 'never'" in check("samples/builder.py", "--revision", "never").stderr
    run = check("missing.py")
    assert run.returncode == 1
    assert "missing.py is not a file" in run.stderr
