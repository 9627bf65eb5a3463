"""The plan: a small tree of nodes that says what a type is on the wire.

Rule: a node holds facts and does nothing. It is built once by `planner.py`; loading, dumping and the JSON Schema each
read the same tree, which is why they agree. Nodes are compared by identity, so that they can key caches. A type that
contains itself gives a tree with a loop: records point back to themselves, aliases through a `LazyNode`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from .member import Member
from .notes import Notes

if TYPE_CHECKING:
    from .custom import Custom

ScalarKind = Literal[
    "none", "bool", "int", "float", "decimal", "str", "bytes", "datetime", "date", "time", "timedelta", "uuid", "path"
]
RecordKind = Literal["class", "dataclass", "attrs", "namedtuple", "typeddict", "arguments"]


class Node:
    """The wire form of one type."""

    __slots__ = ()


@dataclass(eq=False, slots=True)
class ScalarNode(Node):
    """A value with one JSON scalar; `form` is the format asked for (`iso`, `base64`, a `strftime` pattern …)."""

    kind: ScalarKind
    cls: type
    form: str = ""


@dataclass(eq=False, slots=True)
class EnumNode(Node):
    """An enum: `wires` gives the scalar of each member. A `Flag` has `mask`, the sum of its members, and no wires."""

    cls: type[Enum]
    wires: Mapping[str, Any]
    mask: int | None = None

    @property
    def plain_values(self) -> bool:
        """Whether every member is written as its own value (`_value_`, because a class may override `value`)."""
        own = ((self.cls.__members__[name]._value_, wire) for name, wire in self.wires.items())
        return all(type(value) is type(wire) and value == wire for value, wire in own)


@dataclass(eq=False, slots=True)
class LiteralNode(Node):
    """One of some values; `wires` are their JSON scalars in the same order."""

    values: tuple[Any, ...]
    wires: tuple[Any, ...]


@dataclass(eq=False, slots=True)
class AnyNode(Node):
    """Any JSON value; written by the class that it has at run time."""


@dataclass(eq=False, slots=True)
class RawNode(Node):
    """Ready JSON text in `bytes` or `str`."""

    cls: type


@dataclass(eq=False, slots=True)
class ListNode(Node):
    """Items of one type. `cls` is what loading makes: list, tuple, set, frozenset, deque or an iterator."""

    item: Node
    cls: type

    @property
    def unique(self) -> bool:
        """Whether the items form a set."""
        return self.cls in (set, frozenset)


@dataclass(eq=False, slots=True)
class TupleNode(Node):
    """A fixed number of items, each with its own type."""

    items: tuple[Node, ...]


@dataclass(eq=False, slots=True)
class MapNode(Node):
    """An object with free keys. `cls` is what loading makes."""

    key: Node
    value: Node
    cls: type


@dataclass(eq=False, slots=True)
class UnionNode(Node):
    """One of several types. `nullable` says that `None` is one of them; it is not among the `members`."""

    members: tuple[Node, ...]
    nullable: bool


@dataclass(eq=False, slots=True)
class CustomNode(Node):
    """A type whose wire form a custom serializer decides.

    `of_class`: registered for `cls`, so that a value of a subclass may have a nearer one of its own.
    """

    cls: type
    custom: Custom
    annotation: Any = None
    of_class: bool = False


@dataclass(eq=False, slots=True)
class ForeignNode(Node):
    """A class that brings its own loading, dump and schema."""

    cls: type
    library: Literal["pydantic", "msgspec"]
    annotation: Any = None


@dataclass(eq=False, slots=True)
class OpaqueNode(Node):
    """A type without a JSON form: values are written by their run-time class; no schema, no loading."""

    annotation: Any
    reason: str


@dataclass(eq=False, slots=True)
class LazyNode(Node):
    """A recursive alias; `target` is set as soon as the alias has been planned."""

    name: str
    target: Node | None = None


@dataclass(eq=False, slots=True)
class NoteNode(Node):
    """A type with notes: description, constraints …"""

    inner: Node
    notes: Notes


@dataclass(eq=False, slots=True)
class RecordNode(Node):
    """A class with members, filled in right after the node exists, so that a record may contain itself.

    `unloadable` says why no object can be made from the members, where that is so.
    """

    cls: type
    kind: RecordKind
    annotation: Any = None
    members: tuple[Member, ...] = ()
    unloadable: str | None = None

    @property
    def dumped(self) -> tuple[Member, ...]:
        """The members that are written, in their order."""
        return tuple(member for member in self.members if member.dumped)

    @property
    def loaded(self) -> tuple[Member, ...]:
        """The members that are read, in their order."""
        return tuple(member for member in self.members if member.loaded)


def bare(node: Node) -> Node:
    """Return the node without the notes and aliases around it."""
    while True:
        if isinstance(node, NoteNode):
            node = node.inner
        elif isinstance(node, LazyNode) and node.target is not None:
            node = node.target
        else:
            return node


def unwrapped_record(member: Member) -> RecordNode | None:
    """Return the record whose members stand in the parent, if the member is unwrapped."""
    if not member.notes.unwrap:
        return None
    inner = bare(member.node)
    record = bare(inner.members[0]) if isinstance(inner, UnionNode) else inner
    return record if isinstance(record, RecordNode) else None


def is_nullable(node: Node) -> bool:
    """Whether the node takes `None`."""
    inner = bare(node)
    if isinstance(inner, UnionNode):
        return inner.nullable or any(map(is_nullable, inner.members))
    if isinstance(inner, LiteralNode):
        return None in inner.values
    return isinstance(inner, (AnyNode, OpaqueNode, RawNode)) or (isinstance(inner, ScalarNode) and inner.kind == "none")


def children(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the nodes right below this one, each with the step of the path that leads there."""
    match node:
        case NoteNode(inner=inner):
            yield "", inner
        case LazyNode(target=Node() as target):
            yield "", target
        case ListNode(item=item):
            yield "[]", item
        case TupleNode(items=items):
            yield from ((f"[{i}]", item) for i, item in enumerate(items))
        case MapNode(key=key, value=value):
            yield "", key
            yield "[]", value
        case UnionNode(members=members):
            yield from (("", member) for member in members)
        case RecordNode(members=members):
            yield from ((f".{member.name}", member.node) for member in members)


def walk(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield every node that can be reached from this one once, with its path (`.items[].price`)."""
    seen: set[int] = set()
    pending: list[tuple[str, Node]] = [("", node)]
    while pending:
        path, current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield path, current
        pending.extend((path + step, child) for step, child in reversed(list(children(current))))
