"""Questions about one annotation: what stands beside the type, what an alias hides, what a union holds.

Rule: nothing here knows what a type means on the wire, and nothing is evaluated.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin


class Missing(Enum):
    """The type of `MISSING`, which stands where there is no value, not even `None`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = Missing.MISSING


# -- one annotation ---------------------------------------------------------------------------------------------------


def strip_annotated(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the bare type and everything that stands beside it, inner notes first; aliases are looked through.

    `Required`, `NotRequired`, `ReadOnly`, `Final` and `ClassVar` around the type are dropped.
    """
    extras: tuple[Any, ...] = ()
    while True:
        if get_origin(annotation) is Annotated:
            annotation, extras = annotation.__origin__, (*annotation.__metadata__, *extras)
        elif is_qualifier(annotation):
            annotation = get_args(annotation)[0] if get_args(annotation) else Any
        elif is_new_type(annotation):
            annotation = annotation.__supertype__
        else:
            return annotation, extras


def is_qualifier(annotation: Any) -> bool:
    """Whether the annotation is `Required[…]`, `Final[…]` or another word about the member, not the type."""
    return _special_name(annotation) in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar")


def has_qualifier(annotation: Any, name: str) -> bool:
    """Whether the qualifier called `name` stands around the type, on any level."""
    while True:
        if _special_name(annotation) == name:
            return True
        if get_origin(annotation) is Annotated:
            annotation = annotation.__origin__
        elif is_qualifier(annotation) and get_args(annotation):
            annotation = get_args(annotation)[0]
        else:
            return False


def _special_name(annotation: Any) -> str | None:
    form = get_origin(annotation) or annotation
    if type(form).__module__ in ("typing", "typing_extensions"):
        return getattr(form, "_name", None)
    return None


def is_new_type(annotation: Any) -> bool:
    """Whether the annotation was made by `NewType`."""
    return isinstance(annotation, typing.NewType)


def is_type_alias(annotation: Any) -> bool:
    """Whether the annotation is `type X = …`, of Python 3.12 or of typing_extensions, perhaps with parameters."""
    form = get_origin(annotation) or annotation
    return type(form).__name__ == "TypeAliasType"


def is_union(annotation: Any) -> bool:
    """Whether the annotation is `X | Y`, `Union[X, Y]` or `Optional[X]`."""
    return get_origin(annotation) in (Union, types.UnionType)


def union_members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, `None` as `NoneType`; any other type is its only member."""
    return get_args(annotation) if is_union(annotation) else (annotation,)


def class_of(annotation: Any) -> type | None:
    """Return the class that values of the annotation have (`list` for `list[int]`), if it is one class."""
    bare, _ = strip_annotated(annotation)
    form = get_origin(bare) or bare
    return form if isinstance(form, type) and not is_union(bare) else None


# -- type parameters --------------------------------------------------------------------------------------------------


def substitute(annotation: Any, arguments: Mapping[Any, Any]) -> Any:
    """Put types in the place of type variables, at any depth."""
    if not arguments:
        return annotation
    if isinstance(annotation, TypeVar) or type(annotation).__name__ == "TypeVar":
        return arguments.get(annotation, annotation)
    if get_origin(annotation) is Annotated:
        inner = substitute(annotation.__origin__, arguments)
        return Annotated[(inner, *annotation.__metadata__)]
    parameters = getattr(annotation, "__parameters__", ())
    if not parameters or (isinstance(annotation, type) and not get_args(annotation)):
        return annotation
    given = tuple(arguments.get(parameter, parameter) for parameter in parameters)
    return annotation[given if len(given) > 1 else given[0]]


def type_arguments(annotation: Any) -> dict[Any, Any]:
    """Return the type variables of a generic class and its bases with the types that `annotation` gives them."""
    origin = get_origin(annotation) or annotation
    if not isinstance(origin, type) or is_union(annotation):
        return {}
    parameters = getattr(origin, "__parameters__", ()) or getattr(origin, "__type_params__", ())
    found: dict[Any, Any] = dict(zip(parameters, get_args(annotation), strict=False))
    for base in origin.__dict__.get("__orig_bases__", origin.__bases__):
        if get_args(base) and get_origin(base) not in (typing.Generic, typing.Protocol):
            inherited = type_arguments(base)
            found.update({var: substitute(value, found) for var, value in inherited.items() if var not in found})
        elif isinstance(base, type) and base is not object:
            found.update({var: value for var, value in type_arguments(base).items() if var not in found})
    return found
