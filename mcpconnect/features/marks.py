"""Which parameters and members the server provides: those annotated `Context`, a `Session`, or with `Inject`.

Rule: what is marked is provided or refused. A mark that could be overlooked would leave its parameter to the client.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MemberDescriptorType
from typing import Any, Final, get_args, get_origin

from .._typing import (
    MISSING,
    Unresolved,
    alias_value,
    class_of,
    innermost,
    is_type_alias,
    own_hints,
    resolve_hints,
    strip_annotated,
    union_members,
)
from ..context import Context, Inject, Session, running
from ..errors import DefinitionError

_MEANT: Final = re.compile(r"\b(Inject|Context)\b")  # in the text of an annotation that cannot be evaluated
_UNNAMED: Final = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only, but comes by name; remove the / behind it",
    inspect.Parameter.VAR_POSITIONAL: "is given one value; remove the *",
    inspect.Parameter.VAR_KEYWORD: "is given one value; remove the **",
}


@dataclass(frozen=True, slots=True)
class SessionIfAny(Inject):
    """The client's session, or None where it has none: the annotation is `ShoppingSession | None`."""


def running_context() -> Context:
    """Provide the context of the running call."""
    return running("an injected Context")


def marked(function: Any, owner: type | None) -> dict[str, Inject]:
    """Return what is to be provided for the parameters of a function, by their names.

    Raises:
        DefinitionError: a mark does not resolve, or stands where nothing can be provided.
    """
    if isinstance(function, type):
        return marked_init(function)
    place = _place(function, owner)
    hints = {name: hint for name, hint in resolve_hints(function, owner).items() if name != "return"}
    found = _marks(hints, f"{place}: the parameter")
    for name, parameter in _parameters(function).items() if found else ():
        if name in found and parameter.kind in _UNNAMED:
            raise DefinitionError(f"{place}: the parameter {name!r} {_UNNAMED[parameter.kind]}")
    return found


def marked_init(cls: Any) -> dict[str, Inject]:
    """Return what is to be provided for the parameters of a constructor; raises as `marked` does."""
    return marked(cls.__init__, cls)


def marked_members(cls: type) -> dict[str, Inject]:
    """Return what is to be provided for the members that a class and its bases annotate; raises as `marked` does.

    A member whose class has a value of that name is the class's own affair.
    """
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        hints.update(own_hints(base))
    open_hints = {name: hint for name, hint in hints.items() if _has_no_value(cls, name)}
    return _marks(open_hints, f"{_place(cls, None)}: the member")


def _has_no_value(cls: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(cls, name, MISSING), (type(MISSING), MemberDescriptorType))


def _marks(hints: Mapping[str, Any], what: str) -> dict[str, Inject]:
    found = {name: _mark(hint, f"{what} {name!r}") for name, hint in hints.items()}
    return {name: mark for name, mark in found.items() if mark is not None}


def _mark(hint: Any, what: str) -> Inject | None:
    if isinstance(hint, Unresolved) and _MEANT.search(hint.text):
        raise DefinitionError(f"{what} of type {hint} cannot be provided: {hint.reason}")
    plain, extras = _stripped(hint)
    for extra in extras:
        if isinstance(extra, Inject):
            return extra
    if Inject in extras or any(map(_holds_mark, get_args(plain))):
        raise DefinitionError(f"{what} of type {hint}: write Annotated[the type, Inject(the provider)], and that alone")
    return _mark_of_type(plain)


def _mark_of_type(plain: Any) -> Inject | None:
    members = union_members(plain)
    if Context in members:
        return Inject(running_context)
    classes = [class_of(member) for member in members if member is not type(None)]
    if len(classes) != 1 or classes[0] is None or not issubclass(classes[0], Session):
        return None
    return SessionIfAny(classes[0]) if type(None) in members else Inject(classes[0], "session")


def _holds_mark(hint: Any, aliases: frozenset[int] = frozenset()) -> bool:
    if is_type_alias(hint):
        alias = id(get_origin(hint) or hint)
        if alias in aliases:  # it contains itself
            return False
        aliases |= {alias}
    plain, extras = _stripped(hint)
    marked = any(extra is Inject or isinstance(extra, Inject) for extra in extras)
    return marked or any(_holds_mark(inner, aliases) for inner in get_args(plain))


def _stripped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the bare type and what stands beside it, also behind `type X = …`."""
    plain, extras = strip_annotated(hint)
    while is_type_alias(plain):
        try:
            plain, inner = strip_annotated(alias_value(plain))
        except NameError:  # whoever needs the type says so
            break
        extras = (*inner, *extras)
    return plain, extras


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _place(thing: Any, owner: type | None) -> str:
    thing = innermost(thing)
    module = getattr(thing, "__module__", None) or getattr(owner, "__module__", "?")
    return f"{module}.{getattr(thing, '__qualname__', '?')}"
