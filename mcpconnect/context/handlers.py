"""What a server does when a client tells it something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from ..protocol import names
from .callables import check_callable
from .context import Context

Handler: TypeAlias = Callable[[Context], Any]
H = TypeVar("H", bound=Handler)


class Handlers:
    """Handlers of a client's notifications, as decorators: `@server.on.initialized`.

    A handler takes the `Context`; one that is not asynchronous runs in a worker thread. Both may ask the client. What
    a handler raises is logged. Those of one notification run one after the other, once at a time for each connection:
    however often the notification comes meanwhile, they run once more after it.

    Raises:
        DefinitionError: a handler is a class, or does not take a context.
    """

    def __init__(self) -> None:
        self._by_method: dict[str, list[Handler]] = {}

    def initialized(self, handler: H) -> H:
        """Call a handler when a client has shaken hands; once, however often it says so."""
        return self._add(names.INITIALIZED, handler)

    def roots_changed(self, handler: H) -> H:
        """Call a handler when the roots of a client have changed; `await context.roots()` gets them."""
        return self._add(names.ROOTS_CHANGED, handler)

    def of(self, method: str) -> tuple[Handler, ...]:
        """Return the handlers of a notification."""
        return tuple(self._by_method.get(method, ()))

    def _add(self, method: str, handler: H) -> H:
        check_callable(handler, "a handler is def (context), async or not", "context")
        self._by_method.setdefault(method, []).append(handler)
        return handler
