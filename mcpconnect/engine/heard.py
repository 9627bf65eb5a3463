"""What a server does when a client tells it something: its handlers, run like a call that nobody waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..context import Context, Handler
from .exchange import Exchange
from .failures import internal
from .job import Job, Prepare
from .settle import settle


def heard(exchange: Exchange, handlers: Iterable[Handler]) -> Job:
    """Return the job that runs the handlers of a notification."""
    context, disposals = exchange.context(exchange.request.method)
    return Job(_Heard(exchange, tuple(handlers), context), context, disposals, lambda _: None)


class _Heard:
    """The handlers of one notification, one after the other; one that fails does not stop the next."""

    threaded = False
    timeout: float | None = None
    prepare: Prepare | None = None

    def __init__(self, exchange: Exchange, handlers: tuple[Handler, ...], context: Context) -> None:
        self._exchange = exchange
        self._handlers = handlers
        self._context = context

    async def begin(self) -> None:
        """Call the handlers."""
        for handler in self._handlers:
            try:
                await settle(handler(self._context), self._exchange.server.limits, self._context)
            except Exception as error:
                self.fail(error)

    def finish(self, _: Any) -> bytes:
        """Return nothing: a notification has no answer."""
        return b""

    def fail(self, error: BaseException) -> bytes:
        """Log what a handler raised."""
        internal(error, self._exchange.request.method, "")
        return b""

    def expire(self) -> bytes:
        """Return nothing."""
        return b""

    def wind_down(self) -> None:
        """Go on: handlers end by themselves."""
