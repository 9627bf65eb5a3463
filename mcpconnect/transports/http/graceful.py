"""`GracefulServer`: uvicorn that stops as the transport wants it.

Rule: when it stops, open streams end at once and running calls have `Limits.drain_seconds`; when the task that serves
is cancelled, they have no time at all. Import this module only where uvicorn is wanted.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, Final

import uvicorn
from anyio import CancelScope

from ..stdio.ending import Watch
from .application import Application

_FORCED_SECONDS: Final = 2.0  # for calls to let themselves be cancelled, after a second interrupt
_logger = logging.getLogger("mcpconnect.http")


class GracefulServer(uvicorn.Server):
    """A uvicorn server for an `Application`, which its configuration may name as an import string.

    `watch` ends the process by force when a call neither ends nor lets itself be cancelled.
    """

    watch: Watch | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal comes, or the task is cancelled."""
        try:
            await super().serve(sockets)
        except asyncio.CancelledError:
            with CancelScope(shield=True):
                await self._stop(sockets, 0)
            raise

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say where; raises what keeps the application from starting."""
        try:
            await super().startup(sockets)
        except SystemExit:  # how uvicorn ends then, and for ports that are taken
            application = _application(self.config.loaded_app)
            if application is None or application.failure is None:
                raise
            raise application.failure from None
        for server in self.servers if self.started else ():
            for listening in server.sockets:
                _logger.info("listening at %s", listening.getsockname())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, letting calls finish."""
        if self.watch is not None:
            self.watch.begin()
        await self._stop(sockets, None)

    async def _stop(self, sockets: list[socket.socket] | None, seconds: float | None) -> None:
        if not self.started:
            return
        application = _application(self.config.loaded_app)
        if application is None:
            await super().shutdown(sockets)
            return
        stopping = asyncio.ensure_future(application.stop(seconds))
        await super().shutdown(sockets)
        if not self.force_exit:
            await stopping
            return
        hasty = asyncio.ensure_future(application.stop(0))
        done, _ = await asyncio.wait({hasty}, timeout=_FORCED_SECONDS)
        if done:
            await self.lifespan.shutdown()  # left out by uvicorn, which then complains of it


def _application(app: Any) -> Application | None:
    """Return the application inside the layers that uvicorn puts around it."""
    while app is not None and not isinstance(app, Application):
        app = getattr(app, "app", None)
    return app
