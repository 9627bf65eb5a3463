"""The decorators: they attach a declaration to a function and return the function itself.

Rule: decorating changes nothing that a caller of the method could notice, and decides nothing: types are looked at
when the class is registered, because only then everything that they name exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, TypeVar, overload

from ..content import ContentType, Icon
from ..errors import DefinitionError
from .checks import CONTENT_TYPE, FLAG, ICONS, OBJECT, TEXT, Kind, check_kinds, check_meta, is_positive

F = TypeVar("F", bound=Callable[..., Any])
Structured: TypeAlias = bool | Literal["only"] | None
_ATTRIBUTE: Final = "__mcpconnect__"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDeclaration:
    """What `@tool` was given; `None` stands for "not given"."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    icons: tuple[Icon, ...] = ()
    meta: Mapping[str, Any] | None = None
    structured: Structured = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    content_type: ContentType | None = None
    errors: tuple[type[BaseException], ...] = ()
    timeout: float | None = None
    thread: bool | None = None
    tags: frozenset[str] = frozenset()
    enabled: bool = True


Declaration = ToolDeclaration


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    icons: Iterable[Icon] = (),
    meta: Mapping[str, Any] | None = None,
    structured: bool | str | None = None,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    content_type: ContentType | None = None,
    errors: type[BaseException] | Iterable[type[BaseException]] = (),
    timeout: float | None = None,
    thread: bool | None = None,
    tags: Iterable[str] = (),
    enabled: bool = True,
) -> Callable[[F], F]: ...


def tool(function: Any = None, /, **options: Any) -> Any:
    """Declare a method or function as a tool; used with and without parentheses.

    Args:
        name: The tool's name as the client sees it; the function's own by default. A prefix may stand before it.
        title: A name for people.
        description: What the model reads; the docstring without its parameter section by default.
        read_only: The tool changes nothing.
        destructive: The tool may destroy something (only meaningful when it is not read-only).
        idempotent: Calling it again with the same arguments changes nothing further.
        open_world: The tool reaches beyond the server's own world, such as the web.
        icons: Pictures for the tool, for clients of a revision that has them.
        meta: The tool's `_meta`.
        structured: `True` adds structured content and an output schema for any type, `False` leaves them out,
            `"only"` leaves just a short text beside them. By default records and their like are structured.
        input_schema: Served as it stands; arguments are checked against it and handed over as they are.
        output_schema: Served instead of the derived one; results are checked against it.
        content_type: How this tool's values are presented, such as `YAML_TEXT`.
        errors: Exceptions whose text the model may read.
        timeout: Seconds after which the call is answered with an error.
        thread: `False` runs a method that is not `async` on the event loop itself.
        tags: Labels for enabling and disabling.
        enabled: Whether the tool is there from the start.

    Raises:
        DefinitionError: an option has a value that it cannot have.
    """
    if function is not None:
        return _attach(function, ToolDeclaration())
    for key in ("icons", "tags", "errors"):
        if key in options:
            options[key] = _collected(key, options[key])
    if unknown := options.keys() - _OPTIONS:
        raise TypeError(f"tool() got an unexpected keyword argument {min(unknown)!r}")
    declaration = ToolDeclaration(**options)
    _check(declaration)
    return lambda decorated: _attach(decorated, declaration)


def _collected(key: str, value: Any) -> Any:
    if key == "tags":
        if isinstance(value, str):
            raise DefinitionError(f"@tool(tags={value!r}): tags is a collection of texts, such as {{{value!r}}}")
        return frozenset(value)
    return (value,) if isinstance(value, (type, Icon, str)) else tuple(value)


_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("name", "title", "description", "tags"), TEXT),
    **dict.fromkeys(("read_only", "destructive", "idempotent", "open_world", "thread", "enabled"), FLAG),
    **dict.fromkeys(("meta", "input_schema", "output_schema"), OBJECT),
    "icons": ICONS,
    "content_type": CONTENT_TYPE,
}

_OPTIONS: Final = frozenset(field.name for field in fields(ToolDeclaration))


def _check(declaration: ToolDeclaration) -> None:
    check_kinds("@tool", {name: getattr(declaration, name) for name in _KINDS}, _KINDS)
    check_meta("@tool", declaration.meta)
    for error in declaration.errors:
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            raise DefinitionError(f"@tool(errors=…): {error!r} is no exception class")
    if declaration.timeout is not None and not is_positive(declaration.timeout):
        raise DefinitionError(f"@tool(timeout={declaration.timeout!r}): the timeout is a number of seconds above 0")
    if declaration.structured not in (None, True, False, "only"):
        raise DefinitionError(f"@tool(structured={declaration.structured!r}): one of True, False and 'only'")


def _attach(function: F, declaration: Declaration) -> F:
    if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
        raise DefinitionError(f"@tool decorates functions and methods, not {type(function).__name__}")
    if isinstance(function, type):
        raise DefinitionError(f"@tool decorates methods; register the class {function.__name__} itself instead")
    setattr(function, _ATTRIBUTE, (*declarations(function), declaration))
    return function


def declarations(function: Any) -> tuple[Declaration, ...]:
    """Return what the decorators attached to a function, a method or a static or class method."""
    own = getattr(function, _ATTRIBUTE, None)
    if own is None and isinstance(function, (staticmethod, classmethod)):
        own = getattr(function.__func__, _ATTRIBUTE, None)
    return own if isinstance(own, tuple) else ()  # an object may answer to any attribute
