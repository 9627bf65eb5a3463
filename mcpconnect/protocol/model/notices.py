"""Parameters of notifications.

Source: the schema's pages *Cancelled* and *Progress*.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """`notifications/cancelled`: the sender no longer wants an answer to its request."""

    request_id: str | int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`notifications/progress`: how far the request is that carried this token; `total` where it is known."""

    progress_token: str | int
    progress: float
    total: float | None = None
    message: str | None = None
