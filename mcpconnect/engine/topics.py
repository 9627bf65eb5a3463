"""The topics of a server's hub, and the notifications that tell of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..protocol import names

CHANGES: Final[Mapping[str, str]] = {
    "tools": names.TOOLS_CHANGED,
    "prompts": names.PROMPTS_CHANGED,
    "resources": names.RESOURCES_CHANGED,
}
"""The notification that tells of a change, by the hub's topic."""

LISTS: Final[Mapping[str, str]] = {
    names.TOOLS_LIST: "tools",
    names.PROMPTS_LIST: "prompts",
    names.RESOURCES_LIST: "resources",
    names.TEMPLATES_LIST: "resources",
}
"""The hub's topic whose features a method lists."""

_UPDATED: Final = "resource:"


def updated_uri(topic: str) -> str | None:
    """Return the key of the resource whose change the topic tells, if it is such a one."""
    return topic.removeprefix(_UPDATED) if topic.startswith(_UPDATED) else None
