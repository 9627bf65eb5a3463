"""`Replay`: answers that no response has carried to its end, kept for clients that come back for them.

Rule: one bound in bytes for the whole process; the oldest answers make room for new ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from .stream import Stream

_OVERHEAD: Final = 512  # bytes that a stream takes beside its messages


class Replay:
    """The streams that wait for their clients; `len()` says how many there are."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: OrderedDict[Stream, Callable[[Stream], None]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, stream: Stream, drop: Callable[[Stream], None]) -> None:
        """Keep a closed stream; `drop` is called with it when it has to make room."""
        self._waiting[stream] = drop
        self._bytes += stream.size + _OVERHEAD
        while self._bytes > self._limit:
            oldest, dropped = self._waiting.popitem(last=False)
            self._bytes -= oldest.size + _OVERHEAD
            dropped(oldest)

    def remove(self, stream: Stream) -> None:
        """Stop keeping a stream, if it is kept."""
        if self._waiting.pop(stream, None) is not None:
            self._bytes -= stream.size + _OVERHEAD
