"""From loaded parts to the object: how each kind of record and container is made.

Rule: members that are constructor arguments go through the constructor; others are set afterwards if they can be, and
dropped if they are read-only. A member that was not given is not passed, so the class's own default holds; only a
`restored` one is put in, because its class or function does not know what its absence stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .plan import ListNode, MapNode, RecordNode


class Doubt(Exception):  # noqa: N818 - no failure: the other loader is asked
    """The data needs a closer look."""


def construct(node: RecordNode, given: Mapping[str, Any]) -> Any:
    """Return the object with the members `given` by Python name.

    Raises:
        ValueError, TypeError: whatever the constructor raises.
    """
    if node.kind in ("typeddict", "arguments"):
        return {**{m.name: m.absent() for m in node.loaded if m.restored and m.name not in given}, **given}
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


# -- containers -----------------------------------------------------------------------------------------------------

_ITERATORS: Final = "Iterator"


def checked_list_maker(node: ListNode) -> Callable[[list[Any]], Any]:
    """Return the same, in doubt where items of a set turn out equal."""
    cls = node.cls
    if not node.unique:
        return list_maker(node)

    def make(items: list[Any]) -> Any:
        made = cls(items)
        if len(made) != len(items):
            raise Doubt
        return made

    return make


def list_maker(node: ListNode) -> Callable[[list[Any]], Any]:
    """Return the function that makes the declared class of a list of loaded items."""
    return iter if node.cls.__name__ == _ITERATORS else node.cls


def map_maker(node: MapNode) -> Callable[[dict[Any, Any]], Any]:
    """Return the function that makes the declared mapping of a dictionary of loaded items."""
    cls = node.cls
    if cls is dict:
        return lambda items: items

    def make(items: dict[Any, Any]) -> Any:
        made = cls()
        made.update(items)
        return made

    return make
