"""`@prompt`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, overload

from ..content import Icon
from .declare import Declaration, F, attach, declared


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDeclaration(Declaration):
    """What `@prompt` was given."""

    decorator: ClassVar[str] = "@prompt"


@overload
def prompt(function: F, /) -> F: ...


@overload
def prompt(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    icons: Iterable[Icon] = (),
    meta: Mapping[str, Any] | None = None,
    tags: Iterable[str] = (),
    enabled: bool = True,
) -> Callable[[F], F]: ...


def prompt(function: Any = None, /, **options: Any) -> Any:
    """Declare a method or function as a prompt: a text that people pick; used with and without parentheses.

    Its parameters are the prompt's arguments; they come as text and may be of any type that loads from text.

    Args:
        name: The prompt's name as the client sees it; the function's own by default. A prefix may stand before it.
        title: A name for people.
        description: What it is for; the docstring without its parameter section by default.
        icons: Pictures for the prompt.
        meta: The prompt's `_meta`.
        tags: Labels for enabling and disabling.
        enabled: Whether the prompt is there from the start.

    Raises:
        DefinitionError: what is decorated is no function.
    """
    if function is not None:
        return attach(function, PromptDeclaration())
    declaration = declared(PromptDeclaration, options)
    return lambda decorated: attach(decorated, declaration)
