"""Who is at the other end: its revision, what it calls itself, what it can do.

Rule: a peer is believed about itself but never trusted to be well-formed: what is missing or of the wrong type reads as
not given. In the handshake era one peer serves the connection; in the per-request era each request brings its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .revision import Revision


@dataclass(frozen=True, slots=True)
class Peer:
    """The client of a connection or of one request.

    `client_info` (an `Implementation`) and `capabilities` (its `ClientCapabilities`) are as the client sent them.
    """

    revision: Revision
    client_info: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, revision: Revision, client_info: object, capabilities: object) -> Peer:
        """Return the peer from members of a message, whatever stands in them."""
        return cls(
            revision,
            client_info if isinstance(client_info, dict) else {},
            capabilities if isinstance(capabilities, dict) else {},
        )

    @property
    def name(self) -> str:
        """The client's programmatic name, or an empty text."""
        return self._text("name")

    @property
    def version(self) -> str:
        """The client's version, or an empty text."""
        return self._text("version")

    def can(self, *path: str) -> bool:
        """Say whether the client declared a capability, such as `can("elicitation", "url")`."""
        declared: Any = self.capabilities
        for step in path:
            if not isinstance(declared, Mapping) or declared.get(step) in (None, False):
                return False
            declared = declared[step]
        return True

    def _text(self, member: str) -> str:
        value = self.client_info.get(member)
        return value if isinstance(value, str) else ""
