"""Worker threads for synchronous methods.

Rule: a method that blocks keeps its thread, and its place under the limit, until it returns; nobody waits for it at
exit. That is why these are daemon threads and not those of `concurrent.futures`, which the interpreter joins.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Condition, Thread, get_ident
from typing import Final, TypeVar

import anyio

from .backend import Wake, leave_loop

T = TypeVar("T")
Work = Callable[[], None]

_logger = logging.getLogger("mcpconnect.calls")
_IDLE_SECONDS: Final = 30.0  # a thread that finds nothing to do for so long ends


class Threads:
    """At most `limit` threads that work, started by need; work beyond that waits its turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[Work] = deque()
        self._ready = Condition()
        self._count = 0
        self._idle = 0
        self._closed = False
        self._settled: Work | None = None
        self._own: set[int] = set()

    def submit(self, work: Work) -> None:
        """Run `work` in a thread. It does not raise; if it does all the same, that is logged and the thread goes on."""
        with self._ready:
            self._waiting.append(work)
            if self._idle >= len(self._waiting):
                self._ready.notify()
                return
            if self._count >= self._limit:
                return
            self._count += 1
        self._start()

    async def run(self, work: Callable[[], T], wake: Wake) -> T:
        """Run something in a thread for a task of the loop; one that is cancelled leaves it alone there."""
        outcome: Future[T] = Future()
        done = anyio.Event()
        variables = copy_context()

        def run() -> None:
            if not outcome.set_running_or_notify_cancel():
                return
            try:
                variables.run(leave_loop)
                outcome.set_result(variables.run(work))
            except BaseException as error:
                outcome.set_exception(error)
            wake(done.set)

        self.submit(run)
        try:
            await done.wait()
        finally:
            outcome.cancel()  # unless it has begun
        return outcome.result()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let another thread take the place of this one, which only waits for somebody.

        When it goes on, that one ends: at once if it is idle, or else when its work is done.
        """
        if get_ident() not in self._own:
            yield
            return
        with self._ready:
            self._limit += 1
            needed = len(self._waiting) > self._idle and not self._closed
            self._count += needed
        if needed:
            self._start()
        try:
            yield
        finally:
            with self._ready:
                self._limit -= 1
                self._ready.notify_all()

    async def settle(self, wake: Wake, seconds: float) -> None:
        """Wait until no thread works any more, at most so long."""
        settled = anyio.Event()
        with self._ready:
            if self._idle == self._count:
                return
            self._settled = partial(wake, settled.set)
        with anyio.move_on_after(seconds):
            await settled.wait()

    def close(self) -> list[Work]:
        """Let idle threads end; a busy one ends when its method returns. Return what has not begun and never will."""
        with self._ready:
            self._closed = True
            dropped = list(self._waiting)
            self._waiting.clear()
            self._ready.notify_all()
        return dropped

    @property
    def _surplus(self) -> bool:
        """Whether one that waited for somebody goes on, and another one has to end for that."""
        return self._count > self._limit

    def _start(self) -> None:
        Thread(target=self._serve, name="mcpconnect worker", daemon=True).start()

    def _serve(self) -> None:
        self._own.add(get_ident())
        try:
            self._work()
        finally:
            self._own.discard(get_ident())

    def _work(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except BaseException:
                _logger.critical("the work of a thread failed", exc_info=True, extra={"event": "worker-failed"})
            del work  # it holds the arguments and the result of a call

    def _next(self) -> Work | None:
        with self._ready:
            self._idle += 1
            if self._settled is not None and self._idle == self._count:
                self._settled()
            try:
                self._ready.wait_for(lambda: self._waiting or self._closed or self._surplus, _IDLE_SECONDS)
                if self._waiting and not self._surplus:
                    return self._waiting.popleft()
                self._count -= 1
                self._ready.notify()  # it may have been woken in the place of another one
                return None
            finally:
                self._idle -= 1
