"""Classes of pydantic and msgspec: they bring their own loading, dump and schema.

Rule: pydantic is recognised by name and never imported. What the library says stands; the case style is applied to
the names that a class does not alias itself, in values and schema alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from ..errors import SerializationError
from .config import SerializerConfig
from .members import settings_for
from .naming import wire_name
from .plan import ForeignNode


def foreign_library(cls: type) -> Literal["pydantic", "msgspec"] | None:
    """Return the library whose class this is, if it is one of those that convert themselves."""
    if issubclass(cls, msgspec.Struct):
        return "msgspec"
    if any(base.__name__ == "BaseModel" and base.__module__.startswith("pydantic.") for base in cls.__mro__):
        return "pydantic"
    return None


def foreign_writer(
    node: ForeignNode, config: SerializerConfig, write_any: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Return the function that dumps objects of the class as their library does, with our names."""

    def write(value: Any) -> Any:
        if not isinstance(value, node.cls):
            if type(value) is msgspec.Raw:
                return value
            raise SerializationError(f"expected {node.cls.__name__}, got {type(value).__name__}")
        try:
            dumped = _library_dump(value, node.library)
        except Exception as error:
            raise SerializationError(f"{type(value).__name__} cannot be dumped: {type(error).__name__}") from error
        return write_any(renamed(value, dumped, config))

    return write


def _library_dump(value: Any, library: str) -> Any:
    if library == "msgspec":
        return msgspec.to_builtins(value, str_keys=True)
    return value.model_dump(mode="json", by_alias=True)


def renamed(value: Any, dumped: Any, config: SerializerConfig) -> Any:
    """Return the dumped form of a value with the case style applied to the names that its classes do not alias."""
    if isinstance(dumped, dict):
        names = own_names(type(value), config)
        if names is not None:
            return {
                names.get(key, (key, key))[1]: renamed(getattr(value, names[key][0], None), item, config)
                if key in names
                else item
                for key, item in dumped.items()
            }
        if isinstance(value, dict) and len(value) == len(dumped):
            pairs = zip(value.values(), dumped.items(), strict=True)
            return {key: renamed(item, shown, config) for item, (key, shown) in pairs}
    elif isinstance(dumped, list) and isinstance(value, (list, tuple)) and len(value) == len(dumped):
        return [renamed(item, shown, config) for item, shown in zip(value, dumped, strict=True)]
    return dumped


def own_names(cls: type, config: SerializerConfig) -> dict[str, tuple[str, str]] | None:
    """Return, for each name that the library writes, the attribute and our name; `None` for other classes."""
    library = foreign_library(cls)
    if library is None:
        return None
    case = settings_for(cls, config).case
    names = {}
    for attribute, own in _library_names(cls, library):
        names[own] = (attribute, wire_name(attribute, case, cls) if own == attribute else own)
    return names


def _library_names(cls: Any, library: str) -> list[tuple[str, str]]:
    if library == "msgspec":
        return list(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
    computed = [(name, info.alias or name) for name, info in cls.model_computed_fields.items()]
    return [
        (name, info.serialization_alias or info.alias or name) for name, info in cls.model_fields.items()
    ] + computed
