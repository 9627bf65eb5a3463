"""Catching what a tool raised before it becomes an answer.

Rule: watching changes nothing of the call; its answer is made as ever.
"""

from __future__ import annotations

from typing import Any

from ..engine.job import Call


class WatchedCall:
    """A call whose failures are also put into a list."""

    def __init__(self, call: Call, failures: list[BaseException]) -> None:
        self.threaded = call.threaded
        self.timeout = call.timeout
        self.prepare = call.prepare
        self._call = call
        self._failures = failures

    def begin(self) -> Any:
        """Call the method."""
        return self._call.begin()

    def finish(self, value: Any) -> bytes:
        """Return the answer for the settled value."""
        return self._call.finish(value)

    def fail(self, error: BaseException) -> bytes:
        """Keep the exception, and return the answer for it."""
        self._failures.append(error)
        return self._call.fail(error)

    def expire(self) -> bytes:
        """Return the answer for a call that took too long."""
        return self._call.expire()

    def wind_down(self) -> None:
        """End soon, if the call is one that stays open."""
        self._call.wind_down()
