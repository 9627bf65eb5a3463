"""`Client`: speaks to a server in any revision.

Rule: a client is opened in one revision and stays in it. Those with a handshake are shaken hands with at once; in the
newest every request says by itself who asks. Whatever goes wrong at the other end is a `ClientError` that says what.

Sources: the specification's pages *Lifecycle*, *Versioning*, *Tools*.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from .._version import __version__
from ..errors import ClientError
from ..protocol import names
from ..protocol.jsonrpc import Notification, Request
from ..protocol.model import Implementation, Progress
from ..protocol.revision import Revision
from ..protocol.revisions import LATEST_HANDSHAKE, SUPPORTED, find
from .answering import OnQuestion, more_params, reply_to
from .dialogue import Dialogue
from .offers import Offers
from .results import CallResult, read_call_result, read_implementation
from .stdio import StdioTransport
from .transport import Transport

OnProgress = Callable[[Progress], None]
_ROUNDS: Final = 100  # a server that asks for ever is broken


class Client(Offers):
    """A client of one server; an async context manager.

    Args:
        transport: The way to the server, such as `StdioTransport([sys.executable, "server.py"])`.
        revision: The date of the protocol's revision; by default the newest one with a handshake, which every server
            in use speaks. A server may answer the handshake with an older one.
        name: What this client calls itself.
        version: Its version.
        capabilities: What it can do, as a `ClientCapabilities` object.
        timeout: How many seconds a request may take; `None` is for ever.
        on_notification: Called with every notification.
        on_question: Answers what the server asks (see `OnQuestion`): at once, or by calling again in the revision where
            a call ends for a question. `capabilities` say what it can answer.

    Attributes (once it is open): `revision`; `server`, what the server calls itself; its `capabilities` and
    `instructions`.

    Raises:
        ClientError: the server cannot be reached, or does not speak the revision.
        ValueError: there is no such revision.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        revision: str | None = None,
        name: str = "mcpconnect",
        version: str = __version__,
        capabilities: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        on_notification: Callable[[Notification], None] | None = None,
        on_question: OnQuestion | None = None,
    ) -> None:
        self.revision = _revision(revision)
        self.server: Implementation | None = None
        self.capabilities: dict[str, Any] = {}
        self.instructions: str | None = None
        self._info = {"name": name, "version": version}
        self._own_capabilities = dict(capabilities or {})
        self._timeout = timeout
        self._on_notification = on_notification
        self._on_question = on_question
        self._progress: dict[str | int, OnProgress] = {}
        self._tokens = itertools.count(1)
        self._transport = transport
        self._dialogue = Dialogue(transport, self._notified, None if on_question is None else self._asked)
        self._tasks: TaskGroup

    @classmethod
    def stdio(cls, command: Sequence[str], *, stderr: Any = None, **settings: Any) -> Client:
        """Return a client of a server that it launches itself; `settings` are those of the class."""
        return cls(StdioTransport(command, stderr=stderr), **settings)

    async def __aenter__(self) -> Client:
        self._tasks = await anyio.create_task_group().__aenter__()
        try:
            await self._transport.__aenter__()
        except BaseException:
            await self._tasks.__aexit__(None, None, None)
            raise
        self._dialogue.open()
        self._tasks.start_soon(self._dialogue.listen)
        try:
            await (self._shake_hands() if self.revision.handshake else self.discover())
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._transport.__aexit__(None, None, None)  # what the server still writes is read meanwhile
        finally:
            self._dialogue.close()
            self._tasks.cancel_scope.cancel()
            await self._tasks.__aexit__(None, None, None)

    async def ping(self) -> None:
        """Wait for a sign of life. Revisions without a handshake have none: they answer with an error."""
        await self.request(names.PING)

    async def discover(self) -> dict[str, Any]:
        """Ask what the server speaks and can do (the newest revision's way); return the result as it is."""
        result = await self.request(names.DISCOVER)
        supported = result.get("supportedVersions")
        if not isinstance(supported, list) or self.revision.version not in supported:
            raise ClientError(f"the server does not speak {self.revision.version}, but {supported}")
        self._introduce(result, (result.get(names.META) or {}).get(names.SERVER_INFO))
        return result

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallResult:
        """Call a tool. Its own failures are results (`is_error`); cancelling the caller cancels the call.

        `timeout` is in seconds and replaces the client's. `progress` is called with each report of the tool.
        """
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        given = dict(meta or {})
        token = next(self._tokens)
        if progress is not None:
            given[names.PROGRESS_TOKEN] = token
            self._progress[token] = progress
        if given:
            params[names.META] = given
        try:
            return read_call_result(await self.request(names.TOOLS_CALL, params, timeout=timeout))
        finally:
            self._progress.pop(token, None)

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Send any request and return its result as it is; one that asks is answered, if `on_question` is there.

        Raises:
            ClientError: the server answered with an error, broke the protocol, went away, took too long, or asks on
                and on.
        """
        seconds = self._timeout if timeout is None else timeout
        addressed = self._addressed(params)
        for _ in range(_ROUNDS):
            result = await self._dialogue.ask(method, addressed, timeout=seconds)
            if self._on_question is None or result.get("resultType") != "input_required":
                return result
            addressed = await more_params(result, addressed, self._on_question)
        raise ClientError(f"{method} ended for a question {_ROUNDS} times")

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send any notification."""
        await self._dialogue.tell(method, None if params is None else dict(params))

    async def _shake_hands(self) -> None:
        result = await self.request(
            names.INITIALIZE,
            {
                "protocolVersion": self.revision.version,
                "capabilities": self._own_capabilities,
                "clientInfo": self._info,
            },
        )
        version = result.get("protocolVersion")
        agreed = find(version) if isinstance(version, str) else None
        if agreed is None or not agreed.handshake:
            raise ClientError(f"the server wants to speak {version!r}, which this client does not")
        self.revision = agreed
        self._introduce(result, result.get("serverInfo"))
        await self.notify(names.INITIALIZED)

    def _introduce(self, result: dict[str, Any], info: Any) -> None:
        capabilities, instructions = result.get("capabilities"), result.get("instructions")
        self.server = read_implementation(info)
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.instructions = instructions if isinstance(instructions, str) else None

    def _addressed(self, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the parameters, which in the per-request era say who asks and in which revision."""
        addressed = dict(params or {})
        if not self.revision.handshake:
            addressed[names.META] = {
                names.PROTOCOL_VERSION: self.revision.version,
                names.CLIENT_CAPABILITIES: self._own_capabilities,
                names.CLIENT_INFO: self._info,
                **addressed.get(names.META, {}),
            }
        return addressed

    def _asked(self, request: Request) -> None:
        self._tasks.start_soon(self._reply, request)

    async def _reply(self, request: Request) -> None:
        assert self._on_question is not None
        with suppress(ClientError):  # the server has gone, and does not wait either
            await self._dialogue.send(await reply_to(request, self._on_question))

    def _notified(self, notification: Notification) -> None:
        if notification.method == names.PROGRESS:
            self._report(notification.params)
        if self._on_notification is not None:
            self._on_notification(notification)

    def _report(self, params: dict[str, Any]) -> None:
        token = params.get("progressToken")
        report = self._progress.get(token) if isinstance(token, (str, int)) else None
        progress = params.get("progress")
        if report is not None and isinstance(token, (str, int)) and isinstance(progress, (int, float)):
            total, message = params.get("total"), params.get("message")
            report(Progress(progress_token=token, progress=progress, total=total, message=message))


def _revision(version: str | None) -> Revision:
    if version is None:
        return LATEST_HANDSHAKE
    revision = find(version)
    if revision is None:
        spoken = ", ".join(known.version for known in SUPPORTED)
        raise ValueError(f"there is no revision {version!r}; this client speaks {spoken}")
    return revision
