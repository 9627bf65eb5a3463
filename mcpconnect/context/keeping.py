"""`Keeper`: the task in which asynchronous context managers are entered and left.

Rule: what is entered in a task is left in that task, the last one first, so that a manager may hold a cancel scope or a
task group over its `yield`. Nothing from outside cancels that task; leaving is bounded in time instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import Context, ContextVar, copy_context
from math import inf
from typing import Any, Final

import anyio
from anyio import CancelScope, current_effective_deadline, current_time, get_cancelled_exc_class

_MISSING: Final = object()


class Kept:
    """A context manager in the hands of a keeper; `value` is what entering it gave.

    `began` is called as soon as it has to be left, `lost` when it ends by itself: with its error, or with None if
    something below it ends, which is told of the error.
    """

    def __init__(
        self, manager: Any, began: Callable[[Kept], None], lost: Callable[[BaseException | None], None]
    ) -> None:
        self.value: Any = None
        self.error: BaseException | None = None
        self.failure: BaseException | None = None
        self.leaving = False
        self.entered = anyio.Event()
        self.over = anyio.Event()
        self.entering = CancelScope()
        self.set: dict[ContextVar[Any], Any] = {}
        self._manager = manager
        self._began = began
        self._lost = lost
        self._variables = copy_context()

    async def enter(self) -> None:
        """Enter the manager, with the context variables of who asked for it, who gets what it sets."""
        _carry(self._variables)
        before = copy_context()
        self.value = await self._manager.__aenter__()
        self.set = {each: value for each, value in copy_context().items() if before.get(each, _MISSING) is not value}
        self.entered.set()
        self._began(self)

    async def exit(self, error: BaseException | None) -> bool:
        """Leave the manager; say whether it took the error away."""
        trace = None if error is None else error.__traceback__
        return bool(await self._manager.__aexit__(None if error is None else type(error), error, trace))

    def end(self, error: BaseException | None, *, cancelled: bool) -> None:
        """Note how it ended, and tell who has to know."""
        self.error = TimeoutError("what is provided took too long, or was ended from below") if cancelled else error
        lost = self.entered.is_set() and not self.leaving
        self.entered.set()
        self.over.set()
        if lost:
            self._lost(None if cancelled else error or RuntimeError("what is provided ended while it was in use"))


class InTask:
    """A synchronous context manager for a keeper."""

    def __init__(self, manager: AbstractContextManager[Any]) -> None:
        self._manager = manager

    async def __aenter__(self) -> Any:
        return self._manager.__enter__()

    async def __aexit__(self, *error: Any) -> bool | None:
        return self._manager.__exit__(*error)


class Keeper:
    """Keeps the context managers of one scope. Leaving them all takes at most `seconds`.

    `spawn` starts its task, which is to `run`; it ends when there are none, and is started again when it is needed.
    """

    def __init__(self, spawn: Callable[[Keeper], None], seconds: float) -> None:
        self._spawn = spawn
        self._seconds = seconds
        self._asked: deque[Kept] = deque()
        self._kept: list[Kept] = []
        self._scope: CancelScope | None = None  # around the task, while it runs
        self._news = anyio.Event()

    async def enter(self, kept: Kept) -> Any:
        """Enter a context manager and return its value; raises what entering it raises."""
        self._asked.append(kept)
        if self._scope is None:
            self._scope = CancelScope(shield=True)
            self._spawn(self)
        self._tell()
        try:
            await kept.entered.wait()
        except get_cancelled_exc_class():
            with suppress(ValueError):
                self._asked.remove(kept)
            if not kept.entered.is_set():
                kept.entering.cancel()
            raise
        if kept.over.is_set() and kept.error is not None:
            raise kept.error
        for variable, value in kept.set.items():
            variable.set(value)
        return kept.value

    async def leave(self, kept: Kept, failure: BaseException | None) -> None:
        """Leave a context manager, and those that were entered since; raises what leaving it raises.

        It is told of a failure, which it may raise once more. One that has ended by itself is left already.
        """
        if not kept.over.is_set():
            kept.leaving, kept.failure = True, failure
            self._hurry(self._seconds)
            await kept.over.wait()
            if kept.error is not None and kept.error is not failure:
                raise kept.error

    def end(self, seconds: float = inf) -> None:
        """Leave everything within so many seconds, or as many as leaving may take."""
        for kept in self._kept:
            kept.leaving = True
        self._hurry(min(seconds, self._seconds))

    async def run(self) -> None:
        """Enter and leave, as long as there is something to keep."""
        assert self._scope is not None
        try:
            with self._scope:
                await self._serve()
        finally:
            self._scope = None
            while self._asked:
                self._asked.popleft().end(None, cancelled=True)

    def _hurry(self, seconds: float) -> None:
        if self._scope is not None:
            latest = min(current_time() + seconds, current_effective_deadline())
            self._scope.deadline = min(self._scope.deadline, latest)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def _serve(self) -> None:
        """Enter what is asked for, until the last one of those that are kept has to be left."""
        while not any(kept.leaving for kept in self._kept):
            if self._asked:
                await self._keep(self._asked.popleft())
            elif not self._kept:
                return
            else:
                await self._news.wait()

    async def _keep(self, kept: Kept) -> None:
        """Enter a manager, serve inside of it, and leave it; what goes through it to those below is raised."""
        with kept.entering:
            try:
                await kept.enter()
                self._kept.append(kept)
                try:
                    await self._inside(kept)
                finally:
                    self._kept.remove(kept)
            except BaseException as error:
                cancelled = isinstance(error, get_cancelled_exc_class()) and current_effective_deadline() == -inf
                kept.end(error, cancelled=cancelled)
                if cancelled:
                    raise
            else:
                kept.end(None, cancelled=False)

    async def _inside(self, kept: Kept) -> None:
        try:
            await self._serve()
        except BaseException as error:
            if not await kept.exit(error):
                raise
        else:
            await kept.exit(kept.failure)


def _carry(variables: Context) -> None:
    for variable, value in variables.items():
        if variable.get(_MISSING) is not value:
            variable.set(value)
