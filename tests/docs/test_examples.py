"""Every fenced Python block of the documentation runs, and every sample is short, documented and serves."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SAMPLES = sorted((ROOT / "samples").glob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(match[1], id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), 1)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_the_documentation_runs(block: str, tmp_path: Path) -> None:
    file = tmp_path / "block.py"
    file.write_text(block, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(file)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr


def test_there_are_blocks_to_run() -> None:
    assert len(BLOCKS) >= 10


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_sample_is_short_and_documented(sample: Path) -> None:
    text = sample.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150 or sample.name == "everything.py"  # which has to hold everything
    assert ast.get_docstring(ast.parse(text))
    assert text.endswith('if __name__ == "__main__":\n    server.run()\n')


def test_the_readme_begins_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^```console\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)
    assert commands[:2] == [
        'python3 -m venv .venv && .venv/bin/pip install -q ".[cli]" && .venv/bin/mcpconnect try samples/tickets.py',
        'python3 -m venv .venv && .venv/bin/pip install -q -e ".[all,test]" && .venv/bin/python -m pytest',
    ]
    assert len(text.splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_changelog_names_the_version() -> None:
    from mcpconnect import __version__

    versions = re.findall(r"^## (\S+)", (ROOT / "docs/changelog.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == __version__
