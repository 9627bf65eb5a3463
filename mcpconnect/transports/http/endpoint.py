"""`Endpoint`: what stands behind the checks, for as long as one event loop runs.

Rule: it needs no lifespan of its host. What lives longer than a request (running calls, the sweeping of sessions) runs
in a task of its own, which the first request starts. Each message is served in the era that it belongs to.

Source: the specification's pages *Transports, Streamable HTTP* and *Versioning*.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import Context
from math import inf
from typing import Final

from anyio import CancelScope, current_time

from ...context import Sealer
from ...engine.runner import Runner
from ...protocol.jsonrpc import Batch, Single, decode, encode_error
from ...protocol.refusal import NO_ID, Refused
from ...protocol.revisions import LATEST_HANDSHAKE, find
from ...server import McpServer
from .body import read_body
from .exchange import JSON, HttpExchange
from .headers import UNKNOWN_VERSION, VERSION, is_json
from .legacy import Legacy
from .modern import Modern, is_modern
from .sessions import Sessions
from .settings import HttpSettings
from .sse import Sse
from .stateless import Stateless

_logger = logging.getLogger("mcpconnect.http")
_SWEEPS: Final = 4  # in the time after which a session is idle for too long


class NotStarted(Exception):  # noqa: N818 - an answer to the client, not a failure of ours
    """The server cannot serve, because its lifespan failed when it was entered."""


class Endpoint:
    """Serves one server in every revision. `alive` says whether it can go on in the loop that runs now.

    `failure` is why it could not start.
    """

    def __init__(self, server: McpServer, settings: HttpSettings, sealer: Sealer) -> None:
        self._limits = server.limits
        self._patience = CancelScope()  # for running calls, at the end
        self._in_haste = False
        self._loop = asyncio.get_running_loop()
        self._runner = Runner(server)
        self._modern = Modern(server, self._runner)
        self.sessions = Sessions(server, sealer, self._runner.runtime)
        self._legacy: Legacy | Stateless
        if settings.stateless:
            self._legacy = Stateless(server, self._runner, settings)
        else:
            self._legacy = Legacy(server, self.sessions, self._runner, settings)
        self.sse = None if settings.sse_path is None else Sse(server, self._runner, settings.sse_path)
        self.failure: BaseException | None = None
        self._started = asyncio.Event()
        self._stopping = asyncio.Event()
        # A context of its own, so that nothing of the first request's stays in what outlives it.
        self._life = Context().run(self._loop.create_task, self._live())

    @property
    def alive(self) -> bool:
        """Whether requests of this loop may come."""
        return self._loop is asyncio.get_running_loop() and not self._life.done()

    async def started(self) -> None:
        """Wait until calls can run.

        Raises:
            NotStarted: they cannot.
        """
        if not self._started.is_set():
            await self._started.wait()
        if self.failure is not None:
            raise NotStarted

    async def serve(self, http: HttpExchange) -> None:
        """Answer one request."""
        method = http.method
        if method == "POST":
            await self._post(http)
            return
        version = http.headers.get(VERSION)
        revision = None if version is None else find(version)
        if method not in ("GET", "DELETE"):
            await http.refuse_method("GET", "POST", "DELETE")
        elif revision is not None and not revision.handshake:
            await http.refuse_method("POST")
        elif version is not None and revision is None:
            await http.refuse(400, UNKNOWN_VERSION)
        elif method == "GET":
            await self._legacy.get(http)
        else:
            await self._legacy.delete(http)

    def wind_down(self) -> None:
        """End what stays open by itself: subscriptions, and the streams of sessions; calls go on."""
        self._modern.wind_down()
        self._legacy.wind_down()
        if self.sse is not None:
            self.sse.wind_down()

    async def stop(self, seconds: float) -> None:
        """End open streams, let running calls finish within so many seconds, and end.

        It may be called again, with less patience.
        """
        self.wind_down()
        self._patience.deadline = min(self._patience.deadline, current_time() + seconds)
        self._in_haste = not seconds
        self._stopping.set()
        if not self._started.is_set():
            self._life.cancel()
        await asyncio.wait({self._life})

    async def _live(self) -> None:
        try:
            async with self._runner:
                self._started.set()
                try:
                    await self._sweep()
                    await self._drain()
                finally:
                    self._runner.cancel_all()
                    self.sessions.close()  # before what they use: values of the server, and the lifespan
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            begun = self._started.is_set()
            self.failure = error
            if not isinstance(error, asyncio.CancelledError):
                event = {"event": "serving-failed" if begun else "start-failed"}
                _logger.critical("the server %s", "fails" if begun else "cannot start", exc_info=error, extra=event)
        finally:
            self._started.set()

    async def _sweep(self) -> None:
        seconds = min(60.0, max(0.1, self._limits.session_idle_seconds / _SWEEPS))
        while not self._stopping.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self._stopping.wait()
            except TimeoutError:
                self.sessions.sweep()

    async def _drain(self) -> None:
        with self._patience:
            await self._runner.drain(inf)
        if self._patience.cancelled_caught and not self._in_haste:
            _logger.warning("calls did not end in time and are stopped", extra={"event": "drain-timeout"})

    async def _post(self, http: HttpExchange) -> None:
        if not is_json(http.headers.get("content-type")):
            await http.refuse(415, "the body must be application/json")
        elif http.headers.get("content-encoding", "identity") != "identity":
            await http.refuse(415, "the body must not be compressed")
        elif not (http.takes_json or http.takes_events):
            await http.refuse(406, "accept application/json and text/event-stream")
        elif (body := await read_body(http, self._limits)) is not None:
            try:
                message = decode(body, self._limits)
            except Refused as refused:
                await self._refuse(http, refused)
            else:
                await self._take(http, message)

    async def _take(self, http: HttpExchange, message: Single | Batch) -> None:
        if is_modern(message, http):
            await self._modern.post(http, message)
        else:
            await self._legacy.post(http, message)

    async def _refuse(self, http: HttpExchange, refused: Refused) -> None:
        """Answer what is no legal message; before the newest handshake an id that is not known is null."""
        revision = find(http.headers.get(VERSION, ""))
        answered = refused.id
        code = (revision or LATEST_HANDSHAKE).code(refused.error.kind or "")
        if answered is NO_ID and (revision is None or not revision.anonymous_errors):
            await http.respond(400, encode_error(None, code, refused.error.message), JSON)
        else:
            await http.respond(400, encode_error(answered, code, refused.error.message), JSON)
