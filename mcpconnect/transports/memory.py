"""The in-process transport: bytes in, bytes out, through the real engine.

Rule: what a client sends and gets here is what it would send and get over a pipe, without the line ends. For tests and
for the pages and commands that speak to a server in their own process.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType

import anyio

from ..context import DirectChannel
from ..engine.backend import loop_waker
from ..engine.connection import Connection
from ..engine.job import Job
from ..engine.runner import Runner
from ..server import McpServer


class MemoryLink:
    """A connection to `server`, seen from its client; an async context manager. Leaving it cancels what still runs.

    `on_job` sees every call before it starts.
    """

    def __init__(self, server: McpServer, *, on_job: Callable[[Job], None] | None = None) -> None:
        self._server = server
        self._on_job = on_job
        self._written: deque[bytes] = deque()
        self._news = anyio.Event()
        self._runner = Runner(server)
        self._connection: Connection

    async def __aenter__(self) -> MemoryLink:
        self._wake = loop_waker()
        self._loop_thread = threading.get_ident()
        await self._runner.__aenter__()
        self._connection = Connection(self._server, DirectChannel(self._write), self._runner.runtime)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        await self._runner.__aexit__(None, None, None)  # told of the error, its task group would wrap it

    async def send(self, message: bytes) -> None:
        """Hand one message to the server, which answers at once or starts a call."""
        outcome = self._connection.receive(message)
        if isinstance(outcome, bytes):
            self._deliver(outcome)
        elif outcome is not None:
            if self._on_job is not None:
                for job in outcome:
                    self._on_job(job)
            self._runner.start(*outcome)

    async def receive(self) -> bytes:
        """Return the server's next message; wait for it if there is none."""
        while not self._written:
            await self._news.wait()
        return self._written.popleft()

    def _write(self, message: bytes) -> None:
        if threading.get_ident() == self._loop_thread:
            self._deliver(message)
        else:
            self._wake(lambda: self._deliver(message))

    def _deliver(self, message: bytes) -> None:
        self._written.append(message)
        self._news.set()
        self._news = anyio.Event()
