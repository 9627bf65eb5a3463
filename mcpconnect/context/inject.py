"""`Inject`: what a call needs and the server provides: a database, the client of some API.

Rule: a provider is a function or a class whose own parameters are provided the same way. Each is called at most once
for a call, or once for as long as the server serves; what it opened is left in reverse order, and told of a failure.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import (
    _AsyncGeneratorContextManager,
    _GeneratorContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from typing import Any, Final, Literal

from .._typing import innermost
from ..errors import DefinitionError
from .context import Context
from .keeping import InTask
from .provided import MISSING, Provided
from .session import Session

Provider = Callable[..., Any]
Scope = Literal["call", "session", "server"]
Opens = Literal["", "sync", "async"]
_LASTING: Final[tuple[Scope, ...]] = ("call", "session", "server")


@dataclass(frozen=True, slots=True)
class Inject:
    """Stands beside a type: `db: Annotated[Db, Inject(get_db)]`, as a parameter or as a member of the class.

    `provider` is a function, a generator function that yields once, a function made by `contextlib`, or a class
    (entered if it is a context manager); each may be asynchronous, and stand behind a decorator. A lambda with one
    parameter is given the context: `Annotated[Db, Inject(lambda ctx: ctx.state.db)]`. `scope` says how long the value
    lives: for one call, for the client's session, or as long as the server serves.
    """

    provider: Provider
    scope: Scope = "call"


class Providers:
    """What stands for what: the class of sessions, and providers that tests replace."""

    def __init__(self, session: type[Session] | None) -> None:
        if session is not None and not (isinstance(session, type) and issubclass(session, Session)):
            raise DefinitionError(f"McpServer(session={session!r}): session is a subclass of Session")
        if session is not None:
            _check_made_without_arguments(session)
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


def _check_made_without_arguments(session: type[Session]) -> None:
    if inspect.isabstract(session):
        raise DefinitionError(f"McpServer(session={session.__name__}): the class is abstract")
    try:
        inspect.signature(session).bind()
    except TypeError as error:
        raise DefinitionError(f"McpServer(session={session.__name__}) is made without arguments: {error}") from None
    except ValueError:
        pass  # a constructor written in C shows no signature; the first session will tell


@dataclass(frozen=True, slots=True)
class Need:
    """A provider with what it needs itself.

    `entered` is the class whose instances are entered; `awaits` says whether providing it takes a loop, and `waits`
    whether it does so for this need or one of those below it.
    """

    provider: Provider
    scope: Scope
    needs: Mapping[str, Need]
    entered: type | None
    awaits: bool
    waits: bool

    @property
    def key(self) -> tuple[Provider, Scope]:
        """What its value is known by."""
        return self.provider, self.scope

    @property
    def lasts(self) -> bool:
        """Whether it, or one of those below it, outlives a call."""
        return self.scope != "call" or any(need.lasts for need in self.needs.values())

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
        awaits = _waits(inject.provider)
        waits = awaits or any(need.waits for need in needs.values())
        return cls(inject.provider, inject.scope, needs, _entered_class(inject.provider), awaits, waits)

    def opened(self, made: Any) -> tuple[Any, Opens]:
        """Return what the provider returned, awaited, as what is entered, and how; "" for a value that is ready.

        That is decided by the result, since no decorator, lambda or partial has to tell what it returns.
        """
        if self.entered is not None and isinstance(made, self.entered):
            return made, "async" if hasattr(made, "__aenter__") else "sync"
        if isinstance(made, AsyncGenerator):
            return asynccontextmanager(lambda: made)(), "async"
        if isinstance(made, Generator):
            return contextmanager(lambda: made)(), "sync"
        if isinstance(made, _AsyncGeneratorContextManager):
            return made, "async"
        return made, "sync" if isinstance(made, _GeneratorContextManager) else ""

    def unserved(self, made: Any) -> TypeError:
        """Return the error for a result that has to be awaited where nothing can."""
        if inspect.iscoroutine(made):
            made.close()  # or Python warns that nobody awaited it
        name = getattr(self.provider, "__qualname__", type(self.provider).__name__)
        return TypeError(
            f"the provider {name} returned {type(made).__name__}, which has to be awaited, though it is not "
            f"asynchronous itself: make it an async def that awaits it"
        )


def provide(need: Need, context: Context) -> Any:
    """Return the value of a need; of one that awaits something, what `prepare` has provided."""
    ready = context.provided.values.get(need.key, MISSING)
    if ready is not MISSING:
        return ready
    scope = _scope(need, context)

    def make() -> Any:
        made = need.provider(**{name: provide(inner, context) for name, inner in need.needs.items()})
        manager, opens = need.opened(made)
        if opens == "async" or inspect.iscoroutine(made):
            raise need.unserved(made)
        if not opens:
            return made
        value = manager.__enter__()
        scope.leave_later(manager.__exit__)
        return value

    return scope.get(need.key, make)


async def prepare(needs: Iterable[Need], context: Context, *, on_loop: bool) -> None:
    """Provide of some needs what `provide` cannot: what has to be awaited.

    For a method that runs `on_loop` that is all of them, in order, because the loop cannot wait for what others may be
    making just now.
    """
    for need in needs:
        if need.awaits or (on_loop and need.scope != "call"):
            context.provided.values[need.key] = await _provide_waiting(need, context)
            continue
        await prepare(need.needs.values(), context, on_loop=on_loop)
        if on_loop:
            provide(need, context)


async def _provide_waiting(need: Need, context: Context) -> Any:
    scope, runtime = _scope(need, context), context.runtime
    assert runtime is not None  # a call runs

    async def make() -> Any:
        made = need.provider(**{name: await _provide_waiting(inner, context) for name, inner in need.needs.items()})
        if inspect.isawaitable(made):
            made = await made
        manager, opens = need.opened(made)
        if not opens:
            return made
        needs = [inner.key for inner in need.needs.values()]
        return await scope.keep(need.key, needs, manager if opens == "async" else InTask(manager), runtime.keeper)

    return await scope.get_waiting(need.key, make, runtime.wake)


def _scope(need: Need, context: Context) -> Provided:
    if need.scope == "call":
        return context.provided
    if need.scope == "session":
        return context.session_scope.provided
    assert context.runtime is not None
    return context.runtime.provided


def _entered_class(provider: Provider) -> type | None:
    """Return the class that a provider is, if its instances are context managers."""
    found = innermost(provider)
    managers = isinstance(found, type) and (hasattr(found, "__enter__") or hasattr(found, "__aenter__"))
    return found if managers else None


def _waits(provider: Provider) -> bool:
    """Say whether calling a provider, or entering what it returns, takes a loop, as far as one can see beforehand."""
    found = innermost(provider)
    if isinstance(found, type):
        return hasattr(found, "__aenter__")
    return inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)
