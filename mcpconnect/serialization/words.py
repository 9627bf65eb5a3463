"""What was expected and what came, in words for a model.

Rule: a reason names the JSON form, never a class of ours or of a library: `expected an integer, got text "ten"`.
"""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal
from typing import Any, Final

from .config import ISO, UNIX
from .plan import (
    CustomNode,
    EnumNode,
    ForeignNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    RecordNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    bare,
)
from .text import encode

_LONGEST: Final = 60


class Problems(tuple[tuple[str, str], ...]):
    """Problems below a value that are already told as paths and reasons."""

    __slots__ = ()


class Mismatch(ValueError):  # noqa: N818 - an answer of a reader, not a failure of the program
    """A value does not fit a node. The text is the reason; `messages` holds those of parts, if it has any."""

    def __init__(self, reason: str, messages: Any = None) -> None:
        self.messages: Any = messages if messages is not None else [reason]
        super().__init__(reason)


def mismatch(node: Node, value: Any) -> Mismatch:
    """Return the answer for a value of the wrong form."""
    return Mismatch(f"expected {expected(node)}, got {got(value)}")


def got(value: Any) -> str:
    """Describe a JSON value in a few words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {_cut(repr(value))}"
    if isinstance(value, str):
        return f"text {_cut(encode(value).decode())}"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "an object" if isinstance(value, dict) else f"a value of class {type(value).__name__}"


def held(value: Any) -> str:
    """Describe a loaded value in a few words, for a constraint that it breaks."""
    if isinstance(value, (list, tuple, set, frozenset, dict, bytes)):
        noun = "byte" if isinstance(value, bytes) else "item"
        return f"{len(value)} {noun}{'' if len(value) == 1 else 's'}"
    if isinstance(value, Decimal):
        return f"the number {_cut(str(value))}"
    if isinstance(value, (date, time)):
        return value.isoformat()
    return got(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def expected(node: Node) -> str:
    """Describe what a node takes in a few words."""
    inner = bare(node)
    match inner:
        case ScalarNode():
            return _scalar(inner)
        case EnumNode(mask=int()):
            return (
                f"an integer made of the flags {', '.join(str(int(m.value)) for m in inner.cls.__members__.values())}"
            )
        case EnumNode():
            return one_of(inner.wires.values())
        case LiteralNode():
            return one_of(inner.wires)
        case TupleNode():
            return f"a list of {len(inner.items)} items"
        case ListNode():
            return "a list"
        case RecordNode() | MapNode():
            return "an object"
        case UnionNode():
            parts = [expected(member) for member in inner.members]
            return " or ".join(dict.fromkeys([*parts, *(["null"] if inner.nullable else [])]))
        case CustomNode() | ForeignNode() if inner.cls is not object:
            return f"a valid {inner.cls.__name__}"
        case _:
            return "a value"


def one_of(wires: Any) -> str:
    """Describe a choice between JSON scalars."""
    listed = [encode(wire).decode() for wire in wires]
    return listed[0] if len(listed) == 1 else f"one of {', '.join(listed)}"


def _scalar(node: ScalarNode) -> str:
    if node.form == UNIX or (node.kind == "timedelta" and node.form != ISO):
        return "a number of seconds"
    if "%" in node.form:
        return f"text in the form {node.form}"
    if node.kind == "decimal":
        return "a number" if node.form == "number" else 'a decimal number as text, such as "1.50"'
    if node.kind == "bytes":
        return _BYTES[node.form]
    return _SCALARS[node.kind]


_SCALARS: Final[dict[str, str]] = {
    "none": "null",
    "bool": "true or false",
    "int": "an integer",
    "float": "a number",
    "str": "text",
    "datetime": "a date and time with offset, such as 1999-12-31T12:00:00Z",
    "date": "a date such as 1999-12-31",
    "time": "a time such as 12:30:00",
    "timedelta": "an ISO 8601 duration such as P1DT30S",
    "uuid": "a UUID",
    "path": "a path as text",
}

_BYTES: Final[dict[str, str]] = {
    "base64": "base64 text",
    "base64url": "URL-safe base64 text",
    "hex": "hexadecimal text",
    "native": "a list of numbers from 0 to 255",
}
