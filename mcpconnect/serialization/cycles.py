"""Why a value is too deep: a walk that is made only after the interpreter's stack ran out.

Rule: dumping itself does not look for cycles, which would cost every call; a value that contains itself exhausts the
stack within a millisecond, and then this walk finds the place. It keeps its own stack and looks at each object once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import SerializationError
from .runtime import step


def too_deep(value: Any) -> SerializationError:
    """Return the error for a value whose dump ran out of stack."""
    path = _cycle(value)
    if path is None:
        return SerializationError("the value is nested too deeply")
    return SerializationError("circular reference", "$" + path)


def _cycle(value: Any) -> str | None:
    finished: set[int] = set()
    # The way down: the objects that are open by id, each with the step that leads to it.
    opened = {id(value): ""}
    stack: list[tuple[Any, Iterator[tuple[str, Any]]]] = [(value, _children(value))]
    while stack:
        above, below = stack[-1]
        found = next(below, None)
        if found is None:
            stack.pop()
            del opened[id(above)]
            finished.add(id(above))
            continue
        name, child = found
        if id(child) in opened:
            return "".join(opened.values()) + name
        if id(child) not in finished:
            opened[id(child)] = name
            stack.append((child, _children(child)))
    return None


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((step(key), item) for key, item in list(value.items()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{i}]", item) for i, item in enumerate(list(value)))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield step(field.name), getattr(value, field.name, None)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from ((step(name), item) for name, item in list(vars(value).items()))
    else:
        for name in getattr(type(value), "__slots__", ()):
            yield step(name), getattr(value, name, None)
