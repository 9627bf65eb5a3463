"""Questions about annotations: what a name stands for, what an alias hides, what a union holds.

Rule: nothing here knows what a type means on the wire. Annotations written as text are evaluated where they were
written: in the module, class body and closure of their owner. One name that does not resolve never hides the others.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache, partial
from typing import Annotated, Any, ForwardRef, TypeVar, Union, get_args, get_origin


class Missing(Enum):
    """The type of `MISSING`, which stands where there is no value, not even `None`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = Missing.MISSING


class Unresolved:
    """Stands for an annotation whose text cannot be evaluated; `reason` says which name is unknown."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason

    def __repr__(self) -> str:
        return self.text


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


def alias_value(annotation: Any) -> Any:
    """Return what a type alias stands for, with its parameters put in.

    Raises:
        NameError: the alias names something that does not exist.
    """
    form = get_origin(annotation) or annotation
    value = form.__value__
    arguments = get_args(annotation)
    return substitute(value, dict(zip(form.__type_params__, arguments, strict=False))) if arguments else value


def is_union(annotation: Any) -> bool:
    """Whether the annotation is `X | Y`, `Union[X, Y]` or `Optional[X]`."""
    return get_origin(annotation) in (Union, types.UnionType)


def union_members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, `None` as `NoneType`; any other type is its only member."""
    return get_args(annotation) if is_union(annotation) else (annotation,)


def is_optional(annotation: Any) -> bool:
    """Whether `None` is one of the types, also behind notes and aliases."""
    bare, _ = strip_annotated(annotation)
    if is_type_alias(bare):
        return is_optional(alias_value(bare))
    if is_union(bare):
        return any(map(is_optional, get_args(bare)))
    return bare is None or bare is type(None)


def class_of(annotation: Any) -> type | None:
    """Return the class that values of the annotation have (`list` for `list[int]`), if it is one class."""
    bare, _ = strip_annotated(annotation)
    form = get_origin(bare) or bare
    return form if isinstance(form, type) else None


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
    if not isinstance(origin, type):
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


# -- the annotations of a class or function ---------------------------------------------------------------------------


def resolve_hints(obj: Any, owner: type | None = None) -> dict[str, Any]:
    """Return the annotations of a class (inherited ones first) or function, evaluated and with their `Annotated` notes.

    `owner` is the class in whose body a function stands. An annotation that cannot be evaluated becomes `Unresolved`.
    """
    if isinstance(obj, type):
        hints: dict[str, Any] = {}
        for base in reversed(obj.__mro__):
            if base is not object:
                hints.update(own_hints(base))
        return hints
    function = inspect.unwrap(obj)
    function = function.func if isinstance(function, partial) else function
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__annotations__") and callable(function):
        function = type(function).__call__
    scope = _function_scope(function, owner)
    return {name: _evaluate(value, scope) for name, value in _annotations(function).items()}


@lru_cache(maxsize=1024)
def _cached_own_hints(cls: type) -> dict[str, Any]:
    scope = _class_scope(cls)
    return {name: _evaluate(value, scope) for name, value in _annotations(cls).items()}


def own_hints(cls: type) -> dict[str, Any]:
    """Return the evaluated annotations that stand in the body of this class alone."""
    hints = _cached_own_hints(cls)
    if any(isinstance(hint, Unresolved) for hint in hints.values()):
        # A class further down the module may exist by the next time, so a failure is not remembered.
        _cached_own_hints.cache_clear()
    return hints


Scope = tuple[dict[str, Any], Mapping[str, Any]]


def _class_scope(cls: type) -> Scope:
    module = sys.modules.get(cls.__module__)
    local = dict(vars(cls))
    local.update({p.__name__: p for p in getattr(cls, "__type_params__", ())})
    local.setdefault(cls.__name__, cls)
    for function in vars(cls).values():
        local.update({k: v for k, v in _closure(function).items() if k not in local})
    return (vars(module) if module else {}), local


def _function_scope(function: Any, owner: type | None) -> Scope:
    local: dict[str, Any] = {}
    if owner is not None:
        local.update(vars(owner))
        local[owner.__name__] = owner
    local.update({p.__name__: p for p in getattr(function, "__type_params__", ())})
    local.update(_closure(function))
    return getattr(function, "__globals__", {}), local


def _closure(function: Any) -> dict[str, Any]:
    function = getattr(function, "__func__", function)
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    found: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars if code else (), cells or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # the enclosing function has not assigned it yet
            continue
    return found


def _annotations(obj: Any) -> Mapping[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(obj, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(obj)


def _evaluate(annotation: Any, scope: Scope) -> Any:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    try:
        if text is not None:
            annotation = eval(text, *_namespaces(annotation, scope))  # the author's own source text
        if annotation is None:
            return type(None)
        return _evaluate_inner(annotation, scope)
    except Exception as error:
        return Unresolved(text or repr(annotation), _reason(error))


def _namespaces(annotation: Any, scope: Scope) -> tuple[dict[str, Any], Mapping[str, Any]]:
    module, local = scope
    # A forward reference of a TypedDict knows the module it was written in, which may be that of a base class.
    written_in = getattr(annotation, "__forward_module__", None)
    if written_in is not None:
        module = vars(sys.modules.get(written_in, written_in) if isinstance(written_in, str) else written_in)
    # A name of the class body that hides a type by accident (`date: date = None`) must not win over the module's.
    return module, {name: value for name, value in local.items() if _may_be_type(value)}


_TYPING_MODULES = ("typing", "types", "typing_extensions")


def _may_be_type(value: Any) -> bool:
    return isinstance(value, (type, types.ModuleType)) or type(value).__module__ in _TYPING_MODULES


def _evaluate_inner(annotation: Any, scope: Scope) -> Any:
    """Evaluate texts inside an annotation, such as `list["Later"]`."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        inner = _evaluated_or_raise(annotation.__origin__, scope)
        return Annotated[(inner, *annotation.__metadata__)]
    if not arguments or typing.get_origin(annotation) is typing.Literal:
        return annotation
    if not any(map(_holds_text, arguments)):
        return annotation
    evaluated = tuple(_evaluated_or_raise(argument, scope) for argument in arguments)
    if is_union(annotation):
        return Union[evaluated]  # noqa: UP007 - built from a tuple
    origin = get_origin(annotation)
    if hasattr(annotation, "copy_with"):
        return annotation.copy_with(evaluated)
    return types.GenericAlias(origin, evaluated)


def _holds_text(argument: Any) -> bool:
    if isinstance(argument, (str, ForwardRef)):
        return True
    if get_origin(argument) is typing.Literal:
        return False
    return any(map(_holds_text, get_args(argument)))


def _evaluated_or_raise(annotation: Any, scope: Scope) -> Any:
    if annotation is ...:
        return annotation
    if isinstance(annotation, (list, tuple)):
        return type(annotation)(_evaluated_or_raise(part, scope) for part in annotation)
    evaluated = _evaluate(annotation, scope)
    if isinstance(evaluated, Unresolved):
        raise NameError(evaluated.reason)
    return evaluated


def _reason(error: Exception) -> str:
    if isinstance(error, NameError) and error.name:
        return f"the name {error.name!r} is unknown there (imported for type checkers only, or local to a function?)"
    return str(error) or type(error).__name__
