"""JSON Schema of scalars, choices and keys.

Rule: what is written here is what `readers.py` takes in strict mode, word for word: the patterns are shared. Where
JSON Schema has a format that is exactly ours (`date-time`, `date`, `uuid`) it is used; durations and times have no
such format, because JSON Schema's allows years and months, and demands offsets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .config import ISO, UNIX, SerializerConfig
from .custom import View
from .moments import DURATION, TIME
from .plan import AnyNode, EnumNode, LiteralNode, Node, ScalarNode, UnionNode, bare
from .readers import BIG_INTEGER, DECIMAL, HEX

Json = dict[str, Any]

_SCALARS: Final[dict[str, Json]] = {
    "none": {"type": "null"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "str": {"type": "string"},
    "uuid": {"type": "string", "format": "uuid"},
    "path": {"type": "string"},
}

_FORMS: Final[dict[tuple[str, str], Json]] = {
    ("decimal", "text"): {"type": "string", "pattern": DECIMAL},
    ("decimal", "number"): {"type": "number"},
    ("datetime", ISO): {"type": "string", "format": "date-time"},
    ("datetime", UNIX): {"type": "number"},
    ("date", ISO): {"type": "string", "format": "date"},
    ("time", ISO): {"type": "string", "pattern": TIME},
    ("timedelta", ISO): {"type": "string", "pattern": DURATION},
    ("timedelta", "seconds"): {"type": "number"},
    ("bytes", "base64"): {"type": "string", "contentEncoding": "base64"},
    ("bytes", "base64url"): {"type": "string", "contentEncoding": "base64url"},
    ("bytes", "hex"): {"type": "string", "contentEncoding": "base16", "pattern": HEX},
    ("bytes", "native"): {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}},
}

_INTEGER_KEY: Final = "^(0|-?[1-9][0-9]*)$"
_NUMBER_KEY: Final = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def scalar_schema(node: ScalarNode, config: SerializerConfig, view: View) -> Json:
    """Return the schema of a scalar."""
    schema = dict(_SCALARS.get(node.kind) or _FORMS.get((node.kind, node.form)) or {"type": "string"})
    if node.kind == "int" and config.big_ints == "string":
        return {"anyOf": [schema, {"type": "string", "pattern": BIG_INTEGER}]}
    if node.kind in ("float", "decimal") and config.non_finite == "null" and view == "output":
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


def choice_schema(node: EnumNode | LiteralNode) -> Json:
    """Return the schema of an enum or a literal; one value alone is a `const`."""
    if isinstance(node, EnumNode) and node.mask is not None:
        return _flag_schema(node.mask)
    wires = list(node.wires.values() if isinstance(node, EnumNode) else node.wires)
    schema = _typed(wires)
    return {**schema, "const": wires[0]} if len(wires) == 1 else {**schema, "enum": wires}


def _typed(wires: Iterable[Any]) -> Json:
    types = {_JSON_TYPES.get(type(wire)) for wire in wires}
    only = types.pop() if len(types) == 1 else None
    return {"type": only} if only is not None else {}


_JSON_TYPES: Final = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _flag_schema(mask: int) -> Json:
    if mask & (mask + 1) == 0:  # no bit is missing: every integer up to the mask is a combination
        return {"type": "integer", "minimum": 0, "maximum": mask}
    bits = [1 << i for i in range(mask.bit_length()) if mask >> i & 1]
    combinations = [0]
    for bit in bits:
        combinations += [bit | combination for combination in combinations]
    return {"type": "integer", "enum": sorted(combinations)}


def key_schema(node: Node, config: SerializerConfig) -> Json:
    """Return what the names of an object must look like; empty if any text will do."""
    inner = bare(node)
    match inner:
        case ScalarNode(kind="str") | AnyNode():
            return {}
        case ScalarNode(kind="int"):
            return {"pattern": _INTEGER_KEY}
        case ScalarNode(kind="float"):
            return {"pattern": _NUMBER_KEY}
        case ScalarNode(kind="bool"):
            return {"enum": ["true", "false"]}
        case ScalarNode(kind="none"):
            return {"const": "null"}
        case ScalarNode():
            schema = scalar_schema(inner, config, "input")
            return {word: value for word, value in schema.items() if word != "type"}
        case EnumNode(mask=None) | LiteralNode():
            wires = inner.wires.values() if isinstance(inner, EnumNode) else inner.wires
            return {"enum": [wire if isinstance(wire, str) else _key_text(wire) for wire in wires]}
        case EnumNode():
            return {"pattern": _INTEGER_KEY}
        case UnionNode(members=members):
            parts = [key_schema(member, config) for member in members]
            parts += [{"const": "null"}] if inner.nullable else []
            return {"anyOf": parts} if all(parts) else {}
        case _:
            return {}


def _key_text(wire: Any) -> str:
    from .text import encode

    return encode(wire).decode()
