"""`faults.toml` lists every known fault of the catalogue; its `tested` ones are those that tests are marked with."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def marked_faults() -> Iterator[int]:
    """Yield the number of every `@pytest.mark.fault(n)`."""
    for path in TESTS.rglob("*.py"):
        if "node_modules" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.fault":
                number = node.args[0]
                assert isinstance(number, ast.Constant), f"{path}:{node.lineno} marks no number"
                yield int(number.value)


def test_the_catalogue_and_the_marks_agree() -> None:
    faults = tomllib.loads((TESTS / "faults.toml").read_text(encoding="utf-8"))["fault"]
    numbers = [fault["id"] for fault in faults]
    assert numbers == list(range(1, 292))
    tested = {fault["id"] for fault in faults if fault.get("tested")}
    untested = {fault["id"] for fault in faults if fault.get("reason")}
    assert tested.isdisjoint(untested)
    assert tested | untested == set(numbers), "each fault is tested or has a reason why not"
    assert set(marked_faults()) == tested
