"""`Context`: what a running call knows of its request, and what it may do while it runs.

Rule: a context belongs to one call. It travels by a context variable, so it is right in `async def`, in worker
threads and in nested tasks, and never shows one caller's request to another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from types import NoneType
from typing import Any, Final, TypeVar

from ..protocol import names
from ..protocol.jsonrpc import encode_notification
from ..protocol.model import Progress
from ..protocol.peer import Peer
from ..protocol.wire import WIRE, dump
from ..serialization import Serializer
from .asker import Asker
from .blocking import SyncContext
from .channel import Channel
from .disposal import Disposals
from .inputs import Inputs, NoInputs
from .levels import SILENT, Level, ranked
from .numbers import finite
from .provided import Provided
from .runtime import Runtime
from .session import Session, SessionScope, no_session

F = TypeVar("F")
_TRACE: Final = ("traceparent", "tracestate", "baggage")
_logger = logging.getLogger("mcpconnect.calls")

current: ContextVar[Context] = ContextVar("mcpconnect.context")


@dataclass(slots=True, eq=False)
class Context(Asker):
    """One running call.

    Take it as a parameter annotated `Context`, or as `self.ctx` in a subclass of `Tool`.
    """

    request_id: str | int
    peer: Peer
    feature: str
    meta: Mapping[str, Any]
    _channel: Channel = field(repr=False)
    _disposals: Disposals = field(default_factory=Disposals, repr=False)
    uri: str | None = None
    cancelled: bool = False
    cancel_reason: str | None = None
    runtime: Runtime | None = field(default=None, repr=False)
    _session: SessionScope | None = field(default=None, repr=False)
    _holds: bool = field(default=False, repr=False)
    _provided: Provided | None = field(default=None, repr=False)
    _open_inputs: Callable[[], Inputs] = field(default=NoInputs, repr=False)
    _opened_inputs: Inputs | None = field(default=None, repr=False)
    _serializer: Serializer = field(default=WIRE, repr=False)
    _heard_from: int = field(default=SILENT, repr=False)
    _reported: float | None = field(default=None, repr=False)
    _held: Progress | None = field(default=None, repr=False)
    _answered: bool = field(default=False, repr=False)
    _order: Lock = field(default_factory=Lock, repr=False)

    @property
    def revision(self) -> str:
        """The protocol revision that this request is served in, such as the newest one's date."""
        return self.peer.revision.version

    @property
    def client(self) -> Peer:
        """Who asks: name, version, info and capabilities as the client declared them."""
        return self.peer

    @property
    def state(self) -> Any:
        """What the lifespan yields (`McpServer(lifespan=…)`), or None."""
        return None if self.runtime is None else self.runtime.state

    @property
    def session(self) -> Session:
        """The client's session: an object of the class that `McpServer(session=…)` names.

        Raises:
            InvalidRequest: the client has none, because its revision or this way of serving has no sessions.
            LookupError: the server has no session class.
        """
        return self.session_scope.get()

    @property
    def session_scope(self) -> SessionScope:
        """What is provided once for the client's session; raises as `session` does."""
        if self._session is None:
            raise no_session(self.revision)
        if not self._holds and current.get(None) is self:  # a call, and no rule that only looks
            self._disposals.add_last(self._session.hold())
            self._holds = True
        return self._session

    @property
    def provided(self) -> Provided:
        """What providers made for this call."""
        if self._provided is None:
            self._provided = Provided(self._disposals)
        return self._provided

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers of the request, with names in small letters; empty over stdio."""
        return self._channel.arrival.headers

    @property
    def principal(self) -> str | None:
        """Who sent the request, where the host application has authenticated that (`scope["user"]` of ASGI)."""
        return self._channel.arrival.principal

    @property
    def trace(self) -> Mapping[str, str]:
        """The W3C trace context: `traceparent`, `tracestate` and `baggage`, from `_meta` or else from the headers."""
        source = self.meta if "traceparent" in self.meta else self.headers
        found = {name: source.get(name) for name in _TRACE}
        return {name: value for name, value in found.items() if isinstance(value, str)}

    def defer(self, thing: Any) -> None:
        """Dispose of `thing` when the call has ended, also after an error or a cancellation.

        A callable is called (and awaited, if it returns an awaitable); any other object is closed by its
        `aclose()` or `close()`. The last one deferred goes first. What fails is logged and changes no answer.

        Raises:
            TypeError: `thing` is neither callable nor closable.
        """
        self._disposals.add(thing)

    def keep(self, stream: Any) -> None:
        """Leave a stream open that the method returns; without this it is read once and closed."""
        self._disposals.keep(stream)

    def keeps(self, stream: Any) -> bool:
        """Say whether `keep` was called for this stream."""
        return self._disposals.keeps(stream)

    async def progress(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the call is; nothing is sent if it did not ask for that.

        `value` grows from report to report (one that does not, or is no number in JSON, is left out); `total` is the
        value at the end, where it is known. A client that reads slower than a tool reports gets fewer reports, and the
        last one always. Source: the specification's page *Progress*.

        Raises:
            TypeError: the value or the total is no number, or the message no text.
        """
        self._progress(value, total, message)

    async def end_stream(self, retry_ms: int | None = None) -> None:
        """End the stream that carries this call's messages early; the client resumes it, after `retry_ms` if given.

        Does something only over HTTP, where the client's revision can resume streams.
        """
        self._channel.end_stream(retry_ms)

    async def elicitation_complete(self, elicitation_id: str) -> None:
        """Tell the client that the user is done with a page, by the id of `UrlElicitationRequired`.

        Does nothing where the revision has no such notification.
        """
        if self.peer.revision.has(names.ELICITATION_IDS):
            self.tell(encode_notification(names.ELICITATION_COMPLETE, {"elicitationId": elicitation_id}))

    @property
    def _inputs(self) -> Inputs:
        with self._order:
            if self._opened_inputs is None:
                self._opened_inputs = self._open_inputs()
            return self._opened_inputs

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Tell the client something, if it wants to hear of this level, and write it to the server's log, too.

        `data` is anything that the server's serializer can write; of anything else the client gets `str(data)`, because
        no call should fail for its log. In the server's log it stands under `mcpconnect.calls`, or
        `mcpconnect.calls.<logger>`. Source: the specification's page *Logging*.

        Raises:
            ValueError: the level is none of the eight of RFC 5424.
        """
        self._log(level, data, logger)

    @property
    def sync(self) -> SyncContext:
        """The calls that reach out, for a method that is not `async`: the same names, blocking."""
        return SyncContext(self)

    def _progress(self, value: float, total: float | None, message: str | None) -> None:
        reached = finite(value)
        whole = None if total is None else finite(total)
        if not isinstance(message, (str, NoneType)):
            raise TypeError(f"the message of a progress report is a text, not {type(message).__name__}")
        token = self.meta.get(names.PROGRESS_TOKEN)
        if not isinstance(token, (str, int)) or isinstance(token, bool) or reached is None:
            return
        with self._order:  # so that nothing can follow the answer
            if self._answered or (self._reported is not None and reached <= self._reported):
                return
            self._reported = reached
            self._held = Progress(progress_token=token, progress=reached, total=whole, message=message)
            if not self._channel.crowded:
                self._send_held()

    def _send_held(self) -> None:
        """Send the newest report that found the channel crowded; those before it say nothing that it does not."""
        report, self._held = self._held, None
        if report is not None:
            params = self.peer.revision.lower(names.PROGRESS, dump(report))
            self._channel.send(encode_notification(names.PROGRESS, params))

    def tell(self, message: bytes, *, change: bool = False) -> None:
        """Send a notification that belongs to the call (see `Channel.send`); none once the answer is gone."""
        with self._order:
            if not self._answered:
                self._channel.send(message, change=change)

    def failed(self, error: BaseException) -> None:
        """Remember how the call ended, for what is left behind it."""
        if self._provided is not None:
            self._provided.failure = error

    def asks(self, open_inputs: Callable[[], Inputs], *, now: bool = False) -> None:
        """Ask by what `open_inputs` returns, once it is needed, or `now` if answers are there already."""
        self._open_inputs = open_inputs
        if now:
            self._opened_inputs = open_inputs()

    def close(self, answered: bool = True) -> None:
        """Let nothing more be sent: the answer comes now, or none will."""
        with self._order:
            inputs = self._opened_inputs
            self._open_inputs = _no_inputs
            self._answered = inputs is None
            if answered:
                self._send_held()
        if inputs is None:
            return
        complaints = list(inputs.end())  # withdraws the questions, which has to be said before the answer
        with self._order:
            self._answered = True
        for event, text in complaints if answered else ():
            extra = {"event": event, "feature": self.feature, "request_id": self.request_id}
            _logger.warning("%s %s", self.feature, text, extra=extra)

    def _log(self, level: Level, data: Any, logger: str | None) -> None:
        rank, number = ranked(level)
        target = _logger.getChild(logger) if logger else _logger
        if target.isEnabledFor(number):
            extra = {"event": "tool-log", "request_id": self.request_id, "feature": self.feature}
            target.log(number, "%s: %s", self.feature, data, extra=extra)
        if rank >= self._heard_from:
            named = {} if logger is None else {"logger": logger}
            params = {"level": level, **named, "data": self._writable(data)}
            self.tell(encode_notification(names.MESSAGE, params))

    def _writable(self, data: Any) -> Any:
        try:
            return self._serializer.dump(data)
        except Exception:
            return str(data)


def _no_inputs() -> Inputs:
    return NoInputs("the call has ended")


def running(owner: str) -> Context:
    """Return the context of the call that runs here.

    Raises:
        RuntimeError: nothing calls; the text names `owner`.
    """
    try:
        return current.get()
    except LookupError:
        raise RuntimeError(f"{owner} is only there while a client's call runs") from None
