"""marshmallow fields of our own: strict about JSON types, and telling what was expected in our words.

Rule: one field class per kind of node, used by `build.py` alone. Everything wrong below a field is reported at once, in
marshmallow's nested messages. Stock fields appear only where a user brought one. This module imports marshmallow, so
it is itself imported only when data needs more than the compiled loader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marshmallow import ValidationError, fields

from .._typing import MISSING
from .construct import list_maker, map_maker
from .plan import (
    ListNode,
    MapNode,
    Node,
    RecordNode,
    TupleNode,
    UnionNode,
    bare,
    is_nullable,
)
from .readers import Reader
from .schemas import RecordSchema
from .text import decode
from .unions import find_tag, json_ranks, reading_order
from .words import Mismatch, expected, got, mismatch, one_of


class NodeField(fields.Field[Any]):
    """A field for one node."""

    def __init__(self, node: Node, **options: Any) -> None:
        self.node = node
        words: dict[str, Any] = {
            "required": f"missing; expected {expected(node)}",
            "null": f"expected {expected(node)}, got null",
        }
        super().__init__(allow_none=is_nullable(node), error_messages=words, **options)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Any:
        return self.read(value)

    def read(self, value: Any) -> Any:
        """Return what the value stands for.

        Raises:
            ValidationError: with everything that is wrong.
        """
        raise NotImplementedError


class ReadField(NodeField):
    """A value that one reader takes as a whole."""

    def __init__(self, node: Node, read: Reader, **options: Any) -> None:
        super().__init__(node, **options)
        self._read = read
        # A user's own serializer may have something to say about null.
        self.allow_none = False

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        """Read a value; unlike stock fields, this one sees nulls."""
        if value is None:
            loaded = self.read(value)
            if loaded is not None:
                self._validate(loaded)
            return loaded
        return super().deserialize(value, attr, data, **kwargs)

    def read(self, value: Any) -> Any:
        """Return what the reader makes of the value."""
        return _told(self._read, value)


class DeferredField(NodeField):
    """A recursive alias: its field is asked for when it is first needed."""

    def __init__(self, node: Node, target: Callable[[], fields.Field[Any]], **options: Any) -> None:
        super().__init__(node, **options)
        self._target = target

    def read(self, value: Any) -> Any:
        """Return what the target makes of the value."""
        return self._target().deserialize(value)


def _told(read: Reader, value: Any) -> Any:
    try:
        return read(value)
    except Mismatch as error:
        raise ValidationError(error.messages) from None


class ContainerField(NodeField):
    """A list or object; in lenient mode also JSON text of one."""

    def __init__(self, node: Node, *, strict: bool, **options: Any) -> None:
        super().__init__(node, **options)
        self._strict = strict

    def _opened(self, value: Any, cls: type) -> Any:
        """Return the list or dictionary that the value is or, leniently, spells."""
        if not self._strict and isinstance(value, str):
            try:
                parsed = decode(value)
            except ValueError:
                parsed = None
            if isinstance(parsed, cls):
                return parsed
        if not isinstance(value, cls):
            raise ValidationError(str(mismatch(self.node, value)))
        return value


class ListField(ContainerField):
    """Items of one type."""

    def __init__(self, node: ListNode, item: fields.Field[Any], *, strict: bool, **options: Any) -> None:
        super().__init__(node, strict=strict, **options)
        self._item = item
        self._unique = node.unique
        self._make = list_maker(node)

    def read(self, value: Any) -> Any:
        """Return what the value stands for."""
        given = self._opened(value, list)
        items = _each(enumerate(given), self._item.deserialize)
        try:
            made = self._make(items)
        except TypeError:
            raise ValidationError("the items cannot be in a set") from None
        if self._strict and self._unique and len(made) != len(items) and _has_twins(given):
            raise ValidationError("the items must differ from each other")
        return made


def _each(pairs: Any, load: Callable[[Any], Any]) -> list[Any]:
    loaded, wrong = [], {}
    for place, value in pairs:
        try:
            loaded.append(load(value))
        except ValidationError as error:
            wrong[place] = error.messages
    if wrong:
        raise ValidationError(wrong)
    return loaded


def _has_twins(items: list[Any]) -> bool:
    """Whether two items are equal as JSON, where 1 and 1.0 are equal but 1 and true are not."""
    kept: list[Any] = []
    for item in items:
        if any(_json_equal(item, other) for other in kept):
            return True
        kept.append(item)
    return False


def _json_equal(a: Any, b: Any) -> bool:
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_json_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_json_equal(a[key], b[key]) for key in a)
    return bool(a == b)


class TupleField(ContainerField):
    """A fixed number of items."""

    def __init__(self, node: TupleNode, items: Sequence[fields.Field[Any]], *, strict: bool, **options: Any) -> None:
        super().__init__(node, strict=strict, **options)
        self._items = items

    def read(self, value: Any) -> Any:
        """Return what the value stands for."""
        given = self._opened(value, list)
        if len(given) != len(self._items):
            raise ValidationError(f"expected {expected(self.node)}, got {len(given)}")
        pairs = ((i, (field, item)) for i, (field, item) in enumerate(zip(self._items, given, strict=True)))
        return tuple(_each(pairs, lambda pair: pair[0].deserialize(pair[1])))


class MapField(ContainerField):
    """An object with free keys."""

    def __init__(self, node: MapNode, key: Reader, value: fields.Field[Any], *, strict: bool, **options: Any) -> None:
        super().__init__(node, strict=strict, **options)
        self._key = key
        self._value = value
        self._make = map_maker(node)

    def read(self, value: Any) -> Any:
        """Return what the value stands for."""
        given = self._opened(value, dict)
        items = dict(_each(((key, (key, item)) for key, item in given.items()), self._entry))
        if len(items) != len(given):
            raise ValidationError("two keys mean the same")
        return self._make(items)

    def _entry(self, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        return _told(self._key, pair[0]), self._value.deserialize(pair[1])


class RecordField(ContainerField):
    """An object with members; `schema` is asked for when it is first needed, because a record may contain itself."""

    def __init__(self, node: RecordNode, schema: Callable[[], RecordSchema], *, strict: bool, **options: Any) -> None:
        super().__init__(node, strict=strict, **options)
        self._schema = schema

    def read(self, value: Any) -> Any:
        """Return what the value stands for."""
        return self._schema().read(self._opened(value, dict))


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
