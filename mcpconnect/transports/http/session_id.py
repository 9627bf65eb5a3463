"""Session ids that need no store: the id itself carries what a session needs, sealed.

Any process that has the server's secret reads a session from its id, also after a restart. What the id holds: when the
session began, the revision, what the client can do and what it calls itself (shortened), a digest of its owner, and 80
random bits.

Source: the specification's page *Transports, Session Management*: visible ASCII, and not to be guessed.
"""

from __future__ import annotations

import secrets
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from ...context import Sealer
from ...protocol.peer import Peer
from ...protocol.revisions import SUPPORTED

_LAYOUT: Final = struct.Struct(">BIBH8s10s")  # format, time, revision, capabilities, owner, random
_FORMAT: Final = 1
_NAME, _VERSION = 18, 7  # bytes kept of the client's name and version

# Which capability stands in which bit: new ones are added at the end, none is ever moved.
_CAPABILITIES: Final = (
    ("roots",),
    ("roots", "listChanged"),
    ("sampling",),
    ("sampling", "context"),
    ("sampling", "tools"),
    ("elicitation",),
    ("elicitation", "form"),
    ("elicitation", "url"),
    ("tasks",),
    ("tasks", "list"),
    ("tasks", "cancel"),
    ("extensions", "io.modelcontextprotocol/ui"),
)
_REVISIONS: Final = tuple(reversed(SUPPORTED))  # oldest first: a newer one is added at the end


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What an id says: the client, its owner's digest, and when the session began (seconds since 1970)."""

    peer: Peer
    owner: bytes
    began: int


def new_id(sealer: Sealer, peer: Peer, owner: str = "") -> str:
    """Return an id for a session that begins now."""
    bits = sum(1 << bit for bit, path in enumerate(_CAPABILITIES) if peer.can(*path))
    fixed = _LAYOUT.pack(
        _FORMAT,
        int(time.time()),
        _REVISIONS.index(peer.revision),
        bits,
        owner_digest(owner),
        secrets.token_bytes(10),
    )
    name, version = _shortened(peer.name, _NAME), _shortened(peer.version, _VERSION)
    return sealer.seal(fixed + name + b"\0" + version)


def read_id(sealer: Sealer, text: str) -> SessionFacts | None:
    """Return what an id says, or None if it is none of ours."""
    data = sealer.open(text) if len(text) < 200 else None
    if data is None or len(data) < _LAYOUT.size or data[0] != _FORMAT:
        return None
    _, began, revision, bits, owner, _ = _LAYOUT.unpack_from(data)
    if revision >= len(_REVISIONS):
        return None
    name, _, version = data[_LAYOUT.size :].decode("utf-8", "ignore").partition("\0")
    info = {"name": name, "version": version} if name else {}
    return SessionFacts(Peer(_REVISIONS[revision], info, _capabilities(bits)), owner, began)


def owner_digest(owner: str) -> bytes:
    """Return what an id keeps of the user whom a session belongs to."""
    return blake2b(owner.encode(), digest_size=8).digest()


def _capabilities(bits: int) -> Mapping[str, Any]:
    capabilities: dict[str, Any] = {}
    for bit, path in enumerate(_CAPABILITIES):
        if bits >> bit & 1:
            inner = capabilities
            for step in path[:-1]:
                inner = inner.setdefault(step, {})
            inner[path[-1]] = True if path[-1] == "listChanged" else inner.get(path[-1], {})
    return capabilities


def _shortened(text: str, size: int) -> bytes:
    return text.replace("\0", "").encode()[:size].decode("utf-8", "ignore").encode()
