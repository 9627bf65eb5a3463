"""The per-request era over HTTP: every POST stands for itself.

Rule: the checks come in the specification's order, because a client that is wrong in one respect must be told that one.
A client that goes away cancels its call.

Source: the specification's page *Transports, Streamable HTTP*.
"""

from __future__ import annotations

from ...engine.connection import Connection
from ...engine.lifecycle import check_meta, peer_of
from ...engine.runner import Runner
from ...errors import InvalidParams, ProtocolError
from ...protocol import names
from ...protocol.jsonrpc import Batch, Notification, Request, Single, encode_error
from ...protocol.revisions import LATEST, find
from ...server import McpServer
from .exchange import HttpExchange
from .headers import UNKNOWN_VERSION, VERSION, check_parameters, check_routing, check_version
from .replies import Response, status_of
from .stream import Stream


class Modern:
    """Serves POSTs of the per-request era."""

    def __init__(self, server: McpServer, runner: Runner) -> None:
        self._server = server
        self._runner = runner
        self._open: set[Connection] = set()
        self._winding = False

    async def post(self, http: HttpExchange, message: Single | Batch) -> None:
        """Answer one message."""
        if isinstance(message, Request):
            await self._request(http, message)
        elif isinstance(message, Notification):
            await (http.refuse(400, UNKNOWN_VERSION) if _is_unknown(http, message) else http.respond(202))
        else:
            await http.refuse(400, "a POST holds one request or one notification")

    def wind_down(self) -> None:
        """End what would stay open by itself, such as subscriptions; calls go on."""
        self._winding = True
        for connection in list(self._open):
            connection.wind_down()

    async def _request(self, http: HttpExchange, request: Request) -> None:
        stream = Stream(self._server.limits.stream_messages)
        stream.arrival = http.arrival
        connection = Connection(self._server, stream, self._runner.runtime)
        try:
            self._check(http, request)
            self._check_mirrored(http, request, connection)
        except ProtocolError as error:
            code = LATEST.code(error.kind or "")
            await http.answer(encode_error(request.id, code, error.message, error.data), 400)
            return
        if request.method == names.LISTEN and not http.takes_events:
            await http.refuse(406, "a subscription is an event stream: accept text/event-stream")
            return
        outcome = connection.take(request, stream)
        if isinstance(outcome, bytes):
            await http.answer(outcome, status_of(outcome))
            return
        assert isinstance(outcome, tuple)
        self._open.add(connection)
        try:
            self._runner.start(*outcome)
            if self._winding:
                connection.wind_down()
            await self._carry(http, stream)
        finally:
            self._open.discard(connection)
            connection.close("the client went away")

    async def _carry(self, http: HttpExchange, stream: Stream) -> None:
        with Response(http, stream, seconds=self._server.limits.keepalive_seconds) as response:
            if not await (response.begun() if http.takes_events else response.answered()):
                return
            if http.takes_events and stream.last and not stream.only_reply:
                await response.events()
            elif stream.reply is not None:
                await http.answer(stream.reply, status_of(stream.reply))
            else:
                await http.refuse(503, "the call was ended, because the server is shutting down")

    def _check(self, http: HttpExchange, request: Request) -> None:
        if _is_unknown(http, request):
            raise InvalidParams(f"{UNKNOWN_VERSION}, and there is no _meta that names one")
        meta = check_meta(request.params)
        check_version(http.headers, meta)
        revision = find(meta[names.PROTOCOL_VERSION])
        if revision is None or revision.handshake:
            peer_of(meta)  # which refuses it
        check_routing(http.headers, request)

    def _check_mirrored(self, http: HttpExchange, request: Request, connection: Connection) -> None:
        if request.method == names.TOOLS_CALL:
            tool = self._server.tools.get(str(request.params.get("name")))
            # What headers a tool wants would tell that it exists.
            if tool is not None and tool.headers and connection.shows(tool, request):
                check_parameters(http.headers, tool.headers, request.params.get("arguments"))


def is_modern(message: Single | Batch, http: HttpExchange) -> bool:
    """Say whether a message is of the per-request era: by its `_meta`, or by a version header that is of no other.

    An `initialize` without such a `_meta` is a handshake, whatever newer revision its sender would like to speak.
    """
    if isinstance(message, (Request, Notification)) and _names_version(message):
        return True
    version = http.headers.get(VERSION)
    if version is None:
        return False
    revision = find(version)
    if revision is None:
        return not (isinstance(message, Request) and message.method == names.INITIALIZE)
    return not revision.handshake


def _names_version(message: Request | Notification) -> bool:
    meta = message.params.get(names.META)
    return isinstance(meta, dict) and names.PROTOCOL_VERSION in meta


def _is_unknown(http: HttpExchange, message: Request | Notification) -> bool:
    """Say whether nothing tells the version but a header that names none of ours."""
    return not _names_version(message) and find(http.headers.get(VERSION, "")) is None
