"""A user's own JSON Schema."""

import subprocess
import sys

import pytest

from mcpconnect.content.schema_check import SchemaCheck
from mcpconnect.errors import DefinitionError


def test_everything_wrong_is_told_with_its_path() -> None:
    check = SchemaCheck({"properties": {"a": {"items": {"type": "integer"}}}, "required": ["b"]})

    assert check.problems({"a": [1], "b": 1}) == []
    assert {path for path, _ in check.problems({"a": [1, "x"]})} == {"$.a[1]", "$"}
    assert all(reason for _, reason in check.problems({"a": [1, "x"]}))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://schemas.example/other.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/$defs/missing"},
        {"type": "objekt"},
        {"pattern": "("},
        {"$schema": "https://schemas.example/meta"},
        {"enum": {1, 2}},
        5,
    ],
)
def test_a_schema_that_does_not_stand_for_itself_is_refused(schema) -> None:
    with pytest.raises(DefinitionError):
        SchemaCheck(schema)


def test_integers_of_any_size_are_exact() -> None:
    check = SchemaCheck({"const": 2**70})

    assert check.problems(2**70) == []
    assert check.problems(2**70 + 1)


def test_without_the_extra_the_error_names_it() -> None:
    program = """
import sys
sys.modules["jsonschema_rs"] = None
from mcpconnect.content.schema_check import SchemaCheck
from mcpconnect.errors import DefinitionError
try:
    SchemaCheck({})
except DefinitionError as error:
    print(error)
"""
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert "mcpconnect[schema]" in output.stdout
