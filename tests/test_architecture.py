"""The rules of the package's layout: who imports whom, where nothing awaits, where dates stand, how long things are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mcpconnect

ROOT = Path(mcpconnect.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

ORDER = [
    ["errors", "limits", "_typing", "_version"],
    ["serialization"],
    ["content"],
    ["protocol"],
    ["context"],
    ["features"],
    ["server"],
    ["engine"],
    ["transports"],
    ["client"],
    ["testing"],
    ["cli"],
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
LONG_TABLES: set[str] = set()


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def package_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported_packages(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield each package of ours that a file imports, and whether it does so inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
    }
    here = ["mcpconnect", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            module = [*base, *(node.module.split(".") if node.module else [])]
            names = [[*module, alias.name] for alias in node.names] if module == ["mcpconnect"] else [module]
        else:
            continue
        for parts in names:
            if parts[0] == "mcpconnect" and len(parts) > 1:
                yield parts[1], id(node) in inside


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_one_way(path: Path) -> None:
    package = package_of(path)
    if package in ("__init__", "__main__"):
        return
    for imported, inside in imported_packages(path):
        if package == "server" and inside and imported == "transports":
            continue  # McpServer.run, serve and asgi_app alone reach for a transport
        if imported in ("__version__",):
            imported = "_version"
        assert RANK[imported] <= RANK[package], f"{name_of(path)} imports {imported}"


@pytest.mark.parametrize("package", ["serialization", "content", "protocol"])
def test_pure_packages_never_await(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef)), (
                f"{name_of(path)}:{node.lineno}"
            )


def test_dates_stand_only_with_the_revisions() -> None:
    dated = re.compile(r"\b20\d\d-\d\d-\d\d\b(?!T)")
    for path in FILES:
        if "revisions" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {id(text) for text in docstrings(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
                assert not dated.search(node.value), f"{name_of(path)}:{node.lineno} writes {node.value!r}"


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if not isinstance(node, (ast.Lambda, ast.IfExp)) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300 or name_of(path) in LONG_TABLES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or 0) - body_start(node) + 1
            assert length <= 60, f"{name_of(path)}:{node.lineno} {node.name} has {length} lines"


def body_start(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the line behind the docstring: a long explanation is no long function."""
    body = node.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1].lineno if documented and len(body) > 1 else body[0].lineno


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_sub_packages_only_re_export(path: Path) -> None:
    if path.name != "__init__.py":
        return
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        exporting = isinstance(statement, (ast.Import, ast.ImportFrom))
        named = isinstance(statement, ast.Assign) and [getattr(t, "id", "") for t in statement.targets] == ["__all__"]
        documented = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        lazy = path.parent == ROOT  # the top level may load names on first use
        assert exporting or named or documented or lazy, f"{name_of(path)}:{statement.lineno}"
