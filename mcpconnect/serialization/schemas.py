"""The marshmallow schema of a record or signature, and the way from what it loads to the object.

Rule: fields are called `f0`, `f1`, … with the wire name as `data_key`, so that no member can collide with marshmallow's
own names. Members of an unwrapped record have fields in the schema of their parent; a layout says whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import InvalidOperation
from typing import Any, ClassVar

from marshmallow import Schema, ValidationError

from .construct import construct
from .member import Member
from .plan import (
    EnumNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    RecordNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    bare,
    is_nullable,
)
from .words import expected


class RecordSchema(Schema):
    """The marshmallow schema of one record or signature; its fields are called `f0`, `f1`, …

    `read` is the way in: it undoes what clients do to arguments, loads, and makes the object.
    """

    class Meta:
        """Keep generated schemas out of marshmallow's registry of class names."""

        register = False

    record: ClassVar[RecordNode]
    layout: ClassVar[tuple[Place, ...]]
    strict: ClassVar[bool]

    def read(self, data: dict[str, Any]) -> Any:
        """Return the object that the data stands for.

        Raises:
            ValidationError: with everything that is wrong.
        """
        loaded = self.load(self._prepared(data))
        return _made(self.record, self.layout, loaded)

    def _prepared(self, data: dict[str, Any]) -> dict[str, Any]:
        data = dict(data)
        for place in flat(self.layout):
            member, wire = place.member, place.member.wire
            if not self.strict and self.record.kind == "arguments" and wire not in data and member.name in data:
                data[wire] = data.pop(member.name)
            if wire in data and self._is_not_given(member, data[wire]):
                del data[wire]
        return data

    def _is_not_given(self, member: Member, value: Any) -> bool:
        if value is None:
            return self.record.kind == "arguments" and member.default is None and not is_nullable(member.node)
        return not self.strict and value == "" and not member.required and not takes_empty_text(member.node)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of a member is found after loading: under a field, or (unwrapped) in fields of its own."""

    member: Member
    field: str = ""
    record: RecordNode | None = None
    below: tuple[Place, ...] = ()


def flat(layout: Sequence[Place]) -> Iterator[Place]:
    """Yield the places that have a field, those of unwrapped members too."""
    for place in layout:
        if place.record is None:
            yield place
        else:
            yield from flat(place.below)


def _made(record: RecordNode, layout: Sequence[Place], loaded: Mapping[str, Any]) -> Any:
    given: dict[str, Any] = {}
    for place in layout:
        if place.record is None:
            if place.field in loaded:
                given[place.member.name] = loaded[place.field]
        elif _is_wanted(place, loaded):
            missing = [p.member for p in flat(place.below) if p.member.required and p.field not in loaded]
            if missing:
                raise ValidationError({m.wire: [f"missing; expected {expected(m.node)}"] for m in missing})
            given[place.member.name] = _made(place.record, place.below, loaded)
        elif is_nullable(place.member.node) and place.member.required:
            given[place.member.name] = None
    try:
        return construct(record, given)
    except InvalidOperation:  # from `Decimal("x")`; its text would be of no use
        raise ValidationError(f"is no valid {record.cls.__name__}") from None
    except (ValueError, TypeError) as error:
        raise ValidationError(str(error) or "is not valid") from None


def _is_wanted(place: Place, loaded: Mapping[str, Any]) -> bool:
    """Whether the object of an unwrapped member is to be made: something of it was given, or it cannot be missing."""
    given = any(below.field in loaded for below in flat(place.below))
    return given or (place.member.required and not is_nullable(place.member.node))


def takes_empty_text(node: Node) -> bool:
    """Whether empty text is a value of its own there, not a client's way to say nothing."""
    match bare(node):
        case ScalarNode(kind=kind):
            return kind in ("str", "path", "bytes")
        case EnumNode(wires=wires):
            return "" in wires.values()
        case LiteralNode(wires=wires):
            return "" in wires
        case UnionNode(members=members):
            return any(map(takes_empty_text, members))
        case ListNode() | TupleNode() | MapNode() | RecordNode():
            return False
        case _:
            return True
