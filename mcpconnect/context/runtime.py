"""`Runtime`: what a running server gives to every call that it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from .disposal import Disposals
from .keeping import Keeper
from .provided import Provided, Wake

T = TypeVar("T")
Aside = Callable[[], AbstractContextManager[None]]


class InThread(Protocol):
    """Runs something in one of the server's worker threads; a caller that is cancelled leaves it alone there."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]:
        """Return what `work` returns."""


@dataclass(slots=True)
class Runtime:
    """One time that a server serves: its worker threads, what lives as long as it does, and the lifespan's state.

    `aside` lets another worker thread work while this one only waits. `wake` runs something soon on the loop, from any
    thread; `put_away` closes things there, before the server ends. `run` runs a call inside of another one, with a
    context and disposals of its own, and returns its answer. `keeper` makes what keeps asynchronous context managers.
    `held` are called at the very end: they put away what calls that still run in threads do not let go. `state` is
    there once it serves.
    """

    in_thread: InThread
    aside: Aside
    wake: Wake
    put_away: Callable[[Disposals], None]
    run: Callable[..., Awaitable[bytes]]
    keeper: Callable[[], Keeper]
    provided: Provided
    state: Any = None
    held: set[Callable[[], None]] = field(default_factory=set)
