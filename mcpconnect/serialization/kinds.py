"""Scalars and containers: which classes they are, and which notes fit them.

Rule: a class is found by its nearest base in one table. A subclass of a scalar (`class UserId(int)`) keeps the wire
form of its base and is made from it when loaded.
"""

from __future__ import annotations

import datetime
import pathlib
import uuid
from collections import Counter, OrderedDict, UserString, defaultdict, deque
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Reversible,
    Sequence,
    Set,
)
from decimal import Decimal
from typing import Any, Final, Unpack, get_args, get_origin

from .._typing import substitute, type_arguments
from .config import ISO, SerializerConfig
from .constraints import ValueKind
from .notes import Notes
from .plan import (
    AnyNode,
    CustomNode,
    EnumNode,
    ListNode,
    MapNode,
    Node,
    OpaqueNode,
    RecordNode,
    ScalarKind,
    ScalarNode,
    TupleNode,
    UnionNode,
    bare,
)

_SCALARS: Final[dict[type, ScalarKind]] = {
    bool: "bool",
    int: "int",
    float: "float",
    Decimal: "decimal",
    str: "str",
    bytes: "bytes",
    bytearray: "bytes",
    memoryview: "bytes",
    datetime.datetime: "datetime",
    datetime.date: "date",
    datetime.time: "time",
    datetime.timedelta: "timedelta",
    uuid.UUID: "uuid",
    pathlib.PurePath: "path",
}

_FORMS: Final[dict[str, tuple[str, ...]]] = {
    "bytes": ("base64", "base64url", "hex", "native"),
    "datetime": ("iso", "unix", "%"),
    "date": ("iso", "%"),
    "time": ("iso", "%"),
    "timedelta": ("iso", "seconds"),
    "decimal": ("text", "number"),
}
"""Formats per kind; the first is the default, `%` stands for any `strftime` pattern."""

_LISTS: Final[dict[type, type]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    deque: deque,
    Sequence: list,
    MutableSequence: list,
    Set: frozenset,
    MutableSet: set,
    Iterable: list,
    Collection: list,
    Reversible: list,
    Iterator: Iterator,
    Generator: Iterator,
}

_MAPS: Final[dict[type, type]] = {
    Counter: Counter,
    defaultdict: defaultdict,
    OrderedDict: OrderedDict,
    dict: dict,
    MutableMapping: dict,
    Mapping: dict,
}


def scalar_kind(cls: type) -> ScalarKind | None:
    """Return the scalar that the class is or inherits from."""
    return next((_SCALARS[base] for base in cls.__mro__ if base in _SCALARS), None)


def plan_scalar(cls: type, config: SerializerConfig, notes: Notes) -> ScalarNode | None:
    """Return the node of a scalar class, `None` for any other class."""
    kind = scalar_kind(cls)
    if kind is None:
        return None
    configured = {"datetime": config.datetime_format, "decimal": config.decimal_as}
    default = configured.get(kind) or _FORMS.get(kind, ("",))[0]
    form = notes.form or (ISO if kind in ("date", "time") else default)
    return ScalarNode(kind, cls, form)


def plan_container(annotation: Any, cls: type, plan: Callable[[Any], Node]) -> Node | None:
    """Return the node of a list, set, tuple or mapping class, `None` for any other class."""
    base = next((base for base in cls.__mro__ if base in _LISTS or base in _MAPS), None)
    if base is None or issubclass(cls, UserString):  # a list of lists like itself, for ever
        return None
    arguments = base_arguments(annotation, base)
    if any(getattr(part, "__unpacked__", False) or get_origin(part) is Unpack for part in arguments):
        return OpaqueNode(annotation, "a tuple with another one unpacked in it has no JSON form")
    if base is tuple and (arguments[-1:] != (...,) if arguments else get_origin(annotation) is tuple):
        return TupleNode(tuple(map(plan, arguments)))
    if base in _MAPS:
        key, value = (*arguments, int)[:2] if base is Counter and arguments else (*arguments, Any, Any)[:2]
        return MapNode(plan(key), plan(value), _MAPS[base] if cls is base else cls)
    return ListNode(plan(arguments[0] if arguments else Any), _LISTS[base] if cls is base else cls)


def base_arguments(annotation: Any, base: type) -> tuple[Any, ...]:
    """Return the type arguments that `annotation` gives to its base: `(str,)` for `class Tags(list[str])`."""
    origin = get_origin(annotation) or annotation
    if origin is base:
        return get_args(annotation)
    given = type_arguments(annotation)
    for below in getattr(origin, "__orig_bases__", ()):
        if base in getattr(get_origin(below) or below, "__mro__", ()):
            return tuple(substitute(argument, given) for argument in base_arguments(below, base))
    return ()


# -- which notes fit --------------------------------------------------------------------------------------------------


def check_notes(notes: Notes, node: Node) -> None:
    """Refuse notes that mean nothing for the type.

    Raises:
        ValueError: naming the note and the type.
    """
    parts = bare(node).members if isinstance(bare(node), UnionNode) else (node,)  # type: ignore[attr-defined]
    kinds = {value_kind(part) for part in parts} - {"none"}
    for constraint in notes.constraints:
        if not all(map(constraint.fits, kinds)):
            raise ValueError(f"the constraint {constraint.name} does not fit {_listed(kinds)}")
    if notes.form is not None and not any(_takes_form(bare(part), notes.form) for part in parts):
        raise ValueError(f"Format({notes.form!r}) does not fit {_listed(kinds)}")
    if notes.enum_names is not None and not any(isinstance(bare(part), EnumNode) for part in parts):
        raise ValueError("EnumNames stands beside a type that is no enum")
    if notes.unwrap and not (len(parts) == 1 and isinstance(bare(parts[0]), RecordNode)):
        raise ValueError("Unwrap stands beside a type that is no record")


def _listed(kinds: set[str]) -> str:
    return " or ".join(sorted(kinds)) or "null"


def _takes_form(node: Node, form: str) -> bool:
    if isinstance(node, EnumNode):
        return form in ("value", "name")
    if not isinstance(node, ScalarNode):
        return isinstance(node, CustomNode)
    allowed = _FORMS.get(node.kind, ())
    return form in allowed or ("%" in form and "%" in allowed)


def value_kind(node: Node) -> ValueKind:
    """Return which kind of value constraints meet there; see `constraints.ValueKind`."""
    inner = bare(node)
    if isinstance(inner, ScalarNode):
        number = inner.kind in ("int", "float") or (inner.kind == "decimal" and inner.form == "number")
        return "number" if number else _NAMES.get(inner.kind, inner.kind)
    return next((name for cls, name in _KIND_OF_NODE.items() if isinstance(inner, cls)), "other")


_NAMES: Final = {"str": "text", "bool": "boolean", "uuid": "other", "path": "other"}

_KIND_OF_NODE: Final[dict[type[Node], ValueKind]] = {
    ListNode: "list",
    TupleNode: "list",
    MapNode: "map",
    RecordNode: "record",
    EnumNode: "other",
    CustomNode: "custom",
    AnyNode: "custom",
}
