"""The writers that generated dump functions call: everything that is decided by the value at hand.

Rule: a writer takes any value and either returns what its compiler's functions return or raises `SerializationError`
with the path below it. A value that is already `msgspec.Raw` (JSON text made earlier) passes through untouched.
"""

from __future__ import annotations

import numbers
from collections import UserString
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set, ValuesView
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import SerializationError
from .customs import dumper
from .foreign import foreign_writer
from .instances import NO_DATA, instance_writer
from .plan import (
    AnyNode,
    CustomNode,
    EnumNode,
    ForeignNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    OpaqueNode,
    RawNode,
    RecordNode,
    ScalarNode,
    UnionNode,
    bare,
)
from .planner import Planner
from .records import record_kind
from .scalars import scalar_writer, wrong_class
from .text import encode
from .unions import candidates
from .value_writers import enum_writer, literal_writer, raw_or_refused, raw_writer, refuse

Writer = Callable[[Any], Any]
Compile = Callable[[Node], Writer]
_JSON_CLASSES: Final = (str, int, float, bool, type(None), list, dict)


class Writers:
    """The writers of one compiler; `values` compiles for JSON values, whatever `function` compiles for."""

    def __init__(self, planner: Planner, function: Compile, values: Compile) -> None:
        self._planner = planner
        self._function = function
        self._values = values
        self._by_class: dict[type, Writer] = {msgspec.Raw: lambda value: value}

    def writer(self, node: Node) -> Writer:
        """Return the writer of a node that has no generated function."""
        match node:
            case ScalarNode():
                return scalar_writer(node, self._planner.config, as_value=self._function == self._values)
            case EnumNode():
                return enum_writer(node)
            case LiteralNode():
                return literal_writer(node)
            case RawNode():
                return raw_writer(as_value=self._function == self._values)
            case UnionNode():
                return self._union(node)
            case CustomNode():
                return self._custom(node)
            case ForeignNode():
                return foreign_writer(node, self._planner.config, self.any)
            case _:
                return self.any

    # -- by the class at run time -------------------------------------------------------------------------------------

    def any(self, value: Any) -> Any:
        """Write a value by the class that it has."""
        cls = type(value)
        write = self._by_class.get(cls)
        if write is None:
            write = self._by_class[cls] = self._for_class(cls)
        return write(value)

    def _for_class(self, cls: type) -> Writer:
        node = self._planner.node(cls)
        if not isinstance(node, (OpaqueNode, AnyNode)):  # the plan of `object` is that of anything
            return self._function(node)
        if isinstance(node, OpaqueNode) and record_kind(cls) is not None:
            return refuse(node.reason)
        if issubclass(cls, NO_DATA):
            return refuse(f"{cls.__name__} has no JSON form")
        return self._for_interface(cls) or instance_writer(cls, self._planner.config, self.any)

    def _for_interface(self, cls: type) -> Writer | None:
        """Return the writer of a class of another library that stands in for a mapping, list or number."""
        # A bare `Collection` is no list: iterating over a table of another library may give its column names.
        items = ListNode(AnyNode(), list)
        stand_ins: list[tuple[type, Node]] = [
            (Mapping, MapNode(AnyNode(), AnyNode(), dict)),
            (numbers.Integral, ScalarNode("int", int)),
            *((interface, items) for interface in (Sequence, Set, ValuesView, Iterator)),
        ]
        if issubclass(cls, UserString):
            text = self._function(ScalarNode("str", str))
            return lambda value: text(value.data)
        if issubclass(cls, numbers.Real) and not issubclass(cls, numbers.Rational):
            return self._function(ScalarNode("float", float))
        return next((self._function(node) for base, node in stand_ins if issubclass(cls, base)), None)

    # -- unions and custom serializers --------------------------------------------------------------------------------

    def _union(self, node: UnionNode) -> Writer:
        functions = [self._function(member) for member in node.members]
        known: dict[type, list[Writer]] = {}

        def write(value: Any) -> Any:
            if value is None and node.nullable:
                return None
            cls = type(value)
            if cls not in known:
                known[cls] = [functions[i] for i in candidates(cls, node.members)]
            errors = []
            for function in known[cls]:
                try:
                    return function(value)
                except SerializationError as error:
                    errors.append(error)
            if errors:
                raise max(errors, key=lambda error: len(error.path))
            if cls is msgspec.Raw:
                return value
            raise wrong_class(_names(node), value)

        return write

    def _custom(self, node: CustomNode) -> Writer:
        dump = dumper(node, self._planner, self._values)

        def write(value: Any) -> Any:
            cls = type(value)
            if cls is msgspec.Raw:
                return value
            if node.of_class and cls is not node.cls:
                if not isinstance(value, node.cls):
                    raise wrong_class(node.cls.__name__, value)
                if self._planner.custom_for(cls) is not node.custom:
                    return self.any(value)
            return self._result(cls, dump(value))

        return write

    def _result(self, source: type, output: Any) -> Any:
        """Write what a custom serializer returned; its own class is not asked again, or it would never end."""
        if output is UNSET:
            return output
        cls = type(output)
        if cls in _JSON_CLASSES or cls is source:
            return self._function(self._planner.default_node(cls))(output)
        return self.any(output)

    # -- values that a generated function does not take ---------------------------------------------------------------

    def other_record(self, node: RecordNode, function: Writer) -> Writer:
        """Return the writer of values whose class is not exactly the record's."""

        def write(value: Any) -> Any:
            if type(value) is msgspec.Raw:
                return value
            if node.kind == "typeddict" and isinstance(value, Mapping):
                return function(dict(value))
            if node.kind != "typeddict" and isinstance(value, node.cls):
                return self.any(value)
            raise wrong_class(node.cls.__name__, value)

        return write

    def other_list(self, function: Writer) -> Writer:
        """Return the writer of iterables that are no list."""
        ordered = self.set_of(function)

        def write(value: Any) -> Any:
            if isinstance(value, Set) and not isinstance(value, Mapping):
                return ordered(value)
            if isinstance(value, (Collection, Iterator)) and not isinstance(value, (str, bytes, bytearray, Mapping)):
                return function(list(value))
            return raw_or_refused(value, "list")

        return write

    def set_of(self, function: Writer) -> Writer:
        """Return the writer of sets, in the order of their items' JSON text; `function` writes a list of the items."""

        def write(value: Any) -> Any:
            if not isinstance(value, Set):
                return raw_or_refused(value, "set")
            return [item for _, item in sorted({encode(item): item for item in function(list(value))}.items())]

        return write

    def other_tuple(self, function: Writer, count: int) -> Writer:
        """Return the writer of values that are no tuple of the declared length."""

        def write(value: Any) -> Any:
            if isinstance(value, (tuple, list)):
                if len(value) != count:
                    raise SerializationError(f"expected {count} items, got {len(value)}")
                return function(tuple(value))
            return raw_or_refused(value, "tuple")

        return write

    def other_map(self, function: Writer) -> Writer:
        """Return the writer of mappings that are no `dict`."""

        def write(value: Any) -> Any:
            return function(dict(value)) if isinstance(value, Mapping) else raw_or_refused(value, "dict")

        return write

    def key(self, node: Node) -> Writer:
        """Return the function that makes the text of a dictionary key."""
        scalar = self._values(node)

        def write(key: Any) -> str:
            try:
                text = scalar(key)
            except SerializationError as error:
                raise SerializationError(f"the key {key!r} cannot be written: {error.reason}") from None
            if isinstance(text, str):
                return text
            if isinstance(text, (list, dict)) or text is UNSET:
                raise SerializationError(f"the key {key!r} cannot be written: a key is text or another scalar")
            return encode(text).decode()

        return write


def _names(node: UnionNode) -> str:
    names = [getattr(bare(member), "cls", type(bare(member))).__name__ for member in node.members]
    return " or ".join(dict.fromkeys([*names, *(["None"] if node.nullable else [])]))
