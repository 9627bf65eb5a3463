"""The handshake era over HTTP: sessions, event streams that can be resumed, and the stream of the server's own.

Rule: a client that goes away does not cancel its call; what it missed waits for it. What belongs to a request goes on
that request's stream, everything else on the one that the client opened by GET.

Source: the specification's page *Transports, Streamable HTTP* of the revisions with a handshake.
"""

from __future__ import annotations

from functools import partial

from ...engine.connection import Outcome
from ...engine.runner import Runner
from ...protocol import names
from ...protocol.jsonrpc import Batch, Failure, Notification, Request, Single
from ...protocol.jsonrpc import Response as ClientResponse
from ...server import McpServer
from .exchange import HttpExchange
from .headers import LAST_EVENT, SESSION
from .replies import Response, handshake_status
from .session import Session
from .sessions import Sessions, SessionsFull
from .settings import HttpSettings
from .stream import Stream


class Legacy:
    """Serves the requests of clients that shake hands and keep a session."""

    def __init__(self, server: McpServer, sessions: Sessions, runner: Runner, settings: HttpSettings) -> None:
        self._seconds = server.limits.keepalive_seconds
        self._sessions = sessions
        self._runner = runner
        self._json = settings.json_response
        self._winding = False

    async def post(self, http: HttpExchange, message: Single | Batch) -> None:
        """Answer one message, or a batch."""
        try:
            if isinstance(message, Request) and message.method == names.INITIALIZE:
                await self._initialize(http, message)
                return
            session = await self._session(http)
        except SessionsFull:
            await _refuse_full(http)
            return
        if session is None:
            return
        if isinstance(message, (Notification, ClientResponse)):
            outcome = session.connection.take(message, session.standalone)
            if isinstance(outcome, tuple):
                self._runner.start(*outcome)
            await http.respond(202)
        else:
            await self._serve(http, session, message)

    async def get(self, http: HttpExchange) -> None:
        """Open the stream for what belongs to no request, or resume one after `Last-Event-ID`."""
        if not http.takes_events:
            await http.refuse(406, "a GET opens an event stream: accept text/event-stream")
            return
        if self._winding:
            await http.refuse(503, "the server is shutting down", (b"retry-after", b"1"))
            return
        try:
            session = await self._session(http)
        except SessionsFull:
            await _refuse_full(http)
            return
        if session is not None:
            await self._open(http, session)

    async def delete(self, http: HttpExchange) -> None:
        """End the session."""
        session_id = http.headers.get(SESSION)
        if session_id is None:
            await http.refuse(400, "Mcp-Session-Id is missing")
        elif self._sessions.end(session_id, http.arrival.principal):
            await http.respond(200)
        else:
            await http.refuse(404, "no such session")

    def wind_down(self) -> None:
        """End the streams that would stay open by themselves; calls go on."""
        self._winding = True
        for session in self._sessions:
            session.standalone.answer(None)

    async def _initialize(self, http: HttpExchange, request: Request) -> None:
        known = http.headers.get(SESSION)
        session = None if known is None else self._sessions.find(known, http.arrival.principal)
        if session is not None:  # which refuses a second handshake
            outcome = session.connection.take(request, session.standalone)
        else:
            session = self._sessions.new()
            outcome = session.connection.take(request, session.standalone)
            if not isinstance(outcome, Failure):
                assert isinstance(outcome, bytes)  # the handshake is answered at once
                session_id = self._sessions.begin(session, http.arrival.principal)
                await http.answer(outcome, 200, (SESSION.encode(), session_id.encode()))
                return
        assert isinstance(outcome, Failure)
        await http.answer(outcome, handshake_status(outcome))

    async def _serve(self, http: HttpExchange, session: Session, message: Request | Batch) -> None:
        stream = session.new_stream()
        stream.arrival = http.arrival
        if self._json or not http.takes_events:
            stream.deaf = "the response is plain JSON, which cannot carry a question"
        outcome = session.connection.take(message, stream)
        if await answered_at_once(http, outcome, stream):
            session.drop(stream)
            return
        assert isinstance(outcome, tuple)
        self._runner.start(*outcome)
        session.open += 1
        try:
            if self._json or not http.takes_events:
                session.drop(stream)  # a body of JSON cannot be resumed
                await respond_json(http, stream, self._seconds)
            else:
                await self._carry(http, session, stream, 0)
        finally:
            session.open -= 1
            session.settle(stream)

    async def _open(self, http: HttpExchange, session: Session) -> None:
        event_id = http.headers.get(LAST_EVENT)
        found = session.find_event(event_id) if event_id else None
        stream, after = found or (session.standalone, session.standalone.delivered)
        if event_id and found is None:
            await http.refuse(410, "what follows this event is not here, or no longer")
        elif found is None and stream.reader is not None:
            await http.refuse(409, "this session has a stream open already")
        else:
            stream.early = False
            session.open += 1
            try:
                await self._carry(http, session, stream, after)
            finally:
                session.open -= 1
                session.settle(stream)

    async def _carry(self, http: HttpExchange, session: Session, stream: Stream, after: int) -> None:
        """Send a stream's messages as events with ids, so that the client can come back for them."""
        peer = session.connection.peer
        resumable = peer is not None and peer.revision.has(names.RESUMING)
        opening = b"id: %b\ndata: \n\n" % session.event_id(stream, after) if resumable else b""
        event_id = partial(session.event_id, stream)
        with Response(
            http, stream, seconds=self._seconds, after=after, event_id=event_id, resumable=resumable
        ) as response:
            if stream is not session.standalone:
                await response.soon()
            await response.events(opening)

    async def _session(self, http: HttpExchange) -> Session | None:
        session_id = http.headers.get(SESSION)
        if session_id is None:
            await http.refuse(400, "Mcp-Session-Id is missing: initialize first")
            return None
        session = self._sessions.find(session_id, http.arrival.principal)
        if session is None:
            await http.refuse(404, "no such session: initialize again")
        else:
            session.connection.came(http.arrival)
        return session


async def answered_at_once(http: HttpExchange, outcome: Outcome, stream: Stream) -> bool:
    """Answer a message that starts no call; say whether that was so."""
    if isinstance(outcome, bytes):
        await http.answer(outcome, handshake_status(outcome))
    elif outcome is None or (not outcome and stream.reply is None):
        await http.respond(202)
    elif not outcome and stream.reply is not None:
        await http.answer(stream.reply)
    else:
        return False
    return True


async def respond_json(http: HttpExchange, stream: Stream, seconds: float) -> None:
    """Send the answer as one body, when it is there; an empty one if the call was cancelled."""
    with Response(http, stream, seconds=seconds) as response:
        if not await response.answered():
            return
    if stream.reply is None:
        await http.respond(202)
    else:
        await http.answer(stream.reply, handshake_status(stream.reply))


async def _refuse_full(http: HttpExchange) -> None:
    await http.refuse(503, "too many sessions (Limits.sessions): try again later", (b"retry-after", b"10"))
