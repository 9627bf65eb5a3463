"""Enums and literals: which scalar stands for which member.

Rule: the wire form of an enum member is its own name from `EnumNames`, else its value or its name as `enum_as` says. An
enum with a value that is no JSON scalar is written by names. A `Flag` is its integer.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from enum import Enum, Flag
from typing import Any, get_args

from .markers import ENUM_NAMES, EnumNames
from .members import ClassSettings
from .notes import Notes
from .plan import EnumNode, LiteralNode, Node


def plan_enum(cls: type, settings: ClassSettings, notes: Notes) -> EnumNode | None:
    """Return the node of an enum class, `None` for any other class.

    Raises:
        ValueError: names that do not fit the enum.
    """
    if not issubclass(cls, Enum):
        return None
    if issubclass(cls, Flag):
        mask = 0
        for member in cls.__members__.values():
            mask |= int(member._value_)
        return EnumNode(cls, {}, mask)
    names: EnumNames | None = notes.enum_names or settings.enum_names or getattr(cls, ENUM_NAMES, None)
    members = [member.name for member in cls]  # without aliases
    if names is not None:
        return EnumNode(cls, names.by_member(members))
    by_value = (notes.form or settings.enum_as) == "value"
    values = {name: cls.__members__[name]._value_ for name in members}
    if by_value and all(_is_scalar(value) for value in values.values()):
        return EnumNode(cls, {name: _plain(value) for name, value in values.items()})
    return EnumNode(cls, {name: name for name in members})


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int)) or (isinstance(value, float) and value - value == 0)


def _plain(value: Any) -> Any:
    """Return the value in its JSON class: enums may hold values of subclasses of `str` or `int`."""
    if isinstance(value, bool):
        return value
    return next((base(value) for base in (str, int) if isinstance(value, base)), value)


def plan_literal(annotation: Any, plan: Callable[[Any], Node]) -> LiteralNode:
    """Return the node of a `Literal`; a member of an enum is written as its enum says."""
    values = tuple(value for argument in get_args(annotation) for value in _flat(argument))
    return LiteralNode(values, tuple(_literal_wire(value, plan) for value in values))


def _flat(argument: Any) -> tuple[Any, ...]:
    return get_args(argument) or (argument,)


def _literal_wire(value: Any, plan: Callable[[Any], Node]) -> Any:
    if isinstance(value, Enum):
        node = plan(type(value))
        return node.wires[value.name] if isinstance(node, EnumNode) and node.wires else value.value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value
