"""`Stream`: the messages about one request in their order, whoever writes them and whoever reads them.

Rule: writing never waits and is allowed from any thread; reading belongs to the loop. A kept stream outlives the
response that carries it, so that a client may come back for what it missed. What waits is bounded in number and bytes:
the oldest messages are dropped, the last one never.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from ...context import PIPED

_CROWDED: Final = 64
_BYTES: Final = 4 * 1024 * 1024  # of messages that wait; the last one may be longer


class Stream:
    """The channel of one request, or of what belongs to none.

    `key` names it within its session. `messages` are those kept, each with its number, counted from 1; `last` is the
    number of the newest. `reply` is the answer, once it is there, and then also the last message. `closed` says that
    nothing will follow. `early` asks for the end of the response that carries the stream though the answer is not
    there; `retry_ms` is the time after which the client may come back. `reader` is the response that carries it now,
    and `delivered` the number of the last message that left by one.
    """

    __slots__ = (
        "_bytes",
        "_kept",
        "_limit",
        "_loop",
        "_on_closed",
        "_owner",
        "_waiting",
        "arrival",
        "closed",
        "deaf",
        "delivered",
        "early",
        "key",
        "last",
        "messages",
        "reader",
        "reply",
        "retry_ms",
    )

    def __init__(
        self, limit: int, *, key: int = 0, kept: bool = False, on_closed: Callable[[Stream], None] | None = None
    ) -> None:
        self.key = key
        self.deaf: str | None = None
        self.arrival = PIPED
        self.messages: list[tuple[int, bytes]] = []
        self.last = 0
        self.delivered = 0
        self.reader: object | None = None
        self.reply: bytes | None = None
        self.closed = False
        self.early = False
        self.retry_ms: int | None = None
        self._kept = kept
        self._limit = limit
        self._bytes = 0
        self._on_closed = on_closed
        self._loop = asyncio.get_running_loop()
        self._owner = threading.get_ident()
        self._waiting: tuple[asyncio.Future[None], ...] = ()

    @property
    def only_reply(self) -> bool:
        """Whether the answer is there, and nothing came before it."""
        return self.reply is not None and self.last == 1

    @property
    def crowded(self) -> bool:
        """Whether many messages wait to be read."""
        return self.last - self.delivered > _CROWDED

    @property
    def size(self) -> int:
        """How many bytes the kept messages have."""
        return self._bytes

    def send(self, message: bytes, *, change: bool = False) -> None:
        """Add a notification; a `change` that is told already and not read yet is left out."""
        self._on_loop(self._add_change if change else self._add, message)

    def answer(self, message: bytes | None) -> None:
        """Add the answer, if there is one, and close the stream."""
        self._on_loop(self._close, message)

    def end_stream(self, retry_ms: int | None) -> None:
        """Ask for the end of the response that carries the stream."""
        self._on_loop(self._end_early, retry_ms)

    def after(self, number: int) -> list[tuple[int, bytes]]:
        """Return the messages behind a number; those of a stream that is not kept are then gone."""
        if number == self.last:
            return []
        found = [entry for entry in self.messages if entry[0] > number]
        if not self._kept:
            self.messages.clear()
            self._bytes = 0
        return found

    async def changed(self) -> None:
        """Wait until something is added, the stream ends, or somebody calls `poke`."""
        future = self._loop.create_future()
        self._waiting += (future,)
        await future

    def poke(self) -> None:
        """Wake those who wait."""
        waiting, self._waiting = self._waiting, ()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _on_loop(self, act: Callable[[Any], None], argument: bytes | int | None) -> None:
        if threading.get_ident() == self._owner:
            act(argument)
        else:
            with suppress(RuntimeError):  # the loop has ended: nobody reads any more
                self._loop.call_soon_threadsafe(act, argument)

    def _add_change(self, message: bytes) -> None:
        unread = self.messages if self.reader is None else ()
        if not any(number > self.delivered and kept == message for number, kept in unread):
            self._add(message)

    def _add(self, message: bytes) -> None:
        if self.closed:
            return
        self.last += 1
        self.messages.append((self.last, message))
        self._bytes += len(message)
        while len(self.messages) > self._limit or (self._bytes > _BYTES and len(self.messages) > 1):
            self._bytes -= len(self.messages.pop(0)[1])
        self.poke()

    def _close(self, message: bytes | None) -> None:
        if self.closed:
            return
        if message is not None:
            self._add(message)
            self.reply = message
        self.closed = True
        self.poke()
        on_closed, self._on_closed = self._on_closed, None
        if on_closed is not None:
            on_closed(self)

    def _end_early(self, retry_ms: int | None) -> None:
        self.early, self.retry_ms = True, retry_ms
        self.poke()
