"""`RunContext`: the context of one run of an operation inside of its middleware.

Rule: what a run provides, leaves behind and is told of is its own, so that an operation that runs again begins anew.
The way to the client, what was asked, and how far the progress came belong to the whole call.
"""

from __future__ import annotations

from .context import Context
from .disposal import Disposals
from .inputs import Inputs, NoInputs


class RunContext(Context):
    """A context inside of another one, until `close`."""

    __slots__ = ("_cancelled", "_outer", "_reason")

    def __init__(self, outer: Context, disposals: Disposals) -> None:
        self._outer = outer
        super().__init__(
            outer.request_id,
            outer.peer,
            outer.feature,
            outer.meta,
            outer._channel,
            disposals,
            outer.uri,
            runtime=outer.runtime,
            _session=outer._session,
            _serializer=outer._serializer,
            _heard_from=outer._heard_from,
        )

    @property
    def cancelled(self) -> bool:
        """Whether this run, or the whole call, was cancelled."""
        return self._cancelled or self._outer.cancelled

    @cancelled.setter
    def cancelled(self, value: bool) -> None:
        self._cancelled = value

    @property
    def cancel_reason(self) -> str | None:
        """Why it was cancelled, if that is known."""
        return self._reason if self._cancelled else self._outer.cancel_reason

    @cancel_reason.setter
    def cancel_reason(self, value: str | None) -> None:
        self._reason = value

    @property
    def _inputs(self) -> Inputs:
        return NoInputs("the call has ended") if self._answered else self._outer._inputs

    def _progress(self, value: float, total: float | None, message: str | None) -> None:
        if not self._answered:
            self._outer._progress(value, total, message)

    def tell(self, message: bytes, *, change: bool = False) -> None:
        """Send a notification that belongs to the call; none once the run has ended."""
        if not self._answered:
            self._outer.tell(message, change=change)

    def close(self, answered: bool = True) -> None:  # noqa: ARG002 - there is nothing to be sent before the answer
        """Let nothing more be sent by this run; the call goes on."""
        self._answered = True
