"""Completions of arguments.

Source: the schema's page *Completion*.
"""

from __future__ import annotations

from dataclasses import dataclass

from .common import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """At most a hundred values; `total` counts all there are, where it is known."""

    values: tuple[str, ...]
    total: int | None = None
    has_more: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteResult(Result):
    """The answer to `completion/complete`."""

    completion: Completion
