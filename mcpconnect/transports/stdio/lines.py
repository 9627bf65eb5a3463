r"""`Lines`: pieces of a byte stream in, whole lines out.

Rule: a line ends with LF and nothing else (`\r` before it is dropped; Unicode's separators are text), wherever the
pieces are cut. A line longer than the bound is reported once and skipped without being kept.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class TooLong(Enum):
    """The type of `TOO_LONG`."""

    TOO_LONG = "too long"


TOO_LONG: Final = TooLong.TOO_LONG
"""Stands for a line that was skipped."""


class Lines:
    """Cuts a stream into lines of at most `limit` bytes; blank ones are left out."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begun: list[bytes] = []
        self._length = 0
        self._skipping = False

    def feed(self, piece: bytes) -> list[bytes | TooLong]:
        """Return the lines that end in this piece."""
        first, *rest = piece.split(b"\n")
        if not rest:
            return self._begin(first)
        lines = [*self._begin(first), *self._finish()]
        *whole, last = rest
        for line in whole:
            lines += self._whole(line)
        return lines + self._begin(last)

    def end(self) -> list[bytes | TooLong]:
        """Return the line that the stream ended in, if it had begun."""
        return self._finish()

    def _begin(self, piece: bytes) -> list[bytes | TooLong]:
        if self._skipping or not piece:
            return []
        self._length += len(piece)
        if self._length > self._limit + 1:  # the CR before an LF that has not come yet
            self._begun.clear()
            self._skipping = True
            return [TOO_LONG]
        self._begun.append(piece)
        return []

    def _finish(self) -> list[bytes | TooLong]:
        line, skipped = b"".join(self._begun), self._skipping
        self._begun.clear()
        self._length = 0
        self._skipping = False
        return [] if skipped else self._whole(line)

    def _whole(self, line: bytes) -> list[bytes | TooLong]:
        line = line.removesuffix(b"\r")
        if len(line) > self._limit:
            return [TOO_LONG]
        return [line] if line and not line.isspace() else []
