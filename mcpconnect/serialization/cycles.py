"""Why a value is too deep: a walk that is made only after the interpreter's stack ran out.

Rule: dumping itself does not look for cycles, which would cost every call; a value that contains itself exhausts the
stack within a millisecond, and then this walk finds the place. It keeps its own stack and looks at each object once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import SerializationError
from .members import settings_for
from .naming import wire_name
from .plan import RecordNode
from .runtime import step

if TYPE_CHECKING:
    from .planner import Planner


def too_deep(value: Any, planner: Planner) -> SerializationError:
    """Return the error for a value whose dump ran out of stack."""
    path = _cycle(value, planner)
    if path is None:
        return SerializationError("the value is nested too deeply")
    return SerializationError("circular reference", "$" + path)


def _cycle(value: Any, planner: Planner) -> str | None:
    finished: set[int] = set()
    # The way down: the objects that are open by id, each with the step that leads to it.
    opened = {id(value): ""}
    stack: list[tuple[Any, Iterator[tuple[str, Any]]]] = [(value, _children(value, planner))]
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
            stack.append((child, _children(child, planner)))
    return None


def _children(value: Any, planner: Planner) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((step(key), item) for key, item in list(value.items()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{i}]", item) for i, item in enumerate(list(value)))
    elif isinstance(node := planner.node(type(value)), RecordNode):
        yield from ((step(member.wire), getattr(value, member.name, None)) for member in node.dumped)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        case = settings_for(type(value), planner.config).case
        for name, item in list(vars(value).items()):
            yield step(wire_name(name, case, type(value))), item
