"""Which member of a union a value belongs to.

Rule: writing goes by the class of the value, the nearest class first; reading goes by the JSON type, then by order of
declaration. Records that share a member of `Literal` type with different values are told apart by it alone.
"""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from .plan import (
    CustomNode,
    EnumNode,
    ForeignNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    RawNode,
    RecordNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    bare,
)

_FAR: Final = 1000


def candidates(cls: type, members: Sequence[Node]) -> list[int]:
    """Return the positions of the members that may write a value of the class, the nearest first."""
    ranked = [(distance, i) for i, node in enumerate(members) if (distance := _distance(cls, node)) is not None]
    return [i for _, i in sorted(ranked)]


def _distance(cls: type, node: Node) -> int | None:
    found = []
    for base in _classes(bare(node)):
        if base in cls.__mro__:
            found.append(cls.__mro__.index(base) if base is not object else 2 * _FAR)
        elif issubclass(cls, base):
            found.append(_FAR)
    return min(found, default=None)


def _classes(node: Node) -> tuple[type, ...]:
    """Return the classes whose values a node may write."""
    match node:
        case ScalarNode(kind="float"):
            return (float, numbers.Real)
        case ScalarNode(kind="decimal"):
            return (Decimal, numbers.Integral)
        case ScalarNode(kind="int"):
            return (int, numbers.Integral)
        case ScalarNode(kind="bytes"):
            return (bytes, bytearray, memoryview)
        case ScalarNode(kind="path"):
            return node.cls.__mro__[-2:-1]
        case RecordNode(kind="typeddict") | MapNode():
            return (dict, Mapping)
        case LiteralNode():
            return tuple({type(value) for value in node.values})
        case ListNode():
            return (node.cls, Collection, Iterator)
        case TupleNode():
            return (tuple, list)
        case RawNode():
            return (bytes, str)
        case CustomNode(of_class=False):
            return (object,)
        case ScalarNode() | EnumNode() | RecordNode() | CustomNode() | ForeignNode():
            return (node.cls,)
        case _:
            return (object,)


def find_tag(members: Sequence[Node]) -> tuple[str, dict[Any, Node]] | None:
    """Return the name on the wire of the member that tells records apart, with the record for each of its values."""
    records = [inner for member in members if isinstance(inner := bare(member), RecordNode)]
    if len(records) < 2:
        return None
    for candidate in records[0].members:
        chosen: dict[Any, Node] = {}
        for record in records:
            member = next((m for m in record.members if m.wire == candidate.wire), None)
            literal = bare(member.node) if member is not None else None
            if not isinstance(literal, LiteralNode) or any(wire in chosen for wire in literal.wires):
                break
            chosen.update(dict.fromkeys(literal.wires, record))
        else:
            return candidate.wire, chosen
    return None


# -- reading ----------------------------------------------------------------------------------------------------------

_ANY_JSON: Final[Mapping[type, int]] = dict.fromkeys((str, int, float, bool, type(None), list, dict), 0)


def json_ranks(node: Node) -> Mapping[type, int]:
    """Return the JSON types that a node takes, each with how exactly: 0, or 1 for a number of the other kind."""
    inner = bare(node)
    match inner:
        case ScalarNode(kind="int"):
            return {int: 0, float: 1, str: 2}
        case ScalarNode(kind="float") | ScalarNode(form="number" | "unix" | "seconds"):
            return {float: 0, int: 1}
        case ScalarNode(kind="bool"):
            return {bool: 0}
        case ScalarNode(kind="none"):
            return {type(None): 0}
        case ScalarNode(kind="bytes", form="native") | ListNode() | TupleNode():
            return {list: 0}
        case ScalarNode():
            return {str: 0}
        case EnumNode(mask=int()):
            return {int: 0, float: 1}
        case EnumNode():
            return _ranks_of(inner.wires.values())
        case LiteralNode():
            return _ranks_of(inner.wires)
        case RecordNode() | MapNode():
            return {dict: 0}
        case UnionNode():
            ranks: dict[type, int] = {type(None): 0} if inner.nullable else {}
            for member in inner.members:
                ranks.update(json_ranks(member))
            return ranks
        case _:
            return _ANY_JSON


def _ranks_of(wires: Iterable[Any]) -> Mapping[type, int]:
    ranks: dict[type, int] = {}
    for wire in wires:
        ranks[type(wire)] = 0
        if type(wire) is int:
            ranks.setdefault(float, 1)
    return ranks


def reading_order(cls: type, members: Sequence[Node]) -> list[int]:
    """Return the positions of the members that take values of a JSON type, the exact ones first."""
    ranked = [(rank, i) for i, node in enumerate(members) if (rank := json_ranks(node).get(cls)) is not None]
    return [i for _, i in sorted(ranked)]
