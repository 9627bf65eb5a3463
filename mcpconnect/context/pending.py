"""`Pending`: the questions that went out on a connection; `Round`: those of them that a call waits for together.

Rule: an answer comes on the loop's thread, while the one who waits may be any. What nobody waits for is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from itertools import count
from threading import Lock, get_ident
from typing import TypeAlias

from ..errors import PeerError
from ..protocol.jsonrpc import Response
from ..protocol.refusal import Id

Take: TypeAlias = Callable[[Response | PeerError], None]


class Pending:
    """The questions of one connection that are not answered yet. `thread` is that of the loop."""

    __slots__ = ("_gone", "_numbers", "_waiting", "thread")

    def __init__(self) -> None:
        self._numbers = count(1)  # threads ask, too: its next() is one step
        self._waiting: dict[Id, Take] = {}
        self._gone: str | None = None
        self.thread = get_ident()

    def open(self, take: Take) -> str:
        """Return an id for a request; `take` is given what comes of it."""
        request_id = f"ask-{next(self._numbers)}"
        self._waiting[request_id] = take
        if self._gone is not None and self.close(request_id):
            take(PeerError(self._gone))
        return request_id

    def close(self, request_id: str) -> bool:
        """Wait no more for an answer; say whether it was still missing."""
        return self._waiting.pop(request_id, None) is not None

    def take(self, response: Response) -> None:
        """Take an answer; one that nobody waits for is dropped."""
        take = self._waiting.pop(response.id, None) if response.id is not None else None
        if take is not None:
            take(response)

    def fail(self, reason: str) -> None:
        """Answer everything with an error, also what is asked from now on: the client is gone."""
        self._gone = reason
        for request_id in list(self._waiting):
            take = self._waiting.pop(request_id, None)
            if take is not None:
                take(PeerError(reason))

    def __len__(self) -> int:
        return len(self._waiting)


class Round:
    """Questions that are asked together: `settled` once all are answered, or one of them failed."""

    def __init__(self, keys: Iterable[str], pending: Pending) -> None:
        self.settled: Future[None] = Future()
        self.responses: dict[str, Response] = {}
        self._lock = Lock()
        self.ids = {key: pending.open(partial(self._take, key)) for key in keys}
        self._missing = len(self.ids)

    def fail(self, error: PeerError) -> None:
        """Wait no more."""
        with self._lock:
            if not self.settled.done():
                self.settled.set_exception(error)

    def _take(self, key: str, came: Response | PeerError) -> None:
        if isinstance(came, PeerError):
            self.fail(came)
        elif came.error is not None:
            self.fail(PeerError(came.error.message, came.error.code, came.error.data))
        else:
            with self._lock:
                self.responses[key] = came
                self._missing -= 1
                if not (self._missing or self.settled.done()):
                    self.settled.set_result(None)
