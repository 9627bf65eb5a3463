"""`Provided`: the values that providers made for one call, or for as long as a server serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from threading import RLock
from typing import Any

import anyio

from .disposal import Disposals

Leave = Callable[[type[BaseException] | None, BaseException | None, Any], Any]


class Provided:
    """The values of one scope by their providers. `disposals` closes what was opened for them.

    `failure` is how the scope ended, if it failed: what is left is told.
    """

    __slots__ = ("_turns", "disposals", "failure", "lock", "values")

    def __init__(self, disposals: Disposals) -> None:
        self.disposals = disposals
        self.values: dict[Any, Any] = {}
        self.failure: BaseException | None = None
        self.lock = RLock()
        self._turns: dict[Any, anyio.Lock] = {}

    def turn(self, provider: Any) -> anyio.Lock:
        """Return what lets one task at a time ask a provider."""
        return self._turns.setdefault(provider, anyio.Lock())

    def leave_later(self, leave: Leave) -> None:
        """Leave a context manager when the scope ends."""

        def left() -> Any:
            failure = self.failure
            try:
                outcome = leave(
                    None if failure is None else type(failure), failure, getattr(failure, "__traceback__", None)
                )
            except BaseException as error:
                return _unless(error, failure)
            return _awaited(outcome, failure) if hasattr(outcome, "__await__") else None

        self.disposals.add(left)


async def _awaited(outcome: Awaitable[Any], failure: BaseException | None) -> None:
    try:
        await outcome
    except BaseException as error:
        _unless(error, failure)


def _unless(error: BaseException, failure: BaseException | None) -> None:
    """Raise an error of leaving, unless it is the failure that was passed in and comes back, as it should."""
    if error is not failure:
        raise error
