"""What each kind of record declares: dataclass, attrs class, NamedTuple, TypedDict, plain class.

Rule: one reader per kind returns the same thing, a list of `Attribute`s in the order of declaration, base classes
first. No setting is looked at here: which attributes become members of the wire form is decided in `members.py`.
attrs is recognised by its mark on the class and never imported.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from .._typing import MISSING, Unresolved, has_qualifier, own_hints, resolve_hints, substitute, type_arguments
from .plan import RecordKind


@dataclass(slots=True, kw_only=True)
class Attribute:
    """One attribute, key or property as its class declares it."""

    name: str
    annotation: Any
    default: Any = MISSING
    factory: Callable[[], Any] | None = None
    argument: str | None = None
    settable: bool = True
    optional: bool = False
    input_only: bool = False
    is_property: bool = False


def record_kind(cls: type) -> RecordKind | None:
    """Return which kind of record the class is; `None` if it declares no members."""
    if issubclass(cls, dict) and hasattr(cls, "__required_keys__"):
        return "typeddict"
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_asdict"):
        return "namedtuple"
    if dataclasses.is_dataclass(cls):
        return "dataclass"
    if "__attrs_attrs__" in vars(cls) or any("__attrs_attrs__" in vars(base) for base in cls.__mro__):
        return "attrs"
    if not issubclass(cls, (type, BaseException, tuple)) and any(True for _ in _plain_names(cls)):
        return "class"
    return None


def attributes_of(annotation: Any, cls: type, kind: RecordKind) -> list[Attribute]:
    """Return what the class declares, with the type parameters of `annotation` put in; properties last."""
    hints = resolve_hints(cls)
    found = [*_READERS[kind](cls, hints), *_properties(cls)]
    arguments = type_arguments(annotation)
    for attribute in found:
        attribute.annotation = substitute(attribute.annotation, arguments)
    return found


def why_not_loadable(cls: type, kind: RecordKind, attributes: list[Attribute]) -> str | None:
    """Return why no object of the class can be made from its attributes, or `None` if it can."""
    if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False):
        return f"{cls.__name__} is abstract, so no object of it can be made"
    if kind in ("namedtuple", "typeddict"):
        return None
    known = {attribute.argument for attribute in attributes}
    missing = [
        name
        for name, parameter in _constructor(cls).items()
        if name not in known and parameter.default is parameter.empty and parameter.kind not in _VARIADIC
    ]
    if missing:
        return f"the constructor of {cls.__name__} needs {', '.join(missing)}, which no member provides"
    return None


_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _constructor(cls: type) -> dict[str, inspect.Parameter]:
    own = [base for base in cls.__mro__ if "__init__" in vars(base) or "__new__" in vars(base)]
    if own == [object]:
        return {}
    try:
        return dict(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return {}


# -- one reader per kind ----------------------------------------------------------------------------------------------


def _read_dataclass(cls: type, hints: dict[str, Any]) -> Iterator[Attribute]:
    parameters = _constructor(cls)
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        if _is_init_var(field):
            # One with a default is not needed to make the object; one without must come from somewhere.
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                yield Attribute(
                    name=field.name, annotation=_init_var_type(field, hints), argument=field.name, input_only=True
                )
        elif not _is_class_var(field):
            yield Attribute(
                name=field.name,
                annotation=hints.get(field.name, Any),
                default=MISSING if field.default is dataclasses.MISSING else field.default,
                factory=None if field.default_factory is dataclasses.MISSING else field.default_factory,
                argument=field.name if field.init and field.name in parameters else None,
                optional=not field.init,
            )


def _is_init_var(field: Any) -> bool:
    return field._field_type is getattr(dataclasses, "_FIELD_INITVAR", None)


def _is_class_var(field: Any) -> bool:
    return field._field_type is getattr(dataclasses, "_FIELD_CLASSVAR", None)


def _init_var_type(field: Any, hints: dict[str, Any]) -> Any:
    hint = hints.get(field.name, field.type)
    return hint.type if isinstance(hint, dataclasses.InitVar) else hint


def _read_attrs(cls: type, hints: dict[str, Any]) -> Iterator[Attribute]:
    for field in cls.__attrs_attrs__:  # type: ignore[attr-defined]
        kind = type(field.default).__name__
        yield Attribute(
            name=field.name,
            annotation=hints.get(field.name, field.type or Any),
            default=MISSING if kind in ("_Nothing", "Factory") else field.default,
            factory=field.default.factory if kind == "Factory" and not field.default.takes_self else None,
            argument=(field.alias or field.name.lstrip("_")) if field.init else None,
            optional=kind == "Factory" or not field.init,
        )


def _read_namedtuple(cls: type, hints: dict[str, Any]) -> Iterator[Attribute]:
    defaults = cls._field_defaults  # type: ignore[attr-defined]
    for name in cls._fields:  # type: ignore[attr-defined]
        default = defaults.get(name, MISSING)
        yield Attribute(name=name, annotation=hints.get(name, Any), default=default, argument=name, settable=False)


def _read_typeddict(cls: type, hints: dict[str, Any]) -> Iterator[Attribute]:
    required = cls.__required_keys__  # type: ignore[attr-defined]
    for name, hint in hints.items():
        # With postponed annotations the class itself cannot see its `NotRequired`; the evaluated hint can.
        optional = has_qualifier(hint, "NotRequired") or (not has_qualifier(hint, "Required") and name not in required)
        yield Attribute(name=name, annotation=hint, optional=optional, argument=name)


def _read_plain(cls: type, hints: dict[str, Any]) -> Iterator[Attribute]:
    parameters = _constructor(cls)
    for name in _plain_names(cls):
        hint = hints.get(name, Any)
        argument = next((n for n in (name, name.lstrip("_")) if n in parameters), None)
        default = _class_value(cls, name)
        if argument is not None and default is MISSING:
            given = parameters[argument].default
            default = MISSING if given is inspect.Parameter.empty else given
        yield Attribute(name=name, annotation=hint, default=default, argument=argument)


def _plain_names(cls: type) -> Iterator[str]:
    """Yield the annotated attributes and the slots of a class that is no other kind of record."""
    seen: set[str] = set()
    for base in reversed(cls.__mro__):
        if base.__module__ in ("builtins", "abc", "typing", "enum"):
            continue
        hints = own_hints(base)
        slots = vars(base).get("__slots__", ())
        mangled = (_mangled(base, slot) for slot in ((slots,) if isinstance(slots, str) else slots))
        for name in (*hints, *(slot for slot in mangled if slot not in ("__dict__", "__weakref__"))):
            if name not in seen and not _is_class_variable(hints.get(name)):
                seen.add(name)
                yield name


def _mangled(cls: type, slot: str) -> str:
    return f"_{cls.__name__.lstrip('_')}{slot}" if slot.startswith("__") and not slot.endswith("__") else slot


def _is_class_variable(hint: Any) -> bool:
    if isinstance(hint, Unresolved):
        return hint.text.startswith(("ClassVar", "typing.ClassVar", "t.ClassVar"))
    return has_qualifier(hint, "ClassVar")


def _class_value(cls: type, name: str) -> Any:
    value = inspect.getattr_static(cls, name, MISSING)
    return MISSING if isinstance(value, (types.MemberDescriptorType, property)) else value


def _properties(cls: type) -> Iterator[Attribute]:
    found: dict[str, Attribute] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
            if getter is None or not isinstance(value, (property, functools.cached_property)):
                continue
            hint = resolve_hints(getter, base).get("return", Any)
            settable = isinstance(value, property) and value.fset is not None
            found[name] = Attribute(name=name, annotation=hint, settable=settable, optional=True, is_property=True)
    yield from found.values()


_READERS: Final[dict[RecordKind, Callable[[type, dict[str, Any]], Iterator[Attribute]]]] = {
    "dataclass": _read_dataclass,
    "attrs": _read_attrs,
    "namedtuple": _read_namedtuple,
    "typeddict": _read_typeddict,
    "class": _read_plain,
}
