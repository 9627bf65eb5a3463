"""What a call leaves behind, put away in reverse order when it ends.

Rule: disposing never changes an answer. A thing that fails to close, in whatever way, is logged, and the next one is
closed. Only an interrupt goes on its way.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from math import inf
from typing import Any

from anyio import CancelScope, current_effective_deadline, current_time, get_cancelled_exc_class

_logger = logging.getLogger("mcpconnect.calls")


class Disposals:
    """The deferred things of one call, and the streams that it wants to keep open."""

    __slots__ = ("_kept", "_things")

    def __init__(self) -> None:
        self._things: list[Callable[[], Any]] = []
        self._kept: list[Any] = []

    def __bool__(self) -> bool:
        return bool(self._things)

    def add(self, thing: Any) -> None:
        """Remember a callable, or an object with `aclose()` or `close()`."""
        closer = getattr(thing, "aclose", None) or getattr(thing, "close", None)
        if not callable(closer):
            if not callable(thing):
                raise TypeError(f"defer() takes a callable or something with close(), got {type(thing).__name__}")
            closer = thing
        self._things.append(closer)

    def add_last(self, closer: Callable[[], Any]) -> None:
        """Remember a callable that is called when everything else is gone."""
        self._things.insert(0, closer)

    def discard(self, thing: Callable[[], Any]) -> None:
        """Forget a callable that is not to be called any more."""
        if thing in self._things:
            self._things.remove(thing)

    def keep(self, stream: Any) -> None:
        """Remember that the engine leaves this stream open."""
        self._kept.append(stream)

    def keeps(self, stream: Any) -> bool:
        """Say whether the stream stays open."""
        return any(kept is stream for kept in self._kept)

    def close(self) -> Awaitable[Any] | None:
        """Put things away until one wants to be awaited; return that one, or None when all are gone.

        Runs in the thread of the call, because an object may be bound to it.
        """
        while self._things:
            try:
                outcome = self._things.pop()()
            except KeyboardInterrupt:
                raise
            except BaseException:
                _warn()
                continue
            if inspect.isawaitable(outcome):
                return outcome
        return None

    async def aclose(self, pending: Awaitable[Any] | None = None, *, seconds: float = inf) -> None:
        """Await `pending`, then put the rest away; nothing cancels that, but what awaits is bounded in time.

        Only what is awaited is shielded: a scope that was entered here before has to be the innermost one when its
        turn comes.
        """
        bound = current_time() + seconds
        while (waiting := self.close() if pending is None else pending) is not None:
            pending = None
            with CancelScope(shield=True, deadline=bound) as scope:
                await _tried(waiting)
            if scope.cancelled_caught:
                _logger.warning("a deferred thing took too long", extra={"event": "defer-failed"})


async def _tried(waiting: Awaitable[Any]) -> None:
    try:
        await waiting
    except KeyboardInterrupt:
        raise
    except get_cancelled_exc_class():
        if current_effective_deadline() == -inf:
            raise
        _warn()  # it awaited something else that was cancelled
    except BaseException:
        _warn()


def _warn() -> None:
    _logger.warning("a deferred thing could not be disposed of", exc_info=True, extra={"event": "defer-failed"})
