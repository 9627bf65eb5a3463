"""What a tool call ends in, before a revision gives it its wire form.

Rule: a result is finished. It is frozen, holds only blocks, and nothing converts it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from .blocks import BLOCKS, Block, TextContent

_CLASSES = frozenset(BLOCKS)

UNSET = msgspec.UNSET
"""`ToolResult.structured` where there is no structured content (None is the JSON null)."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call: blocks, structured content, error flag and `_meta`.

    `content` may be given as one block, a text, or any iterable of blocks. `structured` is any value that the
    serializer can dump, or JSON that is encoded already (`msgspec.Raw`).
    Raises TypeError for content that is neither block nor text.
    """

    content: tuple[Block, ...]
    structured: Any = UNSET
    is_error: bool = False
    meta: dict[str, Any] | None = None

    def __init__(
        self,
        content: str | Block | Iterable[str | Block] = (),
        structured: Any = UNSET,
        is_error: bool = False,
        meta: dict[str, Any] | None = None,
    ) -> None:
        object.__setattr__(self, "content", _blocks(content))
        object.__setattr__(self, "structured", structured)
        object.__setattr__(self, "is_error", is_error)
        object.__setattr__(self, "meta", meta)


def _blocks(content: str | Block | Iterable[str | Block]) -> tuple[Block, ...]:
    if type(content) is tuple and all(type(item) in _CLASSES for item in content):
        return content
    items = (content,) if isinstance(content, (str, *BLOCKS)) else content
    return tuple(TextContent(item) if isinstance(item, str) else _block(item) for item in items)


def _block(item: Any) -> Block:
    if not isinstance(item, BLOCKS):
        raise TypeError(f"a result consists of content blocks, not of {type(item).__name__} objects")
    return item


def finished(content: tuple[Block, ...], structured: Any = UNSET) -> ToolResult:
    """Return a result of what is known to be blocks already; for the paths that every call takes."""
    result = _new(ToolResult)
    _set(result, "content", content)
    _set(result, "structured", structured)
    _set(result, "is_error", False)
    _set(result, "meta", None)
    return result


_new = object.__new__
_set = object.__setattr__
