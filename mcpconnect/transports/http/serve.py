"""Building the ASGI application, and serving it with uvicorn (extra `http`).

Rule: the order from outside is: who may call, CORS, the endpoint; so that a refusal needs no other check, and every
answer of the endpoint, errors included, can be read by the pages that may call.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from ...errors import DefinitionError
from ...server import McpServer
from .app import HttpApp
from .asgi import Receive, Scope, Send, respond_text
from .headers import read_headers
from .security import refusal
from .settings import HttpSettings

if TYPE_CHECKING:
    from uvicorn import Server

_PROTOCOL_HEADERS: Final = [
    "Accept",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
]
_LOOPBACK_PAGES: Final = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
_logger = logging.getLogger("mcpconnect.http")


class Application:
    """The ASGI application of a server: mount it anywhere, or give it to any ASGI server.

    `endpoint` is what stands behind the checks; `wind_down()` ends its open streams, for hosts that stop gracefully.
    """

    def __init__(self, server: McpServer, settings: HttpSettings) -> None:
        self._settings = settings
        self.endpoint = HttpApp(server, settings)
        self._inner = _with_cors(self.endpoint, settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI scope."""
        if scope["type"] == "http":
            refused = refusal(read_headers(scope["headers"]), self._settings)
            if refused is not None:
                await respond_text(send, *refused)
                return
        await self._inner(scope, receive, send)

    def wind_down(self) -> None:
        """End open streams; calls go on."""
        self.endpoint.wind_down()


def asgi_app(server: McpServer, **options: Any) -> Application:
    """Return the ASGI application of a server; the options are those of `HttpSettings`."""
    return Application(server, HttpSettings(**options))


def run_http(
    server: McpServer, *, host: str = "127.0.0.1", port: int = 8000, backend: str = "asyncio", **options: Any
) -> None:
    """Serve with uvicorn until a signal comes.

    Raises:
        DefinitionError: uvicorn is not installed, or the backend is not asyncio.
    """
    if backend != "asyncio":
        raise DefinitionError(f"HTTP is served on asyncio, not on {backend}: the servers for ASGI are written for it")
    _uvicorn(server, host, port, options).run()


async def serve_http(server: McpServer, *, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
    """Serve with uvicorn on the loop that runs, until the task is cancelled or a signal comes."""
    await _uvicorn(server, host, port, options).serve()


def _uvicorn(server: McpServer, host: str, port: int, options: dict[str, Any]) -> Server:
    try:
        import uvicorn
    except ImportError:
        raise DefinitionError("HTTP needs uvicorn: pip install 'mcpconnect[http]'") from None
    app = asgi_app(server, **options)

    class Winding(uvicorn.Server):
        """Ends the streams that never end by themselves as soon as a signal comes, so that stopping takes no time."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            app.wind_down()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,  # what is logged where is the program's affair
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=int(server.limits.drain_seconds) + 1,
        server_header=False,
    )
    _logger.info("serving %s at http://%s:%d%s", server.name, host, port, app.endpoint.path)
    return Winding(config)


def _with_cors(app: HttpApp, settings: HttpSettings) -> Any:
    try:
        from starlette.middleware.cors import CORSMiddleware
    except ImportError:
        raise DefinitionError("HTTP needs starlette: pip install 'mcpconnect[http]'") from None
    return CORSMiddleware(
        app,
        allow_origins=sorted(settings.allowed_origins),
        allow_origin_regex=_LOOPBACK_PAGES,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=_PROTOCOL_HEADERS,
        expose_headers=["Mcp-Session-Id", "Mcp-Protocol-Version"],
        max_age=3600,
    )
