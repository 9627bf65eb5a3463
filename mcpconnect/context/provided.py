"""`Provided`: the values that providers made for one call, for a session, or for as long as a server serves.

Rule: each value is made once, by whoever asks first; the others wait for it, and nobody else: no lock is held while
code of the user runs. A failure is not remembered.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Lock, get_ident
from typing import Any, Final

import anyio

from .disposal import Disposals
from .keeping import Keeper, Kept

Leave = Callable[[type[BaseException] | None, BaseException | None, Any], Any]
Wake = Callable[[Callable[[], None]], None]
MISSING: Final = object()
_logger = logging.getLogger("mcpconnect.calls")


class Provided:
    """The values of one scope. `disposals` closes what was opened for them.

    `failure` is how the scope ended, if it failed: what is left is told. `lost` is told when something that was opened
    ends by itself; without it that is logged, and made anew for the next who asks.
    """

    __slots__ = ("_keeper", "_lock", "_makers", "_making", "_opened", "disposals", "failure", "lost", "values")

    def __init__(self, disposals: Disposals) -> None:
        self.disposals = disposals
        self.values: dict[Any, Any] = {}
        self.failure: BaseException | None = None
        self.lost: Callable[[BaseException], None] | None = None
        self._keeper: Keeper | None = None
        self._opened: dict[Any, _Opened] = {}
        self._lock = Lock()
        self._making: dict[Any, Future[None]] = {}
        self._makers: dict[Any, int] = {}

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the value of a key, made now if there is none; blocks while another thread makes it.

        Raises:
            RuntimeError: it is asked for while this thread makes it.
        """
        while (value := self.values.get(key, MISSING)) is MISSING:
            making, mine = self._claim(key)
            if mine:
                with self._release(key, making):
                    self.values[key] = make()
            elif self._makers.get(key) == get_ident():
                raise RuntimeError(f"{getattr(key, '__qualname__', key)} needs itself")
            else:
                wait((making,))
        return value

    async def get_waiting(self, key: Any, make: Callable[[], Awaitable[Any]], wake: Wake) -> Any:
        """Do what `get` does on the loop, which `wake` wakes from other threads."""
        while (value := self.values.get(key, MISSING)) is MISSING:
            making, mine = self._claim(key)
            if mine:
                with self._release(key, making):
                    self.values[key] = await make()
            else:
                await _done(making, wake)
        return value

    async def keep(self, key: Any, needs: Iterable[Any], manager: Any, keeper: Callable[[], Keeper]) -> Any:
        """Enter an asynchronous context manager, which is left when the scope ends; return what it gives.

        It was made with the values of `needs`, and ends with them. Those of a call stand inside each other; what lasts
        longer lives by itself, so that one neither waits for another nor ends with it.
        """
        if self.lost is None or self._keeper is None:
            self._keeper = keeper()
        began = partial(self._began, key, frozenset(needs), self._keeper)
        return await self._keeper.enter(Kept(manager, began, partial(self._lose, key)))

    def leave_later(self, leave: Leave) -> None:
        """Leave a context manager when the scope ends."""

        def left() -> None:
            failure = self.failure
            try:
                leave(None if failure is None else type(failure), failure, getattr(failure, "__traceback__", None))
            except BaseException as error:
                if error is not failure:  # which comes back, as it should
                    raise

        self.disposals.add(left)

    def _began(self, key: Any, needs: frozenset[Any], keeper: Keeper, kept: Kept) -> None:
        def leave() -> Awaitable[None]:
            self._opened.pop(key, None)
            return keeper.leave(kept, self.failure)

        if self.lost is None:
            self._opened[key] = _Opened(needs, keeper, leave)
        self.disposals.add(leave)

    def _drop(self, key: Any) -> None:
        """Forget a value that is of no use any more, and leave those that were made with it."""
        self.values.pop(key, None)
        opened = self._opened.pop(key, None)
        if opened is None:
            return
        self.disposals.discard(opened.leave)
        for other, needed in list(self._opened.items()):
            if key in needed.needs:
                self._drop(other)
        opened.keeper.end()

    def _lose(self, key: Any, error: BaseException | None) -> None:
        self._drop(key)
        if isinstance(error, KeyboardInterrupt):
            raise error
        if error is None:
            return
        if self.lost is not None:
            self.lost(error)
        else:
            _logger.error("what was provided ended by itself", exc_info=error, extra={"event": "provided-lost"})

    def _claim(self, key: Any) -> tuple[Future[None], bool]:
        """Return what is settled when the value was made, and whether the caller has to make it."""
        with self._lock:
            making = self._making.get(key)
            if making is not None:
                return making, False
            making = Future()
            if key in self.values:
                making.set_result(None)
                return making, False
            self._making[key] = making
            self._makers[key] = get_ident()
            return making, True

    @contextmanager
    def _release(self, key: Any, making: Future[None]) -> Iterator[None]:
        try:
            yield
        finally:
            with self._lock:
                del self._making[key], self._makers[key]
            making.set_result(None)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A context manager that is open, and what it was made with."""

    needs: frozenset[Any]
    keeper: Keeper
    leave: Callable[[], Awaitable[None]]


async def _done(making: Future[None], wake: Wake) -> None:
    event = anyio.Event()
    making.add_done_callback(lambda _: wake(event.set))
    await event.wait()
