"""`Channel`: the one way back to the client.

Rule: everything that leaves a running call goes through its channel, from any thread and without waiting. A channel
keeps the order of what it is given, and nothing follows the answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Protocol

_CROWDED: Final = 64 * 1024  # bytes, what a pipe holds
_FULL: Final = 4 * 1024 * 1024
_logger = logging.getLogger("mcpconnect.connection")


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a request came: its HTTP headers with names in small letters, and who sent it, where its host knows that."""

    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    principal: str | None = None


PIPED: Final = Arrival()
"""How a request comes that has neither."""


class Channel(Protocol):
    """Where the messages about one request go."""

    @property
    def arrival(self) -> Arrival:
        """How the request came."""
        ...

    @property
    def deaf(self) -> str | None:
        """Why the client cannot be asked, if that is so."""
        ...

    @property
    def crowded(self) -> bool:
        """Whether the client reads slower than it is written to, so that what can wait should."""
        ...

    def send(self, message: bytes, *, change: bool = False) -> None:
        """Send a notification that belongs to the request, before its answer.

        `change` says that it only tells that something changed: one that nobody has read yet tells it as well as two.
        """

    def answer(self, message: bytes | None) -> None:
        """Send the answer; None says that there will be none."""

    def end_stream(self, retry_ms: int | None) -> None:
        """End the stream that carries the messages, if there is one that the client can resume."""


@dataclass(frozen=True, slots=True)
class Via:
    """A channel for what came in its own way, such as by a POST, where the answers go by another, such as a stream."""

    _channel: Channel
    arrival: Arrival

    @property
    def deaf(self) -> str | None:
        """Why the client cannot be asked, if that is so."""
        return self._channel.deaf

    @property
    def crowded(self) -> bool:
        """Whether the client reads too slowly."""
        return self._channel.crowded

    def send(self, message: bytes, *, change: bool = False) -> None:
        """Send a notification."""
        self._channel.send(message, change=change)

    def answer(self, message: bytes | None) -> None:
        """Send the answer, if there is one."""
        self._channel.answer(message)

    def end_stream(self, retry_ms: int | None) -> None:
        """End the stream that carries the messages."""
        self._channel.end_stream(retry_ms)


class DirectChannel:
    """The channel of a connection that carries everything in one stream, such as stdio.

    `waiting` says how many bytes the client has not read. Beyond a bound nothing but answers is written any more, so
    that what a server says by itself cannot fill the memory; the answers are bounded by the calls that may run.
    """

    __slots__ = ("_deprived", "_waiting", "_write")

    deaf: str | None = None
    arrival: Arrival = PIPED

    def __init__(self, write: Callable[[bytes], None], waiting: Callable[[], int] = lambda: 0) -> None:
        self._write = write
        self._waiting = waiting
        self._deprived = False

    @property
    def crowded(self) -> bool:
        """Whether much waits to be read."""
        return self._waiting() > _CROWDED

    def send(self, message: bytes, *, change: bool = False) -> None:  # noqa: ARG002 - what is written is gone
        """Write the message, unless the client reads nothing."""
        if self._waiting() <= _FULL:
            self._deprived = False
            self._write(message)
        elif not self._deprived:
            self._deprived = True
            _logger.warning("the client does not read: messages are dropped", extra={"event": "client-not-reading"})

    def answer(self, message: bytes | None) -> None:
        """Write the answer, if there is one."""
        if message is not None:
            self._write(message)

    def end_stream(self, retry_ms: int | None) -> None:
        """Do nothing: this stream is the connection itself."""
