"""Objects of classes that declare nothing: written from their public instance attributes.

Rule: names, visibility, ignore lists and include rules hold as for records, but the attributes are those that the
object has at the moment. An object that shows nothing, and anything that is no plain data (functions, modules, files,
exceptions, classes), has no JSON form; it never becomes a text like `<object at 0x…>`.
"""

from __future__ import annotations

import io
import types
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from ..errors import SerializationError
from .config import Include, IncludeContext, Members, SerializerConfig
from .members import is_empty, settings_for, visibility_of
from .naming import wire_name

NO_DATA: Final = (type, types.ModuleType, types.FunctionType, types.MethodType, BaseException, io.IOBase)
"""Classes whose objects are never data, whatever attributes they have."""


def instance_writer(cls: type, config: SerializerConfig, write_any: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function that writes objects of the class from their attributes."""
    settings = settings_for(cls, config)
    include = settings.include
    properties = [
        name
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, property) and Members.PROPERTIES in settings.members
    ]

    def shown(name: str) -> bool:
        return name not in settings.ignore and visibility_of(name, cls) in settings.visibility

    def left_out(name: str, value: Any, owner: Any) -> bool:
        if callable(include):
            return include(IncludeContext(name, value, owner)) is False
        # An attribute that nobody declared has no default but `None`.
        return is_empty(value) if include is Include.NOT_EMPTY else value is None and include is not Include.ALWAYS

    def write(value: Any) -> dict[str, Any]:
        if not hasattr(value, "__dict__"):
            raise SerializationError(f"{cls.__name__} has no JSON form")
        fields = list(vars(value)) if Members.FIELDS in settings.members else []
        names = [name for name in (*fields, *properties) if shown(name)]
        if not names:
            raise SerializationError(f"{cls.__name__} has no JSON form: it has no public attributes")
        out: dict[str, Any] = {}
        for name in sorted(names) if settings.sort_members else names:
            _put(out, name, wire_name(name, settings.case, cls), _read(value, name), left_out, value, write_any)
        return out

    return write


def _read(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except Exception as error:
        raise SerializationError(f"the property {name} failed with {type(error).__name__}", f"$.{name}") from error


def _put(
    out: dict[str, Any],
    name: str,
    wire: str,
    value: Any,
    left_out: Callable[[str, Any, Any], bool],
    owner: Any,
    write_any: Callable[[Any], Any],
) -> None:
    if left_out(name, value, owner):
        return
    if wire in out:
        raise SerializationError(f"two attributes are both written as {wire!r}, one of them is {name!r}")
    try:
        written = write_any(value)
    except SerializationError as error:
        raise error.within(f".{wire}") from error.__cause__
    if written is not UNSET:
        out[wire] = written
