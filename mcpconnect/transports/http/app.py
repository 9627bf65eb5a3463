"""`HttpApp`: the ASGI application. It checks who calls and what, decides the era, and hands over.

Rule: it needs no lifespan of its host. What must live longer than a request (the runner of jobs, the sweeping of
sessions) is started by the first request, in a task of its own.

Source: the specification's page *Transports, Streamable HTTP*.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping

from ...context import Sealer
from ...engine.runner import Runner
from ...protocol.jsonrpc import Batch, Single, decode, encode_error
from ...protocol.refusal import Refused
from ...protocol.revisions import LATEST, LATEST_HANDSHAKE, find
from ...server import McpServer
from .asgi import JSON, Receive, Scope, Send, respond, respond_text
from .body import BodyRefused, Disconnected, read_body
from .headers import VERSION, accepts, is_json, read_headers
from .legacy import Legacy
from .modern import Modern, is_modern
from .sessions import Sessions
from .settings import HttpSettings

_access = logging.getLogger("mcpconnect.access")
_logger = logging.getLogger("mcpconnect.http")
_ALLOWED = (b"allow", b"GET, POST, DELETE")


class HttpApp:
    """Serves one server at one path, in every revision."""

    def __init__(self, server: McpServer, settings: HttpSettings) -> None:
        self._server = server
        self.path = settings.path
        self._settings = settings
        self._paths = {settings.path.rstrip("/"), settings.path.rstrip("/") + "/"}
        self.sessions = Sessions(server, Sealer(server.secret, "session"))
        self._runner = Runner(server.limits)
        self._modern = Modern(server, self._runner)
        self._legacy = Legacy(server, self.sessions, self._runner, settings)
        self._life: asyncio.Task[None] | None = None
        self._started = asyncio.Event()
        self._stopping = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI scope."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._logged(scope, receive, send)
        else:
            raise RuntimeError(f"no {scope['type']} here, only HTTP")

    async def start(self) -> None:
        """Start what must live longer than a request, unless it runs."""
        if self._life is None:
            self._life = asyncio.create_task(self._live(), name="mcpconnect")
        await self._started.wait()

    async def stop(self) -> None:
        """End open streams, let running calls finish within `Limits.drain_seconds`, and end."""
        self.wind_down()
        if self._life is not None:
            await self._runner.drain(self._server.limits.drain_seconds)
            self._stopping.set()
            await self._life
        self.sessions.close()

    def wind_down(self) -> None:
        """End what stays open by itself: subscriptions, and the streams of sessions."""
        self._modern.wind_down()
        for session in self.sessions:
            session.standalone.answer(None)

    async def _live(self) -> None:
        async with self._runner:
            self._started.set()
            seconds = min(60.0, max(0.1, self._server.limits.session_idle_seconds / 4))
            while not self._stopping.is_set():
                try:
                    async with asyncio.timeout(seconds):
                        await self._stopping.wait()
                except TimeoutError:
                    self.sessions.sweep()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await self.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _logged(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _access.isEnabledFor(logging.INFO):
            await self._guarded(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def noting(message: Mapping[str, object]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(str(message["status"]))
            await send(dict(message))

        try:
            await self._guarded(scope, receive, noting)
        finally:
            milliseconds = (time.perf_counter() - began) * 1000
            _access.info("%s %s %d %.1f ms", scope["method"], scope["path"], status, milliseconds)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._route(scope, receive, send)
        except Disconnected:
            _logger.debug("the client went away while it sent its request")
        except Exception:
            request_id = secrets.token_hex(4)
            _logger.exception("request %s failed", request_id, extra={"event": "http-failed", "request_id": request_id})
            code = LATEST.code("internal-error")
            await respond(send, 500, encode_error(None, code, f"internal error (request id {request_id})"), JSON)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope["headers"])
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == self._settings.health:
            await respond_text(send, 200, "ok")
        elif path not in self._paths:
            await respond_text(send, 404, "nothing here")
        else:
            await self.start()
            await self._endpoint(scope["method"], headers, receive, send)

    async def _endpoint(self, method: str, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        version = headers.get(VERSION)
        revision = None if version is None else find(version)
        if method == "POST":
            await self._post(headers, receive, send)
        elif method not in ("GET", "DELETE") or (revision is not None and not revision.handshake):
            await respond(send, 405, b"", _ALLOWED)
        elif version is not None and revision is None:
            await respond_text(send, 400, "MCP-Protocol-Version names no version that is spoken here")
        elif method == "GET":
            await self._legacy.get(headers, receive, send)
        else:
            await self._legacy.delete(headers, send)

    async def _post(self, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        if not is_json(headers.get("content-type")):
            await respond_text(send, 415, "the body must be application/json")
            return
        accept = headers.get("accept")
        if not (accepts(accept, "application/json") or accepts(accept, "text/event-stream")):
            await respond_text(send, 406, "accept application/json and text/event-stream")
            return
        try:
            message: Single | Batch = decode(
                await read_body(receive, headers, self._server.limits), self._server.limits
            )
        except BodyRefused as refused:
            await respond_text(send, refused.status, refused.reason, (b"connection", b"close"))
            return
        except Refused as refused:
            await self._refuse(refused, headers, send)
            return
        era = self._modern if is_modern(message, headers) else self._legacy
        await era.post(message, headers, receive, send)

    async def _refuse(self, refused: Refused, headers: Mapping[str, str], send: Send) -> None:
        revision = find(headers.get(VERSION, "")) or LATEST_HANDSHAKE
        code = revision.code(refused.error.kind or "")
        await respond(send, 400, encode_error(refused.id, code, refused.error.message), JSON)
