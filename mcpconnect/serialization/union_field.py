"""The marshmallow field of a union: which member takes a value, and what is told when none does.

Rule: what takes the value exactly wins (the compiled loader decides that), then strict members by JSON type, then
lenient ones in their order. Records with a tag are chosen by it alone, so that the report is about the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marshmallow import ValidationError, fields

from .._typing import MISSING
from .fields import NodeField
from .plan import Node, RecordNode, UnionNode, bare
from .readers import Reader
from .text import decode
from .unions import find_tag, json_ranks, reading_order
from .words import got, mismatch, one_of


class UnionField(NodeField):
    """One of several types: what takes the value exactly wins, then strict, then lenient members in their order.

    `exact` is the compiled loader of the union; `stages` holds the fields of all members, strict ones first.
    """

    def __init__(
        self, node: UnionNode, exact: Reader, stages: Sequence[Sequence[fields.Field[Any]]], **options: Any
    ) -> None:
        super().__init__(node, **options)
        self._members = node.members
        self._exact = exact
        self._stages = stages
        self._tag = find_tag(node.members)

    def read(self, value: Any) -> Any:
        """Return what the value stands for."""
        try:
            return self._exact(value)
        except RecursionError:
            raise
        except Exception:
            return self._search(value)

    def _search(self, value: Any) -> Any:
        strict, lenient = self._stages[0], self._stages[1:]
        for i in self._takers(value):
            try:
                return strict[i].deserialize(value)
            except ValidationError:
                continue
        for stage in lenient:
            for i in self._takers(_spelled_object(value), converting=True):
                try:
                    return stage[i].deserialize(value)
                except ValidationError:
                    continue
        raise self._report(value)

    def _takers(self, value: Any, *, converting: bool = False) -> list[int]:
        """Return the members that may take the value; of records with a tag, only the one that it names."""
        order = list(range(len(self._members))) if converting else reading_order(type(value), self._members)
        if self._tag is None or type(value) is not dict:
            return order
        wire, chosen = self._tag
        named = _lookup(chosen, value.get(wire, MISSING))
        return [i for i in order if bare(self._members[i]) is named or bare(self._members[i]) not in chosen.values()]

    def _report(self, value: Any) -> ValidationError:
        if self._tag is not None and type(value) is dict:
            wire, chosen = self._tag
            came = value.get(wire, MISSING)
            if _lookup(chosen, came) is None:
                choice = one_of(chosen)
                reason = f"missing; expected {choice}" if came is MISSING else f"expected {choice}, got {got(came)}"
                return ValidationError({wire: [reason]})
        takers = [i for i in self._takers(value) if type(value) in json_ranks(self._members[i])]
        if len(takers) == 1:
            try:
                self._stages[-1][takers[0]].deserialize(value)
            except ValidationError as error:
                return error
        shapes = [_shape(record) for i in takers if isinstance(record := bare(self._members[i]), RecordNode)]
        if len(shapes) > 1:
            return ValidationError(f"fits none of the expected objects: {' or '.join(shapes)}")
        return ValidationError(str(mismatch(self.node, value)))


def _shape(record: RecordNode) -> str:
    names = (f'"{member.wire}"' + ("" if member.required else "?") for member in record.loaded)
    return f"{{{', '.join(names)}}}"


def _spelled_object(value: Any) -> Any:
    """Return the object that a text spells, which may carry a tag, or the value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            return decode(value)
        except ValueError:
            return value
    return value


def _lookup(chosen: dict[Any, Node], tag: Any) -> Node | None:
    return chosen.get(tag) if isinstance(tag, (str, int)) else None
