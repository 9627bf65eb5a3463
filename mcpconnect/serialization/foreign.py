"""Classes of pydantic and msgspec: they bring their own loading, dump and schema.

Rule: pydantic is recognised by name and never imported. What the library says stands; the case style is applied to
the names that a class does not alias itself, in values and schema alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import msgspec

from .._typing import resolve_hints, strip_annotated, union_members
from ..errors import SerializationError
from .config import SerializerConfig
from .members import settings_for
from .naming import wire_name
from .plan import ForeignNode
from .text import encode
from .words import Mismatch, Problems


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


# -- loading ----------------------------------------------------------------------------------------------------------


def load_foreign(node: ForeignNode, data: Any, config: SerializerConfig, *, strict: bool) -> Any:
    """Return the object that the library makes of the data, whose names are ours.

    Raises:
        Mismatch: with the library's reasons and our paths.
    """
    restored = restore_names(node.cls, data, config, strict=strict)
    try:
        if node.library == "msgspec":
            return msgspec.convert(restored, node.cls, strict=strict)
        return node.cls.model_validate_json(encode(restored), strict=strict)  # type: ignore[attr-defined]
    except TypeError:
        raise Mismatch("is not valid JSON data") from None
    except ValueError as error:
        problems = [(_our_path(node.cls, place, config), reason) for place, reason in _problems(error)]
        raise Mismatch("is not valid", Problems(problems)) from None


def _problems(error: Any) -> Iterator[tuple[list[str | int], str]]:
    """Yield the place and reason of everything that the library found wrong."""
    if isinstance(error, msgspec.ValidationError):
        reason, _, path = str(error).partition(" - at `$")
        steps = re.findall(r"\.([^.\[`]+)|\[(\d+)\]", path)
        yield [name or int(number) for name, number in steps], reason.replace("`", "")
    else:
        yield from ((list(part["loc"]), part["msg"]) for part in error.errors())


def _our_path(annotation: Any, place: list[str | int], config: SerializerConfig) -> str:
    text = ""
    for part in place:
        cls = class_in(annotation)
        attribute, ours = ((own_names(cls, config) or {}) if cls else {}).get(str(part), (str(part), str(part)))
        text += f"[{part}]" if isinstance(part, int) else f".{ours}"
        annotation = _below(annotation, cls, attribute)
    return text.removeprefix(".")


def _below(annotation: Any, cls: type | None, attribute: str) -> Any:
    """Return the type of a member of a foreign class, or of the items of a container."""
    if cls is not None:
        return resolve_hints(cls).get(attribute, Any)
    return next(reversed(get_args(annotation)), Any)


def restore_names(annotation: Any, data: Any, config: SerializerConfig, *, strict: bool, at: str = "") -> Any:
    """Return the data with our names replaced by those that the library knows, in nested classes too.

    A name that only the library knows is taken too, unless loading is `strict`: then it is an unknown one, since the
    schema does not publish it.
    """
    cls = class_in(annotation)
    if isinstance(data, list):
        item = _below(annotation, None, "")
        return [restore_names(item, part, config, strict=strict, at=f"{at}[{i}]") for i, part in enumerate(data)]
    if not isinstance(data, dict):
        return data
    back = {
        ours: (attribute, own) for own, (attribute, ours) in ((own_names(cls, config) or {}) if cls else {}).items()
    }
    restored = {}
    hidden = {name for pair in back.values() for name in pair} - back.keys() if strict else frozenset()
    for key, part in data.items():
        place = f"{at}.{key}" if at else key
        if key in hidden:
            known = ", ".join(f'"{name}"' for name in back)
            raise Mismatch("is not valid", Problems([(place, f"unknown name; known names: {known}")]))
        attribute, own = back.get(key, (key, key))
        restored[own] = restore_names(_below(annotation, cls, attribute), part, config, strict=strict, at=place)
    return restored


def class_in(annotation: Any) -> type | None:
    """Return the class of a library in an annotation such as `Model | None`."""
    for part in union_members(strip_annotated(annotation)[0]):
        cls = strip_annotated(part)[0]
        if isinstance(cls, type) and foreign_library(cls) is not None:
            return cls
    return None
