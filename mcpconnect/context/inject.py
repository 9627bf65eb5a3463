"""`Inject`: what a call needs and the server provides: a database, the client of some API.

Rule: a provider is a function or a class whose own parameters are provided the same way. Each is called at most once
for a call, or once for as long as the server serves; what it opened is left in reverse order, and told of a failure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..errors import DefinitionError
from .context import Context
from .provided import Provided
from .session import Session

Provider = Callable[..., Any]
Scope = Literal["call", "session", "server"]
_LASTING: Final[tuple[Scope, ...]] = ("call", "session", "server")


@dataclass(frozen=True, slots=True)
class Inject:
    """Stands beside a type: `db: Annotated[Db, Inject(get_db)]`, as a parameter or as a member of the class.

    `provider` is a function, a generator function that yields once, a function made by `contextlib`, or a class
    (entered if it is a context manager); each may be asynchronous. A lambda with one parameter is given the context:
    `Annotated[Db, Inject(lambda ctx: ctx.state.db)]`. `scope` says how long the value lives: for one
    call, for the client's session, or as long as the server serves.
    """

    provider: Provider
    scope: Scope = "call"


class Providers:
    """What stands for what: the class of sessions, and providers that tests replace."""

    def __init__(self, session: type[Session] | None) -> None:
        if session is not None and not (isinstance(session, type) and issubclass(session, Session)):
            raise DefinitionError(f"McpServer(session={session!r}): session is a subclass of Session")
        self.session = session
        self.replaced: Mapping[Provider, Provider] = {}

    @contextmanager
    def override(self, provider: Provider, replacement: Provider) -> Iterator[None]:
        """Ask `replacement` wherever `provider` is named, while the block runs. What lives already is not replaced."""
        before = self.replaced
        self.replaced = {**before, provider: replacement}
        try:
            yield
        finally:
            self.replaced = before


@dataclass(frozen=True, slots=True)
class Need:
    """A provider with what it needs itself.

    `make` calls it; `opens` says how its result is entered; `waits` whether providing it takes a loop.
    """

    provider: Provider
    scope: Scope
    needs: Mapping[str, Need]
    make: Provider
    opens: Literal["", "sync", "async"]
    waits: bool

    @classmethod
    def of(cls, inject: Inject, needs: Mapping[str, Need], where: str) -> Need:
        """Return the need for what stands beside a type.

        Raises:
            DefinitionError: a value that outlives calls needs one that does not.
        """
        if inject.scope not in _LASTING:
            raise DefinitionError(f"{where}: Inject(scope={inject.scope!r}): one of {', '.join(map(repr, _LASTING))}")
        for need in needs.values():
            if _LASTING.index(need.scope) < _LASTING.index(inject.scope):
                raise DefinitionError(
                    f"{where}: what is provided once for a {inject.scope} cannot need what belongs to a {need.scope}"
                )
        make, opens = _opened(inject.provider)
        waits = opens == "async" or inspect.iscoroutinefunction(make) or any(need.waits for need in needs.values())
        return cls(inject.provider, inject.scope, needs, make, opens, waits)


def provide(need: Need, context: Context) -> Any:
    """Return the value of a need that takes no loop."""
    scope = _scope(need, context)
    with scope.lock:
        if need.provider not in scope.values:
            made = need.make(**{name: provide(inner, context) for name, inner in need.needs.items()})
            if need.opens:
                manager, made = made, made.__enter__()
                scope.leave_later(manager.__exit__)
            scope.values[need.provider] = made
        return scope.values[need.provider]


async def provide_waiting(need: Need, context: Context) -> Any:
    """Return the value of any need."""
    if not need.waits:
        return provide(need, context)
    scope = _scope(need, context)
    async with scope.turn(need.provider):
        if need.provider not in scope.values:
            made = need.make(**{name: await provide_waiting(inner, context) for name, inner in need.needs.items()})
            if inspect.isawaitable(made):
                made = await made
            if need.opens == "async":
                manager, made = made, await made.__aenter__()
                scope.leave_later(manager.__aexit__)
            elif need.opens:
                manager, made = made, made.__enter__()
                scope.leave_later(manager.__exit__)
            scope.values[need.provider] = made
        return scope.values[need.provider]


def _scope(need: Need, context: Context) -> Provided:
    if need.scope == "call":
        return context.provided
    if need.scope == "session":
        return context.session_scope.provided
    assert context.runtime is not None
    return context.runtime.provided


def _opened(provider: Provider) -> tuple[Provider, Literal["", "sync", "async"]]:
    """Return what to call, and how its result is entered."""
    if isinstance(provider, type):
        if hasattr(provider, "__aenter__"):
            return provider, "async"
        return provider, "sync" if hasattr(provider, "__enter__") else ""
    made_by_contextlib = hasattr(provider, "__wrapped__")
    function = inspect.unwrap(provider)
    if inspect.isasyncgenfunction(function):
        return provider if made_by_contextlib else asynccontextmanager(provider), "async"
    if inspect.isgeneratorfunction(function):
        return provider if made_by_contextlib else contextmanager(provider), "sync"
    return provider, ""
