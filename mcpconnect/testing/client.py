"""`TestClient`: a server tested in its own process, as a real client would see it.

Rule: every call goes through the real engine with bytes both ways, in the revision that the test names. There is no
second way to call a tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final

import anyio

from ..client import CallResult, Client
from ..client.answering import OnQuestion
from ..client.client import OnProgress
from ..engine.job import Job
from ..errors import ClientError
from ..protocol.jsonrpc import Notification
from ..server import McpServer
from ..transports.memory import MemoryLink
from .recorder import Recorder, Sent
from .watch import WatchedCall

_EVERYTHING: Final = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
}
_failures: Final[ContextVar[list[BaseException] | None]] = ContextVar("mcpconnect_test_failures", default=None)


class TestClient(Client):
    """A client of `server` without a process or a socket.

        async with TestClient(server) as client:
            result = await client.call_tool("add", {"a": 1, "b": 2})
            assert result.structured == {"result": 3}

    Args:
        server: The server under test.
        revision: The date of the protocol's revision; by default the newest one with a handshake.
        raise_exceptions: Raise what a tool raised, with its own class and traceback, instead of returning its result.
        on_question: Answers what the server asks: `lambda method, params: {"action": "accept", "content": {…}}`.
        capabilities: What the client can do, as a `ClientCapabilities` object; with `on_question` it can do everything.
        timeout: How many seconds a request may take, so that a test cannot hang.

    `traffic` holds every message as `(sender, data)`, `notifications` every notification of the server.
    """

    __test__ = False  # pytest would take the name for a class of tests

    def __init__(
        self,
        server: McpServer,
        *,
        revision: str | None = None,
        raise_exceptions: bool = False,
        on_question: OnQuestion | None = None,
        capabilities: Mapping[str, Any] | None = None,
        timeout: float = 30,
    ) -> None:
        self._recorder = Recorder(MemoryLink(server, on_job=self._watch if raise_exceptions else None))
        self._news = anyio.Event()
        self.notifications: list[Notification] = []
        super().__init__(
            self._recorder,
            revision=revision,
            name="mcpconnect-test",
            capabilities=_EVERYTHING if capabilities is None and on_question is not None else capabilities,
            timeout=timeout,
            on_question=on_question,
            on_notification=self._keep,
        )

    @property
    def traffic(self) -> list[Sent]:
        """Every message so far, in order."""
        return self._recorder.traffic

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallResult:
        """Call a tool; with `raise_exceptions` raise what it raised."""
        failures: list[BaseException] = []
        before = _failures.set(failures)
        try:
            result = await super().call_tool(name, arguments, timeout=timeout, progress=progress, meta=meta)
        except ClientError:
            if failures:
                raise failures[0] from None
            raise
        finally:
            _failures.reset(before)
        if failures:
            raise failures[0]
        return result

    async def notified(self, method: str, *, timeout: float = 5) -> Notification:
        """Return the first notification of this method, waiting for it at most `timeout` seconds.

        Raises:
            TimeoutError: it did not come.
        """
        with anyio.fail_after(timeout):
            while True:
                for notification in self.notifications:
                    if notification.method == method:
                        return notification
                await self._news.wait()

    def _keep(self, notification: Notification) -> None:
        self.notifications.append(notification)
        self._news.set()
        self._news = anyio.Event()

    @staticmethod
    def _watch(job: Job) -> None:
        failures = _failures.get()  # the link takes a message in the task that sends it
        if failures is not None:
            job.call = WatchedCall(job.call, failures)
