"""The answers of a batch, sent together when the last one is there.

Source: JSON-RPC 2.0, section 6; only one revision of the protocol has batches.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from ..protocol.jsonrpc import encode_batch


class Gathering:
    """Waits for `count` answers, from any thread; None counts as one that will not come."""

    def __init__(self, count: int, write: Callable[[bytes], None]) -> None:
        self._missing = count
        self._write = write
        self._answers: list[bytes] = []
        self._lock = Lock()

    def add(self, answer: bytes | None) -> None:
        """Take one answer; the last one sends them all. A batch of notifications alone is not answered."""
        with self._lock:
            if answer is not None:
                self._answers.append(answer)
            self._missing -= 1
            complete = not self._missing
        if complete and self._answers:
            self._write(encode_batch(self._answers))
