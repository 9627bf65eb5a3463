"""Custom serializers: how a user says what the wire form of a type is.

Three forms are taken everywhere: a `CustomSerializer`, a marshmallow `Field`, and a marshmallow `Schema` for a class.
Rule: the entry whose class is nearest in the method resolution order wins; a user's entry beats everything built in.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from marshmallow import Schema
    from marshmallow.fields import Field

    from .config import SerializerConfig

View = Literal["output", "input"]
T = TypeVar("T")


class DumpContext(Protocol):
    """What a custom `dump` may ask for."""

    @property
    def config(self) -> SerializerConfig:
        """The configuration of the serializer at work."""
        ...

    def default(self, value: Any) -> Any:
        """Return the JSON value that the serializer would make of `value` without this custom serializer."""
        ...


class LoadContext(Protocol):
    """What a custom `load` may ask for."""

    @property
    def config(self) -> SerializerConfig:
        """The configuration of the serializer at work."""
        ...

    def default(self, data: Any) -> Any:
        """Return what the serializer would make of `data` without this custom serializer."""
        ...


@dataclass(frozen=True, slots=True)
class CustomSerializer:
    """The wire form of a type.

    `dump(value)` or `dump(value, context)` returns anything the serializer can write, or `OMIT`. `load(data)` or
    `load(data, context)` returns the value, or raises `ValueError` or `TypeError` with a text for the model; without
    it the type cannot be loaded. `json_schema` is a JSON Schema, or a function from the view (`"output"`, `"input"`).
    """

    dump: Callable[..., Any]
    load: Callable[..., Any] | None = None
    json_schema: Mapping[str, Any] | Callable[[View], Mapping[str, Any]] | None = None
    dump_takes_context: bool = field(init=False)
    load_takes_context: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dump_takes_context", _takes_two(self.dump))
        object.__setattr__(self, "load_takes_context", self.load is not None and _takes_two(self.load))


Custom: TypeAlias = "CustomSerializer | Field[Any] | Schema | type[Schema]"
"""What may be registered for a class, or named by `Use`."""


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # many built-in callables, such as `str`, have no signature
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in positional and p.default is inspect.Parameter.empty]
    return len(required) >= 2


def nearest(cls: type, entries: Mapping[type, T]) -> T | None:
    """Return the entry for the class of `entries` that is nearest to `cls` in its method resolution order."""
    if not entries:
        return None
    for base in cls.__mro__:
        # `object` would catch everything, and a bool is no number on the wire.
        if base in entries and (base is not object or cls is object) and not (cls is bool and base is int):
            return entries[base]
    return next((entry for base, entry in entries.items() if _is_virtual_base(cls, base)), None)


def _is_virtual_base(cls: type, base: type) -> bool:
    """Whether `cls` is registered with an abstract class such as `os.PathLike` without inheriting from it."""
    if base is object or (cls is bool and base is int):
        return False
    try:
        return issubclass(cls, base)
    except TypeError:
        return False
