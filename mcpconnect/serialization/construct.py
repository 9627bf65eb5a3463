"""From loaded members to the object: how each kind of record is made.

Rule: members that are constructor arguments go through the constructor; others are set afterwards if they can be, and
dropped if they are read-only. A member that was not given is not passed, so the class's own default holds; only where
an include rule may have left it out is its zero value put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .plan import RecordNode


def construct(node: RecordNode, given: Mapping[str, Any]) -> Any:
    """Return the object with the members `given` by Python name.

    Raises:
        ValueError, TypeError: whatever the constructor raises.
    """
    if node.kind in ("typeddict", "arguments"):
        return dict(given)
    arguments = {}
    rest = []
    for member in node.loaded:
        if member.name in given:
            value = given[member.name]
        elif member.restored:
            value = member.absent()
        else:
            continue
        if member.argument is not None:
            arguments[member.argument] = value
        elif member.settable:
            rest.append((member.name, value))
    made = node.cls(**arguments)
    for name, value in rest:
        _set(made, name, value)
    return made


def _set(owner: Any, name: str, value: Any) -> None:
    try:
        setattr(owner, name, value)
    except AttributeError:  # a frozen object; its own constructor could not take the value
        object.__setattr__(owner, name, value)
