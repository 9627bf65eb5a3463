"""`Stream`: the messages of one HTTP response in their order, whoever writes them and whoever reads them.

Rule: writing never waits and is allowed from any thread; reading belongs to the loop. A stream outlives the response
that carries it, so that a client may come back for what it missed; it keeps a bounded number of messages, and drops the
oldest.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress


class Stream:
    """The channel of one request, or of what belongs to none.

    `key` names it within its session. Messages are numbered from 1; `final` is the number of the last one, once nothing
    can follow. `early` asks for the end of the response that carries the stream though the answer is not there;
    `retry_ms` is the time after which the client may come back. `reader` is the response that carries it now, and
    `delivered` the number of the last message that left by one.
    """

    __slots__ = (
        "_loop",
        "_owner",
        "_waiting",
        "delivered",
        "early",
        "final",
        "key",
        "last",
        "limit",
        "messages",
        "reader",
        "retry_ms",
    )

    def __init__(self, key: int, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        self.key = key
        self.limit = limit
        self.messages: deque[tuple[int, bytes]] = deque()
        self.last = 0
        self.delivered = 0
        self.reader: object | None = None
        self.final: int | None = None
        self.early = False
        self.retry_ms: int | None = None
        self._loop = loop
        self._owner = threading.get_ident()
        self._waiting: asyncio.Future[None] | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing will follow."""
        return self.final is not None

    def send(self, message: bytes) -> None:
        """Add a notification."""
        self._on_loop(self._add, message)

    def answer(self, message: bytes | None) -> None:
        """Add the answer, if there is one, and close the stream."""
        self._on_loop(self._close, message)

    def end_stream(self, retry_ms: int | None) -> None:
        """Ask for the end of the response that carries the stream."""
        self._on_loop(self._end_early, retry_ms)

    def after(self, number: int) -> list[tuple[int, bytes]]:
        """Return the kept messages with a higher number."""
        return [entry for entry in self.messages if entry[0] > number]

    def changed(self) -> asyncio.Future[None]:
        """Return what is done as soon as something is added, or the stream ends."""
        if self._waiting is None or self._waiting.done():
            self._waiting = self._loop.create_future()
        return self._waiting

    def _on_loop(self, act: object, argument: object) -> None:
        if threading.get_ident() == self._owner:
            act(argument)  # type: ignore[operator]
        else:
            with suppress(RuntimeError):  # the loop has ended: nobody reads any more
                self._loop.call_soon_threadsafe(act, argument)  # type: ignore[arg-type]

    def _add(self, message: bytes) -> None:
        if self.final is None:
            self.last += 1
            self.messages.append((self.last, message))
            if len(self.messages) > self.limit:
                self.messages.popleft()
            self._tell()

    def _close(self, message: bytes | None) -> None:
        if self.final is None:
            if message is not None:
                self._add(message)
            self.final = self.last
            self._tell()

    def _end_early(self, retry_ms: int | None) -> None:
        self.early, self.retry_ms = True, retry_ms
        self._tell()

    def _tell(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
