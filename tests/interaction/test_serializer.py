"""The serializer behind a server: which members are shown, whose form wins, and what comes back in as it went out."""

import base64
import io
import json
import threading
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, ClassVar, Generic, TypeVar
from uuid import UUID

import jsonschema_rs
import marshmallow
import pytest
from PIL import Image

from mcpconnect import Case, CustomSerializer, Include, SerializerConfig, Tool, Visibility, tool
from mcpconnect.serialization import Ignore, IncludeIf, Members, Rule, Use
from tests.interaction.seen import UNSAID, seen
from tests.wire import NEWEST, REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)
T = TypeVar("T")


def settings(**changes: Any) -> dict[str, Any]:
    return {"serializer": SerializerConfig(**changes)}


# -- members ----------------------------------------------------------------------------------------------------------


@pytest.mark.fault(36)
@every_revision
async def test_slotted_records_show_their_members(revision: str) -> None:
    @dataclass(slots=True)
    class Point:
        x: int
        y: int

    class Slotted:
        __slots__ = ("x", "y")
        x: int
        y: int

        def __init__(self, x: int, y: int) -> None:
            self.x = x
            self.y = y

    @dataclass(slots=True)
    class Point3(Point):
        z: int = 0

    for value, more in ((Point(1, 2), {}), (Slotted(1, 2), {}), (Point3(1, 2, 3), {"z": 3})):
        for annotation in (type(value), UNSAID):
            assert (await seen(value, annotation, revision=revision)).data == {"x": 1, "y": 2, **more}


@pytest.mark.fault(37)
@every_revision
async def test_helpers_of_a_class_are_no_members(revision: str) -> None:
    @dataclass
    class Seeded:
        shown: int
        seed: InitVar[int]
        K: ClassVar[int] = 1
        later: int = field(default=0, init=False)

        def __post_init__(self, seed: int) -> None:
            self.tmp = seed
            self.later = seed * 2

        @property
        def twice(self) -> int:
            return 2 * self.shown

    for annotation in (Seeded, UNSAID):
        outcome = await seen(Seeded(1, 5), annotation, revision=revision)
        assert outcome.data == {"shown": 1, "later": 10}
    assert set((await seen(Seeded(1, 5), Seeded)).schema["properties"]) == {"shown", "later"}


@pytest.mark.fault(38)
async def test_hidden_members_are_hidden_until_they_are_asked_for() -> None:
    @dataclass
    class Account:
        name: str = "n"
        _cache: int = 1
        __secret: int = 2

    class Plain:
        def __init__(self) -> None:
            self.name = "n"
            self._cache = 1
            self.__secret = 2

    shown = {
        frozenset({Visibility.PUBLIC}): {"name": "n"},
        frozenset({Visibility.PUBLIC, Visibility.PROTECTED}): {"name": "n", "cache": 1},
        frozenset(Visibility): {"name": "n", "cache": 1, "secret": 2},
    }
    for visibility, expected in shown.items():
        for value, annotation in ((Account(), Account), (Account(), UNSAID), (Plain(), UNSAID)):
            outcome = await seen(value, annotation, server=settings(visibility=visibility))
            assert outcome.data == expected
        schema = (await seen(Account(), Account, server=settings(visibility=visibility))).schema
        assert set(schema["properties"]) == set(expected)


@dataclass
class Link:
    name: str
    next: "Link | None" = None
    data: Any = None


@pytest.mark.fault(39)
@every_revision
async def test_a_cycle_is_an_error_with_its_path(revision: str) -> None:
    a, b = Link("a"), Link("b")
    a.next, b.next = b, a
    in_data = Link("c")
    in_data.data = {"x": [in_data]}
    in_list: list[Any] = []
    in_list.append(in_list)
    in_dict: dict[str, Any] = {}
    in_dict["me"] = in_dict

    for value, path in ((a, "$.next.next"), (in_data, "$.data.x[0]"), (in_list, "$[0]"), (in_dict, "$.me")):
        for annotation in (type(value), UNSAID):
            outcome = await seen(value, annotation, revision=revision)
            assert outcome.is_error
            assert "circular reference" in outcome.text
            assert path in outcome.text


@pytest.mark.fault(39)
async def test_what_is_shared_or_deep_is_no_cycle() -> None:
    shared = Link("shared")
    assert len((await seen([shared, shared], list[Link])).data) == 2
    deep = Link("0")
    for number in range(60):
        deep = Link(str(number), deep)
    assert (await seen(deep, Link)).data["name"] == "59"
    for _ in range(20_000):
        deep = Link("x", deep)
    outcome = await seen(deep, Link)
    assert "nested too deeply" in outcome.text


