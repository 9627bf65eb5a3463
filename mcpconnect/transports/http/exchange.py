"""`HttpExchange`: one HTTP request, and the response to it.

Rule: every response of ours leaves through here. A refusal is a JSON-RPC error without an id, because it belongs to no
message; it repeats nothing of what the client sent, and names the request under which the log knows it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

from ...context import Arrival
from ...protocol.jsonrpc import Failure, encode_error
from ...protocol.refusal import NO_ID
from ...protocol.revisions import LATEST
from .asgi import Header, Receive, Scope, Send
from .headers import accepts

JSON: Final = (b"content-type", b"application/json")
TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
EVENTS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
CLOSE: Final = (b"connection", b"close")

_logger = logging.getLogger("mcpconnect.http")


class HttpExchange:
    """One request and its response. `headers` has names in small letters; `started` says that a response began."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        self.scope = scope
        self.receive = receive
        self.send = send
        self.headers = headers
        self.started = False

    @property
    def method(self) -> str:
        """The HTTP method, in capitals."""
        method: str = self.scope["method"]
        return method

    @cached_property
    def request_id(self) -> str:
        """What errors and logs call this request."""
        return secrets.token_hex(4)

    @cached_property
    def arrival(self) -> Arrival:
        """How the request came."""
        return Arrival(self.headers, _principal(self.scope.get("user")))

    @property
    def takes_json(self) -> bool:
        """Whether the client accepts JSON."""
        return accepts(self.headers.get("accept"), "application/json")

    @property
    def takes_events(self) -> bool:
        """Whether the client accepts an event stream."""
        return accepts(self.headers.get("accept"), "text/event-stream")

    async def start(self, status: int, *headers: Header) -> None:
        """Begin a response whose body follows by `write`."""
        self.started = True
        await self.send({"type": "http.response.start", "status": status, "headers": [*headers]})

    async def write(self, body: bytes, *, more: bool) -> None:
        """Send a part of the body; `more` says whether another one follows."""
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def respond(self, status: int, body: bytes = b"", *headers: Header, linger: float = 0) -> None:
        """Send a whole response; then read and drop what still comes of the request, for at most `linger` seconds.

        An error carries the request's id, under which the logs have it.
        """
        if isinstance(body, Failure):
            headers = (*headers, (b"x-request-id", self.request_id.encode()))
        await self.start(status, *headers, (b"content-length", b"%d" % len(body)))
        if linger:
            await self.write(body, more=True)
            await self._drop(linger)
            body = b""
        await self.write(body, more=False)

    async def answer(self, message: bytes, status: int = 200, *headers: Header) -> None:
        """Send one JSON-RPC message: as JSON, or as an event to those who accept nothing else."""
        if status == 200 and not self.takes_json:
            await self.respond(200, event(message), *EVENTS, *headers)
        else:
            await self.respond(status, message, JSON, *headers)

    async def refuse(self, status: int, reason: str, *headers: Header, linger: float = 0) -> None:
        """Send an error that belongs to no message; see `respond` for `linger`."""
        _logger.info(
            "request %s is refused with %d: %s",
            self.request_id,
            status,
            reason,
            extra={"event": "http-refused", "request_id": self.request_id, "status": status},
        )
        code = LATEST.code("invalid-request" if status < 500 else "internal-error")
        body = encode_error(NO_ID, code, f"{reason} (request id {self.request_id})")
        await self.respond(status, body, JSON, *headers, linger=linger)

    async def refuse_method(self, *allowed: str) -> None:
        """Refuse the HTTP method, and say which there are."""
        methods = ", ".join(allowed)
        await self.refuse(405, f"the methods here: {methods}", (b"allow", methods.encode()))

    async def _drop(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                message = await self.receive()
                while message["type"] == "http.request" and message.get("more_body", False):
                    message = await self.receive()


def event(message: bytes, event_id: bytes | None = None) -> bytes:
    """Return a message as a server-sent event, in one line whatever white space is between its parts."""
    if b"\n" in message or b"\r" in message:  # a line break inside a JSON text is written as an escape
        message = message.replace(b"\n", b" ").replace(b"\r", b" ")
    if event_id is None:
        return b"event: message\ndata: %b\n\n" % message
    return b"id: %b\nevent: message\ndata: %b\n\n" % (event_id, message)


def _principal(user: Any) -> str | None:
    """Return who sent a request, by what authentication middleware of ASGI leaves in the scope."""
    if user is None or not getattr(user, "is_authenticated", True):
        return None
    if isinstance(user, str):
        return user
    for name in ("identity", "display_name"):
        with suppress(NotImplementedError):
            value = getattr(user, name, None)
            if isinstance(value, str) and value:
                return value
    return None
