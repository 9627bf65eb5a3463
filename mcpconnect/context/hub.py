"""Who wants to hear of changes, and telling them.

Rule: publishing is allowed from any thread and never waits; a listener that fails does not stop the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count
from threading import Lock

Listener = Callable[[str], None]
_logger = logging.getLogger("mcpconnect.hub")


class Hub:
    """Listeners of a server; each is called with the topic that changed, such as `tools`."""

    def __init__(self) -> None:
        self._listeners: dict[int, Listener] = {}
        self._numbers = count()
        self._lock = Lock()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on every change until the function returned here is called."""
        number = next(self._numbers)
        with self._lock:
            self._listeners[number] = listener

        def unsubscribe() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return unsubscribe

    def publish(self, topic: str) -> None:
        """Tell every listener that `topic` changed."""
        with self._lock:
            listeners = list(self._listeners.values())
        for listener in listeners:
            try:
                listener(topic)
            except Exception:
                _logger.warning("a listener failed", exc_info=True, extra={"event": "listener-failed"})

    def __len__(self) -> int:
        return len(self._listeners)
