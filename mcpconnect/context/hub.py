"""Who wants to hear of changes, and telling them.

Rule: publishing is allowed from any thread and never waits; a listener that fails does not stop the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock

Listener = Callable[[str], None]
_logger = logging.getLogger("mcpconnect.hub")


class Hub:
    """Listeners of a server; each is called with the topic that changed, such as `tools`."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._lock = Lock()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on every change until the function returned here is called."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(other for other in self._listeners if other is not listener)

        return unsubscribe

    def publish(self, topic: str) -> None:
        """Tell every listener that `topic` changed."""
        for listener in self._listeners:
            try:
                listener(topic)
            except Exception:
                _logger.warning("a listener failed", exc_info=True, extra={"event": "listener-failed"})

    def __len__(self) -> int:
        return len(self._listeners)
