"""The answers of a batch, sent together when the last one is there.

Source: JSON-RPC 2.0, section 6; only one revision of the protocol has batches.
"""

from __future__ import annotations

from threading import Lock

from ..context import Arrival, Channel
from ..protocol.jsonrpc import encode_batch


class Gathering:
    """The channel of a batch's requests: it waits for `count` answers, of which None is one that will not come."""

    def __init__(self, count: int, channel: Channel) -> None:
        self._missing = count
        self._channel = channel
        self._answers: list[bytes] = []
        self._lock = Lock()

    @property
    def arrival(self) -> Arrival:
        """How the batch came."""
        return self._channel.arrival

    @property
    def deaf(self) -> str | None:
        """Why the client cannot be asked, if that is so."""
        return self._channel.deaf

    @property
    def crowded(self) -> bool:
        """Whether the client reads too slowly."""
        return self._channel.crowded

    def send(self, message: bytes, *, change: bool = False) -> None:
        """Send a notification at once."""
        self._channel.send(message, change=change)

    def answer(self, message: bytes | None) -> None:
        """Take one answer; the last one sends them all. A batch of notifications alone is not answered."""
        with self._lock:
            if message is not None:
                self._answers.append(message)
            self._missing -= 1
            complete = not self._missing
        if complete:
            self._channel.answer(encode_batch(self._answers) if self._answers else None)

    def end_stream(self, retry_ms: int | None) -> None:
        """End the stream that carries the whole batch."""
        self._channel.end_stream(retry_ms)
