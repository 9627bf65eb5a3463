"""Building the ASGI application, and serving it with uvicorn (extra `http`)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from ...errors import DefinitionError
from ...limits import Limits
from ...server import McpServer
from ..stdio.ending import Watch
from .application import Application
from .settings import HttpSettings

if TYPE_CHECKING:
    from .graceful import GracefulServer

_ONLY_ASYNCIO: Final = "HTTP is served on asyncio only, because the servers for ASGI are written for it"
_FORCE_SECONDS: Final = 3.0  # for ending what is not a call
_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "::"})  # addresses that are no name to be called by


def asgi_app(server: McpServer, **options: Any) -> Application:
    """Return the ASGI application of a server; the options are those of `HttpSettings`.

    Raises:
        DefinitionError: an option has a value that it cannot have, or the extra `http` is not installed.
    """
    return Application(server, HttpSettings(**options))


def run_http(
    server: McpServer, *, host: str = "127.0.0.1", port: int = 8000, backend: str = "asyncio", **options: Any
) -> None:
    """Serve with uvicorn until a signal comes; clients may call the server by the name in `host`.

    Raises:
        DefinitionError: uvicorn is not installed, or the backend is not asyncio.
    """
    if backend != "asyncio":
        raise DefinitionError(_ONLY_ASYNCIO)
    served = _uvicorn(server, host, port, options)
    served.watch = Watch(2 * server.limits.drain_seconds + _FORCE_SECONDS)
    try:
        served.run()
    except KeyboardInterrupt:
        pass  # uvicorn has stopped in an orderly way, and raises the signal once more
    finally:
        served.watch.end()


async def serve_http(server: McpServer, *, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
    """Serve with uvicorn on the loop that runs, until the task is cancelled or a signal comes.

    Raises:
        DefinitionError: uvicorn is not installed, or the loop is not asyncio's.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise DefinitionError(_ONLY_ASYNCIO) from None
    await _uvicorn(server, host, port, options).serve()


def _uvicorn(server: McpServer, host: str, port: int, options: dict[str, Any]) -> GracefulServer:
    try:
        import uvicorn
    except ImportError:
        raise DefinitionError("HTTP needs uvicorn: pip install 'mcpconnect[http]'") from None
    from .graceful import GracefulServer

    given = options.get("allowed_hosts", ())
    if not isinstance(given, str):  # which is refused below
        options = {**options, "allowed_hosts": [*given, *own_names(host)]}
    config = uvicorn.Config(
        asgi_app(server, **options),
        host=host,
        port=port,
        log_config=None,  # what is logged where is the program's affair
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=int(server.limits.drain_seconds) + 2,
        server_header=False,
        http=_protocol(server.limits),
        h11_max_incomplete_event_size=server.limits.header_bytes,
    )
    return GracefulServer(config)


def _protocol(limits: Limits) -> Any:
    """Return what reads requests: httptools where it is installed, with the bounds that it lacks."""
    try:
        from .heads import BoundedHeads
    except ImportError:
        return "h11"
    return type("LimitedHeads", (BoundedHeads,), {"limits": limits})


def own_names(host: str) -> list[str]:
    """Return the names that a server has by the address it listens at."""
    if host in _EVERYWHERE:
        return []
    return [f"[{host}]" if ":" in host else host]
