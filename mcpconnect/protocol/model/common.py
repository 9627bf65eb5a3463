"""Shapes that many messages share.

Rule of all models: the newest revision's members in Python spelling; what is `None` is not sent. `Annotations`, `Icon`
and the content blocks stand in `content`, where a tool's author finds them.

Source: the schema's *Common Types*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...content.annotations import Icon, Meta


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """What a server or a client calls itself."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: tuple[Icon, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What every result has: `result_type` says that it is one (or, later, that input is wanted)."""

    result_type: str = "complete"
    meta: Meta = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheableResult(Result):
    """A result that a client may keep for `ttl_ms` milliseconds, for itself or (`"public"`) for other users, too."""

    ttl_ms: int = 0
    cache_scope: str = "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(CacheableResult):
    """A part of a list; the next part follows under `next_cursor`, if there is one."""

    next_cursor: str | None = None


Settings = dict[str, Any]
"""The settings of a capability or an extension: an object whose members are its own affair."""
