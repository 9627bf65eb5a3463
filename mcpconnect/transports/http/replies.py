"""Carrying a stream to the client: as one JSON body, or as server-sent events.

Rule: no header leaves before it is known that nothing can fail any more, because the status line cannot be taken back.
Whether the client is still there is watched only when a call takes its time, because most do not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Final

from ...protocol.jsonrpc import Failure
from .exchange import EVENTS, HttpExchange, event
from .stream import Stream

_STATUS: Final[Mapping[int, int]] = {-32700: 400, -32600: 400, -32601: 404, -32020: 400, -32021: 400, -32022: 400}
_COMMENT: Final = b":\n\n"
_SOON: Final = 0.02  # seconds after which a call takes its time

EventId = Callable[[int], bytes]
"""The id of a stream's message by its number."""


def status_of(answer: bytes) -> int:
    """Return the HTTP status of an answer in the per-request era."""
    return _STATUS.get(answer.code, 200) if isinstance(answer, Failure) else 200


def handshake_status(answer: bytes) -> int:
    """Return the HTTP status of an answer in the handshake era: only what is no legal message has another than 200."""
    return 400 if isinstance(answer, Failure) and answer.code in (-32700, -32600) else 200


class Response:
    """One HTTP response that carries a stream, from the message behind number `after` on; a context manager.

    `seconds` is the time after which a silent event stream gets a comment. `event_id` gives ids to the messages, and
    `resumable` says that the client comes back when the stream ends early.
    """

    def __init__(
        self,
        http: HttpExchange,
        stream: Stream,
        *,
        seconds: float,
        after: int = 0,
        event_id: EventId | None = None,
        resumable: bool = False,
    ) -> None:
        self._http = http
        self._stream = stream
        self._seconds = seconds
        self._after = after
        self._event_id = event_id
        self._resumable = resumable
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._silence: asyncio.TimerHandle | None = None
        self._watch: asyncio.Task[None] | None = None
        self._left = False
        self._silent = False
        self._sent = 0.0

    def __enter__(self) -> Response:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pending in (self._timer, self._silence, self._watch):
            if pending is not None:
                pending.cancel()
        if self._stream.reader is self:
            self._stream.reader = None

    async def begun(self) -> bool:
        """Wait until there is something to send, or all is over; False if the client left before."""
        stream = self._stream
        while not (stream.last or stream.closed or self._left):
            await self._news()
        return not self._left

    async def answered(self) -> bool:
        """Wait until all is over; False if the client left before."""
        while not (self._stream.closed or self._left):
            await self._news()
        return not self._left

    async def soon(self) -> None:
        """Wait until there is something to send, but not for long."""
        stream = self._stream
        while not (stream.last or stream.closed or stream.early or self._watch):
            await self._news()

    async def events(self, opening: bytes = b"") -> None:
        """Send the messages as events until the stream ends, or is ended early, or another response takes it over."""
        stream = self._stream
        stream.reader = self
        stream.poke()  # the response that carried it until now ends
        await self._http.start(200, *EVENTS)
        self._sent = self._loop.time()
        self._silence = self._loop.call_later(self._seconds, self._listen)
        waiting = opening
        while stream.reader is self:
            waiting += self._frames()
            early = self._early()
            if early and stream.retry_ms is not None:
                waiting += b"retry: %d\n\n" % stream.retry_ms
            ended = early or (stream.closed and self._after >= stream.last)
            if waiting or ended:
                await self._write(waiting, ended)
                if ended:
                    return
            elif self._left:
                return
            elif not self._silent:
                await self._news()
            waiting = _COMMENT if self._silent else b""
            self._silent = False
        await self._http.write(b"", more=False)

    async def _write(self, body: bytes, ended: bool) -> None:
        await self._http.write(body, more=not ended)
        self._sent = self._loop.time()
        if not self._left:
            self._stream.delivered = max(self._stream.delivered, self._after)

    def _frames(self) -> bytes:
        event_id = self._event_id
        frames = []
        for number, message in self._stream.after(self._after):
            frames.append(event(message, None if event_id is None else event_id(number)))
            self._after = number
        return b"".join(frames)

    def _early(self) -> bool:
        stream = self._stream
        if not stream.early or not self._resumable or stream.closed:
            return False
        stream.early = False
        return True

    async def _news(self) -> None:
        """Wait for a change of the stream, the client's leaving, or a time that is over."""
        if self._timer is None:
            self._timer = self._loop.call_later(_SOON, self._begin_watch)
        await self._stream.changed()

    def _begin_watch(self) -> None:
        self._watch = self._loop.create_task(self._await_leaving())
        self._stream.poke()

    async def _await_leaving(self) -> None:
        with suppress(Exception):  # a server that says it in this way
            while (await self._http.receive())["type"] != "http.disconnect":
                pass
        self._left = True
        self._stream.poke()

    def _listen(self) -> None:
        """Look whether the stream has been silent for too long."""
        idle = self._loop.time() - self._sent
        self._silent = idle >= self._seconds * 0.99
        self._silence = self._loop.call_later(self._seconds if self._silent else self._seconds - idle, self._listen)
        if self._silent:
            self._stream.poke()
