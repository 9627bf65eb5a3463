"""The decorators: they attach a declaration to a function and return the function itself.

Rule: decorating changes nothing that a caller of the method could notice, and decides nothing: types are looked at
when the class is registered, because only then everything that they name exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeVar, overload

from ..content import ContentType, Icon
from ..context import Middleware, check_middleware
from ..errors import DefinitionError
from .checks import CONTENT_TYPE, FLAG, ICONS, OBJECT, TEXT, Kind, check_kinds, check_meta, is_positive

F = TypeVar("F", bound=Callable[..., Any])
D = TypeVar("D", bound="Declaration")
Structured: TypeAlias = bool | Literal["only"] | None
_ATTRIBUTE: Final = "__mcpconnect__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What every decorator takes; `None` stands for "not given"."""

    decorator: ClassVar[str]

    name: str | None = None
    title: str | None = None
    description: str | None = None
    icons: tuple[Icon, ...] = ()
    meta: Mapping[str, Any] | None = None
    tags: frozenset[str] = frozenset()
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDeclaration(Declaration):
    """What `@tool` was given."""

    decorator: ClassVar[str] = "@tool"

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    structured: Structured = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    content_type: ContentType | None = None
    errors: tuple[type[BaseException], ...] = ()
    timeout: float | None = None
    thread: bool | None = None
    guards: tuple[Middleware, ...] = ()


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
    guards: Iterable[Middleware] = (),
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
        guards: Middleware for this tool alone, outermost first: `async def guard(call, next)`.
        tags: Labels for enabling and disabling.
        enabled: Whether the tool is there from the start.

    Raises:
        DefinitionError: an option has a value that it cannot have.
    """
    if function is not None:
        return attach(function, ToolDeclaration())
    declaration = declared(ToolDeclaration, options)
    _check(declaration)
    return lambda decorated: attach(decorated, declaration)


_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("read_only", "destructive", "idempotent", "open_world", "thread"), FLAG),
    **dict.fromkeys(("input_schema", "output_schema"), OBJECT),
    "content_type": CONTENT_TYPE,
}


def _check(declaration: ToolDeclaration) -> None:
    check_kinds("@tool", {name: getattr(declaration, name) for name in _KINDS}, _KINDS)
    for error in declaration.errors:
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            raise DefinitionError(f"@tool(errors=…): {error!r} is no exception class")
    for guard in declaration.guards:
        check_middleware(guard, "@tool(guards=…): a guard")
    if declaration.timeout is not None and not is_positive(declaration.timeout):
        raise DefinitionError(f"@tool(timeout={declaration.timeout!r}): the timeout is a number of seconds above 0")
    if declaration.structured not in (None, True, False, "only"):
        raise DefinitionError(f"@tool(structured={declaration.structured!r}): one of True, False and 'only'")


_COMMON: Final[dict[str, Kind]] = {
    **dict.fromkeys(("name", "title", "description", "tags"), TEXT),
    "enabled": FLAG,
    "meta": OBJECT,
    "icons": ICONS,
}


def declared(cls: type[D], options: dict[str, Any]) -> D:
    """Return the declaration for a decorator's options, with their collections made immutable.

    Raises:
        DefinitionError: one that all decorators have has a value that it cannot have.
    """
    for key in ("icons", "tags", "errors", "guards"):
        if key in options:
            options[key] = _collected(cls, key, options[key])
    if unknown := options.keys() - {field.name for field in fields(cls)}:
        raise TypeError(f"{cls.decorator.removeprefix('@')}() got an unexpected keyword argument {min(unknown)!r}")
    declaration = cls(**options)
    check_kinds(cls.decorator, {name: getattr(declaration, name) for name in _COMMON}, _COMMON)
    check_meta(cls.decorator, declaration.meta)
    return declaration


def _collected(cls: type[Declaration], key: str, value: Any) -> Any:
    if key == "tags":
        if isinstance(value, str):
            raise DefinitionError(
                f"{cls.decorator}(tags={value!r}): tags is a collection of texts, such as {{{value!r}}}"
            )
        return frozenset(value)
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, (type, str)) else (value,)


def attach(function: F, declaration: Declaration) -> F:
    """Attach a declaration to a function and return the function.

    Raises:
        DefinitionError: it is none.
    """
    decorator = declaration.decorator
    if isinstance(function, type):
        raise DefinitionError(f"{decorator} decorates methods; register the class {function.__name__} itself instead")
    if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
        raise DefinitionError(f"{decorator} decorates functions and methods, not {type(function).__name__}")
    setattr(function, _ATTRIBUTE, (*declarations(function), declaration))
    return function


def declarations(function: Any) -> tuple[Declaration, ...]:
    """Return what the decorators attached to a function, a method or a static or class method."""
    own = getattr(function, _ATTRIBUTE, None)
    if own is None and isinstance(function, (staticmethod, classmethod)):
        own = getattr(function.__func__, _ATTRIBUTE, None)
    return own if isinstance(own, tuple) else ()  # an object may answer to any attribute
