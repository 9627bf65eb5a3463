"""`Runtime`: what a running server gives to every call that it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from .provided import Provided

T = TypeVar("T")


class InThread(Protocol):
    """Runs something in one of the server's worker threads; a caller that is cancelled leaves it alone there."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]:
        """Return what `work` returns."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """One time that a server serves: its worker threads, what lives as long as it does, and the lifespan's state."""

    in_thread: InThread
    provided: Provided
    state: Any = None
