"""From a plan to marshmallow: a field for each node, a schema class for each record.

Rule: fields are made strict or lenient once and for all, and refuse or ignore unknown names likewise; a builder stands
for one of the four combinations and keeps the schema of each record.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal

from marshmallow import EXCLUDE, RAISE, ValidationError, fields

from .constraints import Constraint, ConstraintError
from .fields import DeferredField, ListField, MapField, ReadField, RecordField, TupleField
from .loading import LoadCompiler
from .member import Member
from .plan import (
    LazyNode,
    ListNode,
    MapNode,
    Node,
    NoteNode,
    RecordNode,
    TupleNode,
    UnionNode,
    is_nullable,
    unwrapped_record,
)
from .planner import Planner
from .schemas import Place, RecordSchema, flat
from .union_field import UnionField
from .value_readers import LoadNode, key_reader, value_reader
from .words import held

Extra = Literal["refuse", "ignore"]


class FieldBuilder:
    """Makes the fields of one serializer for one way of loading."""

    def __init__(
        self,
        planner: Planner,
        compiler: LoadCompiler,
        load: LoadNode,
        *,
        extra: Extra,
        strictly: FieldBuilder | None = None,
    ) -> None:
        """Make a strict builder, or a lenient one that falls back on `strictly` in unions."""
        self._planner = planner
        self._compiler = compiler
        self._load = load
        self._strictly = strictly
        self._strict = strictly is None
        self._extra = extra
        self._lock = threading.RLock()
        self._roots: dict[Node, fields.Field[Any]] = {}
        self._schemas: dict[RecordNode, RecordSchema] = {}

    def root(self, node: Node) -> fields.Field[Any]:
        """Return the field of a whole value."""
        with self._lock:
            if node not in self._roots:
                self._roots[node] = self._field(node)
            return self._roots[node]

    def _field(self, node: Node, **options: Any) -> fields.Field[Any]:
        checks = options["validate"] = []
        while isinstance(node, NoteNode):
            checks.extend(_validator(constraint) for constraint in node.notes.constraints)
            node = node.inner
        match inner := node:
            case LazyNode(target=Node() as target):
                return DeferredField(inner, lambda: self.root(target), **options)
            case ListNode():
                return ListField(inner, self._field(inner.item), strict=self._strict, **options)
            case TupleNode():
                return TupleField(inner, [self._field(item) for item in inner.items], strict=self._strict, **options)
            case MapNode():
                read = value_reader(inner.key, self._planner, self._load, strict=True)
                key = key_reader(inner.key, read or self._compiler.function(inner.key))
                return MapField(inner, key, self._field(inner.value), strict=self._strict, **options)
            case RecordNode():
                return RecordField(inner, lambda: self._schema(inner), strict=self._strict, **options)
            case UnionNode():
                return self._union(inner, options)
            case _:
                read = value_reader(inner, self._planner, self._load, strict=self._strict)
                return ReadField(inner, read or _as_it_is, **options)

    def _union(self, node: UnionNode, options: dict[str, Any]) -> UnionField:
        exact = self._compiler.function(node)
        own = [self._field(member) for member in node.members]
        if self._strictly is None:
            return UnionField(node, exact, [own], **options)
        return UnionField(node, exact, [[self._strictly.root(member) for member in node.members], own], **options)

    # -- records ------------------------------------------------------------------------------------------------------

    def _schema(self, node: RecordNode) -> RecordSchema:
        with self._lock:
            if node not in self._schemas:
                self._schemas[node] = self._make_schema(node)
            return self._schemas[node]

    def _make_schema(self, node: RecordNode) -> RecordSchema:
        numbers = iter(range(10_000))
        layout = tuple(self._places(node, numbers))
        declared = {place.field: self._member_field(place.member) for place in flat(layout)}
        optional = {p.field for place in layout if _is_optional_group(place) for p in flat(place.below)}
        for name in optional:
            declared[name].required = False
        known = ", ".join(f'"{place.member.wire}"' for place in flat(layout)) or "none"
        body = {
            **declared,
            "record": node,
            "layout": layout,
            "strict": self._strict,
            "error_messages": {"unknown": f"unknown name; known names: {known}"},
        }
        schema = type(f"{node.cls.__name__}Schema", (RecordSchema,), body)
        return schema(unknown=RAISE if self._extra == "refuse" else EXCLUDE)  # type: ignore[no-any-return]

    def _places(self, node: RecordNode, numbers: Iterator[int]) -> Iterator[Place]:
        for member in node.loaded:
            record = unwrapped_record(member)
            if record is None:
                yield Place(member, f"f{next(numbers)}")
            else:
                yield Place(member, record=record, below=tuple(self._places(record, numbers)))

    def _member_field(self, member: Member) -> fields.Field[Any]:
        return self._field(member.node, required=member.required, data_key=member.wire)


def _is_optional_group(place: Place) -> bool:
    return place.record is not None and (is_nullable(place.member.node) or not place.member.required)


def _validator(constraint: Constraint) -> Callable[[Any], None]:
    def validate(value: Any) -> None:
        try:
            constraint.check(value)
        except ConstraintError as error:
            raise ValidationError(f"{error}, got {held(value)}") from None
        except ValidationError as error:
            if constraint.authored or not isinstance(error.messages, list):
                raise
            raise ValidationError([f"{text.rstrip('.')}, got {held(value)}" for text in error.messages]) from None

    return validate


def _as_it_is(value: Any) -> Any:
    return value
