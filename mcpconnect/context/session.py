"""`Session`: what a client's calls have in common, in the era of sessions; `Handles`: what stands for it since.

Rule: a session belongs to one connection here, made when it is first asked for, closed when the connection ends. From
2026-07-28 on there are no sessions: what outlives a call gets a handle, which the model passes around as any argument.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

from ..errors import InvalidRequest, ToolError
from .disposal import Disposals
from .provided import Provided
from .runtime import Runtime

T = TypeVar("T")
_making = Lock()


class Session:
    """The base of a server's own session class: `McpServer(session=ShoppingSession)`.

    It is made without arguments, once for each client session, and injected by its annotation; calls of one client
    may run at the same time and share it. When the session ends, `aclose()` is awaited, or else `close()` called.
    """

    def close(self) -> None:
        """Put away what the session holds."""


class SessionScope:
    """The session of one connection, and whatever else is provided once for it.

    It ends with the connection, but not before the calls that use it.
    """

    __slots__ = ("_ended", "_kind", "_provided", "_runtime", "_users")

    def __init__(self, kind: type[Session] | None, runtime: Runtime) -> None:
        self._kind = kind
        self._runtime = runtime
        self._provided: Provided | None = None  # most clients never need it, and there may be very many
        self._users = 0
        self._ended = False

    @property
    def provided(self) -> Provided:
        """What was provided for the session."""
        if self._provided is None:
            with _making:
                if self._provided is None:
                    self._provided = Provided(Disposals())
        return self._provided

    @property
    def empty(self) -> bool:
        """Whether nothing was made or provided that would be lost with it."""
        return self._provided is None or not self._provided.values

    def hold(self) -> Callable[[], None]:
        """Use it in a call; return what to call when that has come to its end.

        Raises:
            InvalidRequest: the session has ended.
        """
        with _making:
            if self._ended:
                raise InvalidRequest("the session has ended")
            self._users += 1
        return self._release

    def end(self) -> None:
        """Put away what was provided, as soon as no call uses it any more."""
        with _making:
            self._ended = True
            held = self._users > 0
            if held:
                self._runtime.held.add(self._put_away)
        if not held:
            self._put_away()

    def _release(self) -> None:
        with _making:
            self._users -= 1
            over = self._ended and not self._users
        if over:
            self._put_away()

    def _put_away(self) -> None:
        self._runtime.held.discard(self._put_away)
        if self._provided is not None:
            self._runtime.put_away(self._provided.disposals)

    def get(self) -> Session:
        """Return the session; the first time it is made.

        Raises:
            LookupError: the server has no session class.
        """
        if self._kind is None:
            raise LookupError("there is no session class: McpServer(session=…)")
        session: Session = self.provided.get(self._kind, self._make)
        return session

    def _make(self) -> Session:
        assert self._kind is not None
        session = self._kind()
        self.provided.disposals.add(session)
        return session


def no_session(version: str) -> InvalidRequest:
    """Return the error of a call that needs a session where there is none."""
    return InvalidRequest(f"this needs a session, which a client of {version} does not have here; handles replace it")


class Handles(Generic[T]):
    """Values that outlive a call, each under a handle that a tool returns and others take: `carts = Handles[Cart]()`.

    Args:
        seconds: How long a value is kept after it was last used.
        limit: How many are kept; the one unused for longest makes room.
        what: What a value is called in the error for a handle that stands for nothing.

    Raises:
        ValueError: `seconds` or `limit` is not above 0.

    Safe to use from any thread. Handles are not guessable, but whoever has one may use it.
    """

    def __init__(self, *, seconds: float = 3600, limit: int = 10_000, what: str = "value") -> None:
        if not seconds > 0:
            raise ValueError(f"Handles(seconds={seconds!r}): values are kept for more than 0 seconds")
        if not limit >= 1:
            raise ValueError(f"Handles(limit={limit!r}): at least one value is kept")
        self._seconds = seconds
        self._limit = limit
        self._what = what
        self._values: OrderedDict[str, tuple[float, T]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        with self._lock:
            self._drop_expired()
            return len(self._values)

    def open(self, value: T) -> str:
        """Keep a value; return its handle."""
        handle = secrets.token_urlsafe(16)
        with self._lock:
            self._drop_expired()
            while len(self._values) >= self._limit:
                self._values.popitem(last=False)
            self._values[handle] = (time.monotonic() + self._seconds, value)
        return handle

    def get(self, handle: str) -> T:
        """Return the value of a handle, which lives on from now.

        Raises:
            ToolError: there is none, or no longer; the model can read that.
        """
        with self._lock:
            value = self._taken(handle)
            self._values[handle] = (time.monotonic() + self._seconds, value)  # at the end, where the latest stand
        return value

    def close(self, handle: str) -> T:
        """Forget a handle; return its value, to one caller only. Raises as `get` does."""
        with self._lock:
            return self._taken(handle)

    def _taken(self, handle: str) -> T:
        self._drop_expired()
        kept: Any = self._values.pop(handle, None)
        if kept is None:
            raise ToolError(f"no {self._what} {handle[:40]!r}: it never existed, or was unused for too long")
        value: T = kept[1]
        return value

    def _drop_expired(self) -> None:
        now = time.monotonic()
        while self._values:
            handle, (expires, _) = next(iter(self._values.items()))
            if expires > now:
                return
            del self._values[handle]
