"""Random types with strategies for their values: what the laws of the serializer are tested on."""

import dataclasses
import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

import attrs
from hypothesis import strategies as st
from marshmallow import validate


class Colour(Enum):
    RED = "r"
    GREEN = "g"


class Level(IntEnum):
    LOW = 1
    HIGH = 3


class Unit(StrEnum):
    METRE = "m"
    FOOT = "ft"


class Rights(Flag):
    READ = 1
    WRITE = 2
    OWN = 8


@dataclass(frozen=True)
class Case:
    """A type and the strategy of its values. `json` is the JSON type, by which members of a union are told apart."""

    annotation: Any
    values: st.SearchStrategy[Any]
    json: str
    hashable: bool = False
    key: bool = False


zones = st.builds(timezone, st.integers(-23 * 60, 23 * 60).map(lambda m: timedelta(minutes=m)))
moments = st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31), timezones=st.just(UTC) | zones)
times = st.times() | st.builds(lambda t, z: t.replace(tzinfo=z), st.times(), zones)
texts = st.text(st.characters(codec="utf-8"), max_size=8)

SCALARS = [
    Case(bool, st.booleans(), "bool", hashable=True, key=True),
    Case(int, st.integers(-(10**20), 10**20), "number", hashable=True, key=True),
    Case(float, st.floats(allow_nan=False, allow_infinity=False), "number", hashable=True),
    Case(Decimal, st.decimals(allow_nan=False, allow_infinity=False), "text", hashable=True),
    Case(str, texts, "text", hashable=True, key=True),
    Case(bytes, st.binary(max_size=9), "text", hashable=True),
    Case(datetime, moments, "text", hashable=True),
    Case(date, st.dates(), "text", hashable=True, key=True),
    Case(time, times, "text", hashable=True),
    Case(timedelta, st.timedeltas(), "text", hashable=True),
    Case(UUID, st.uuids(), "text", hashable=True, key=True),
    Case(PurePosixPath, texts.map(PurePosixPath), "text", hashable=True),
    Case(Colour, st.sampled_from(Colour), "text", hashable=True, key=True),
    Case(Level, st.sampled_from(Level), "number", hashable=True, key=True),
    Case(Unit, st.sampled_from(Unit), "text", hashable=True, key=True),
    Case(Rights, st.sampled_from([Rights(0), Rights.READ, Rights.READ | Rights.OWN]), "number", hashable=True),
    Case(Literal["a", "b"], st.sampled_from(["a", "b"]), "text", hashable=True, key=True),
    Case(Literal[1, 2], st.sampled_from([1, 2]), "number", hashable=True),
    Case(Literal[True], st.just(True), "bool", hashable=True),
    Case(Annotated[int, validate.Range(min=0, max=9)], st.integers(0, 9), "number", hashable=True),
    Case(Annotated[float, validate.Range(min=0, min_inclusive=False)], st.floats(0.5, 9), "number", hashable=True),
    Case(Annotated[str, validate.Length(min=1, max=3)], texts.filter(lambda t: 0 < len(t) < 4), "text", hashable=True),
    Case(Annotated[str, validate.Regexp("[a-c]+")], st.text("abc", min_size=1, max_size=4), "text", hashable=True),
    Case(Annotated[str, validate.OneOf(["x", "y"])], st.sampled_from(["x", "y"]), "text", hashable=True),
]

names = st.sampled_from(["user_id", "name", "first_name", "x1", "class_", "address_line", "HTTPCode", "value", "zip"])
_counter = itertools.count()


def cases() -> st.SearchStrategy[Case]:
    """Return the strategy of types, nested a few levels deep."""
    return st.recursive(st.sampled_from(SCALARS), lambda inner: _containers(inner) | _records(inner), max_leaves=6)


@st.composite
def _containers(draw: Any, inner: st.SearchStrategy[Case]) -> Case:
    item = draw(inner)
    kind = draw(st.sampled_from(["list", "sequence", "tuple", "pair", "deque", "set", "dict", "optional", "union"]))
    lists = st.lists(item.values, max_size=3)
    match kind:
        case "list":
            return Case(list[item.annotation], lists, "list")
        case "sequence":
            return Case(Sequence[item.annotation], lists, "list")
        case "deque":
            return Case(deque[item.annotation], lists.map(deque), "list")
        case "tuple":
            return Case(tuple[item.annotation, ...], lists.map(tuple), "list")
        case "pair":
            other = draw(inner)
            return Case(tuple[item.annotation, other.annotation], st.tuples(item.values, other.values), "list")
        case "set":
            member = draw(st.sampled_from([case for case in SCALARS if case.hashable]))
            return Case(set[member.annotation], st.sets(member.values, max_size=3), "list")
        case "dict":
            key = draw(st.sampled_from([case for case in SCALARS if case.key]))
            return Case(
                dict[key.annotation, item.annotation], st.dictionaries(key.values, item.values, max_size=3), "object"
            )
        case "optional":
            return Case(item.annotation | None, st.none() | item.values, item.json)
    other = draw(inner.filter(lambda case: case.json != item.json))
    return Case(item.annotation | other.annotation, item.values | other.values, f"{item.json}|{other.json}")


