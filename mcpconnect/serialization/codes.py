"""The expressions of generated dump functions: how one value is tested and written in place.

Rule: a test is exact (`type(v) is int`, never `isinstance`), so that what passes needs no second look: no `bool` for an
`int`, no NaN, no naive datetime. What msgspec writes as we do is listed in one table and used for `dumps` only.
"""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

from .config import ISO
from .plan import AnyNode, EnumNode, LiteralNode, Node, ScalarNode, UnionNode, bare
from .scalars import SAFE_INTEGER, base64_text
from .source import Source

if TYPE_CHECKING:
    from .dumping import DumpCompiler
    from .planner import Planner


class Code(NamedTuple):
    """Source for one value, with `{v}` for the variable.

    Where `test` holds, `value` is the output; otherwise (or without a test) the function named `call` makes it.
    """

    test: str | None
    value: str
    call: str

    @property
    def plain(self) -> bool:
        """Whether a value that passes the test is its own output."""
        return self.test is not None and self.value == "{v}"

    def of(self, variable: str) -> str:
        """Return the expression for a variable."""
        call = f"{self.call}({variable})"
        if self.test is None:
            return call
        return f"{self.value.format(v=variable)} if {self.test.format(v=variable)} else {call}"


_CONVERTED: Final[dict[tuple[str, str], tuple[str, str]]] = {
    ("uuid", ""): ("type({v}) is UUID", "str({v})"),
    ("decimal", "text"): ("type({v}) is Decimal and {v}.is_finite()", "str({v})"),
    ("bytes", "base64"): ("type({v}) is bytes", "base64_text({v})"),
    ("date", ISO): ("type({v}) is date", "{v}.isoformat()"),
    ("datetime", ISO): ("type({v}) is datetime and {v}.tzinfo is UTC", "{v}.isoformat()[:-6] + 'Z'"),
}
"""Kinds and formats with their test and their text; msgspec writes what passes the test as that very text."""

_TYPES: Final[dict[str, type]] = {"bool": bool, "int": int, "str": str, "float": float, "none": type(None)}


class Coder:
    """Writes the expressions for the values of one compiler."""

    def __init__(self, compiler: DumpCompiler, planner: Planner, source: Source, *, structs: bool) -> None:
        self._compiler = compiler
        self._source = source
        self._structs = structs
        source.names.update(
            isfinite=isfinite, UTC=datetime.UTC, datetime=datetime.datetime, date=datetime.date, UUID=uuid.UUID,
            Decimal=Decimal, base64_text=base64_text,
        )  # fmt: skip
        self._exact = planner.config.big_ints == "exact"
        # What is its own JSON value whatever was declared: nobody brought a serializer for it.
        plain = (str, bool, type(None), *((int,) if self._exact else ()))
        safe = frozenset(cls for cls in plain if isinstance(planner.node(cls), ScalarNode))
        self._safe = source.name(safe, "safe")

    def code(self, node: Node) -> Code:
        """Return the source for a value of the node."""
        inner = bare(node)
        call = self._compiler.name(node)
        match inner:
            case ScalarNode():
                return self._scalar(inner, call)
            case AnyNode():
                return Code(f"type({{v}}) in {self._safe}", "{v}", call)
            case EnumNode(mask=None):
                return self._enum(inner, call)
            case LiteralNode():
                return Code(self._literal_test(inner), "{v}", call)
            case UnionNode():
                return self._union(inner, call)
            case _:
                return Code(None, "{v}", call)

    def takes_text(self, node: Node) -> bool:
        """Whether a key of the node that is text is its own wire form."""
        inner = bare(node)
        return isinstance(inner, AnyNode) or (isinstance(inner, ScalarNode) and inner.cls is str)

    def all_plain(self, item: Node) -> str | None:
        """Return a test that a list `{v}` holds nothing but plain items, or `None` if there is none so short."""
        inner = bare(item)
        if isinstance(inner, AnyNode):
            return f"{{{{*map(type, {{v}})}}}} <= {self._safe}"
        nullable = isinstance(inner, UnionNode) and inner.nullable and len(inner.members) == 1
        scalar = bare(inner.members[0]) if isinstance(inner, UnionNode) and nullable else inner
        if not isinstance(scalar, ScalarNode) or scalar.kind not in _TYPES or scalar.cls not in _TYPES.values():
            return None
        if (scalar.kind == "int" and not self._exact) or (scalar.kind == "float" and nullable):
            return None
        types = self._source.name(frozenset({scalar.cls, *({type(None)} if nullable else ())}), "types")
        test = f"{{{{*map(type, {{v}})}}}} <= {types}"
        # A sum is finite only if every item is.
        return f"{test} and isfinite(sum({{v}}))" if scalar.kind == "float" else test

    def _scalar(self, node: ScalarNode, call: str) -> Code:
        test, text = _CONVERTED.get((node.kind, node.form), (None, ""))
        if test is None:
            return Code(self._json_test(node), "{v}", call)
        return Code(test, "{v}" if self._structs else text, call)

    def _json_test(self, node: ScalarNode) -> str | None:
        match node.kind:
            case "none":
                return "{v} is None"
            case "bool" | "str":
                return f"type({{v}}) is {node.kind}"
            case "int" if self._exact:
                return "type({v}) is int"
            case "int":
                return f"type({{v}}) is int and {-SAFE_INTEGER} <= {{v}} <= {SAFE_INTEGER}"
            case "float":
                return "type({v}) is float and {v} - {v} == 0.0"
            case _:
                return None

    def _enum(self, node: EnumNode, call: str) -> Code:
        test = f"type({{v}}) is {self._source.name(node.cls, node.cls.__name__)}"
        if node.plain_values:
            return Code(test, "{v}._value_", call)
        wires = self._source.name(node.wires, "wires")
        return Code(test, f"{wires}[{{v}}._name_]", call)

    def _literal_test(self, node: LiteralNode) -> str | None:
        types = {type(value) for value in node.values}
        if len(types) != 1 or types - {str, int} or (int in types and not self._exact):
            return None
        return f"type({{v}}) is {types.pop().__name__} and {{v}} in {self._source.name(node.values, 'values')}"

    def _union(self, node: UnionNode, call: str) -> Code:
        codes = [self.code(member) for member in node.members]
        tests = [f"({code.test})" for code in codes if code.plain]
        if len(tests) == len(codes):
            return Code(" or ".join(["{v} is None"] * node.nullable + tests), "{v}", call)
        if node.nullable and len(codes) == 1:
            return Code("{v} is None", "None", codes[0].call)
        return Code(None, "{v}", call)
