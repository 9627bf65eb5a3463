"""Which members a record has: Neon's decision order, visibility, rules, include conditions."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any

import pytest

from mcpconnect.errors import DefinitionError, SerializationError
from mcpconnect.serialization import (
    Case,
    Ignore,
    Include,
    IncludeContext,
    IncludeIf,
    Members,
    Name,
    Rule,
    Serializer,
    SerializerConfig,
    Unwrap,
    Visibility,
)


@pytest.mark.fault(38)
def test_only_public_members_are_shown_unless_asked_for() -> None:
    @dataclass
    class Account:
        name: str = "n"
        _cache: int = 1
        __secret: int = 2

    assert Serializer().dump(Account()) == {"name": "n"}
    protected = SerializerConfig(visibility={Visibility.PUBLIC, Visibility.PROTECTED})
    assert Serializer(protected).dump(Account()) == {"name": "n", "cache": 1}
    everything = SerializerConfig(visibility=set(Visibility))
    assert Serializer(everything).dump(Account()) == {"name": "n", "cache": 1, "secret": 2}
    assert Serializer(everything).load(Account, {"name": "m", "cache": 3, "secret": 4}) == Account("m", 3, 4)


class Base:
    """Carries one member for each rule of the decision order."""

    plain: int
    listed: int
    _hidden: int
    _wanted: Annotated[int, IncludeIf()]
    ignored: Annotated[int, Ignore]
    insisted: Annotated[int, Ignore(), IncludeIf(Include.ALWAYS)]
    insisted_listed: Annotated[int, IncludeIf()]
    _asked_yes: Annotated[int, IncludeIf(lambda context: True)]
    asked_no: Annotated[int, IncludeIf(lambda context: False)]
    asked_nothing: Annotated[int, IncludeIf(lambda context: None)]
    _asked_nothing_hidden: Annotated[int, IncludeIf(lambda context: None)]
    ignored_and_asked: Annotated[int, Ignore, IncludeIf(lambda context: True)]
    listed_and_asked: Annotated[int, IncludeIf(lambda context: True)]

    def __init__(self) -> None:
        for i, name in enumerate(Base.__annotations__):
            setattr(self, name, i)

    @property
    def computed(self) -> int:
        return 99

    @property
    def insisted_property(self) -> Annotated[int, IncludeIf()]:
        return 98


def test_the_decision_order_is_neons() -> None:
    config = SerializerConfig(case=Case.UNCHANGED, ignore={"listed", "insisted_listed", "listed_and_asked"})
    shown = Serializer(config).dump(Base())
    assert list(shown) == [
        "plain",
        "wanted",  # IncludeIf(ALWAYS) beats visibility
        "insisted",  # … and Ignore
        "insisted_listed",  # … and ignore lists
        "asked_yes",  # an answer beats visibility
        "asked_nothing",  # no answer: the other rules decide
        "listed_and_asked",  # an answer beats ignore lists
        "insisted_property",  # IncludeIf(ALWAYS) beats the kind
    ]


def test_an_include_function_counts_for_writing_only() -> None:
    properties = Serializer(SerializerConfig(case=Case.UNCHANGED)).json_schema(Base, view="input")["properties"]
    assert "asked_no" in properties
    assert "asked_yes" not in properties


def test_an_include_function_is_asked_for_each_object() -> None:
    seen: list[IncludeContext] = []

    def only_odd(context: IncludeContext) -> bool:
        seen.append(context)
        return context.value % 2 == 1

    @dataclass
    class Number:
        value: Annotated[int, IncludeIf(only_odd)]

    numbers = [Number(1), Number(2)]
    assert Serializer().dump(numbers) == [{"value": 1}, {}]
    assert Serializer().dumps(numbers, list[Number]) == b'[{"value":1},{}]'
    assert (seen[0].name, seen[0].value, seen[0].owner) == ("value", 1, numbers[0])


def test_rules_for_a_class_hold_for_its_subclasses_and_the_nearest_wins() -> None:
    @dataclass
    class Animal:
        animal_name: str
        secret: str

    @dataclass
    class Dog(Animal):
        breed: str

    rules = {Animal: Rule(ignore=["secret"], case=Case.SNAKE), Dog: Rule(case=Case.KEBAB, ignore=["breed"])}
    serializer = Serializer(SerializerConfig(rules=rules))
    assert serializer.dump(Animal("a", "s")) == {"animal_name": "a"}
    assert serializer.dump(Dog("d", "s", "b")) == {"animal-name": "d"}


def test_a_rule_may_change_every_setting_of_a_class() -> None:
    class Light(Enum):
        RED = 1

    @dataclass
    class Lamp:
        zeta: int | None
        _alpha: int
        light: Light

        @property
        def on(self) -> bool:
            return True

    rule = Rule(
        include=Include.NOT_NONE,
        visibility=set(Visibility),
        members={Members.FIELDS, Members.PROPERTIES},
        sort_members=True,
    )
    serializer = Serializer(SerializerConfig(rules={Lamp: rule, Light: Rule(enum_as="name")}))
    assert list(serializer.dump(Lamp(None, 1, Light.RED)).items()) == [("alpha", 1), ("light", "RED"), ("on", True)]


@pytest.mark.fault(40)
def test_a_member_that_is_left_out_is_never_touched() -> None:
    @dataclass
    class Job:
        name: str
        lock: Annotated[threading.Lock, Ignore] = field(default_factory=threading.Lock)

    serializer = Serializer()
    assert serializer.dumps(Job("j"), Job) == b'{"name":"j"}'
    assert serializer.json_schema(Job)["properties"] == {"name": {"type": "string"}}
    assert serializer.load(Job, {"name": "j"}).name == "j"


@pytest.mark.fault(43)
def test_properties_are_written_only_if_configured_and_a_failing_one_is_named() -> None:
    class Point:
        x: int

        def __init__(self, x: int) -> None:
            self.x = x

        @property
        def twice(self) -> int:
            return 2 * self.x

        @property
        def broken(self) -> int:
            raise RuntimeError("postgres://user:password@host")

    assert Serializer().dump(Point(2)) == {"x": 2}
    both = Serializer(SerializerConfig(members={Members.FIELDS, Members.PROPERTIES}, ignore={"broken"}))
    assert both.dump(Point(2)) == {"x": 2, "twice": 4}
    all_of_it = Serializer(SerializerConfig(members={Members.PROPERTIES}))
    for write in (all_of_it.dump, all_of_it.dumps):
        with pytest.raises(SerializationError, match=r"^\$\.broken: the property broken failed with RuntimeError$"):
            write([Point(2)][0])


def test_read_only_properties_are_read_and_dropped_settable_ones_are_set() -> None:
    class Room:
        width: int

        @property
        def area(self) -> int:
            return self.width**2

        @property
        def label(self) -> str:
            return self._label

        @label.setter
        def label(self, text: str) -> None:
            self._label = text

    serializer = Serializer(SerializerConfig(members=set(Members)))
    room = serializer.load(Room, {"width": 3, "area": 9, "label": "hall"})
    assert (room.width, room.area, room.label) == (3, 9, "hall")
    schema = serializer.json_schema(Room, view="input")
    assert schema["properties"]["area"] == {"type": "integer", "readOnly": True}
    assert schema["required"] == ["width"]


@pytest.mark.fault(55)
def test_a_public_and_a_hidden_name_that_meet_are_an_error_naming_both() -> None:
    @dataclass
    class Twice:
        field: int
        _field: int

    serializer = Serializer(SerializerConfig(visibility=set(Visibility)))
    with pytest.raises(DefinitionError, match=r"'field' and '_field' are both called 'field'"):
        serializer.plan(Twice)


@pytest.mark.fault(56)
def test_two_members_with_one_wire_name_are_an_error_when_the_type_is_first_used() -> None:
    @dataclass
    class Clash:
        user_id: int
        userId: int

    serializer = Serializer()
    with pytest.raises(DefinitionError, match=r"'user_id' and 'userId' are both called 'userId'"):
        serializer.plan(list[Clash])
    for write in (serializer.dump, serializer.dumps):
        with pytest.raises(SerializationError, match="both called 'userId'"):
            write(Clash(1, 2))


@pytest.mark.fault(58)
@pytest.mark.fault(128)
def test_an_explicit_name_is_exact_in_values_schema_and_loading() -> None:
    @dataclass
    class City:
        city: Annotated[str, Name("city_NAME")]
        zip_code: int

    serializer = Serializer()
    assert serializer.dump(City("Rome", 1)) == {"city_NAME": "Rome", "zipCode": 1}
    assert serializer.load(City, {"city_NAME": "Rome", "zipCode": 1}) == City("Rome", 1)
    for view in ("input", "output"):
        schema = serializer.json_schema(City, view=view)
        assert list(schema["properties"]) == ["city_NAME", "zipCode"] == schema["required"]


def test_unwrapped_members_are_merged_into_the_parent_both_ways() -> None:
    @dataclass
    class Address:
        street: str
        zip: int

    @dataclass
    class Plain:
        name: str
        address: Annotated[Address, Unwrap()]

    @dataclass
    class Person:
        name: str
        address: Annotated[Address, Unwrap]
        work: Annotated[Address | None, Unwrap] = None

    serializer = Serializer()
    person = Plain("n", Address("s", 1))
    flat = {"name": "n", "street": "s", "zip": 1}
    assert serializer.dump(person) == flat
    assert serializer.loads(Plain, serializer.dumps(person)) == person
    schema = serializer.json_schema(Plain, view="input")
    assert list(schema["properties"]) == ["name", "street", "zip"] == schema["required"]
    with pytest.raises(DefinitionError, match=r"both called 'street'"):
        serializer.plan(Person)


def test_an_unwrapped_member_that_may_be_missing() -> None:
    @dataclass
    class Address:
        street: str
        zip: int

    @dataclass
    class Person:
        name: str
        address: Annotated[Address | None, Unwrap]

    serializer = Serializer()
    assert serializer.dump(Person("n", None)) == {"name": "n"}
    assert serializer.load(Person, {"name": "n"}) == Person("n", None)
    assert serializer.load(Person, {"name": "n", "street": "s", "zip": 1}) == Person("n", Address("s", 1))
    with pytest.raises(Exception, match=r"^zip: missing; expected an integer$"):
        serializer.load(Person, {"name": "n", "street": "s"})


def test_a_key_that_an_unwrapped_value_brings_twice_is_an_error() -> None:
    @dataclass
    class Address:
        street: str

    @dataclass
    class Named(Address):
        name: str

    @dataclass
    class Person:
        name: str
        address: Annotated[Address, Unwrap]

    for write in (Serializer().dump, Serializer().dumps):
        with pytest.raises(SerializationError, match=r"^\$\.address: the key 'name' appears twice$"):
            write(Person("n", Named("s", "m")))


def test_members_may_be_sorted() -> None:
    @dataclass
    class Pair:
        b: int
        a: int

    assert list(Serializer(SerializerConfig(sort_members=True)).dump(Pair(1, 2))) == ["a", "b"]


# -- include conditions: Neon's table 2.E, with NOT_DEFAULT meaning "equals the default, else the zero of the type" ----


class Size(Enum):
    SMALL = 0
    BIG = 1


@dataclass
class Inner:
    a: int | None = None


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ALWAYS, NOT_NONE, NOT_EMPTY, NOT_DEFAULT = list(Include)
#   type, value, the rules under which it is written
CONDITIONS: list[tuple[Any, Any, set[Include]]] = [
    (str, "", {ALWAYS, NOT_NONE}),
    (str, "x", set(Include)),
    (int, 0, {ALWAYS, NOT_NONE, NOT_EMPTY}),
    (float, 0.0, {ALWAYS, NOT_NONE, NOT_EMPTY}),
    (int, 1, set(Include)),
    (bool, False, {ALWAYS, NOT_NONE, NOT_EMPTY}),
    (bool, True, set(Include)),
    (Size, Size.SMALL, set(Include)),
    (datetime, EPOCH, set(Include)),
    (int | None, None, {ALWAYS}),
    (int | None, 0, {ALWAYS, NOT_NONE, NOT_EMPTY, NOT_DEFAULT}),
    (Inner | None, None, {ALWAYS}),
    (list[int], [], {ALWAYS, NOT_NONE}),
    (list[int], [0], set(Include)),
    (set[int], set(), {ALWAYS, NOT_NONE}),
    (dict[str, int], {}, {ALWAYS, NOT_NONE}),
    (tuple[int, ...], (), {ALWAYS, NOT_NONE}),
    (bytes, b"", {ALWAYS, NOT_NONE}),
    (Any, None, {ALWAYS}),
    (Any, "", {ALWAYS, NOT_NONE, NOT_DEFAULT}),
    (Any, 0, set(Include)),
]


@pytest.mark.fault(16)
@pytest.mark.parametrize(("annotation", "value", "written"), CONDITIONS)
@pytest.mark.parametrize("rule", list(Include))
def test_include_conditions(annotation: Any, value: Any, written: set[Include], rule: Include) -> None:
    Holder = make_dataclass("Holder", [("member", annotation)])
    for config in (SerializerConfig(include=rule), SerializerConfig(rules={Holder: Rule(include=rule)})):
        serializer = Serializer(config)
        assert ("member" in serializer.dump(Holder(value))) == (rule in written)
        assert serializer.loads(Any, serializer.dumps(Holder(value), Holder)) == serializer.dump(Holder(value))


def test_a_record_that_writes_no_member_is_empty() -> None:
    @dataclass
    class Outer:
        inner: Inner
        always: Annotated[Inner, IncludeIf(Include.ALWAYS)]

    serializer = Serializer(SerializerConfig(include=Include.NOT_EMPTY))
    assert serializer.dump(Outer(Inner(), Inner())) == {"always": {}}
    assert serializer.dumps(Outer(Inner(), Inner()), Outer) == b'{"always":{}}'
    assert serializer.dump(Outer(Inner(1), Inner())) == {"inner": {"a": 1}, "always": {}}


def test_not_default_compares_with_the_declared_default_of_any_type() -> None:
    @dataclass
    class Options:
        flag: bool = True
        size: Size = Size.BIG
        tags: list[str] = field(default_factory=lambda: ["x"])
        limit: int | None = 5
        one: float = 1.0

    serializer = Serializer(SerializerConfig(include=Include.NOT_DEFAULT))
    assert serializer.dump(Options()) == {}
    changed = Options(False, Size.SMALL, [], None, 1)
    assert serializer.dump(changed) == {"flag": False, "size": 0, "tags": [], "limit": None, "one": 1}
    assert serializer.load(Options, serializer.dump(changed)) == changed


@pytest.mark.parametrize("rule", [Include.NOT_NONE, Include.NOT_EMPTY, Include.NOT_DEFAULT])
def test_what_a_condition_left_out_comes_back(rule: Include) -> None:
    @dataclass
    class Row:
        name: str
        tags: list[str]
        parent: int | None
        extra: dict[str, int]

    serializer = Serializer(SerializerConfig(include=rule))
    for row in (Row("", [], None, {}), Row("n", ["t"], 0, {"a": 1})):
        assert serializer.load(Row, serializer.dump(row)) == row


def test_a_condition_of_the_member_beats_that_of_the_configuration() -> None:
    @dataclass
    class Row:
        a: Annotated[int | None, IncludeIf(Include.NOT_NONE)] = None
        b: int | None = None

    assert Serializer().dump(Row()) == {"b": None}
    assert Serializer(SerializerConfig(include=Include.NOT_NONE)).dump(Row()) == {}


def test_a_configuration_may_ask_a_function() -> None:
    @dataclass
    class Row:
        a: int
        b: int

    def no_zero(context: IncludeContext) -> bool | None:
        return None if context.value else False

    include: Callable[[IncludeContext], bool | None] = no_zero
    assert Serializer(SerializerConfig(include=include)).dump(Row(0, 1)) == {"b": 1}
