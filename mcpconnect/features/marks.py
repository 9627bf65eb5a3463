"""Which parameters and members the server provides: those annotated `Context`, a `Session`, or with `Inject`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._typing import class_of, own_hints, resolve_hints, strip_annotated, union_members
from ..context import Context, Inject, Session, running


def running_context() -> Context:
    """Provide the context of the running call."""
    return running("an injected Context")


def marked(function: Any, owner: type | None) -> dict[str, Inject]:
    """Return what is to be provided for the parameters of a function, by their names."""
    return _marks({name: hint for name, hint in resolve_hints(function, owner).items() if name != "return"})


def marked_init(cls: Any) -> dict[str, Inject]:
    """Return what is to be provided for the parameters of a constructor."""
    return marked(cls.__init__, cls)


def marked_members(cls: type) -> dict[str, Inject]:
    """Return what is to be provided for the members that a class and its bases annotate.

    A member whose class has a value of that name is the class's own affair.
    """
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        hints.update(own_hints(base))
    return {name: mark for name, mark in _marks(hints).items() if not hasattr(cls, name)}


def _marks(hints: Mapping[str, Any]) -> dict[str, Inject]:
    found = {name: _mark(hint) for name, hint in hints.items()}
    return {name: mark for name, mark in found.items() if mark is not None}


def _mark(hint: Any) -> Inject | None:
    plain, extras = strip_annotated(hint)
    for extra in extras:
        if isinstance(extra, Inject):
            return extra
    if plain is Context or Context in union_members(plain):
        return Inject(running_context)
    cls = class_of(plain)
    return Inject(cls, "session") if cls is not None and issubclass(cls, Session) else None
