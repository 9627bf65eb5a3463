"""What may be said about a block beside its content: annotations, icons and `_meta`.

Source: specification, "Annotations" (server/resources) and "Icons" (basic).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from ..serialization.markers import Name
from .mime import canonical

Role: TypeAlias = Literal["user", "assistant"]
Meta: TypeAlias = Annotated[dict[str, Any] | None, Name("_meta")]

_ROLES = ("user", "assistant")
_THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Annotations:
    """For whom a block is, how much it matters (0.0…1.0), and when its subject changed last.

    `audience` may be given as one role, `last_modified` as a datetime (a naive one is UTC).
    Raises ValueError for another role or a priority outside the range.
    """

    audience: tuple[Role, ...] | None = None
    priority: float | None = None
    last_modified: str | None = None

    def __init__(
        self,
        audience: Role | Iterable[Role] | None = None,
        priority: float | None = None,
        last_modified: datetime | str | None = None,
    ) -> None:
        roles = None if audience is None else (audience,) if isinstance(audience, str) else tuple(audience)
        for role in roles or ():
            if role not in _ROLES:
                raise ValueError(f"audience is 'user' or 'assistant', not {role!r}")
        if priority is not None and not 0 <= priority <= 1:
            raise ValueError(f"priority is a number from 0 to 1, not {priority!r}")
        object.__setattr__(self, "audience", roles)
        object.__setattr__(self, "priority", priority)
        object.__setattr__(self, "last_modified", _timestamp(last_modified))


@dataclass(frozen=True, slots=True)
class Icon:
    """A picture for display: its URL (https or data:), MIME type, sizes such as `48x48` or `any`, and colour theme."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] | None = None
    theme: Literal["light", "dark"] | None = None

    def __init__(
        self,
        src: str,
        mime_type: str | None = None,
        sizes: str | Iterable[str] | None = None,
        theme: Literal["light", "dark"] | None = None,
    ) -> None:
        if theme is not None and theme not in _THEMES:
            raise ValueError(f"theme is 'light' or 'dark', not {theme!r}")
        object.__setattr__(self, "src", src)
        object.__setattr__(self, "mime_type", None if mime_type is None else canonical(mime_type))
        object.__setattr__(self, "sizes", (sizes,) if isinstance(sizes, str) else sizes and tuple(sizes))
        object.__setattr__(self, "theme", theme)


def _timestamp(moment: datetime | str | None) -> str | None:
    if not isinstance(moment, datetime):
        return moment
    text = moment.isoformat()
    return text.replace("+00:00", "Z") if moment.utcoffset() is not None else text + "Z"
