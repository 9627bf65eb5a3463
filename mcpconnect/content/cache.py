"""How long a client may keep what it got.

Source: the specification's page *Caching*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CacheControl:
    """A result may be kept for `ttl_ms` milliseconds (0: it is stale at once), for its user or (`"public"`) for all.

    Raises ValueError for a time below 0 and an unknown scope.
    """

    ttl_ms: int
    scope: Literal["public", "private"] = "private"

    def __post_init__(self) -> None:
        if isinstance(self.ttl_ms, bool) or not isinstance(self.ttl_ms, int) or self.ttl_ms < 0:
            raise ValueError(f"ttl_ms is a number of milliseconds, 0 or more, not {self.ttl_ms!r}")
        if self.scope not in ("public", "private"):
            raise ValueError(f"scope is 'public' or 'private', not {self.scope!r}")
