"""Which attributes of a class become members of the wire form, and under which name.

Rule, in this order (Neon's): `IncludeIf(ALWAYS)` beats everything; `Ignore` leaves out; an include function that
answers decides (writing only); then ignore lists, kind (field or property), visibility. A rule for a class holds for
its subclasses, the nearest class wins. Two members with the same name on the wire are a definition error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from .._typing import MISSING
from ..errors import DefinitionError
from .config import Include, IncludeContext, IncludeRule, Members, SerializerConfig, Visibility
from .markers import EnumNames, Rule
from .member import Member
from .naming import CaseStyle, wire_name
from .notes import Notes
from .plan import ListNode, MapNode, Node, ScalarNode, bare, is_nullable, unwrapped_record
from .records import Attribute


@dataclass(frozen=True, slots=True)
class ClassSettings:
    """The configuration as it holds for one class."""

    case: CaseStyle
    visibility: frozenset[Visibility]
    members: frozenset[Members]
    include: IncludeRule
    ignore: frozenset[str]
    sort_members: bool
    enum_as: str
    enum_names: EnumNames | None


def settings_for(cls: type, config: SerializerConfig) -> ClassSettings:
    """Return the configuration with the rules for the class and its bases laid over it."""
    rules = [config.rules[base] for base in cls.__mro__ if base in config.rules]

    def nearest(name: str, otherwise: Any) -> Any:
        return next((value for rule in rules if (value := getattr(rule, name)) is not None), otherwise)

    return ClassSettings(
        case=nearest("case", config.case),
        visibility=frozenset(nearest("visibility", config.visibility)),
        members=frozenset(nearest("members", config.members)),
        include=nearest("include", config.include),
        ignore=frozenset(config.ignore).union(*(rule.ignore for rule in rules)),
        sort_members=nearest("sort_members", config.sort_members),
        enum_as=nearest("enum_as", config.enum_as),
        enum_names=nearest("enum_names", None),
    )


def nearest_rule_use(cls: type, rules: Mapping[type, Rule]) -> Any:
    """Return the serializer that the nearest rule names for the class, or `None`."""
    return next((rules[base].use for base in cls.__mro__ if base in rules and rules[base].use is not None), None)


def make_member(
    attribute: Attribute, cls: type, notes: Notes, settings: ClassSettings, plan: Callable[[Any], Node]
) -> Member | None:
    """Return the member that the attribute becomes, or `None` if it is neither written nor read.

    The type of an attribute that is left out is not even looked at: a lock may stand beside the data.
    """
    marker = notes.include
    visible = _is_visible(attribute, cls, notes, settings)
    if not visible and (notes.ignore or not callable(marker)):
        return None
    member = Member(
        name=attribute.name,
        wire=notes.name or wire_name(attribute.name, settings.case, cls),
        annotation=attribute.annotation,
        node=plan(attribute.annotation),
        default=attribute.default if attribute.default is not MISSING else notes.default,
        factory=attribute.factory,
        notes=notes,
        include=settings.include if marker is None else marker,
        dumped=not attribute.input_only,
        loaded=visible,
        optional=attribute.optional,
        argument=attribute.argument,
        settable=attribute.settable,
        is_property=attribute.is_property,
    )
    if callable(marker):
        member.include = _ask_first(marker, settings.include if visible else None, member)
    _restore_what_was_left_out(member)
    return member


def hidden_argument(attributes: Iterable[Attribute], loaded: Iterable[Member], cls: type) -> str | None:
    """Return why no object can be made because a member that the constructor needs is not visible, or `None`."""
    visible = {member.argument for member in loaded}
    for attribute in attributes:
        needed = attribute.default is MISSING and attribute.factory is None and not attribute.optional
        if needed and attribute.argument is not None and attribute.argument not in visible:
            return f"the constructor of {cls.__name__} needs {attribute.name}, which is not a visible member"
    return None


def _is_visible(attribute: Attribute, cls: type, notes: Notes, settings: ClassSettings) -> bool:
    if notes.include is Include.ALWAYS:
        return True
    if notes.ignore or attribute.name in settings.ignore:
        return False
    kind = Members.PROPERTIES if attribute.is_property else Members.FIELDS
    return kind in settings.members and visibility_of(attribute.name, cls) in settings.visibility


def visibility_of(name: str, cls: type) -> Visibility:
    """Return how visible a name is; private names carry the prefix of the class that declares them."""
    if not name.startswith("_") or (name.startswith("__") and name.endswith("__")):
        return Visibility.PUBLIC
    private = name.startswith("__") or any(name.startswith(f"_{c.__name__.lstrip('_')}__") for c in cls.__mro__)
    return Visibility.PRIVATE if private else Visibility.PROTECTED


def _ask_first(
    marker: Callable[[IncludeContext], bool | None], otherwise: IncludeRule | None, member: Member
) -> Callable[[IncludeContext], bool]:
    def decide(context: IncludeContext) -> bool:
        answer = marker(context)
        if answer is not None:
            return bool(answer)
        return otherwise is not None and is_included(otherwise, context, member)

    return decide


def is_included(rule: IncludeRule, context: IncludeContext, member: Member) -> bool:
    """Whether a member with this value is written under the rule."""
    if callable(rule):
        return rule(context) is not False
    value = context.value
    match rule:
        case Include.ALWAYS:
            return True
        case Include.NOT_NONE:
            return value is not None
        case Include.NOT_EMPTY:
            return not is_empty(value)
        case Include.NOT_DEFAULT:
            default = default_value(member)
            return not (type(value) is type(default) and bool(value == default))


def is_empty(value: Any) -> bool:
    """Whether the value says nothing: `None`, or text, bytes or a container of length 0; never a number."""
    if value is None:
        return True
    return isinstance(value, _SIZED) and not len(value)


_SIZED: Final = (str, bytes, bytearray, list, tuple, set, frozenset, dict, Mapping, Sequence)


def default_value(member: Member) -> Any:
    """Return what the member is when nobody sets it: the declared default, else the zero value of its type."""
    if member.factory is not None:
        return member.factory()
    return zero_value(member.node) if member.default is MISSING else member.default


def _restore_what_was_left_out(member: Member) -> None:
    """Give a member that may be left out when written the value that stands for its absence when read."""
    if not member.required or member.include is Include.ALWAYS or callable(member.include):
        return
    zero = zero_value(member.node)
    restorable = {
        Include.NOT_NONE: zero is None,
        Include.NOT_EMPTY: zero is not MISSING and is_empty(zero),
        Include.NOT_DEFAULT: zero is not MISSING,
    }
    if restorable[member.include]:
        member.factory = lambda: zero_value(member.node)
        member.restored = True


def zero_value(node: Node) -> Any:
    """Return the zero value of a type: `None` where allowed, 0, empty text, an empty container; else `MISSING`."""
    if is_nullable(node):
        return None
    inner = bare(node)
    if isinstance(inner, ScalarNode) and inner.kind in _ZERO:
        return inner.cls(_ZERO[inner.kind])
    if isinstance(inner, (ListNode, MapNode)) and isinstance(inner.cls(), (list, tuple, set, frozenset, dict)):
        return inner.cls()
    return MISSING


_ZERO: Final[dict[str, Any]] = {"bool": False, "int": 0, "float": 0.0, "str": "", "bytes": b"", "decimal": Decimal(0)}


def check_names(members: Iterable[Member], place: str) -> None:
    """Refuse two members with the same name on the wire.

    Raises:
        DefinitionError: naming both.
    """
    taken: dict[str, str] = {}
    for member in members:
        for wire in _written_names(member):
            if wire in taken:
                raise DefinitionError(
                    f"{place}: {taken[wire]!r} and {member.name!r} are both called {wire!r} on the wire; "
                    f"give one of them another name with Name(…)"
                )
            taken[wire] = member.name


def _written_names(member: Member) -> list[str]:
    record = unwrapped_record(member)
    return [member.wire] if record is None else [wire for below in record.members for wire in _written_names(below)]
