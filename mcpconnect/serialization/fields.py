"""marshmallow fields of our own: strict about JSON types, and telling what was expected in our words.

Rule: one field class per kind of node, used by `build.py` alone. Everything wrong below a field is reported at once, in
marshmallow's nested messages. Stock fields appear only where a user brought one. This module imports marshmallow, so
it is itself imported only when data needs more than the compiled loader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marshmallow import ValidationError, fields

from .construct import list_maker, map_maker
from .plan import (
    ListNode,
    MapNode,
    Node,
    RecordNode,
    TupleNode,
    is_nullable,
)
from .readers import Reader
from .schemas import RecordSchema
from .text import decode
from .words import Mismatch, expected, mismatch


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
