"""How a server process ends: at the end of its input, or on one SIGINT or SIGTERM.

Rule: the first signal lets running calls finish, the second one does not, the third has its usual effect. From the
moment that the end has begun a watch runs, so that a method which blocks the loop or refuses to be cancelled cannot
keep an orphan alive.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from ...engine.backend import loop_waker

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Watch:
    """Ends the process by force if it has not ended within some seconds after `begin`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = False
        self._ended = threading.Event()

    def begin(self) -> None:
        """Start to count, the first time that this is called. For any thread and signal handlers."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, name="mcpconnect watch", daemon=True).start()

    def end(self) -> None:
        """Stop counting: the server has ended."""
        self._ended.set()

    def _run(self) -> None:
        if not self._ended.wait(self._seconds):
            with suppress(Exception):
                print("mcpconnect: a call did not end in time, so the process ends by force", file=sys.stderr)
                sys.stderr.flush()
            os._exit(1)


@contextmanager
def on_signal(stop: Callable[[], None], abandon: Callable[[], None], watch: Watch) -> Iterator[None]:
    """Call `stop` on the loop at the first SIGINT or SIGTERM, and `abandon` at the second.

    Works in the main thread only, elsewhere it does nothing. The handlers are plain ones, because those of an event
    loop do not run while something blocks the loop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wake = loop_waker()
    before: dict[int, Any] = {}
    steps = [stop, abandon]

    def put_back() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        before.clear()

    def handle(_number: int, _frame: object) -> None:
        watch.begin()
        wake(steps.pop(0))
        if not steps:
            put_back()

    for number in _SIGNALS:
        before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        put_back()
