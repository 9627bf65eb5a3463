"""The settings of a serializer: one frozen value, shared by output, arguments and both schemas.

Rule: a configuration never changes. Derive another one with `config.replace(case=Case.SNAKE)`. Collections given to it
are copied into immutable ones, so that nobody can change them behind a serializer's back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from .naming import Case, CaseStyle

if TYPE_CHECKING:
    from .custom import Custom
    from .markers import Rule


class Visibility(Enum):
    """Which members are seen, by their name: `name`, `_name`, `__name`."""

    PUBLIC = "public"
    PROTECTED = "protected"
    PRIVATE = "private"


class Members(Enum):
    """Which kinds of members a record has: attributes, `@property`."""

    FIELDS = "fields"
    PROPERTIES = "properties"


class Include(Enum):
    """When a member is written.

    `NOT_EMPTY` leaves out `None`, empty text, bytes and containers, and records that write no member (never `0` or
    `False`). `NOT_DEFAULT` leaves out what equals the declared default, or without one the zero value of its type.
    """

    ALWAYS = "always"
    NOT_NONE = "not-none"
    NOT_EMPTY = "not-empty"
    NOT_DEFAULT = "not-default"


@dataclass(frozen=True, slots=True)
class IncludeContext:
    """What an include function is asked about: the member's Python name, its value, and the object it belongs to."""

    name: str
    value: Any
    owner: Any


IncludeRule = Include | Callable[[IncludeContext], bool | None]

VALUE: Final = "value"
NAME: Final = "name"
ISO: Final = "iso"
UNIX: Final = "unix"


@dataclass(frozen=True, slots=True, kw_only=True)
class SerializerConfig:
    """How a serializer names, chooses and writes. The defaults are design §4's.

    `argument_case=None` is the same as `case`. `datetime_format` is `ISO` (RFC 3339), `UNIX` (seconds) or a `strftime`
    pattern. `serializers` maps classes to a `CustomSerializer`, a marshmallow `Field` or a marshmallow `Schema`;
    `rules` maps classes to a `Rule`; both hold for subclasses, the nearest class wins.
    """

    case: CaseStyle = Case.CAMEL
    argument_case: CaseStyle | None = None
    visibility: Collection[Visibility] = frozenset({Visibility.PUBLIC})
    members: Collection[Members] = frozenset({Members.FIELDS})
    include: IncludeRule = Include.ALWAYS
    ignore: Collection[str] = ()
    rules: Mapping[type, Rule] = field(default_factory=dict)
    enum_as: Literal["value", "name"] = "value"
    decimal_as: Literal["text", "number"] = "text"
    datetime_format: str = ISO
    use_utc: bool = False
    non_finite: Literal["error", "null"] = "error"
    big_ints: Literal["exact", "string"] = "exact"
    sort_members: bool = False
    sort_maps: bool = False
    indent: int | None = None
    strict: bool = False
    serializers: Mapping[type, Custom] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"SerializerConfig.{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}"
                )
        if isinstance(self.ignore, str):
            raise TypeError("SerializerConfig.ignore is a collection of names, not one text")
        _check_kinds(self)
        for name, freeze in _FREEZE.items():
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def replace(self, **changes: Any) -> SerializerConfig:
        """Return a configuration like this one with some settings changed."""
        return dataclasses.replace(self, **changes)


def _check_kinds(config: SerializerConfig) -> None:
    for name, kind in _STYLES.items():
        value = getattr(config, name)
        if not (isinstance(value, kind) or callable(value) or (value is None and name == "argument_case")):
            raise TypeError(f"SerializerConfig.{name} must be a {kind.__name__} or a callable, not {value!r}")
    for name, kind in _SETS.items():
        value = getattr(config, name)
        if not all(isinstance(item, kind) for item in value):
            raise TypeError(f"SerializerConfig.{name} must be a set of {kind.__name__}, not {value!r}")
    for name in ("rules", "serializers"):
        value = getattr(config, name)
        if not all(isinstance(cls, type) for cls in dict(value)):
            raise TypeError(f"SerializerConfig.{name} must map classes, not {value!r}")
    if config.indent is not None and (type(config.indent) is not int or config.indent < 0):
        raise ValueError(f"SerializerConfig.indent must be a number of spaces, not {config.indent!r}")


_STYLES: Final[dict[str, type[Enum]]] = {"case": Case, "argument_case": Case, "include": Include}

_SETS: Final[dict[str, type]] = {"visibility": Visibility, "members": Members}

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "enum_as": (VALUE, NAME),
    "decimal_as": ("text", "number"),
    "non_finite": ("error", "null"),
    "big_ints": ("exact", "string"),
}

_FREEZE: Final[dict[str, Callable[[Any], Any]]] = {
    "visibility": frozenset,
    "members": frozenset,
    "ignore": frozenset,
    "rules": lambda rules: MappingProxyType(dict(rules)),
    "serializers": lambda entries: MappingProxyType(dict(entries)),
}
