"""marshmallow's nested messages as a flat list of paths and reasons.

Rule: a whole number is an item (`[3]`), any other key a member (`.name`), `_schema` the object itself; problems that
are already told as paths are put below the path where they were met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .runtime import step
from .words import Problems


def problems(messages: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield `(path, reason)` for everything in the messages, in their order."""
    if isinstance(messages, Problems):
        for below, reason in messages:
            yield _joined(path, below), reason
    elif isinstance(messages, Mapping):
        for key, part in messages.items():
            yield from problems(part, path if key == "_schema" else path + _step(key))
    elif isinstance(messages, (list, tuple)):
        for part in messages:
            yield from problems(part, path)
    else:
        yield path.removeprefix("."), str(messages)


def _step(key: Any) -> str:
    return f"[{key}]" if isinstance(key, int) else step(key)


def _joined(path: str, below: str) -> str:
    separator = "" if not below or below.startswith("[") else "."
    return (path + separator + below).removeprefix(".")
