"""The sessions of one process.

Rule: a session is known by its id alone, so the process that gets a request adopts it, whoever began it. What is kept
here is only what one process can know: when a client was last heard of, and which sessions have ended. It is bounded,
and a session that has to make room is adopted again when its client comes back, without its session object.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from ...context import Runtime, Sealer
from ...limits import Limits
from ...server import McpServer
from .replay import Replay
from .session import Session
from .session_id import new_id, owner_digest, read_id

_ENDED_IDS: Final = 100_000  # remembered ends of sessions, about 150 bytes each


class SessionsFull(Exception):  # noqa: N818 - an answer to the client, not a failure of ours
    """There is no room for one more session, because calls run in all of them."""


class Sessions:
    """What is known of sessions here; `len()` says of how many."""

    def __init__(self, server: McpServer, sealer: Sealer, runtime: Runtime) -> None:
        self._server = server
        self._runtime = runtime
        self._limits: Limits = server.limits
        self._sealer = sealer
        self._replay = Replay(server.limits.replay_bytes)
        self._known: OrderedDict[str, Session] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._known.values()))

    @property
    def waiting(self) -> int:
        """How many answers wait for clients that went away."""
        return len(self._replay)

    def new(self) -> Session:
        """Return a session that has no id yet, because its client has to shake hands."""
        return Session(self._server, self._replay, self._runtime)

    def begin(self, session: Session, owner: str | None = None) -> str:
        """Return the id for a session that has shaken hands.

        Raises:
            SessionsFull: there is no room.
        """
        peer = session.connection.peer
        assert peer is not None
        self._make_room()
        session_id = new_id(self._sealer, peer, owner or "")
        session.owner = owner_digest(owner or "")
        self._known[session_id] = session
        return session_id

    def find(self, session_id: str, owner: str | None = None) -> Session | None:
        """Return the session of an id; None if it is forged, too old, somebody else's, or has ended.

        Raises:
            SessionsFull: it is not known here, and there is no room.
        """
        session = self._known.get(session_id)
        if session is None:
            return self._adopted(session_id, owner_digest(owner or ""))
        if session.owner != owner_digest(owner or ""):
            return None
        if self._is_old(session.began):
            self._forget(session_id)
            return None
        session.last_used = time.monotonic()
        self._known.move_to_end(session_id)
        return session

    def end(self, session_id: str, owner: str | None = None) -> bool:
        """End a session for good; say whether there was one."""
        facts = read_id(self._sealer, session_id)
        if facts is None or facts.owner != owner_digest(owner or "") or session_id in self._ended:
            return False
        if session_id in self._known:
            self._forget(session_id)
        self._mark_ended(session_id)
        return True

    def sweep(self) -> None:
        """End the sessions that were idle for too long, or are too old."""
        limit = time.monotonic() - self._limits.session_idle_seconds
        for session_id, session in list(self._known.items()):
            if self._is_old(session.began) and not session.connection.live:
                self._forget(session_id)  # its id says that it has ended
            elif session.busy:
                session.last_used = time.monotonic()
            elif session.last_used < limit:
                self._forget(session_id)
                self._mark_ended(session_id)

    def close(self) -> None:
        """Forget all sessions; other processes, and this one later, may go on with them."""
        for session_id in list(self._known):
            self._forget(session_id)

    def _adopted(self, session_id: str, owner: bytes) -> Session | None:
        if session_id in self._ended:
            return None
        facts = read_id(self._sealer, session_id)
        if facts is None or facts.owner != owner or self._is_old(facts.began):
            return None
        self._make_room()
        session = self._known[session_id] = Session(self._server, self._replay, self._runtime, facts.peer, facts.began)
        session.owner = owner
        return session

    def _is_old(self, began: float) -> bool:
        return time.time() - began > self._limits.session_seconds

    def _make_room(self) -> None:
        while len(self._known) >= self._limits.sessions:
            self._forget(self._dispensable())  # not ended: it is adopted again when its client comes back

    def _dispensable(self) -> str:
        """Return the session that is missed least, of equals the one that was idle for longest.

        A session object dies with it, which nobody can adopt again; so does a response that is under way, which a
        client opens again by itself. A session with a running call stays.
        """
        found: dict[tuple[bool, bool], str] = {}
        for session_id, session in self._known.items():
            missed = (session.connection.holds_data, session.open > 0)
            if missed == (False, False) and not session.connection.live:
                return session_id
            if not session.connection.live:
                found.setdefault(missed, session_id)
        if not found:
            raise SessionsFull
        return found[min(found)]

    def _forget(self, session_id: str) -> None:
        self._known.pop(session_id).close()

    def _mark_ended(self, session_id: str) -> None:
        self._ended[session_id] = None
        while len(self._ended) > _ENDED_IDS:
            self._ended.popitem(last=False)