@pytest.mark.fault(40)
async def test_a_member_that_is_left_out_is_never_touched() -> None:
    @dataclass
    class Job:
        name: str
        lock: Annotated[threading.Lock, Ignore] = field(default_factory=threading.Lock)
        callback: Annotated[Callable[[], int], Ignore()] = field(default=lambda: 1)
        _file: Any = field(default_factory=io.BytesIO)

    for annotation in (Job, UNSAID, list[Job]):
        value = [Job("j")] if annotation == list[Job] else Job("j")
        assert (await seen(value, annotation)).data in ({"name": "j"}, [{"name": "j"}])
    assert (await seen(Job("j"), server=settings(ignore={"name", "lock"}, include=Include.ALWAYS))).is_error is False


@dataclass
class User:
    user_name: str


@dataclass
class Page(Generic[T]):
    items: list[T]
    next_page: "Page[T] | None" = None


@dataclass
class UserPage(Page[User]):
    total: int = 0


@pytest.mark.fault(41)
@every_revision
async def test_type_parameters_of_a_record_are_resolved(revision: str) -> None:
    page = Page([User("Ann")], Page([User("Bob")]))
    expected = {"items": [{"userName": "Ann"}], "nextPage": {"items": [{"userName": "Bob"}], "nextPage": None}}
    for annotation in (Page[User], "Page[User]", Page["User"]):
        outcome = await seen(page, annotation, revision=revision)
        assert outcome.data == expected
        if "outputSchema" in outcome.definition:
            assert outcome.schema["type"] == "object"
            assert not jsonschema_rs.is_valid(outcome.schema, {"items": [{"user_name": "x"}], "nextPage": None})
            assert not jsonschema_rs.is_valid(outcome.schema, {"items": [5], "nextPage": None})
    outcome = await seen(UserPage([User("Ann")], None, 1), UserPage, revision=revision)
    assert outcome.data == {"items": [{"userName": "Ann"}], "nextPage": None, "total": 1}
    numbers = await seen(Page([1]), Page[int])
    assert numbers.schema["properties"]["items"]["items"] == {"type": "integer"}


@pytest.mark.fault(41)
async def test_type_parameters_of_an_argument_are_resolved() -> None:
    class Paging(Tool):
        @tool
        def first(self, page: Page[User]) -> str:
            return page.items[0].user_name

    async with connected(serving(Paging)) as wire:
        assert await wire.texts("first", {"page": {"items": [{"userName": "Ann"}]}}) == ["Ann"]
        assert (await wire.call("first", {"page": {"items": ["Ann"]}}))["isError"] is True


@pytest.mark.fault(42)
@every_revision
async def test_a_value_of_a_subclass_shows_its_own_members(revision: str) -> None:
    @dataclass
    class Animal:
        name: str

    @dataclass
    class Dog(Animal):
        breed: str

    dog, data = Dog("R", "x"), {"name": "R", "breed": "x"}
    for value, annotation, expected in (
        (dog, Animal, data),
        ([dog, Animal("A")], list[Animal], [data, {"name": "A"}]),
        ({"a": dog}, dict[str, Animal], {"a": data}),
        (dog, Animal | None, data),
        (dog, UNSAID, data),
    ):
        assert (await seen(value, annotation, revision=revision)).data == expected


@pytest.mark.fault(43)
async def test_properties_are_shown_only_if_configured_and_a_failing_one_is_named() -> None:
    class Point:
        x: int

        def __init__(self) -> None:
            self.x = 2

        @property
        def twice(self) -> int:
            return 2 * self.x

        @property
        def broken(self) -> int:
            raise RuntimeError("postgres://user:password@host")

    both = set(Members)
    for annotation in (Point, UNSAID):
        assert (await seen(Point(), annotation)).data == {"x": 2}
        shown = await seen(Point(), annotation, server=settings(members=both, ignore={"broken"}))
        assert shown.data == {"x": 2, "twice": 4}
        for value, kind in ((Point(), annotation), ([Point()], UNSAID), ({"p": Point()}, UNSAID)):
            failed = await seen(value, kind, server=settings(members=both))
            assert failed.is_error
            assert "broken" in failed.text
            assert "postgres" not in failed.text


# -- whose form wins --------------------------------------------------------------------------------------------------


class Base:
    size: int

    def __init__(self) -> None:
        self.size = 1


