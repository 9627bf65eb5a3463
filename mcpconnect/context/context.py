"""`Context`: what a running call knows of its request, and what it may do while it runs.

Rule: a context belongs to one call. It travels by a context variable, so it is right in `async def`, in worker
threads and in nested tasks, and never shows one caller's request to another.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import isfinite
from threading import Lock
from typing import Any, Final, Literal

from ..protocol import names
from ..protocol.jsonrpc import encode_notification
from ..protocol.model import Progress
from ..protocol.peer import Peer
from ..protocol.wire import dump
from .channel import Channel
from .disposal import Disposals

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

# The eight levels of RFC 5424 on the five of `logging`.
_LEVELS: Final[Mapping[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}
_logger = logging.getLogger("mcpconnect.calls")

current: ContextVar[Context] = ContextVar("mcpconnect.context")


@dataclass(slots=True, eq=False)
class Context:
    """One running call.

    Take it as a parameter annotated `Context`, or as `self.ctx` in a subclass of `Tool`.
    """

    request_id: str | int
    peer: Peer
    feature: str
    meta: Mapping[str, Any]
    _channel: Channel = field(repr=False)
    _disposals: Disposals = field(default_factory=Disposals, repr=False)
    cancelled: bool = False
    cancel_reason: str | None = None
    _reported: float | None = field(default=None, repr=False)
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
        value at the end, where it is known. Source: the specification's page *Progress*.
        """
        self._progress(value, total, message)

    async def end_stream(self, retry_ms: int | None = None) -> None:
        """End the stream that carries this call's messages early; the client resumes it, after `retry_ms` if given.

        Does something only over HTTP, where the client's revision can resume streams.
        """
        self._channel.end_stream(retry_ms)

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Write `data` to the server's log under the logger `mcpconnect.calls` (or `mcpconnect.calls.<logger>`).

        Raises:
            ValueError: the level is none of the eight of RFC 5424.
        """
        self._log(level, data, logger)

    @property
    def sync(self) -> SyncContext:
        """The calls that reach out, for a method that is not `async`: the same names, blocking."""
        return SyncContext(self)

    def _progress(self, value: float, total: float | None, message: str | None) -> None:
        token = self.meta.get(names.PROGRESS_TOKEN)
        if not isinstance(token, (str, int)) or isinstance(token, bool):
            return
        with self._order:  # so that nothing can follow the answer
            if self._answered or not isfinite(value) or (self._reported is not None and value <= self._reported):
                return
            if total is not None and not isfinite(total):
                total = None
            self._reported = value
            report = dump(Progress(progress_token=token, progress=value, total=total, message=message))
            self._channel.send(encode_notification(names.PROGRESS, self.peer.revision.lower(names.PROGRESS, report)))

    def tell(self, message: bytes) -> None:
        """Send a notification that belongs to the call; nothing is sent once the answer is gone."""
        with self._order:
            if not self._answered:
                self._channel.send(message)

    def close(self) -> None:
        """Let nothing more be sent: the answer comes now."""
        with self._order:
            self._answered = True

    def _log(self, level: Level, data: Any, logger: str | None) -> None:
        number = _LEVELS.get(level)
        if number is None:
            raise ValueError(f"unknown log level {level!r}; one of {', '.join(_LEVELS)}")
        target = _logger.getChild(logger) if logger else _logger
        if target.isEnabledFor(number):
            extra = {"event": "tool-log", "request_id": self.request_id, "feature": self.feature}
            target.log(number, "%s: %s", self.feature, data, extra=extra)


@dataclass(frozen=True, slots=True)
class SyncContext:
    """The blocking forms of `Context`'s coroutines."""

    _context: Context

    def progress(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the call is; see `Context.progress`."""
        self._context._progress(value, total, message)

    def end_stream(self, retry_ms: int | None = None) -> None:
        """End the stream early; see `Context.end_stream`."""
        self._context._channel.end_stream(retry_ms)

    def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Write `data` to the server's log; see `Context.log`."""
        self._context._log(level, data, logger)


def running(owner: str) -> Context:
    """Return the context of the call that runs here.

    Raises:
        RuntimeError: nothing calls; the text names `owner`.
    """
    try:
        return current.get()
    except LookupError:
        raise RuntimeError(f"{owner} is only there while a client's call runs") from None
