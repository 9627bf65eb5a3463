"""HTTP with SSE, the transport of the oldest revision: one event stream for all messages, and POSTs that feed it.

Rule: the stream is the connection. It begins with the address that its client posts to, carries every answer, and what
still runs is cancelled when it ends. A client that does not read loses the connection rather than an answer.

Source: the first revision's page *Transports, HTTP with SSE*.
"""

from __future__ import annotations

import secrets
from typing import Final
from urllib.parse import parse_qs, quote

from ...context import Arrival, Via
from ...engine.connection import Connection
from ...engine.runner import Runner
from ...protocol.jsonrpc import decode
from ...protocol.refusal import Refused
from ...server import McpServer
from .body import read_body
from .exchange import JSON, HttpExchange
from .headers import is_json
from .replies import Response
from .stream import Stream

_KEY: Final = "connection"


class Sse:
    """The connections of this transport, by the secret keys in their addresses; `len()` says how many there are.

    `path` is where it is opened by GET; the messages go to `path` + `/messages`.
    """

    def __init__(self, server: McpServer, runner: Runner, path: str) -> None:
        self._server = server
        self._runner = runner
        self._open: dict[str, _SseConnection] = {}
        self._winding = False
        self.path = path.rstrip("/")
        self.messages_path = self.path + "/messages"

    def __len__(self) -> int:
        return len(self._open)

    async def get(self, http: HttpExchange) -> None:
        """Open a connection."""
        if not http.takes_events:
            await http.refuse(406, "a GET opens an event stream: accept text/event-stream")
        elif self._winding or len(self._open) >= self._server.limits.sessions:
            await http.refuse(503, "no connection is free: try again later", (b"retry-after", b"10"))
        else:
            await self._carry(http)

    async def post(self, http: HttpExchange) -> None:
        """Take one message of a connection; its answer goes onto the stream."""
        query = parse_qs(http.scope.get("query_string", b"").decode("latin-1"))
        connection = self._open.get(query.get(_KEY, [""])[0])
        if connection is None or connection.arrival.principal != http.arrival.principal:
            await http.refuse(404, "no such connection: open one by GET")
        elif not is_json(http.headers.get("content-type")):
            await http.refuse(415, "the body must be application/json")
        elif (body := await read_body(http, self._server.limits)) is not None:
            try:
                connection.take(body, http.arrival)
            except Refused as refused:
                await http.respond(400, connection.refused(refused), JSON)
            else:
                await http.respond(202)

    def wind_down(self) -> None:
        """End every connection as soon as its calls are answered."""
        self._winding = True
        for connection in list(self._open.values()):
            connection.wind_down()

    async def _carry(self, http: HttpExchange) -> None:
        key = secrets.token_urlsafe(24)
        connection = self._open[key] = _SseConnection(self._server, http.arrival, self._runner)
        opening = b"event: endpoint\ndata: %b\n\n" % _address(http.scope["path"], key).encode()
        try:
            with Response(http, connection.stream, seconds=self._server.limits.keepalive_seconds) as response:
                await response.events(opening)
        finally:
            del self._open[key]
            connection.close()


def _address(path: str, key: str) -> str:
    """Return where messages go, relative to the path of the stream: nobody here knows what a proxy puts before it."""
    last = path.rpartition("/")[2]
    return f"{quote(last)}/messages?{_KEY}={key}" if last else f"messages?{_KEY}={key}"


class _SseConnection:
    """One connection, and the channel of all its requests."""

    deaf: str | None = None

    def __init__(self, server: McpServer, arrival: Arrival, runner: Runner) -> None:
        self.arrival = arrival
        self._runner = runner
        self._limits = server.limits
        self._winding = False
        self.stream = Stream(server.limits.stream_messages)
        self._connection = Connection(server, self, runner.runtime)

    def take(self, body: bytes, arrival: Arrival) -> None:
        """Take one message, which came by a POST of its own.

        Raises:
            Refused: it is none.
        """
        message = decode(body, self._limits)
        self._connection.came(arrival)
        outcome = self._connection.take(message, Via(self, arrival))
        if isinstance(outcome, bytes):
            self.answer(outcome)
        elif outcome:
            self._runner.start(*outcome)

    def refused(self, refused: Refused) -> bytes:
        """Return the answer to what is no message."""
        return self._connection.refuse(refused)

    def wind_down(self) -> None:
        """End as soon as nothing runs any more."""
        self._winding = True
        self._connection.wind_down()
        self._end_if_done()

    def close(self) -> None:
        """Cancel what still runs."""
        self._connection.close("the client went away")

    @property
    def crowded(self) -> bool:
        """Whether many messages wait to be read."""
        return self.stream.crowded

    def send(self, message: bytes, *, change: bool = False) -> None:
        """Send a notification."""
        if len(self.stream.messages) >= self._limits.stream_messages:
            self.stream.answer(None)
        self.stream.send(message, change=change)

    def answer(self, message: bytes | None) -> None:
        """Send an answer, if there is one; others may follow."""
        if message is not None:
            self.send(message)
        self._end_if_done()

    def end_stream(self, retry_ms: int | None) -> None:
        """Do nothing: this stream is the connection itself."""

    def _end_if_done(self) -> None:
        if self._winding and not self._connection.live:
            self.stream.answer(None)
