"""The handshake era over HTTP: sessions, event streams that can be resumed, and the stream of the server's own.

Rule: a client that goes away does not cancel its call; what it missed waits for it. What belongs to a request goes on
that request's stream, everything else on the one that the client opened by GET.

Source: the specification's page *Transports, Streamable HTTP* of the revisions with a handshake.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final

from ...engine.connection import Connection, Outcome
from ...engine.runner import Runner
from ...protocol import names
from ...protocol.jsonrpc import Batch, Failure, Request, Single, encode_error
from ...protocol.peer import Peer
from ...protocol.refusal import NO_ID
from ...protocol.revisions import LATEST_HANDSHAKE, SUPPORTED, find
from ...server import McpServer
from .asgi import JSON, Receive, Send, respond
from .headers import LAST_EVENT, SESSION, VERSION, accepts
from .replies import Response as Reply
from .sessions import Session, Sessions
from .settings import HttpSettings
from .stream import Stream

_EVENT_STREAM: Final = "text/event-stream"


class Legacy:
    """Serves the requests of clients that shake hands."""

    def __init__(self, server: McpServer, sessions: Sessions, runner: Runner, settings: HttpSettings) -> None:
        self._server = server
        self._sessions = sessions
        self._runner = runner
        self._settings = settings

    async def post(self, message: Single | Batch, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        """Answer one message, or a batch."""
        if self._settings.stateless:
            await self._post_stateless(message, headers, receive, send)
        elif isinstance(message, Request) and message.method == names.INITIALIZE:
            await self._initialize(message, send)
        else:
            session = await self._session(headers, send)
            if session is not None:
                await self._post_in(session, message, headers, receive, send)

    async def get(self, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        """Open the stream for what belongs to no request, or resume one after `Last-Event-ID`."""
        if self._settings.stateless:
            await respond(send, 405, b"", (b"allow", b"POST"))
            return
        if not accepts(headers.get("accept"), _EVENT_STREAM):
            await _refuse(send, 406, "a GET opens an event stream: accept text/event-stream")
            return
        session = await self._session(headers, send)
        if session is None:
            return
        found = session.find_event(headers.get(LAST_EVENT, ""))
        if found is not None:
            await self._carry(session, *found, receive, send)
        elif session.standalone.reader is not None:
            await _refuse(send, 409, "this session has a stream open already")
        else:
            await self._carry(session, session.standalone, session.standalone.delivered, receive, send)

    async def delete(self, headers: Mapping[str, str], send: Send) -> None:
        """End the session."""
        if self._settings.stateless:
            await respond(send, 405, b"", (b"allow", b"POST"))
        elif await self._session(headers, send) is not None:
            self._sessions.end(headers[SESSION])
            await respond(send, 200, b"")

    # -- one POST -----------------------------------------------------------------------------------------------------

    async def _initialize(self, request: Request, send: Send) -> None:
        session = Session(self._server, None)
        outcome = session.connection.take(request, session.standalone)
        assert isinstance(outcome, bytes)  # the handshake is answered at once
        if isinstance(outcome, Failure):
            session.close()
            await respond(send, 200, outcome, JSON)
            return
        session_id = self._sessions.begin(session)
        await respond(send, 200, outcome, JSON, (SESSION.encode(), session_id.encode()))

    async def _post_in(
        self, session: Session, message: Single | Batch, headers: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        stream = session.new_stream()
        outcome = session.connection.take(message, stream)
        if await self._answered_at_once(outcome, stream, send):
            session.drop(stream)
            return
        self._start(outcome)
        if self._wants_json(headers):
            await self._as_json(session, stream, receive, send)
        else:
            await self._carry(session, stream, 0, receive, send)

    async def _post_stateless(
        self, message: Single | Batch, headers: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        stream = Stream(0, self._server.limits.stream_messages, asyncio.get_running_loop())
        first = isinstance(message, Request) and message.method == names.INITIALIZE
        connection = Connection(self._server, stream, None if first else _assumed_peer(headers))
        try:
            outcome = connection.take(message, stream)
            if await self._answered_at_once(outcome, stream, send):
                return
            self._start(outcome)
            async with Reply(stream, receive, send, seconds=self._server.limits.keepalive_seconds) as reply:
                if self._wants_json(headers):
                    if await reply.answered():
                        await reply.json()
                elif await reply.begun():
                    await (reply.json() if stream.closed and len(stream.messages) <= 1 else reply.events())
        finally:
            connection.close("the client went away")

    async def _answered_at_once(self, outcome: Outcome, stream: Stream, send: Send) -> bool:
        if isinstance(outcome, bytes):
            await respond(send, 200, outcome, JSON)
        elif outcome is None:
            await respond(send, 202, b"")
        elif not outcome and stream.closed:
            answers = [message for _, message in stream.messages]
            await (respond(send, 200, answers[-1], JSON) if answers else respond(send, 202, b""))
        else:
            return False
        return True

    def _wants_json(self, headers: Mapping[str, str]) -> bool:
        return self._settings.json_response or not accepts(headers.get("accept"), _EVENT_STREAM)

    def _start(self, outcome: Outcome) -> None:
        assert isinstance(outcome, tuple)
        self._runner.start(*outcome)

    async def _as_json(self, session: Session, stream: Stream, receive: Receive, send: Send) -> None:
        session.open += 1
        try:
            async with Reply(stream, receive, send, seconds=self._server.limits.keepalive_seconds) as reply:
                if await reply.answered():
                    await reply.json()
        finally:
            session.open -= 1
            session.drop(stream)

    async def _carry(self, session: Session, stream: Stream, after: int, receive: Receive, send: Send) -> None:
        """Send a stream's messages as events with ids, so that the client can come back for them."""
        peer = session.connection.peer
        resumable = peer is not None and peer.revision.has(names.RESUMING)
        opening = b"id: %s\ndata: \n\n" % session.event_id(stream, after) if resumable else b""
        event_id = partial(session.event_id, stream)
        seconds = self._server.limits.keepalive_seconds
        session.open += 1
        try:
            async with Reply(stream, receive, send, seconds=seconds, after=after, event_id=event_id) as reply:
                await reply.events(opening)
        finally:
            session.open -= 1
            if stream.closed:
                session.finished(stream)

    async def _session(self, headers: Mapping[str, str], send: Send) -> Session | None:
        session_id = headers.get(SESSION)
        if session_id is None:
            await _refuse(send, 400, "Mcp-Session-Id is missing: initialize first")
            return None
        session = self._sessions.find(session_id)
        if session is None:
            await _refuse(send, 404, "no such session: initialize again")
        return session


def _assumed_peer(headers: Mapping[str, str]) -> Peer:
    """Return the peer of a request that nothing is known of but its version header."""
    oldest_with_http = SUPPORTED[-2]
    return Peer(find(headers.get(VERSION, "")) or oldest_with_http)


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = encode_error(NO_ID, LATEST_HANDSHAKE.code("invalid-request"), reason)
    await respond(send, status, body, JSON)
