"""`mcpconnect run`: serving a file's server, over stdio or HTTP, in one process or several.

Rule: over stdio the streams are taken away before the file is imported. Several processes, and one that is restarted
when a file changes, import the file for themselves, so they are told what to serve by environment variables; they share
a secret, so that each of them knows the sessions of the others.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final, Literal

from ..errors import DefinitionError
from ..limits import Limits
from ..server import McpServer
from .loading import load_server, split_target

Errors = Literal["hidden", "message"]

_TARGET: Final = "MCPCONNECT_TARGET"
_ERRORS: Final = "MCPCONNECT_ERRORS"
_PATH: Final = "MCPCONNECT_PATH"
_HOST: Final = "MCPCONNECT_HOST"
_SECRET: Final = "MCPCONNECT_SECRET"


def serve_stdio(target: str, errors: Errors | None) -> None:
    """Serve over stdio until the input ends."""
    from ..transports import take_over

    take_over()
    loaded(target, errors).run()


def serve_http(target: str, errors: Errors | None, *, host: str, port: int, path: str) -> None:
    """Serve over HTTP in this process until a signal comes."""
    server = loaded(target, errors)
    _show_logs()
    server.run("http", host=host, port=port, path=path)


def _show_logs() -> None:
    """Show on stderr what is logged, such as where it listens, unless the file has set up logging of its own."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")


def serve_processes(
    target: str, errors: Errors | None, *, host: str, port: int, path: str, workers: int, reload: bool
) -> None:
    """Serve over HTTP in other processes: several, or one that is restarted when a file changes."""
    import uvicorn

    file, _ = split_target(target)
    os.environ.update({_TARGET: target, _PATH: path, _HOST: host, _ERRORS: errors or ""})
    os.environ.setdefault(_SECRET, secrets.token_urlsafe(32))
    uvicorn.run(
        "mcpconnect.cli.serving:application",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        reload=reload,
        reload_dirs=[str(file.resolve().parent)] if reload else None,
        log_config=None,
        access_log=False,
        server_header=False,
        http=_protocol(),
        timeout_graceful_shutdown=int(Limits().drain_seconds) + 2,
    )


def application() -> Any:
    """Return the ASGI application of a process that `serve_processes` started."""
    from ..transports.http.serve import own_names

    server = loaded(os.environ[_TARGET], _errors(os.environ))
    _show_logs()
    if not server.has_own_secret:
        server.secret = (os.environ[_SECRET],)
    application: Any = server.asgi_app(path=os.environ[_PATH], allowed_hosts=own_names(os.environ[_HOST]))
    if _protocol() != "h11":
        from .worker import WorkerProtocol

        WorkerProtocol.limits, WorkerProtocol.application = server.limits, application
    return application


def _protocol() -> Any:
    """Return the name of what reads requests; processes import it for themselves."""
    return "mcpconnect.cli.worker:WorkerProtocol" if find_spec("httptools") else "h11"


def loaded(target: str, errors: Errors | None) -> McpServer:
    """Return the server of a file, with its way of showing errors overridden; exit with a text if there is none."""
    try:
        server = load_server(target)
    except DefinitionError as error:
        sys.exit(f"error: {error}")
    if errors is not None:
        server.errors = errors
    return server


def _errors(environment: Mapping[str, str]) -> Errors | None:
    given = environment.get(_ERRORS)
    return "message" if given == "message" else "hidden" if given == "hidden" else None
