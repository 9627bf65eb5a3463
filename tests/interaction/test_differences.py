"""`docs/explanation/differences.md` accounts for every row, and every test that it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs/explanation/differences.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| row |"))
]


@cache
def names_of_tests(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def numbers(label: str) -> set[int]:
    """Return the numbers that a label such as `33, 34` or `54 to 60` stands for."""
    first, *last = (int(number) for number in re.findall(r"\d+", label))
    return set(range(first, last[-1] + 1)) if " to " in label else {first, *last}


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) >= len(ROWS)
    for file, name in named:
        assert name in names_of_tests(file), f"{file}::{name}"


def test_every_row_has_four_cells_and_a_test_or_a_reason() -> None:
    for row in ROWS:
        label, theirs, ours, where = row
        assert label, row
        assert theirs, row
        assert ours, row
        assert "::" in where or "different" in ours, row


def test_every_row_of_quarkus_about_features_and_running_calls_is_accounted_for() -> None:
    labels = [row[0] for row in ROWS if row[0][0].isdigit() and not row[0].startswith("2.")]
    assert set().union(*map(numbers, labels)) == {*range(1, 116), *range(136, 151)}


def test_every_row_of_juneau_about_completions_lists_templates_and_caching_is_accounted_for() -> None:
    rows = set().union(*(numbers(row[0]) for row in ROWS if row[0].startswith("Juc-")))
    assert rows == set(range(1, 16))
    tests = set().union(*(numbers(row[0]) for row in ROWS if row[0].startswith("Ju-")))
    assert tests == {*range(1, 69), 88, 89, 90, *range(109, 118), *range(149, 164), 180, 181, 182}


def test_every_row_of_the_original_about_results_and_content_lists_is_accounted_for() -> None:
    labels = {row[0] for row in ROWS}
    for number in [*range(1, 13), *range(20, 38), *range(40, 47), *range(50, 60)]:
        assert f"C-{number}" in labels
    for number in range(1, 15):
        assert f"B-{number}" in labels
    for letter, last in (("R", 22), ("P", 7)):
        assert {f"{letter}-{number}" for number in range(1, last + 1)} <= named(labels)


def test_every_row_of_the_original_about_sessions_messages_http_and_json_rpc_is_accounted_for() -> None:
    rows = {
        "S": {1, 2, *range(10, 19), 30, 31},
        "Q": set(range(1, 8)),
        "H": {*range(1, 7), 10, *range(20, 27)},
        "N": set(range(1, 11)),
        "V": set(range(1, 12)),
        "G": set(range(1, 8)),
    }
    found = named({row[0] for row in ROWS})
    for letter, wanted in rows.items():
        assert {f"{letter}-{number}" for number in wanted} <= found


def named(labels: set[str]) -> set[str]:
    """Return the rows that labels such as `A-9, P-1` or `N-1 to N-4, N-8` name."""
    found = set()
    for part in (part for label in labels for part in label.split(", ")):
        letter = part.partition("-")[0]
        found |= {f"{letter}-{number}" for number in numbers(part)} if re.search(r"-\d", part) else set()
    return found
