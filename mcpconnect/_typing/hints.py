"""The annotations of a class or function, evaluated.

Rule: annotations written as text are evaluated where they were written: in the module, class body and closure of their
owner. One name that does not resolve never hides the others; it becomes `Unresolved`.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, ForwardRef, Union, get_args, get_origin

from .forms import is_type_alias, is_union, strip_annotated, substitute


class Unresolved:
    """Stands for an annotation whose text cannot be evaluated; `reason` says which name is unknown."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason

    def __repr__(self) -> str:
        return self.text


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


def alias_value(annotation: Any) -> Any:
    """Return what a type alias stands for, with its parameters put in.

    Raises:
        NameError: the alias names something that does not exist.
    """
    form = get_origin(annotation) or annotation
    module = sys.modules.get(getattr(form, "__module__", None) or "")
    value = _evaluate(form.__value__, (vars(module) if module else {}, {getattr(form, "__name__", ""): form}))
    if isinstance(value, Unresolved):
        raise NameError(value.reason)
    arguments = get_args(annotation)
    return substitute(value, dict(zip(form.__type_params__, arguments, strict=False))) if arguments else value


def is_optional(annotation: Any) -> bool:
    """Whether `None` is one of the types, also behind notes and aliases."""
    bare, _ = strip_annotated(annotation)
    if is_type_alias(bare):
        return is_optional(alias_value(bare))
    if is_union(bare):
        return any(map(is_optional, get_args(bare)))
    return bare is None or bare is type(None)


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
