"""Worker threads for synchronous methods.

Rule: a method that blocks keeps its thread, and its place under the limit, until it returns; nobody waits for it at
exit. That is why these are daemon threads and not those of `concurrent.futures`, which the interpreter joins.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from typing import Final

Work = Callable[[], None]

_logger = logging.getLogger("mcpconnect.calls")
_IDLE_SECONDS: Final = 30.0  # a thread that finds nothing to do for so long ends


class Threads:
    """At most `limit` threads, started by need; work beyond that waits its turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[Work] = deque()
        self._ready = Condition()
        self._count = 0
        self._idle = 0
        self._closed = False

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
        Thread(target=self._serve, name="mcpconnect worker", daemon=True).start()

    def close(self) -> list[Work]:
        """Let idle threads end; a busy one ends when its method returns. Return what has not begun and never will."""
        with self._ready:
            self._closed = True
            dropped = list(self._waiting)
            self._waiting.clear()
            self._ready.notify_all()
        return dropped

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except BaseException:
                _logger.critical("the work of a thread failed", exc_info=True, extra={"event": "worker-failed"})
            del work  # it holds the arguments and the result of a call

    def _next(self) -> Work | None:
        with self._ready:
            self._idle += 1
            try:
                found = self._ready.wait_for(lambda: self._waiting or self._closed, _IDLE_SECONDS)
                if found and self._waiting:
                    return self._waiting.popleft()
                self._count -= 1
                return None
            finally:
                self._idle -= 1
