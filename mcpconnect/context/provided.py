"""`Provided`: the values that providers made for one call, for a session, or for as long as a server serves.

Rule: each value is made once, by whoever asks first; the others wait for it, and nobody else: no lock is held while
code of the user runs. A failure is not remembered.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
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

    __slots__ = ("_keeper", "_lock", "_makers", "_making", "disposals", "failure", "lost", "values")

    def __init__(self, disposals: Disposals) -> None:
        self.disposals = disposals
        self.values: dict[Any, Any] = {}
        self.failure: BaseException | None = None
        self.lost: Callable[[BaseException], None] | None = None
        self._keeper: Keeper | None = None
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

    async def keep(self, key: Any, manager: Any, keeper: Callable[[], Keeper]) -> Any:
        """Enter an asynchronous context manager, which is left when the scope ends; return what it gives."""
        if self._keeper is None:
            self._keeper = keeper()
        return await self._keeper.enter(Kept(manager, self._leave_kept, partial(self._lose, key)))

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

    def _leave_kept(self, kept: Kept) -> None:
        keeper = self._keeper
        assert keeper is not None
        self.disposals.add(lambda: keeper.leave(kept, self.failure))

    def _lose(self, key: Any, error: BaseException | None) -> None:
        self.values.pop(key, None)
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


async def _done(making: Future[None], wake: Wake) -> None:
    event = anyio.Event()
    making.add_done_callback(lambda _: wake(event.set))
    await event.wait()
