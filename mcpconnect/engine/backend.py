"""The one thing that anyio does not offer across its backends: waking the loop from any thread without waiting.

Rule: everything else in the package is plain anyio.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Wake = Callable[[Callable[[], None]], None]


def loop_waker() -> Wake:
    """Return a function that runs a callable soon on the loop that runs here.

    It may be called from any thread, and does nothing once the loop has ended.
    """
    schedule = _trio_schedule() or asyncio.get_running_loop().call_soon_threadsafe

    def wake(callback: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            schedule(callback)

    return wake


def _trio_schedule() -> Callable[[Callable[[], None]], Any] | None:
    trio = sys.modules.get("trio")
    if trio is None:
        return None
    try:
        schedule: Callable[[Callable[[], None]], Any] = trio.lowlevel.current_trio_token().run_sync_soon
    except RuntimeError:
        return None
    return schedule


def leave_loop() -> None:
    """Make the context of a worker thread look as if no loop ran in it, so that a method may start one of its own."""
    sniffio = sys.modules.get("sniffio")
    if sniffio is not None:
        sniffio.current_async_library_cvar.set(None)
