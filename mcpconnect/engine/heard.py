"""What a server does when a client tells it something: its handlers, run like a call that nobody waits for.

Rule: a client can say a thing as often as it likes, so for each notification of a connection one job runs, and one
more waits for its end, which serves whatever came meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import inf
from typing import Any

import anyio
from anyio import current_effective_deadline, get_cancelled_exc_class

from ..context import Context, Handler, is_async
from ..errors import ProtocolError
from ..protocol import names
from .exchange import Exchange
from .failures import internal
from .job import Job, Prepare
from .settle import settle


class Hearing:
    """The jobs of one connection's handlers by notification, the oldest first, each with what its end sets."""

    __slots__ = ("_greeted", "_jobs")

    def __init__(self) -> None:
        self._jobs: dict[str, dict[Job, anyio.Event]] = {}
        self._greeted = False

    def take(self, exchange: Exchange, handlers: Iterable[Handler]) -> Job | None:
        """Return the job that runs the handlers of a notification; None if nothing more has to run for it."""
        method = exchange.request.method
        jobs = self._jobs.setdefault(method, {})
        if len(jobs) > 1 or (method == names.INITIALIZED and self._greeted):
            return None
        try:
            context, disposals = exchange.context(method)
        except ProtocolError:  # its `_meta` is malformed, and nobody would hear of that
            return None
        self._greeted |= method == names.INITIALIZED
        call = _Heard(exchange, tuple(handlers), context, turn=next(iter(jobs.values()), None))
        job = Job(call, context, disposals, lambda _: jobs.pop(job).set())
        jobs[job] = anyio.Event()
        return job

    def close(self, reason: str) -> None:
        """Cancel them."""
        for jobs in self._jobs.values():
            for job in list(jobs):
                job.cancel(reason)


class _Heard:
    """The handlers of one notification, one after the other; one that fails does not stop the next.

    `turn` is set when they may begin, where others have to end before.
    """

    threaded = False
    timeout: float | None = None
    prepare: Prepare | None = None

    def __init__(
        self, exchange: Exchange, handlers: tuple[Handler, ...], context: Context, turn: anyio.Event | None
    ) -> None:
        self._exchange = exchange
        self._handlers = handlers
        self._context = context
        self._turn = turn

    async def begin(self) -> None:
        """Call the handlers."""
        if self._turn is not None:
            await self._turn.wait()
            if self._context.cancelled:  # as those before, whose end was the turn
                return
        for handler in self._handlers:
            try:
                await settle(await self._called(handler), self._exchange.server.limits, self._context)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                if isinstance(error, get_cancelled_exc_class()) and current_effective_deadline() == -inf:
                    raise  # the job is cancelled, and not the handler by itself
                self.fail(error)

    async def _called(self, handler: Handler) -> Any:
        if is_async(handler):
            return handler(self._context)
        assert self._context.runtime is not None  # the job runs
        return await self._context.runtime.in_thread(partial(handler, self._context))

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
