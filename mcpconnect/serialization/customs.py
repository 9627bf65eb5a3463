"""Calls into custom serializers, whichever of the three forms they have.

Rule: a failure of the user's code when writing becomes a `SerializationError` that names the class and the kind of
failure, not its text (which may hold secrets; it stays as the cause); when reading, the text of a `ValueError` or
`TypeError` is meant for the model. marshmallow is needed only if the user brought a field or schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import SerializationError
from .custom import CustomSerializer
from .plan import CustomNode, Node

if TYPE_CHECKING:
    from .config import SerializerConfig
    from .planner import Planner

Writer = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Default:
    """The context given to a custom serializer: the configuration, and what would happen without it."""

    config: SerializerConfig
    default: Callable[[Any], Any]


def dumper(node: CustomNode, planner: Planner, values: Callable[[Node], Writer]) -> Writer:
    """Return the function that asks the custom serializer for the output of a value."""
    custom = node.custom
    if not isinstance(custom, CustomSerializer):
        return _guarded(node, bound_field(custom).dump)
    if not custom.dump_takes_context:
        return _guarded(node, custom.dump)

    def default(value: Any) -> Any:
        return values(default_node(node, planner, type(value)))(value)

    context = Default(planner.config, default)
    dump = custom.dump
    return _guarded(node, lambda value: dump(value, context))


def default_node(node: CustomNode, planner: Planner, cls: type) -> Node:
    """Return the plan that would hold without the custom serializer."""
    if node.of_class or node.annotation is None:
        return planner.default_node(cls)
    return planner.node(node.annotation)


def _guarded(node: CustomNode, dump: Writer) -> Writer:
    name = node.cls.__name__ if node.cls is not object else "this member"

    def write(value: Any) -> Any:
        try:
            return dump(value)
        except (SerializationError, RecursionError):
            raise
        except Exception as error:
            raise SerializationError(f"the serializer of {name} failed with {type(error).__name__}") from error

    return write


@dataclass(frozen=True, slots=True)
class BoundField:
    """A marshmallow field or schema, ready to be called."""

    dump: Writer
    load: Callable[[Any], Any]
    field: Any


def bound_field(custom: Any) -> BoundField:
    """Return a marshmallow field (bound to a schema of its own, as many fields need) or schema, ready to be called."""
    from marshmallow import Schema

    if isinstance(custom, type):
        custom = custom()
    if isinstance(custom, Schema):
        return BoundField(custom.dump, custom.load, custom)
    holder = Schema.from_dict({"value": custom})()
    field = holder.fields["value"]
    return BoundField(lambda value: field._serialize(value, "value", None), field.deserialize, field)
