"""The handshake era without sessions: nothing is remembered between requests.

Rule: a request is of the revision in its version header, or of the oldest that knows this transport. A client that goes
away does not cancel its call, as in the rest of this era, although nobody can come back for the answer.
"""

from __future__ import annotations

from typing import Final

from ...engine.connection import Connection
from ...engine.runner import Runner
from ...protocol import names
from ...protocol.jsonrpc import Batch, Notification, Request, Single
from ...protocol.peer import Peer
from ...protocol.revision import Revision
from ...protocol.revisions import SUPPORTED, find
from ...server import McpServer
from .exchange import HttpExchange
from .headers import VERSION
from .legacy import answered_at_once, respond_json
from .replies import Response, handshake_status
from .settings import HttpSettings
from .stream import Stream

_ASSUMED: Final[Revision] = SUPPORTED[-2]  # the oldest one has a transport of its own


class Stateless:
    """Serves the requests of clients that shake hands, each for itself."""

    def __init__(self, server: McpServer, runner: Runner, settings: HttpSettings) -> None:
        self._server = server
        self._runner = runner
        self._json = settings.json_response

    async def post(self, http: HttpExchange, message: Single | Batch) -> None:
        """Answer one message, or a batch."""
        stream = Stream(self._server.limits.stream_messages)
        stream.arrival = http.arrival
        stream.deaf = "without a session its answer could not find its way back"
        begins = isinstance(message, Request) and message.method == names.INITIALIZE
        peer = None if begins else Peer(find(http.headers.get(VERSION, "")) or _ASSUMED)
        connection = Connection(self._server, stream, self._runner.runtime, peer, announces=False)
        outcome = connection.take(message, stream)
        if await answered_at_once(http, outcome, stream):
            return
        assert isinstance(outcome, tuple)
        self._runner.start(*outcome)
        if isinstance(message, Notification):  # its handlers answer nothing
            await http.respond(202)
            return
        seconds = self._server.limits.keepalive_seconds
        if self._json or not http.takes_events:
            await respond_json(http, stream, seconds)
            return
        with Response(http, stream, seconds=seconds) as response:
            if not await response.begun():
                return
            if stream.reply is not None and stream.only_reply:
                await http.answer(stream.reply, handshake_status(stream.reply))
            else:
                await response.events()

    async def get(self, http: HttpExchange) -> None:
        """Refuse: there is nothing that a stream could carry."""
        await http.refuse_method("POST")

    async def delete(self, http: HttpExchange) -> None:
        """Refuse: there is no session."""
        await http.refuse_method("POST")

    def wind_down(self) -> None:
        """Do nothing: every response ends by itself."""
