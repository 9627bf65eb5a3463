"""YAML texts."""

import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mcpconnect.content.yaml_text import write_yaml

TRAPS = [
    "=",
    "<<",
    "yes",
    "null",
    "~",
    "",
    "2026-01-01",
    "1_000",
    "0x1f",
    "1:30",
    "1e3",
    ".5",
    "- a",
    "a: b",
    "#",
    "%",
    "@",
]
CONTROLS = [
    "\u2028x",
    "\x85",
    "\ufeff",
    "\t",
    "a\n",
    "\n",
    "a\n b\n\n",
    " lead",
    "trail ",
    "'",
    '"',
    "\\",
    "\0",
    "\x7f",
    "a\rb",
]
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(TRAPS + CONTROLS)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=12,
)


@given(values)
def test_reading_gives_the_value_back(value: object) -> None:
    read = yaml.safe_load(write_yaml(value))

    assert read == value
    assert type(read) is type(value)


def test_the_form_is_compact() -> None:
    rows = [{"id": 1, "tags": ["a", "b"], "note": "two\nlines"}, {"id": 2, "tags": [], "note": None}]

    assert write_yaml(rows) == (
        '- id: 1\n  tags:\n  - a\n  - b\n  note: "two\\nlines"\n- id: 2\n  tags: []\n  note: null'
    )


def test_a_long_text_stays_on_one_line_and_letters_stay_readable() -> None:
    text = "grün und weiß " * 50 + "!"

    assert write_yaml({"a": text}) == f"a: {text}"


def test_what_appears_twice_is_written_twice() -> None:
    shared = {"a": [1]}

    assert "&" not in write_yaml([shared, shared])


def test_a_lone_surrogate_is_replaced() -> None:
    assert yaml.safe_load(write_yaml({"a": "x\udc80"})) == {"a": "x\ufffd"}


def test_without_pyyaml_the_error_names_the_extra() -> None:
    program = """
import sys
sys.modules["yaml"] = None
from mcpconnect.content import YAML_TEXT
from mcpconnect.errors import DefinitionError
try:
    YAML_TEXT.check()
except DefinitionError as error:
    print(error)
"""
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert "mcpconnect[yaml]" in output.stdout


@pytest.mark.parametrize("module", ["yaml", "PIL", "jsonschema_rs", "marshmallow"])
def test_importing_content_does_not_load(module: str) -> None:
    program = f"import mcpconnect.content, sys; sys.exit({module!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0
