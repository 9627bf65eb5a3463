"""`Application`: the ASGI application. It checks who calls, finds what is called, and notes how it went.

Rule: the order from outside is: the log, who may call, CORS, the endpoint; so that a refusal needs no other check, and
every answer of the endpoint, errors included, can be read by the pages that may call.
"""

from __future__ import annotations

import logging
import time
from itertools import chain
from typing import Any, Final

from ...context import Sealer
from ...errors import DefinitionError
from ...protocol.jsonrpc import encode_error
from ...protocol.refusal import NO_ID
from ...protocol.revisions import LATEST
from ...server import McpServer
from .asgi import Message, Receive, Scope, Send
from .body import Disconnected
from .endpoint import Endpoint, NotStarted
from .exchange import CLOSE, JSON, TEXT, HttpExchange
from .headers import read_headers
from .security import LOOPBACK_PAGES, refusal
from .settings import HttpSettings

_access = logging.getLogger("mcpconnect.access")
_logger = logging.getLogger("mcpconnect.http")
_EXCHANGE: Final = "mcpconnect"  # where a scope keeps its exchange on the way through CORS


class Application:
    """The ASGI application of a server: mount it anywhere, or give it to any ASGI server."""

    def __init__(self, server: McpServer, settings: HttpSettings) -> None:
        self._server = server
        self._settings = settings
        self._sealer = Sealer(server.secret, "session")
        self._cors = _with_cors(self._behind_cors, settings)
        self._endpoint: Endpoint | None = None
        path = settings.path.rstrip("/")
        self._paths = {path, path + "/"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI scope."""
        kind = scope["type"]
        if kind == "http":
            http = HttpExchange(scope, receive, send, read_headers(scope["headers"]))
            await (self._logged(http) if _access.isEnabledFor(logging.INFO) else self._checked(http))
        elif kind == "lifespan":
            await self._lifespan(receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})
        else:
            raise RuntimeError(f"only HTTP is served here, not {kind}")

    @property
    def endpoint(self) -> Endpoint:
        """What serves the loop that runs; the first use in a loop makes it."""
        if self._endpoint is None or not self._endpoint.alive:
            self._endpoint = Endpoint(self._server, self._settings, self._sealer)
        return self._endpoint

    @property
    def failure(self) -> BaseException | None:
        """Why it could not start; the next request tries again."""
        return None if self._endpoint is None else self._endpoint.failure

    def wind_down(self) -> None:
        """End open streams; calls go on. Hosts that stop gracefully call it before they wait for responses to end."""
        if self._endpoint is not None:
            self._endpoint.wind_down()

    async def stop(self, seconds: float | None = None) -> None:
        """End open streams, let running calls finish within so many seconds (`Limits.drain_seconds`), and end."""
        if self._endpoint is not None:
            await self._endpoint.stop(self._server.limits.drain_seconds if seconds is None else seconds)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        endpoint = self.endpoint
        try:
            await endpoint.started()
        except NotStarted:
            failed = f"the server cannot start: {type(endpoint.failure).__name__}"
            await send({"type": "lifespan.startup.failed", "message": failed})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _logged(self, http: HttpExchange) -> None:
        began, status, send = time.perf_counter(), 0, http.send

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        http.send = noting
        try:
            await self._checked(http)
        finally:
            milliseconds = (time.perf_counter() - began) * 1000
            path = http.scope.get("raw_path") or http.scope["path"].encode("unicode_escape")
            _access.info(
                "%s %s %d %.1f ms (request %s)",
                http.method,
                path.decode("latin-1"),
                status,
                milliseconds,
                http.request_id,
                extra={"event": "http-request", "request_id": http.request_id, "status": status},
            )

    async def _checked(self, http: HttpExchange) -> None:
        if sum(map(len, chain.from_iterable(http.scope["headers"]))) > self._server.limits.header_bytes:
            await http.refuse(431, "the headers are too long (Limits.header_bytes)", CLOSE)
        elif refused := refusal(http.headers, self._settings):
            await http.refuse(*refused)
        elif "origin" in http.headers:
            http.scope[_EXCHANGE] = http
            await self._cors(http.scope, http.receive, http.send)
        else:
            await self._guarded(http)

    async def _behind_cors(self, scope: Scope, receive: Receive, send: Send) -> None:
        http: HttpExchange = scope[_EXCHANGE]
        http.receive, http.send = receive, send
        await self._guarded(http)

    async def _guarded(self, http: HttpExchange) -> None:
        try:
            await self._route(http)
        except NotStarted:
            await http.refuse(503, "the server could not start", (b"retry-after", b"10"))
        except Disconnected:
            _logger.debug("the client went away while it sent request %s", http.request_id)
        except Exception as error:
            if http.started and isinstance(error, OSError):  # how some servers say that the client went away
                _logger.debug("the client went away while request %s was answered", http.request_id)
                return
            extra = {"event": "http-failed", "request_id": http.request_id}
            _logger.exception("request %s failed", http.request_id, extra=extra)
            if not http.started:
                failure = f"internal error (request id {http.request_id})"
                await http.respond(500, encode_error(NO_ID, LATEST.code("internal-error"), failure), JSON)

    async def _route(self, http: HttpExchange) -> None:
        path, settings = http.scope["path"], self._settings
        below = _below(path, http.scope.get("root_path", ""))
        if below in self._paths or path in self._paths:
            await (await self._started()).serve(http)
        elif settings.health is not None and below == settings.health:
            await _say_ok(http)
        elif settings.sse_path is None or not await self._route_sse(http, below.rstrip("/")):
            await http.refuse(404, "nothing is served at this path")

    async def _route_sse(self, http: HttpExchange, path: str) -> bool:
        sse = (await self._started()).sse
        assert sse is not None
        if path == sse.path:
            await (sse.get(http) if http.method == "GET" else http.refuse_method("GET"))
        elif path == sse.messages_path:
            await (sse.post(http) if http.method == "POST" else http.refuse_method("POST"))
        else:
            return False
        return True

    async def _started(self) -> Endpoint:
        endpoint = self.endpoint
        await endpoint.started()
        return endpoint


async def _say_ok(http: HttpExchange) -> None:
    if http.method in ("GET", "HEAD"):
        await http.respond(200, b"ok", TEXT)
    else:
        await http.refuse_method("GET", "HEAD")


def _below(path: str, root: str) -> str:
    """Return the path below the prefix that the application is mounted under."""
    inner = path.removeprefix(root)
    return inner if not inner or inner.startswith("/") else path


def _with_cors(app: Any, settings: HttpSettings) -> Any:
    try:
        from starlette.middleware.cors import CORSMiddleware
    except ImportError:
        raise DefinitionError("HTTP needs starlette: pip install 'mcpconnect[http]'") from None
    return CORSMiddleware(
        app,
        allow_origins=sorted(settings.allowed_origins),
        allow_origin_regex=LOOPBACK_PAGES,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],  # the pages that may call may send what they like, such as headers that repeat arguments
        expose_headers=["Mcp-Session-Id", "Mcp-Protocol-Version", "X-Request-Id"],
        max_age=3600,
    )
