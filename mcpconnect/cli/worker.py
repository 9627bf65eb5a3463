"""`WorkerProtocol`: what reads requests in a process that `--workers` or `--reload` started.

Rule: such a process bounds and stops as a single one does. uvicorn starts it, so the server it uses is uvicorn's own;
what it lacks is done here, where it tells each connection to end.
"""

from __future__ import annotations

from ..limits import Limits
from ..transports.http.application import Application
from ..transports.http.heads import BoundedHeads


class WorkerProtocol(BoundedHeads):
    """The protocol of one connection; `limits` and `application` are set when the file is loaded."""

    limits = Limits()
    application: Application | None = None

    def shutdown(self) -> None:
        """End open streams, so that only running calls are waited for, within the server's own limit."""
        self.config.timeout_graceful_shutdown = int(self.limits.drain_seconds) + 2
        if self.application is not None:
            self.application.wind_down()
        super().shutdown()