@st.composite
def _records(draw: Any, inner: st.SearchStrategy[Case]) -> Case:
    fields = draw(st.dictionaries(names, inner, min_size=1, max_size=3))
    build = draw(st.sampled_from([_dataclass, _slotted, _attrs, _named_tuple, _typed_dict, _plain]))
    return build(draw, fields)


def _class_name() -> str:
    return f"Record{next(_counter)}"


def _dataclass(draw: Any, fields: Mapping[str, Case], **options: Any) -> Case:
    declared: list[Any] = []
    for name, case in fields.items():
        default = draw(st.none() | case.values) if draw(st.booleans()) else None
        if default is None or False:
            declared.append((name, case.annotation))
        else:
            declared.append((name, case.annotation, dataclasses.field(default_factory=lambda value=default: value)))
    declared.sort(key=lambda part: len(part))
    cls = dataclasses.make_dataclass(_class_name(), declared, **options)
    return _record(cls, fields)


def _slotted(draw: Any, fields: Mapping[str, Case]) -> Case:
    return _dataclass(draw, fields, slots=True, frozen=True)


def _attrs(draw: Any, fields: Mapping[str, Case]) -> Case:
    cls = attrs.make_class(_class_name(), {name: attrs.field(type=case.annotation) for name, case in fields.items()})
    return _record(cls, fields)


def _named_tuple(draw: Any, fields: Mapping[str, Case]) -> Case:
    cls = NamedTuple(_class_name(), [(name, case.annotation) for name, case in fields.items()])
    return _record(cls, fields)


def _typed_dict(draw: Any, fields: Mapping[str, Case]) -> Case:
    optional = {name for name in fields if draw(st.booleans())}
    hints = {n: NotRequired[c.annotation] if n in optional else c.annotation for n, c in fields.items()}
    cls = TypedDict(_class_name(), hints)
    required = {name: case.values for name, case in fields.items() if name not in optional}
    values = st.fixed_dictionaries(required, optional={name: fields[name].values for name in optional})
    return Case(cls, values, "object")


def _plain(draw: Any, fields: Mapping[str, Case]) -> Case:
    body = {
        "__annotations__": {name: case.annotation for name, case in fields.items()},
        "__eq__": lambda self, other: type(self) is type(other) and vars(self) == vars(other),
        "__repr__": lambda self: f"{type(self).__name__}({vars(self)})",
    }
    cls = type(_class_name(), (), body)

    def make(**values: Any) -> Any:
        made = cls()
        vars(made).update(values)
        return made

    return Case(cls, st.builds(make, **{name: case.values for name, case in fields.items()}), "object")


def _record(cls: type, fields: Mapping[str, Case]) -> Case:
    return Case(cls, st.builds(cls, **{name: case.values for name, case in fields.items()}), "object")


# -- JSON data that is nearly right -----------------------------------------------------------------------------------

ATOMS = [
    None, True, False, 0, 1, 3, -1, 1.0, 1.5, 1e300, 2**70, "", "1", "0", "007", "1.50", "1e2", "true", "False", " 1",
    "a", "b", "r", "m", "x", "abc", "abcd", "QQ==", "QQ", "data:text/plain;base64,QQ==", "null", "[1]", '{"a":1}',
    "2026-01-01", "2026-02-30", "2026-01-01T00:00:00Z", "2026-01-01t00:00:00.5+02:00", "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:00", "2026-01-01T24:00:00Z", "1998-12-31T23:59:60Z", "12:00", "12:00:00", "12:00:00Z", "24:00",
    "P1D", "PT0.5S", "-P1W", "P", "PT", "P1Y", "00000000-0000-0000-0000-000000000001",
    "00000000000000000000000000000001", "/a/b", [], [1], [1, 1], [1, 1.0], [True, 1], {}, {"a": 1}, {"1": 1},
]  # fmt: skip

atoms = st.sampled_from(ATOMS)


@st.composite
def nearly(draw: Any, valid: Any) -> Any:
    """Change a valid JSON value in at most two places."""
    for _ in range(draw(st.integers(0, 2))):
        valid = _changed(draw, valid)
    return valid


def _changed(draw: Any, value: Any) -> Any:
    if isinstance(value, list) and value and draw(st.booleans()):
        i = draw(st.integers(0, len(value) - 1))
        if draw(st.booleans()):
            return [*value[:i], _changed(draw, value[i]), *value[i + 1 :]]
        return draw(st.sampled_from([value[:i] + value[i + 1 :], [*value, value[i]]]))
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        match draw(st.sampled_from(["change", "drop", "add", "rename"])):
            case "drop":
                return {k: v for k, v in value.items() if k != key}
            case "add":
                return {**value, draw(st.sampled_from(["zz", "1", "true", key.upper(), ""])): draw(atoms)}
            case "rename":
                return {draw(texts) if k == key else k: v for k, v in value.items()}
        return {k: _changed(draw, v) if k == key else v for k, v in value.items()}
    return draw(atoms)
