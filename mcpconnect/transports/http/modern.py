"""The per-request era over HTTP: every POST stands for itself.

Rule: the checks come in the specification's order, because a client that is wrong in one respect must be told that one.
A client that goes away cancels its call.

Source: the specification's page *Transports, Streamable HTTP*.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ...engine.connection import Connection
from ...engine.lifecycle import check_meta, peer_of
from ...engine.runner import Runner
from ...errors import ProtocolError
from ...protocol import names
from ...protocol.jsonrpc import Batch, Notification, Request, Single, encode_error
from ...protocol.refusal import NO_ID
from ...protocol.revisions import LATEST, find
from ...server import McpServer
from .asgi import JSON, Receive, Send, respond
from .headers import VERSION, check_parameters, check_routing, check_version
from .replies import Response as Reply
from .replies import status_of
from .stream import Stream


class Modern:
    """Serves POSTs of the per-request era."""

    def __init__(self, server: McpServer, runner: Runner) -> None:
        self._server = server
        self._runner = runner
        self._open: set[Connection] = set()

    async def post(self, message: Single | Batch, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        """Answer one message."""
        if isinstance(message, Notification):
            await respond(send, 202, b"")
        elif isinstance(message, Request):
            await self._request(message, headers, receive, send)
        else:
            reason = "Invalid request: a POST holds one request or one notification"
            failure = encode_error(NO_ID, LATEST.code("invalid-request"), reason)
            await respond(send, 400, failure, JSON)

    async def _request(self, request: Request, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        try:
            self._check(request, headers)
        except ProtocolError as error:
            code = LATEST.code(error.kind or "")
            await respond(send, 400, encode_error(request.id, code, error.message, error.data), JSON)
            return
        stream = Stream(0, self._server.limits.stream_messages, asyncio.get_running_loop())
        connection = Connection(self._server, stream)
        self._open.add(connection)
        try:
            outcome = connection.take(request, stream)
            if isinstance(outcome, bytes):
                await respond(send, status_of(outcome), outcome, JSON)
            elif outcome:
                self._runner.start(*outcome)
                await self._carry(stream, receive, send)
        finally:
            self._open.discard(connection)
            connection.close("the client went away")

    async def _carry(self, stream: Stream, receive: Receive, send: Send) -> None:
        async with Reply(stream, receive, send, seconds=self._server.limits.keepalive_seconds) as reply:
            if not await reply.begun():
                return
            if stream.closed and len(stream.messages) <= 1:
                await reply.json(status_of)
            else:
                await reply.events()

    def _check(self, request: Request, headers: Mapping[str, str]) -> None:
        meta = check_meta(request.params)
        check_version(headers, meta)
        peer_of(meta)
        check_routing(headers, request)
        if request.method == names.TOOLS_CALL:
            tool = self._server.tools.get(str(request.params.get("name")))
            if tool is not None and tool.headers:
                check_parameters(headers, tool.headers, request.params.get("arguments"))

    def wind_down(self) -> None:
        """End what stays open, such as subscriptions."""
        for connection in list(self._open):
            connection.wind_down()


def is_modern(message: Single | Batch, headers: Mapping[str, str]) -> bool:
    """Say whether a message is of the per-request era: by its `_meta`, or by a version header that is of no other."""
    if isinstance(message, (Request, Notification)):
        meta = message.params.get(names.META)
        if isinstance(meta, dict) and names.PROTOCOL_VERSION in meta:
            return True
    version = headers.get(VERSION)
    if version is None:
        return False
    revision = find(version)
    return revision is None or not revision.handshake
