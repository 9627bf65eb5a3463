"""Who the peer of a message is: the first of the three places where the eras fork.

Rule: a request whose `_meta` names a revision is served by that alone; nothing is kept from it. An `initialize` request
makes one peer for the rest of the connection. Both may be alive on one connection.

Sources: the specification's pages *Lifecycle* (up to the handshake's last revision) and *Versioning* (after it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..context.levels import SILENT, UNASKED, rank_of
from ..errors import InvalidParams, InvalidRequest, UnsupportedVersion
from ..protocol import names
from ..protocol.jsonrpc import Request
from ..protocol.peer import Peer
from ..protocol.revision import Revision
from ..protocol.revisions import LATEST, LATEST_HANDSHAKE, PER_REQUEST, find, negotiate
from .sight import Sight


class Lifecycle:
    """What one connection knows of its peer."""

    __slots__ = ("_last_seen", "initialized", "log_rank", "peer", "sight", "subscribed")

    def __init__(self, peer: Peer | None = None) -> None:
        self.peer = peer
        self.initialized = peer is not None
        self.log_rank = UNASKED
        self.subscribed: frozenset[str] = frozenset()  # the empty one is shared by all who subscribe to nothing
        self.sight: Sight | None = None  # there once it is told of changes, and there are rules of visibility
        self._last_seen: Revision | None = None

    @property
    def spoken(self) -> Revision | None:
        """The revision that the other side is known to speak, if any."""
        return self.peer.revision if self.peer is not None else self._last_seen

    def revision_for(self, request: Request) -> Revision:
        """Return the revision whose codes an error about this request has."""
        if _is_per_request(request):
            return LATEST
        return self.peer.revision if self.peer is not None else LATEST_HANDSHAKE

    def identify(self, request: Request) -> Peer:
        """Return who sent the request.

        Raises:
            InvalidParams: the `_meta` of a per-request message lacks something.
            UnsupportedVersion: it names a revision that is not served in this way.
            InvalidRequest: it comes before `initialize`.
        """
        if _is_per_request(request):
            peer = peer_of(check_meta(request.params))
            self._last_seen = peer.revision
            return peer
        if request.method == names.DISCOVER:
            raise InvalidParams(f"{names.DISCOVER} needs _meta with {names.PROTOCOL_VERSION!r}")
        if self.peer is not None:
            return self.peer
        if request.method in (names.INITIALIZE, names.PING):
            return Peer(LATEST_HANDSHAKE)
        raise InvalidRequest(
            f"{request.method} came before initialize: send initialize first, "
            f"or name {names.PROTOCOL_VERSION!r} in the request's _meta"
        )

    def heard_from(self, peer: Peer, meta: Mapping[str, Any]) -> int:
        """Return the rank of the level from which a request's client hears log messages.

        Raises:
            InvalidParams: the request asks for a level that does not exist.
        """
        if peer.revision.handshake:
            return self.log_rank
        level = meta.get(names.LOG_LEVEL)
        return SILENT if level is None else rank_of(level)

    def shake_hands(self, params: dict[str, Any]) -> Peer:
        """Take an `initialize` request's parameters and remember the peer.

        Raises:
            InvalidRequest: there was an `initialize` before.
            InvalidParams: a member has the wrong type.
        """
        if self.peer is not None:
            raise InvalidRequest("initialize came twice")
        version = params.get("protocolVersion")
        if not isinstance(version, str):
            raise InvalidParams("protocolVersion must be a text")
        for member in ("capabilities", "clientInfo"):
            if not isinstance(params.get(member, {}), dict):
                raise InvalidParams(f"{member} must be an object")
        self.peer = Peer.of(negotiate(version), params.get("clientInfo"), params.get("capabilities"))
        return self.peer


def _is_per_request(request: Request) -> bool:
    meta = request.params.get(names.META)
    return isinstance(meta, dict) and names.PROTOCOL_VERSION in meta


def check_meta(params: dict[str, Any]) -> dict[str, Any]:
    """Return the `_meta` of a per-request message, which has what it must have.

    Raises:
        InvalidParams: something is missing, or of the wrong type.
    """
    meta = params.get(names.META)
    if not isinstance(meta, dict) or not isinstance(meta.get(names.PROTOCOL_VERSION), str):
        raise InvalidParams(f"_meta: {names.PROTOCOL_VERSION!r} must be there, and be a text")
    if not isinstance(meta.get(names.CLIENT_CAPABILITIES), dict):
        raise InvalidParams(f"_meta: {names.CLIENT_CAPABILITIES!r} must be there, and be an object")
    return meta


def peer_of(meta: dict[str, Any]) -> Peer:
    """Return who sent a per-request message.

    Raises:
        UnsupportedVersion: it names a revision that is not served in this way.
    """
    version = meta[names.PROTOCOL_VERSION]
    revision = find(version)
    if revision is None or revision.handshake:
        supported = [known.version for known in PER_REQUEST]
        data = {"supported": supported, "requested": version}
        raise UnsupportedVersion("this version is not served per request", data=data)
    return Peer.of(revision, meta.get(names.CLIENT_INFO), meta[names.CLIENT_CAPABILITIES])
