"""Carrying a stream to the client: as one JSON body, or as server-sent events.

Rule: no header leaves before it is known that nothing can fail any more, because the status line cannot be taken back.
A response that only has an answer is JSON; one that has something before it is an event stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from ...protocol.jsonrpc import Failure
from .asgi import EVENTS, JSON, Receive, Send, respond
from .stream import Stream

_STATUS: Final[Mapping[int, int]] = {-32700: 400, -32600: 400, -32601: 404, -32020: 400, -32021: 400, -32022: 400}
_COMMENT: Final = b":\n\n"

EventId = Callable[[int], bytes]
"""The id of a stream's message by its number."""


def status_of(answer: bytes) -> int:
    """Return the HTTP status of an answer in the per-request era."""
    return _STATUS.get(answer.code, 200) if isinstance(answer, Failure) else 200


async def disconnected(receive: Receive) -> None:
    """Wait until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Response:
    """One HTTP response that carries a stream, from the message behind number `after` on.

    `event_id` gives the ids that make the stream resumable; `seconds` is the time after which a silent event stream
    gets a comment.
    """

    def __init__(
        self,
        stream: Stream,
        receive: Receive,
        send: Send,
        *,
        seconds: float,
        after: int = 0,
        event_id: EventId | None = None,
    ) -> None:
        self._stream = stream
        self._receive = receive
        self._send = send
        self._seconds = seconds
        self._after = after
        self._event_id = event_id
        self._leaving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Response:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
        if self._stream.reader is self:
            self._stream.reader = None

    async def begun(self) -> bool:
        """Wait until there is something to send; False if the client left before."""
        return await self._until(lambda: bool(self._stream.messages) or self._stream.closed)

    async def answered(self) -> bool:
        """Wait until the answer is there; False if the client left before."""
        return await self._until(lambda: self._stream.closed)

    async def json(self, status: Callable[[bytes], int] = lambda _: 200) -> None:
        """Send the answer as the whole response; 202 where there is none, because the call was cancelled."""
        if self._stream.messages:
            answer = self._stream.messages[-1][1]
            await respond(self._send, status(answer), answer, JSON)
        else:
            await respond(self._send, 202, b"")

    async def events(self, opening: bytes = b"") -> None:
        """Send the messages as events until the stream ends, or is ended early, or another response takes it over."""
        stream = self._stream
        stream.reader = self
        await self._send({"type": "http.response.start", "status": 200, "headers": [*EVENTS]})
        waiting = opening
        while stream.reader is self:
            waiting += self._frames()
            early = stream.early and self._event_id is not None and not stream.closed
            if early:
                stream.early = False
                waiting += b"" if stream.retry_ms is None else b"retry: %d\n\n" % stream.retry_ms
            ended = early or (stream.closed and self._after >= stream.last)
            if waiting or ended:
                await self._send({"type": "http.response.body", "body": waiting, "more_body": not ended})
                stream.delivered = max(stream.delivered, self._after)
                waiting = b""
                if ended:
                    return
            elif not await self._news(self._seconds):
                if self._left:
                    return
                waiting = _COMMENT
        await self._send({"type": "http.response.body", "body": b""})

    def _frames(self) -> bytes:
        frames = []
        for number, message in self._stream.after(self._after):
            head = b"" if self._event_id is None else b"id: %s\n" % self._event_id(number)
            frames.append(b"%sevent: message\ndata: %s\n\n" % (head, message))
            self._after = number
        return b"".join(frames)

    @property
    def _left(self) -> bool:
        return self._leaving is not None and self._leaving.done()

    async def _until(self, condition: Callable[[], bool]) -> bool:
        while not condition():
            await self._news(None)
            if self._left:
                return False
        return True

    async def _news(self, seconds: float | None) -> bool:
        """Wait for a change of the stream, or until the client leaves; False if nothing changed within the time."""
        if self._leaving is None:
            self._leaving = asyncio.ensure_future(disconnected(self._receive))
        changed = self._stream.changed()
        done, _ = await asyncio.wait({changed, self._leaving}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return changed in done
