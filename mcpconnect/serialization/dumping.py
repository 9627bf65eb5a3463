"""Compiled dump functions: one generated function for each record, list, tuple and map of a plan.

Rule: a function makes the common case cheap (one combined test for all members that need no conversion) and hands
everything else to a writer. Two compilers exist per serializer: the one behind `dump` makes JSON values; the one behind
`dumps` makes what msgspec writes exactly as we specify: records as generated `Struct`s with the names on the wire,
aware datetimes, `UUID`, `Decimal`, bytes and dates as they are. An omitted member is `UNSET`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import SerializationError
from .codes import Code, Coder
from .compiling import Compiler
from .config import Include
from .member import Member
from .plan import CustomNode, ListNode, MapNode, Node, RecordNode, TupleNode, bare
from .planner import Planner
from .runtime import clash, drop_empty, exclusion, merge, step, unreadable
from .writers import Writers

_INDENT: Final = "    "


class DumpCompiler(Compiler):
    """Makes and keeps the dump functions of one serializer in one of the two output forms."""

    prefix = "dump"

    def __init__(self, planner: Planner, values: DumpCompiler | None = None) -> None:
        """Make the compiler behind `dump`; with `values` (that one) the compiler behind `dumps`."""
        super().__init__()
        self.config = planner.config
        self.structs = values is not None
        self._values = values or self
        self.source.names.update(
            UNSET=UNSET, SerializationError=SerializationError, clash=clash, drop_empty=drop_empty, merge=merge,
            step=step, unreadable=unreadable,
        )  # fmt: skip
        self.writers = Writers(planner, self.function, self._values.function)
        self._coder = Coder(self, planner, self.source, structs=self.structs)
        rules = self.config.rules.values()
        self._anything_may_omit = bool(self.config.serializers) or any(rule.use is not None for rule in rules)

    def stripped(self, node: Node) -> Node:
        """Return the node without notes and aliases, which make no difference to what is written."""
        return bare(node)

    def make(self, node: Node, name: str) -> None:
        """Make the function that writes values of a node."""
        match node:
            case RecordNode():
                self.source.define(name, self._record(node, name))
            case ListNode(cls=cls) if cls in (set, frozenset) or issubclass(cls, (set, frozenset)):
                ordered = self.name(ListNode(node.item, list))
                self.source.names[name] = self.writers.set_of(self.source.names[ordered])
            case ListNode():
                self.source.define(name, self._list(node, name))
            case TupleNode():
                self.source.define(name, self._tuple(node, name))
            case MapNode():
                self.source.define(name, self._map(node, name))
            case _:
                self.source.names[name] = self.writers.writer(node)

    def _may_omit(self, node: Node) -> bool:
        return self._anything_may_omit or isinstance(bare(node), CustomNode)

    # -- records ------------------------------------------------------------------------------------------------------

    def _record(self, node: RecordNode, name: str) -> list[str]:
        members = node.dumped
        names = self.source.names
        names[f"{name}_other"] = self.writers.other_record(node, self.late(name))
        names[f"{name}_members"] = members
        cls = dict if node.kind == "typeddict" else node.cls
        lines = [
            f"def {name}(v):",
            f"    if type(v) is not {self.source.name(cls, cls.__name__)}:",
            f"        return {name}_other(v)",
        ]
        lines += self._read(node, members, name)
        for i, member in enumerate(members):
            if condition := self._exclusion(member, f"m{i}"):
                lines.append(f"    if {condition}: m{i} = UNSET")
        lines += self._convert(node, members)
        as_struct = self.structs and all(_fits_struct(member) for member in members)
        return lines + (self._struct(node, members) if as_struct else self._dict(node, members))

    def _read(self, node: RecordNode, members: tuple[Member, ...], name: str) -> list[str]:
        if not members:
            return []
        if node.kind == "typeddict":
            reads = [
                f"v.get({member.name!r}, UNSET)" if member.optional else f"v[{member.name!r}]" for member in members
            ]
        else:
            reads = [f"v.{member.name}" for member in members]
        return [
            "    try:",
            *(f"        m{i} = {read}" for i, read in enumerate(reads)),
            "    except Exception as error:",
            f"        raise unreadable(v, {name}_members) from error",
        ]

    def _exclusion(self, member: Member, variable: str) -> str | None:
        match member.include:
            case Include.ALWAYS:
                return None
            case Include.NOT_NONE:
                return f"{variable} is None"
            case _:
                return f"{self.source.name(exclusion(member), 'excluded')}({variable}, v)"

    def _convert(self, node: RecordNode, members: tuple[Member, ...]) -> list[str]:
        plain: list[tuple[int, str, str]] = []
        others: list[str] = []
        for i, member in enumerate(members):
            code = self._member_code(member)
            variable, absent = f"m{i}", self._may_be_absent(node, member)
            if code.plain:
                test = code.test.format(v=variable)  # type: ignore[union-attr]
                test = f"({variable} is UNSET or {test})" if absent else f"({test})"
                plain.append((i, test, f"{variable} = {code.call}({variable})"))
                continue
            value = f"UNSET if {variable} is UNSET else ({code.of(variable)})" if absent else code.of(variable)
            if member.include is Include.NOT_EMPTY:
                value = f"drop_empty({value})"
            others += [f"at = {step(member.wire)!r}", f"{variable} = {value}"]
        if not plain and not others:
            return []
        lines = ["    at = ''", "    try:"]
        if plain:
            lines.append(f"        if not ({' and '.join(test for _, test, _ in plain)}):")
            for i, test, repair in plain:
                lines += [f"            at = {step(members[i].wire)!r}", f"            if not {test}: {repair}"]
        lines += [2 * _INDENT + line for line in others]
        return [
            *lines,
            "    except SerializationError as error:",
            "        raise error.within(at) from error.__cause__",
        ]

    def _member_code(self, member: Member) -> Code:
        if member.notes.unwrap and self.structs:
            # The parent becomes a dictionary, into which only dictionaries can be merged.
            return Code(None, "{v}", self.source.name(self._values.function(member.node), "unwrapped"))
        return self._coder.code(member.node)

    def _may_be_absent(self, node: RecordNode, member: Member) -> bool:
        return member.include is not Include.ALWAYS or (node.kind == "typeddict" and member.optional)

    def _struct(self, node: RecordNode, members: tuple[Member, ...]) -> list[str]:
        fields = [(f"m{i}", Any) for i in range(len(members))]
        rename = {f"m{i}": member.wire for i, member in enumerate(members)}
        struct = msgspec.defstruct(node.cls.__name__, fields, rename=rename, gc=False)
        return [f"    return {self.source.name(struct, 'Struct')}({', '.join(name for name, _ in fields)})"]

    def _dict(self, node: RecordNode, members: tuple[Member, ...]) -> list[str]:
        sure = [not (self._may_be_absent(node, m) or self._may_omit(m.node)) for m in members]
        unwraps = any(member.notes.unwrap for member in members)
        if all(sure) and not unwraps:
            return [f"    return {{{', '.join(f'{m.wire!r}: m{i}' for i, m in enumerate(members))}}}"]
        lines = ["    out = {}"]
        for i, member in enumerate(members):
            condition = "" if sure[i] else f"if m{i} is not UNSET: "
            if unwraps:  # a key of one member may stand in another
                pairs = f"m{i}" if member.notes.unwrap else f"{{{member.wire!r}: m{i}}}"
                lines.append(f"    {condition}merge(out, {pairs}, {step(member.wire)!r})")
            else:
                lines.append(f"    {condition}out[{member.wire!r}] = m{i}")
        return [*lines, "    return out"]

    # -- containers ---------------------------------------------------------------------------------------------------

    def _list(self, node: ListNode, name: str) -> list[str]:
        code = self._coder.code(node.item)
        self.source.names[f"{name}_other"] = self.writers.other_list(self.late(name))
        lines = [f"def {name}(v):", f"    if type(v) is not list: return {name}_other(v)"]
        if (test := self._coder.all_plain(node.item)) is not None:
            lines.append(f"    if {test.format(v='v')}: return {'v' if self.structs else 'v[:]'}")
        lines += [
            "    out = []",
            "    append = out.append",
            "    try:",
            f"        for i in v: append({code.of('i')})",
            "    except SerializationError as error:",
            "        raise error.within(f'[{len(out)}]') from error.__cause__",
        ]
        kept = "[i for i in out if i is not UNSET]" if self._may_omit(node.item) else "out"
        return [*lines, f"    return {kept}"]

    def _tuple(self, node: TupleNode, name: str) -> list[str]:
        count = len(node.items)
        self.source.names[f"{name}_other"] = self.writers.other_tuple(self.late(name), count)
        lines = [f"def {name}(v):", f"    if type(v) is not tuple or len(v) != {count}: return {name}_other(v)"]
        if not count:
            return [*lines, "    return []"]
        lines += [f"    {''.join(f'i{i}, ' for i in range(count))} = v", "    at = ''", "    try:"]
        for i, item in enumerate(node.items):
            lines += [f"        at = '[{i}]'", f"        i{i} = {self._coder.code(item).of(f'i{i}')}"]
        lines += ["    except SerializationError as error:", "        raise error.within(at) from error.__cause__"]
        return [*lines, f"    return [{', '.join(f'i{i}' for i in range(count))}]"]

    def _map(self, node: MapNode, name: str) -> list[str]:
        code = self._coder.code(node.value)
        key = self.source.name(self.writers.key(node.key), "key")
        self.source.names[f"{name}_other"] = self.writers.other_map(self.late(name))
        written = f"k if type(k) is str else {key}(k)" if self._coder.takes_text(node.key) else f"{key}(k)"
        lines = [
            f"def {name}(v):",
            f"    if type(v) is not dict: return {name}_other(v)",
            "    out = {}",
            "    k = ''",
            "    try:",
            f"        for k, i in v.items(): out[{written}] = {code.of('i')}",
            "    except SerializationError as error:",
            "        raise error.within(step(k)) from error.__cause__",
            f"    if len(out) != len(v): raise clash(v, {key})",
        ]
        if self._may_omit(node.value):
            lines.append("    out = {k: i for k, i in out.items() if i is not UNSET}")
        return [*lines, f"    return {'dict(sorted(out.items()))' if self.config.sort_maps else 'out'}"]


def _fits_struct(member: Member) -> bool:
    """Whether a `Struct` can hold the member: its name needs no escapes, and it is one value of its own."""
    plain = member.wire.isprintable() and not set(member.wire) & {'"', "\\"}
    return plain and not member.notes.unwrap
