"""The revisions that are spoken, and how one is chosen."""

from __future__ import annotations

from typing import Final

from ..revision import Revision
from .v2024_11_05 import V2024_11_05
from .v2025_03_26 import V2025_03_26
from .v2025_06_18 import V2025_06_18
from .v2025_11_25 import V2025_11_25
from .v2026_07_28 import V2026_07_28

SUPPORTED: Final = (V2026_07_28, V2025_11_25, V2025_06_18, V2025_03_26, V2024_11_05)
"""Newest first."""

LATEST: Final = SUPPORTED[0]
LATEST_HANDSHAKE: Final = next(revision for revision in SUPPORTED if revision.handshake)

PER_REQUEST: Final = tuple(revision for revision in SUPPORTED if not revision.handshake)
"""Those a request may name in its `_meta`, newest first: what `server/discover` and a refused version list."""

_BY_VERSION: Final = {revision.version: revision for revision in SUPPORTED}


def find(version: str) -> Revision | None:
    """Return the revision of this name, if it is spoken."""
    return _BY_VERSION.get(version)


def negotiate(requested: str) -> Revision:
    """Return the revision that answers an `initialize`: the requested one if it has a handshake, else the newest such.

    Source: *Lifecycle, Version Negotiation*.
    """
    revision = find(requested)
    return revision if revision is not None and revision.handshake else LATEST_HANDSHAKE
