"""What may stand in `Annotated[…]` beside a type, one small frozen class each.

Rule: a marker holds what was said and does nothing; `notes.py` reads it, the planner obeys it. `Ignore`, `Unwrap` and
`Raw` may be written with or without parentheses. Where the same marker stands on an alias and on the member, the
member's own wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from .config import Include, IncludeContext, Members, Visibility
from .naming import CaseStyle

if TYPE_CHECKING:
    from .custom import Custom

OMIT: Final = msgspec.UNSET
"""Returned by a custom serializer's `dump`: leave this member, item or entry out."""

E = TypeVar("E", bound=type)


@dataclass(frozen=True, slots=True)
class Param:
    """Describes a parameter or member to the model: `Annotated[int, Param(title="Ticket", examples=[1])]`.

    `name` is the exact name on the wire. `header` names the HTTP header that mirrors a tool's argument.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    examples: Sequence[Any] = ()
    header: str | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """The exact name on the wire, both ways; no case style is applied on top."""

    wire: str


@dataclass(frozen=True, slots=True)
class Ignore:
    """Never written nor read, unless `IncludeIf(Include.ALWAYS)` stands beside it."""


@dataclass(frozen=True, slots=True)
class IncludeIf:
    """When this member is written.

    `ALWAYS` (the default) beats `Ignore`, visibility, kind and ignore lists. A callable takes an `IncludeContext` and
    returns `True` (written, whatever the lists say), `False` (left out) or `None` (no answer: the other rules decide).
    """

    when: Include | Callable[[IncludeContext], bool | None] = Include.ALWAYS


@dataclass(frozen=True, slots=True)
class Format:
    """The wire form of one member.

    `bytes`: `base64`, `base64url`, `hex`, `native` (a list of numbers); `datetime`: `iso`, `unix` or a `strftime`
    pattern; `date` and `time`: `iso` or a pattern; `timedelta`: `iso`, `seconds`; `Decimal`: `text`, `number`;
    `Enum`: `value`, `name`.
    """

    form: str


@dataclass(frozen=True, slots=True)
class Use:
    """The serializer of one member: a `CustomSerializer`, a marshmallow `Field` or `Schema`."""

    serializer: Custom


class EnumNames:
    """Names of an enum's members on the wire, in their order or by member name.

    In `Annotated` it holds for that member, as a class decorator for the enum everywhere:

        @EnumNames("red", "green")
        class Light(Enum): STOP = 1; GO = 2
    """

    __slots__ = ("names",)

    def __init__(self, *names: str | Mapping[str, str]) -> None:
        self.names = names

    def __call__(self, enum: E) -> E:
        """Attach the names to the class."""
        setattr(enum, ENUM_NAMES, self)
        return enum

    def by_member(self, members: Sequence[str]) -> dict[str, str]:
        """Return wire names by member name; members without one keep their own name.

        Raises:
            ValueError: more names than members, a name for no member, or the same name twice.
        """
        given: dict[str, str] = {}
        positional = [name for name in self.names if isinstance(name, str)]
        if len(positional) > len(members):
            raise ValueError(f"EnumNames has {len(positional)} names for {len(members)} members")
        given.update(zip(members, positional, strict=False))
        for mapping in self.names:
            if isinstance(mapping, Mapping):
                given.update(mapping)
        if unknown := [name for name in given if name not in members]:
            raise ValueError(f"EnumNames names no member {', '.join(unknown)}")
        names = {member: given.get(member, member) for member in members}
        if len(set(names.values())) != len(names):
            raise ValueError("EnumNames gives two members the same name")
        return names


ENUM_NAMES: Final = "__enum_wire_names__"


@dataclass(frozen=True, slots=True)
class Unwrap:
    """The member's own members are written into the parent and read from it; a key that appears twice is an error."""


@dataclass(frozen=True, slots=True)
class Raw:
    """The member (`bytes` or `str`) holds ready JSON text, which is written as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What holds for one type and its subclasses, in `SerializerConfig(rules={Type: Rule(…)})`.

    What is `None` follows the configuration; `ignore` (Python names) adds to what the bases ignore.
    """

    case: CaseStyle | None = None
    visibility: frozenset[Visibility] | set[Visibility] | None = None
    members: frozenset[Members] | set[Members] | None = None
    include: Include | Callable[[IncludeContext], bool | None] | None = None
    ignore: Sequence[str] = ()
    sort_members: bool | None = None
    enum_as: str | None = None
    enum_names: EnumNames | None = None
    use: Custom | None = None
