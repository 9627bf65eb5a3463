"""The compiled loader: for data that is already right.

Rule: a generated function takes exactly what needs no thought (`type(v) is int`, every required key there, no unknown
one) and raises on the first doubt; the marshmallow schema then decides, converts and reports. What this loader returns
is what marshmallow would return, strictly and leniently alike, so one loader serves both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .._typing import MISSING
from .codes import Code
from .compiling import Compiler
from .construct import Doubt, checked_list_maker, construct, map_maker
from .member import Member
from .plan import (
    AnyNode,
    EnumNode,
    LazyNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    NoteNode,
    OpaqueNode,
    RecordNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    is_nullable,
)
from .planner import Planner
from .readers import Reader
from .unions import find_tag, reading_order
from .value_readers import LoadNode, key_reader, value_reader


class LoadCompiler(Compiler):
    """Makes and keeps the load functions of one serializer."""

    prefix = "load"

    def __init__(self, planner: Planner, load: LoadNode) -> None:
        super().__init__()
        self._planner = planner
        self._load = load
        self.source.names.update(Doubt=Doubt, MISSING=MISSING, construct=construct)

    def stripped(self, node: Node) -> Node:
        """Return the node without the notes that make no difference to what is read."""
        return checked(node)

    def make(self, node: Node, name: str) -> None:
        """Make the function that reads values of a node; it raises anything at all when in doubt."""
        match node:
            case NoteNode():
                self.source.names[name] = self._checks(node)
            case RecordNode():
                self.source.define(name, self._record(node, name))
            case ListNode():
                self.source.define(name, self._list(node, name))
            case TupleNode():
                self.source.define(name, self._tuple(node, name))
            case MapNode():
                self.source.define(name, self._map(node, name))
            case UnionNode():
                self.source.names[name] = self._union(node)
            case AnyNode() | OpaqueNode():
                self.source.names[name] = lambda value: value
            case _:
                read = value_reader(node, self._planner, self._load, strict=True)
                assert read is not None
                self.source.names[name] = read

    def _checks(self, node: NoteNode) -> Reader:
        inner = self.function(node.inner)
        checks = [constraint.check for constraint in node.notes.constraints]
        nullable = is_nullable(node.inner)

        def load(value: Any) -> Any:
            loaded = inner(value)
            if not (loaded is None and nullable):
                for check in checks:
                    check(loaded)
            return loaded

        return load

    # -- one value ----------------------------------------------------------------------------------------------------

    def _code(self, node: Node) -> Code:
        """Return the source for one value; unlike when dumping, `call` may raise where the test fails."""
        node = checked(node)
        call = self.name(node)
        match node:
            case ScalarNode(kind="bool" | "int" | "str" | "float") if node.cls.__module__ == "builtins":
                finite = " and {v} - {v} == 0.0" if node.kind == "float" else ""
                return Code(f"type({{v}}) is {node.kind}{finite}", "{v}", call)
            case AnyNode():
                return Code("True", "{v}", call)
            case EnumNode(mask=None):
                members = {wire: node.cls.__members__[name] for name, wire in node.wires.items()}
                return self._table(members, call)
            case LiteralNode():
                return self._table(dict(zip(node.wires, node.values, strict=True)), call)
            case UnionNode(nullable=True, members=(only,)):
                code = self._code(only)
                if code.plain:
                    return Code(f"{{v}} is None or {code.test}", "{v}", call)
                return Code("{v} is None", "None", code.call)
            case _:
                return Code(None, "{v}", call)

    def _table(self, values: dict[Any, Any], call: str) -> Code:
        types = {type(wire) for wire in values}
        if types not in ({str}, {int}):
            return Code(None, "{v}", call)
        table = self.source.name(values, "table")
        return Code(f"type({{v}}) is {types.pop().__name__} and {{v}} in {table}", f"{table}[{{v}}]", call)

    # -- records ------------------------------------------------------------------------------------------------------

    def _record(self, node: RecordNode, name: str) -> list[str]:
        members = node.loaded
        if node.unloadable is not None or any(member.notes.unwrap for member in members):
            return [f"def {name}(p): raise Doubt"]
        required = [member.required for member in members]
        count = " + ".join([str(sum(required)), *(f"(m{i} is not MISSING)" for i, r in enumerate(required) if not r)])
        lines = [
            f"def {name}(p):",
            "    if type(p) is not dict: raise Doubt",
            *(f"    m{i} = {_read(member)}" for i, member in enumerate(members)),
            f"    if len(p) != {count}: raise Doubt",
        ]
        tests, conversions = [], []
        for i, member in enumerate(members):
            code, variable = self._code(member.node), f"m{i}"
            absent = "" if required[i] else f"{variable} is MISSING or "
            if code.plain and code.test is not None:
                tests.append(f"({absent}{code.test.format(v=variable)})")
            else:
                present = "" if required[i] else f"if {variable} is not MISSING: "
                conversions.append(f"    {present}{variable} = {code.of(variable)}")
        if tests:
            lines.append(f"    if not ({' and '.join(tests)}): raise Doubt")
        return [*lines, *conversions, *self._construct(node, members, name)]

    def _construct(self, node: RecordNode, members: tuple[Member, ...], name: str) -> Iterator[str]:
        numbered = list(enumerate(members))
        if node.kind in ("typeddict", "arguments"):
            yield f"    out = {{{', '.join(f'{m.name!r}: m{i}' for i, m in numbered if m.required)}}}"
            for i, m in numbered:
                if m.restored:
                    absent = self.source.name(m.absent, "absent")
                    yield f"    out[{m.name!r}] = {absent}() if m{i} is MISSING else m{i}"
                elif not m.required:
                    yield f"    if m{i} is not MISSING: out[{m.name!r}] = m{i}"
            yield "    return out"
            return
        names = self.source.names
        names[f"{name}_node"] = node
        dynamic = [i for i, m in numbered if not m.required and not _has_known_default(node, m)]
        direct = all(m.argument is not None for m in members)
        if not direct or dynamic:
            present = ", ".join(f"({m.name!r}, m{i})" for i, m in numbered)
            given = f"{{n: m for n, m in ({present},) if m is not MISSING}}"
            condition = f"if {' or '.join(f'm{i} is MISSING' for i in dynamic)}: " if direct else ""
            yield f"    {condition}return construct({name}_node, {given})"
        if not direct:
            return
        for i, m in numbered:
            if not m.required and i not in dynamic:
                names[f"{name}_absent{i}"] = m.absent
                yield f"    if m{i} is MISSING: m{i} = {name}_absent{i}()"
        arguments = ", ".join(f"{m.argument}=m{i}" for i, m in numbered)
        yield f"    return {self.source.name(node.cls, node.cls.__name__)}({arguments})"

    # -- containers and unions ----------------------------------------------------------------------------------------

    def _list(self, node: ListNode, name: str) -> list[str]:
        code = self._code(node.item)
        lines = [f"def {name}(v):", "    if type(v) is not list: raise Doubt"]
        if code.test == "True":
            items = "v[:]"
        elif code.plain and code.test is not None:
            lines.append(f"    for i in v:\n        if not ({code.test.format(v='i')}): raise Doubt")
            items = "v[:]"
        else:
            items = f"[{code.of('i')} for i in v]"
        if node.cls is list:
            return [*lines, f"    return {items}"]
        self.source.names[f"{name}_made"] = checked_list_maker(node)
        return [*lines, f"    return {name}_made({items})"]

    def _tuple(self, node: TupleNode, name: str) -> list[str]:
        count = len(node.items)
        items = ", ".join(self._code(item).of(f"v[{i}]") for i, item in enumerate(node.items))
        return [
            f"def {name}(v):",
            f"    if type(v) is not list or len(v) != {count}: raise Doubt",
            f"    return ({items}{',' if count == 1 else ''})",
        ]

    def _map(self, node: MapNode, name: str) -> list[str]:
        read = value_reader(node.key, self._planner, self._load, strict=True) or self.function(node.key)
        key = self.source.name(key_reader(node.key, read), "key")
        lines = [
            f"def {name}(v):",
            "    if type(v) is not dict: raise Doubt",
            f"    out = {{{key}(k): {self._code(node.value).of('i')} for k, i in v.items()}}",
            "    if len(out) != len(v): raise Doubt",
        ]
        if node.cls is dict:
            return [*lines, "    return out"]
        self.source.names[f"{name}_made"] = map_maker(node)
        return [*lines, f"    return {name}_made(out)"]

    def _union(self, node: UnionNode) -> Reader:
        functions = [self.function(member) for member in node.members]
        orders = {cls: reading_order(cls, node.members) for cls in (str, int, float, bool, list, dict, type(None))}
        known = {cls: [functions[i] for i in order] for cls, order in orders.items()}
        tagged: Callable[[Any], Reader | None] = self._tagged(node)

        def load(value: Any) -> Any:
            if value is None and node.nullable:
                return None
            if type(value) is dict and (function := tagged(value)) is not None:
                return function(value)
            for function in known.get(type(value), ()):
                try:
                    return function(value)
                except RecursionError:
                    raise
                except Exception:
                    continue
            raise Doubt

        return load

    def _tagged(self, node: UnionNode) -> Callable[[Any], Reader | None]:
        tag = find_tag(node.members)
        if tag is None:
            return lambda _: None
        wire, chosen = tag
        functions = {value: self.function(record) for value, record in chosen.items()}

        def choose(data: dict[str, Any]) -> Reader | None:
            return functions.get(data[wire])  # without a tag there is nothing to go by: a KeyError is a doubt

        return choose


def checked(node: Node) -> Node:
    """Return the node without notes that say nothing about loading."""
    while True:
        if isinstance(node, LazyNode) and node.target is not None:
            node = node.target
        elif isinstance(node, NoteNode) and not node.notes.constraints:
            node = node.inner
        else:
            return node


def _read(member: Member) -> str:
    return f"p[{member.wire!r}]" if member.required else f"p.get({member.wire!r}, MISSING)"


def _has_known_default(node: RecordNode, member: Member) -> bool:
    """Whether passing the declared default is the same as passing nothing."""
    declared = node.kind in ("dataclass", "namedtuple") or member.restored
    return declared and (member.default is not MISSING or member.factory is not None)