class Derived(Base): ...


class Leaf(Derived): ...


def named(name: str) -> CustomSerializer:
    return CustomSerializer(lambda value: name, json_schema={"type": "string"})


@pytest.mark.fault(44)
async def test_the_serializer_of_the_nearest_class_wins_for_each_item() -> None:
    values = [Base(), Derived(), Leaf(), {"in": Leaf()}]
    entries = {Base: named("base"), Derived: named("derived")}
    for order in (entries, dict(reversed(entries.items()))):
        for annotation in (UNSAID, list[Any], list):
            outcome = await seen(values, annotation, server=settings(serializers=order))
            assert outcome.data == ["base", "derived", "derived", {"in": "derived"}]
    typed = await seen([Base(), Leaf()], list[Base], server=settings(serializers=entries))
    assert typed.data == ["base", "derived"]
    without = await seen(values, UNSAID, server=settings(serializers={Base: named("base")}))
    assert without.data == ["base", "base", "base", {"in": "base"}]
    other = await seen(values, UNSAID, server=settings(serializers={Leaf: named("leaf")}))
    assert other.data == [{"size": 1}, {"size": 1}, "leaf", {"in": "leaf"}]


@pytest.mark.fault(44)
async def test_a_class_with_two_bases_follows_the_order_of_its_bases() -> None:
    class Left: ...

    class Right: ...

    class Both(Left, Right): ...

    class Deeper(Both): ...

    for order in ([Left, Right], [Right, Left]):
        entries = {cls: named(cls.__name__) for cls in order}
        assert (await seen([Both(), Deeper()], server=settings(serializers=entries))).data == ["Left", "Left"]


@dataclass(frozen=True)
class Money:
    amount: Decimal
    currency: str


def dump_money(money: Money) -> str:
    return f"{money.amount} {money.currency}"


def load_money(text: Any) -> Money:
    if not isinstance(text, str) or " " not in text:
        raise ValueError("expected an amount and a currency, such as '12.50 EUR'")
    amount, _, currency = text.partition(" ")
    return Money(Decimal(amount), currency)


