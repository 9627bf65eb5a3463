"""`@complete`: a method that completes an argument of a prompt or a variable of a template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from .declare import Declaration, F, attach


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionDeclaration(Declaration):
    """What `@complete` was given."""

    decorator: ClassVar[str] = "@complete"

    target: str
    argument: str


def complete(target: str, argument: str) -> Callable[[F], F]:
    """Declare a method as what completes an argument while a person types.

    The method takes the text typed so far and, if it has a second parameter, the arguments chosen already (a mapping
    that is never None). It returns texts, any iterable of scalars, or a `CompletionResult`.

    Args:
        target: The prompt: the Python name of its method in the same class, or its name; or a template's URI.
        argument: The Python name of the parameter.
    """
    declaration = CompletionDeclaration(target=target, argument=argument)
    return lambda decorated: attach(decorated, declaration)
