"""`Session`: what one process knows of a session: which calls run, and what its client may come back for.

Rule: forgetting a session costs nothing but that, because everything else stands in its id. What is kept for a client
that comes back is bounded: the newest answers that were delivered, since a response may break behind its last byte, and
in `Replay` those that were not.
"""

from __future__ import annotations

import secrets
import time
from typing import Final, NamedTuple

from ...context import PIPED, Runtime
from ...engine.connection import Connection
from ...protocol.peer import Peer
from ...server import McpServer
from .replay import Replay
from .stream import Stream

_DELIVERED: Final = 4  # answers kept though they were delivered
_DELIVERED_BYTES: Final = 16 * 1024  # the longest such answer
_STANDALONE: Final = 0


class Event(NamedTuple):
    """Where an event id leads to: a stream, and the number of a message in it."""

    stream: Stream
    number: int


class Session:
    """One session in this process. `began` is when its client shook hands, in seconds since 1970.

    `owner` is the digest of the user whose it is, `standalone` the stream of what belongs to no request; `open` counts
    the responses that are under way, and `last_used` is when the session was last heard of, on the monotonic clock.
    """

    __slots__ = (
        "_delivered",
        "_limit",
        "_next",
        "_nonce",
        "_replay",
        "_streams",
        "began",
        "connection",
        "last_used",
        "open",
        "owner",
        "standalone",
    )

    def __init__(
        self,
        server: McpServer,
        replay: Replay,
        runtime: Runtime,
        peer: Peer | None = None,
        began: float | None = None,
    ) -> None:
        self._limit = server.limits.stream_messages
        self._replay = replay
        self._streams: dict[int, Stream] = {}
        self._delivered: tuple[Stream, ...] = ()
        self._next = _STANDALONE
        self._nonce = secrets.token_hex(4)
        self.began = time.time() if began is None else began
        self.last_used = time.monotonic()
        self.open = 0
        self.owner = b""
        self.standalone = self.new_stream()
        self.connection = Connection(server, self.standalone, runtime, peer)

    def new_stream(self) -> Stream:
        """Return a stream for the messages about one request."""
        stream = Stream(self._limit, key=self._next, kept=True, on_closed=self.settle)
        self._streams[self._next] = stream
        self._next += 1
        return stream

    def drop(self, stream: Stream) -> None:
        """Forget a stream that nobody can come back for."""
        self._streams.pop(stream.key, None)

    def settle(self, stream: Stream) -> None:
        """Decide what is kept of a stream, once it is closed and no response carries it."""
        if not stream.closed or stream.reader is not None or self._streams.get(stream.key) is not stream:
            return
        self._replay.remove(stream)
        if stream.delivered < stream.last:
            self._replay.add(stream, self.drop)
        elif stream.size > _DELIVERED_BYTES or not stream.last or stream is self.standalone:
            self.drop(stream)
        else:
            self._keep_delivered(stream)

    def event_id(self, stream: Stream, number: int) -> bytes:
        """Return the id of a message, unique in the session; it tells its stream."""
        return f"{self._nonce}-{stream.key}-{number}".encode()

    def find_event(self, event_id: str) -> Event | None:
        """Return where an event id leads to; None if that is not known here, or no longer.

        The stream of what belongs to no request is always there: an id that another process gave leads to its messages
        that were not delivered.
        """
        nonce, _, rest = event_id.partition("-")
        key, _, number = rest.partition("-")
        if not (key.isdecimal() and number.isdecimal() and len(rest) < 40):
            return None
        if nonce != self._nonce:
            return Event(self.standalone, self.standalone.delivered) if int(key) == _STANDALONE else None
        stream = self._streams.get(int(key))
        return None if stream is None or int(number) > stream.last else Event(stream, int(number))

    @property
    def busy(self) -> bool:
        """Whether a call runs or a response is under way."""
        return self.open > 0 or self.connection.live > 0

    def close(self) -> None:
        """End everything that belongs to the session here."""
        self.connection.close("the session has ended")
        for stream in list(self._streams.values()):
            stream.answer(None)
            self._replay.remove(stream)
        self._streams.clear()

    def _keep_delivered(self, stream: Stream) -> None:
        stream.arrival = PIPED  # the call is over, and only its answer is wanted
        if stream not in self._delivered:
            self._delivered += (stream,)
        if len(self._delivered) > _DELIVERED:
            first, *others = self._delivered
            self._delivered = tuple(others)
            self.drop(first)