class MoneyField(marshmallow.fields.Field[Money]):
    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return dump_money(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Money:
        try:
            return load_money(value)
        except ValueError as error:
            raise self.make_error("invalid") from error

    default_error_messages = {"invalid": "expected an amount and a currency"}


MONEY = CustomSerializer(dump_money, load_money, {"type": "string", "pattern": "^[0-9.]+ [A-Z]{3}$"})


@pytest.mark.fault(45)
@every_revision
@pytest.mark.parametrize("custom", [MONEY, MoneyField()], ids=["function", "field"])
async def test_what_a_custom_serializer_writes_can_be_sent_back(custom: Any, revision: str) -> None:
    @dataclass
    class Bill:
        total_price: Money
        parts: list[Money]

    class Till(Tool):
        @tool
        def echo(self, money: Money) -> Money:
            assert money == Money(Decimal("12.50"), "EUR")
            return money

        @tool
        def bill(self, bill: Bill, tip: Money | None = None) -> Bill:
            assert isinstance(bill.parts[0], Money)
            return Bill(tip or bill.total_price, bill.parts)

    server = serving(Till, serializer=SerializerConfig(serializers={Money: custom}))
    async with connected(server, revision) as wire:
        tools = await wire.tools()
        assert await wire.texts("echo", {"money": "12.50 EUR"}) == ["12.50 EUR"]
        bill = {"totalPrice": "1 EUR", "parts": ["12.50 EUR"]}
        result = await wire.call("bill", {"bill": bill, "tip": "2 EUR"})
        assert json.loads(result["content"][0]["text"]) == {**bill, "totalPrice": "2 EUR"}
        for wrong in ({"money": "12.50"}, {"money": 12.5}, {}):
            refused = await wire.call("echo", wrong)
            assert refused["isError"] is True
            assert "money" in refused["content"][0]["text"]
        if custom is MONEY:
            assert tools["echo"]["inputSchema"]["properties"]["money"]["type"] == "string"
            if "outputSchema" in tools["bill"]:
                assert tools["bill"]["outputSchema"]["properties"]["totalPrice"]["type"] == "string"


@pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
async def test_a_failing_serializer_is_a_failure_of_the_tool_and_ends_nothing(revision: str) -> None:
    def fail(value: Any) -> Any:
        raise value if isinstance(value, BaseException) else AttributeError("bug")

    @dataclass
    class Picky:
        x: int

        def __post_init__(self) -> None:
            raise SystemExit(self.x)

    class Till(Tool):
        @tool
        def loads(self, money: Money) -> str:
            return "never"

        @tool
        def dumps(self) -> Money:
            return Money(Decimal(1), "EUR")

        @tool
        def makes(self, picky: Picky) -> str:
            return "never"

    server = serving(Till, serializer=SerializerConfig(serializers={Money: CustomSerializer(fail, fail)}))
    async with connected(server, revision) as wire:
        for name, arguments, cause in (
            ("loads", {"money": 1}, "AttributeError"),
            ("dumps", {}, "AttributeError"),
            ("makes", {"picky": {"x": 3}}, "SystemExit"),
        ):
            result = await wire.call(name, arguments)
            assert result["isError"] is True
            assert cause in result["content"][0]["text"]
            assert "bug" not in result["content"][0]["text"]


@pytest.mark.fault(45)
async def test_a_serializer_of_one_member_holds_both_ways() -> None:
    @dataclass
    class Bill:
        total: Annotated[Money, Use(MONEY)]

    class Till(Tool):
        @tool
        def echo(self, bill: Bill, more: Annotated[Money, Use(MONEY)]) -> Bill:
            assert bill.total == more == Money(Decimal(1), "EUR")
            return bill

    async with connected(serving(Till)) as wire:
        tool_ = (await wire.tools())["echo"]
        result = await wire.call("echo", {"bill": {"total": "1 EUR"}, "more": "1 EUR"})
        assert result["structuredContent"] == {"total": "1 EUR"}
        assert tool_["inputSchema"]["properties"]["more"]["type"] == "string"
        assert tool_["outputSchema"]["properties"]["total"]["type"] == "string"


class Color(Enum):
    RED = "r"


class Level(IntEnum):
    LOW = 1


BUILTIN: list[tuple[type, Any]] = [
    (bytes, b"x"),
    (Enum, Color.RED),
    (IntEnum, Level.LOW),
    (date, date(2025, 1, 1)),
    (Decimal, Decimal(1)),
    (UUID, UUID(int=1)),
    (timedelta, timedelta(1)),
    (set, {1}),
    (dict, {"a": 1}),
    (int, 5),
    (float, 0.5),
    (str, "text"),
    (User, User("u")),
]


@pytest.mark.fault(46)
@pytest.mark.parametrize(("cls", "value"), BUILTIN, ids=[cls.__name__ for cls, _ in BUILTIN])
async def test_a_users_serializer_beats_the_built_in_one_everywhere(cls: type, value: Any) -> None:
    form = [True] if cls in (str, list) else ["mine"]
    mine = CustomSerializer(lambda value: form, lambda data: value, {"type": "array"})
    server = settings(serializers={cls: mine})
    # A declared list of texts or media is several blocks, so its items are presented one by one.
    several = form if cls in (bytes, str) else [form]

    @dataclass
    class Holder:
        member: type(value)  # type: ignore[valid-type]

    for returned, annotation, expected in (
        (value, type(value), form),
        (value, UNSAID, form),
        ([value], list[type(value)], several),  # type: ignore[misc]
        ([[value]], list, [[form]]),
        (Holder(value), Holder, {"member": form}),
        (Holder(value), UNSAID, {"member": form}),
    ):
        assert (await seen(returned, annotation, server=server)).data == expected, annotation
    if cls not in (dict, str):
        assert (await seen({"a": value}, dict[str, type(value)], server=server)).data == {"a": form}  # type: ignore[misc]


# -- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.fault(47)
@pytest.mark.fault(48)
@pytest.mark.parametrize("data", [bytes(range(256)) * 4, b"\xfb\xff\xfe" * 5, b"", b"x", b"xy"], ids=len)
async def test_base64_is_one_line_of_the_standard_alphabet_and_comes_back(data: bytes) -> None:
    class Echo(Tool):
        @tool
        def inside(self, data: bytes) -> dict[str, bytes]:
            return {"data": data}

        @tool
        def blob(self, data: bytes) -> bytes:
            return data

        @tool
        def same(self, data: bytes) -> bool:
            return data == expected

    expected = data
    text = base64.b64encode(data).decode()
    async with connected(serving(Echo)) as wire:
        assert (await wire.call("inside", {"data": text}))["structuredContent"] == {"data": text}
        assert (await wire.call("blob", {"data": text}))["content"][0]["resource"]["blob"] == text
        assert await wire.texts("same", {"data": text}) == ["true"]


@pytest.mark.fault(47)
async def test_the_base64_of_a_picture_is_one_line() -> None:
    outcome = await seen(Image.effect_noise((64, 64), 50), Image.Image)
    data = outcome.content[0]["data"]
    assert len(data) > 76
    assert base64.b64encode(base64.b64decode(data)).decode() == data


@pytest.mark.fault(49)
@every_revision
async def test_whole_numbers_stay_whole_and_others_stay_floats(revision: str) -> None:
    @dataclass
    class Numbers:
        i: int = 3
        f: float = 3.0
        big: float = 1e22
        neg: float = -0.0
        tiny: float = 5e-324
        third: float = 1 / 3
        huge: int = 10**22

    for annotation in (Numbers, UNSAID):
        data = (await seen(Numbers(), annotation, revision=revision)).data
        assert (data["i"], type(data["i"])) == (3, int)
        assert type(data["huge"]) is int
        for name in ("f", "big", "neg", "tiny", "third"):
            assert float.hex(float(data[name])) == float.hex(getattr(Numbers, name))
        assert isinstance(data["f"], float)


@pytest.mark.fault(50)
@every_revision
async def test_a_value_that_is_no_member_is_refused_with_those_there_are(revision: str) -> None:
    class Grade(IntEnum):
        ONE = 1
        TWO = 2
        THREE = 3

    class Shade(Enum):
        DARK = "d"
        LIGHT = "l"

    class Painter(Tool):
        @tool
        def paint(self, grade: Grade = Grade.ONE, shade: Shade = Shade.DARK, grades: list[Grade] | None = None) -> str:
            return f"{grade!r} {shade!r} {grades}"

    async with connected(serving(Painter), revision) as wire:
        assert await wire.texts("paint", {"grade": 3, "shade": "l"}) == [f"{Grade.THREE!r} {Shade.LIGHT!r} None"]
        for wrong, name, allowed in (
            ({"grade": 7}, "grade", "1, 2, 3"),
            ({"grade": 0}, "grade", "1, 2, 3"),
            ({"grade": -1}, "grade", "1, 2, 3"),
            ({"grade": True}, "grade", "1, 2, 3"),
            ({"shade": "x"}, "shade", "'d'"),
            ({"shade": 0}, "shade", "'d'"),
            ({"grades": [1, 7]}, "grades[1]", "1, 2, 3"),
        ):
            result = await wire.call("paint", wrong)
            assert result["isError"] is True
            text = result["content"][0]["text"].replace('"', "'")
            assert text.startswith(f"{name}: ")
            assert allowed in text


@pytest.mark.fault(51)
@every_revision
@pytest.mark.parametrize("case", list(Case))
async def test_keys_of_a_dictionary_are_nobodys_business(case: Case, revision: str) -> None:
    value = {"a.b": 1, "c d": 2, "": 3, "snake_case": 4, "$ref": 5, "a[0]": 6, "A/b~c": 7, "_x": 8}
    for annotation in (dict, dict[str, int], UNSAID):
        assert (await seen(value, annotation, revision=revision, server=settings(case=case))).data == value


async def test_settings_hold_for_results_arguments_and_both_schemas() -> None:
    @dataclass
    class Person:
        first_name: str
        nick_name: str | None = None
        _age: int = 0
        secret: str = "s"

    class People(Tool):
        @tool
        def echo(self, the_person: Person) -> Person:
            return the_person

    config = SerializerConfig(
        case=Case.KEBAB,
        visibility={Visibility.PUBLIC, Visibility.PROTECTED},
        include=Include.NOT_NONE,
        rules={Person: Rule(ignore=["secret"])},
    )
    person = {"first-name": "Ann", "age": 3}
    tools = await described(People, serializer=config)
    shown = tools["echo"]["inputSchema"]["properties"]["the-person"]["properties"]
    assert set(shown) == set(tools["echo"]["outputSchema"]["properties"]) == {"first-name", "nick-name", "age"}
    async with connected(serving(People, serializer=config)) as wire:
        assert (await wire.call("echo", {"the-person": person}))["structuredContent"] == person
        refused = await wire.call("echo", {"the-person": {**person, "secret": "x"}})
        assert refused["isError"] is True


async def test_an_insisting_member_is_shown_against_every_list() -> None:
    @dataclass
    class Kept:
        kept: Annotated[str, IncludeIf()] = "k"
        gone: str = "g"

    outcome = await seen(Kept(), Kept, server=settings(ignore={"kept", "gone"}))
    assert outcome.data == {"kept": "k"}
