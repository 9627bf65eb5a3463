"""What a process knows of its sessions.

Rule: a session is known by its id alone, so the process that gets a request adopts it, whoever began it. What is kept
here is only what one process can know: which calls run, what a client may come back for, when it was last heard of, and
which sessions have ended. It is bounded, and forgetting a session costs nothing but that.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from ...context import Sealer
from ...engine.connection import Connection
from ...limits import Limits
from ...protocol.peer import Peer
from ...server import McpServer
from .session_id import new_id, read_id
from .stream import Stream

_ENDED_IDS: Final = 100_000  # remembered ends of sessions, about 150 bytes each
_KEPT_STREAMS: Final = 32  # finished streams of one session that a client may still come back for
_KEPT_BYTES: Final = 1024 * 1024
_STANDALONE: Final = 0


class Session:
    """One session in this process."""

    __slots__ = ("_finished", "_limit", "_next", "_streams", "connection", "last_used", "nonce", "open", "standalone")

    def __init__(self, server: McpServer, peer: Peer | None) -> None:
        self._limit = server.limits.stream_messages
        self._streams: dict[int, Stream] = {}
        self._finished: OrderedDict[int, int] = OrderedDict()
        self._next = _STANDALONE
        self.nonce = secrets.token_hex(4)
        self.open = 0
        self.last_used = time.monotonic()
        self.standalone = self.new_stream()
        self.connection = Connection(server, self.standalone, peer)

    def new_stream(self) -> Stream:
        """Return a stream for the messages about one request."""
        stream = Stream(self._next, self._limit, asyncio.get_running_loop())
        self._streams[self._next] = stream
        self._next += 1
        return stream

    def finished(self, stream: Stream) -> None:
        """Note that a stream has its answer; the oldest finished ones are dropped when there are too many."""
        self._finished[stream.key] = sum(len(message) for _, message in stream.messages)
        while len(self._finished) > _KEPT_STREAMS or sum(self._finished.values()) > _KEPT_BYTES:
            key, _ = self._finished.popitem(last=False)
            self._streams.pop(key, None)

    def drop(self, stream: Stream) -> None:
        """Forget a stream that nobody can come back for."""
        self._streams.pop(stream.key, None)

    def event_id(self, stream: Stream, number: int) -> bytes:
        """Return the id of a message, unique in the session; it tells its stream."""
        return f"{self.nonce}-{stream.key}-{number}".encode()

    def find_event(self, event_id: str) -> tuple[Stream, int] | None:
        """Return the stream of a message and its number there, if they are known."""
        nonce, _, rest = event_id.partition("-")
        key, _, number = rest.partition("-")
        if nonce != self.nonce or not (key.isdecimal() and number.isdecimal()):
            return None
        stream = self._streams.get(int(key))
        return None if stream is None else (stream, int(number))

    @property
    def busy(self) -> bool:
        """Whether a call runs or a response is open."""
        return self.open > 0 or self.connection.live > 0

    def close(self) -> None:
        """End everything that belongs to the session here."""
        self.connection.close("the session has ended")
        for stream in list(self._streams.values()):
            stream.answer(None)


class Sessions:
    """The sessions of one process."""

    def __init__(self, server: McpServer, sealer: Sealer) -> None:
        self._server = server
        self._sealer = sealer
        self._known: OrderedDict[str, Session] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._known.values()))

    @property
    def limits(self) -> Limits:
        """The server's bounds."""
        return self._server.limits

    def begin(self, session: Session) -> str:
        """Return the id for a session that has shaken hands."""
        peer = session.connection.peer
        assert peer is not None
        session_id = new_id(self._sealer, peer)
        self._remember(session_id, session)
        return session_id

    def find(self, session_id: str) -> Session | None:
        """Return the session of an id; None if it is forged, too old, or has ended."""
        session = self._known.get(session_id)
        if session is None:
            session = self._adopted(session_id)
            if session is None:
                return None
            self._remember(session_id, session)
        session.last_used = time.monotonic()
        self._known.move_to_end(session_id)
        return session

    def end(self, session_id: str) -> bool:
        """End a session for good; say whether there was one."""
        session = self.find(session_id)
        if session is None:
            return False
        self._forget(session_id)
        self._mark_ended(session_id)
        return True

    def sweep(self) -> None:
        """End the sessions that were idle for too long."""
        limit = time.monotonic() - self.limits.session_idle_seconds
        for session_id, session in list(self._known.items()):
            if session.busy:
                session.last_used = time.monotonic()
            elif session.last_used < limit:
                self._forget(session_id)
                self._mark_ended(session_id)

    def close(self) -> None:
        """Forget all sessions; other processes, and this one later, may go on with them."""
        for session_id in list(self._known):
            self._forget(session_id)

    def _adopted(self, session_id: str) -> Session | None:
        if session_id in self._ended:
            return None
        facts = read_id(self._sealer, session_id)
        if facts is None or time.time() - facts.began > self.limits.session_seconds:
            return None
        return Session(self._server, facts.peer)

    def _remember(self, session_id: str, session: Session) -> None:
        self._known[session_id] = session
        while len(self._known) > self.limits.sessions:
            idle = next((key for key, known in self._known.items() if not known.busy), next(iter(self._known)))
            self._forget(idle)  # not ended: it is adopted again when it comes back

    def _forget(self, session_id: str) -> None:
        self._known.pop(session_id).close()

    def _mark_ended(self, session_id: str) -> None:
        self._ended[session_id] = None
        while len(self._ended) > _ENDED_IDS:
            self._ended.popitem(last=False)
