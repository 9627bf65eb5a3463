"""`Job`: one call that was received and not yet answered.

Rule: a job answers once. Whoever claims it first (the result, a time limit, a cancellation) decides; everyone after
that is dropped. This one step settles every race between threads, and it is why a late answer cannot exist. Whatever
fails, also while a failure is put into words, there is an answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any, Protocol

from anyio import CancelScope

from ..context import Context, Disposals, current
from ..protocol.jsonrpc import encode_error
from .failures import internal

Reply = Callable[[bytes | None], None]
Prepare = Callable[[], Awaitable[None]]


class Call(Protocol):
    """What a job runs: a feature's method with its bound arguments. Answers are finished bytes."""

    @property
    def threaded(self) -> bool:
        """Whether the method runs in a worker thread."""

    @property
    def timeout(self) -> float | None:
        """How many seconds the call may take."""

    @property
    def prepare(self) -> Prepare | None:
        """What has to be awaited on the loop before the method is called, if there is something."""

    def begin(self) -> Any:
        """Call the method."""

    def finish(self, value: Any) -> bytes:
        """Return the answer for the settled value."""

    def fail(self, error: BaseException) -> bytes:
        """Return the answer for an exception."""

    def expire(self) -> bytes:
        """Return the answer for a call that took too long."""

    def wind_down(self) -> None:
        """End soon, if the call would otherwise go on for as long as the connection."""


class Job:
    """A call with its context, and the way its answer goes. `reply(None)` says that no answer will come.

    `ended` are called after the answer was sent, in whatever thread that happens.
    """

    __slots__ = ("_claims", "_reply", "call", "context", "disposals", "ended", "scope", "variables")

    def __init__(self, call: Call, context: Context, disposals: Disposals, reply: Reply) -> None:
        self.call = call
        self.context = context
        self.disposals = disposals
        self.variables = copy_context()
        self.variables.run(current.set, context)
        self.scope: CancelScope | None = None
        self.ended: list[Callable[[Job], None]] = []
        self._reply = reply
        self._claims = [None]

    @property
    def done(self) -> bool:
        """Whether the answer was claimed."""
        return not self._claims

    def answer(self, data: bytes | None) -> bool:
        """Send the one answer; None ends the job without any. Say whether this call was the first."""
        try:
            self._claims.pop()  # one atomic step, unlike a test and a set
        except IndexError:
            return False
        try:
            self.context.close(data is not None)
        except Exception as error:  # a last report that cannot be sent takes no answer away
            internal(error, self.context.feature, self.context.request_id)
        self._reply(data)
        for ended in self.ended:
            ended(self)
        return True

    def fail(self, error: BaseException) -> bytes:
        """Return the answer for an exception, and let what is left behind know of it."""
        self.context.failed(error)
        return self._put(lambda: self.call.fail(error))

    def cancel(self, reason: str | None = None) -> None:
        """End the job without an answer. Belongs to the loop's thread."""
        if self.answer(None):
            self._stop(reason)

    def expire(self) -> None:
        """Answer that the call took too long, then stop it. Belongs to the loop's thread."""
        if not self.done and self.answer(self._put(self.call.expire)):
            self._stop("timed out")

    def lose(self, error: BaseException) -> None:
        """Answer that something which the call uses has failed, then stop it. Belongs to the loop's thread."""
        if not self.done and self.answer(self.fail(error)):
            self._stop("something that it uses has failed")

    def _put(self, answer: Callable[[], bytes]) -> bytes:
        """Return the answer for a failure; an error with an id if that fails in turn."""
        try:
            return answer()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = internal(error, self.context.feature, self.context.request_id)
            code = self.context.peer.revision.code(failure.kind)
            return encode_error(self.context.request_id, code, failure.message)

    def _stop(self, reason: str | None) -> None:
        self.context.cancelled = True
        self.context.cancel_reason = reason
        if self.scope is not None:
            self.scope.cancel()
