"""What generated dump functions call: include conditions, unwrapping, and the errors of records and maps.

Rule: everything here is reached by name from generated source; a function that says no raises `SerializationError`
with the step of the path that it knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import SerializationError
from .config import Include, IncludeContext
from .member import Member
from .members import default_value, is_empty, is_included

_WORD: Final = re.compile(r"[^\W\d][\w-]*")


def step(key: Any) -> str:
    """Return the step of a path that leads to a member or key."""
    return f".{key}" if isinstance(key, str) and _WORD.fullmatch(key) else f"[{key!r}]"


def exclusion(member: Member) -> Callable[[Any, Any], bool]:
    """Return the function that says of a value (and its owner) whether the member is left out."""
    if member.include is Include.NOT_EMPTY:
        return lambda value, _: is_empty(value)
    if member.include is Include.NOT_DEFAULT and member.factory is None:
        default = default_value(member)
        return lambda value, _: type(value) is type(default) and bool(value == default)
    return lambda value, owner: not is_included(member.include, IncludeContext(member.name, value, owner), member)


def drop_empty(output: Any) -> Any:
    """Leave a record out that wrote no member."""
    if isinstance(output, msgspec.Struct):
        names = type(output).__struct_fields__
        return UNSET if all(getattr(output, name) is UNSET for name in names) else output
    return UNSET if is_empty(output) else output


def merge(out: dict[str, Any], pairs: Any, at: str) -> None:
    """Add an unwrapped member's pairs to those of its parent."""
    if pairs is None:
        return
    if not isinstance(pairs, dict):
        raise SerializationError("an unwrapped member must be an object", "$" + at)
    for key, value in pairs.items():
        if key in out:
            raise SerializationError(f"the key {key!r} appears twice", "$" + at)
        out[key] = value


def clash(mapping: Mapping[Any, Any], key: Callable[[Any], str]) -> SerializationError:
    """Return the error for a dictionary two keys of which have the same text."""
    seen: dict[str, Any] = {}
    for original in mapping:
        text = key(original)
        if text in seen:
            return SerializationError(f"the keys {seen[text]!r} and {original!r} are both written as {text!r}")
        seen[text] = original
    return SerializationError("two keys have the same text")


def unreadable(value: Any, members: tuple[Member, ...]) -> SerializationError:
    """Return the error for the first member that cannot be read."""
    for member in members:
        try:
            value[member.name] if isinstance(value, dict) else getattr(value, member.name)
        except Exception as error:
            if isinstance(value, dict) and member.optional:
                continue
            failed = f"the property {member.name} failed with {type(error).__name__}"
            reason = failed if member.is_property else f"{member.name} has no value"
            return SerializationError(reason, "$" + step(member.wire))
    return SerializationError(f"{type(value).__name__} cannot be read")
