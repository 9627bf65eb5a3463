"""Numbers, times, enums, identifiers and keys on the wire: one form in text, structured value and schema."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple, NotRequired, Required, TypedDict
from uuid import UUID

import jsonschema_rs
import pytest

from mcpconnect import SerializerConfig, Tool, tool
from mcpconnect.serialization import EnumNames
from tests.interaction.seen import UNSAID, seen
from tests.wire import NEWEST, REVISIONS, connected, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)
some_revisions = pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", NEWEST])
INFINITE = [float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity")]


def settings(**changes: Any) -> dict[str, Any]:
    return {"serializer": SerializerConfig(**changes)}


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.fault(10)
@pytest.mark.fault(11)
@some_revisions
@pytest.mark.parametrize("number", INFINITE, ids=str)
async def test_a_number_that_is_none_is_an_error_or_null_wherever_it_stands(number: Any, revision: str) -> None:
    @dataclass
    class Reading:
        x: Any
        y: float = 1.5

    @dataclass
    class Typed:
        x: float | Decimal | None

    values: list[tuple[Any, Any]] = [
        (number, type(number)),
        (number, UNSAID),
        ({"x": number}, dict),
        ({"x": number}, dict[str, float | Decimal]),
        ([1, number], UNSAID),
        ([number], list[type(number)]),  # type: ignore[misc]
        (Reading(number), Reading),
        (Typed(number), Typed),
    ]
    for value, annotation in values:
        refused = await seen(value, annotation, revision=revision)
        assert refused.is_error
        assert "null" not in refused.text
        outcome = await seen(value, annotation, revision=revision, server=settings(non_finite="null"))
        assert not outcome.is_error
        assert "null" in outcome.text
    assert "$.x" in (await seen({"x": number}, dict, revision=revision)).text


@pytest.mark.fault(11)
async def test_a_scalar_that_is_no_number_fits_its_own_schema_as_null() -> None:
    for annotation in (float, list[float], float | None):
        value = [float("nan")] if annotation == list[float] else float("nan")
        outcome = await seen(value, annotation, structured=True, server=settings(non_finite="null"))
        assert outcome.text in ("null", "[null]")


@pytest.mark.fault(12)
async def test_decimals_keep_their_digits_in_the_form_that_the_schema_promises() -> None:
    digits = [Decimal("1.10"), Decimal("1E+2"), Decimal("0.1") + Decimal("0.2"), Decimal(10**30), Decimal("-0.00")]
    for annotation in (list[Decimal], UNSAID, Any):
        texts = (await seen(digits, annotation)).data
        assert [Decimal(text) for text in texts] == digits
        assert texts[0] == "1.10"
    assert (await seen(Decimal("1.10"), Decimal)).text == "1.10"
    schema = (await seen(digits, list[Decimal], structured=True)).schema
    assert schema["properties"]["result"]["items"]["type"] == "string"
    outcome = await seen(digits, list[Decimal], structured=True, server=settings(decimal_as="number"))
    assert outcome.schema["properties"]["result"]["items"]["type"] == "number"
    assert outcome.data == [1.1, 100, 0.3, 10**30, 0]


@pytest.mark.fault(13)
@every_revision
async def test_big_integers_are_exact_or_text_by_one_rule(revision: str) -> None:
    limit = 2**53 - 1
    value = {"id": 9007199254740993, "n": 5, "ok": True, "edge": limit, "low": -(2**53), "huge": 2**100}
    for annotation in (dict[str, int | bool], dict, UNSAID):
        exact = await seen(value, annotation, revision=revision)
        assert exact.data == value
        text = await seen(value, annotation, revision=revision, server=settings(big_ints="string"))
        assert text.data == {
            "id": "9007199254740993",
            "n": 5,
            "ok": True,
            "edge": limit,
            "low": str(-(2**53)),
            "huge": str(2**100),
        }
        if "outputSchema" in text.definition:
            assert text.structured == text.data


# -- dates and times --------------------------------------------------------------------------------------------------


@pytest.mark.fault(14)
@every_revision
async def test_times_without_a_zone_keep_what_the_schema_promises(revision: str) -> None:
    @dataclass
    class Moments:
        naive: datetime = datetime(2025, 10, 22, 15, 50, 22)
        aware: datetime = datetime(2025, 10, 22, 15, 50, 22, 5, tzinfo=UTC)
        day: date = date(2025, 10, 22)
        hour: time = time(15, 50)
        hour_there: time = time(15, 50, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))
        midnight: datetime = datetime(2025, 10, 22)
        spans: list[timedelta] = field(default_factory=lambda: [timedelta(days=40), timedelta(0)])

    for utc in (False, True):
        outcome = await seen(Moments(), Moments, revision=revision, server=settings(use_utc=utc))
        assert outcome.data["naive"] == "2025-10-22T15:50:22Z"
        assert outcome.data["midnight"] == "2025-10-22T00:00:00Z"
        assert outcome.data["day"] == "2025-10-22"
    assert (await seen(Moments.naive, datetime)).text == "2025-10-22T15:50:22Z"
    assert (await seen([Moments.naive])).data == ["2025-10-22T15:50:22Z"]


@pytest.mark.fault(15)
@pytest.mark.parametrize("hours", [2, -11, 5.75, 0])
async def test_the_instant_is_the_same_with_and_without_the_switch_for_utc(hours: float) -> None:
    moment = datetime(2025, 1, 1, 12, tzinfo=timezone(timedelta(hours=hours)))
    for value, annotation, of in (
        (moment, datetime, lambda outcome: outcome.text),
        (moment, UNSAID, lambda outcome: outcome.text),
        ({"at": moment}, dict[str, datetime], lambda outcome: outcome.structured["at"]),
        ([moment], UNSAID, lambda outcome: outcome.data[0]),
    ):
        kept = of(await seen(value, annotation))
        shifted = of(await seen(value, annotation, server=settings(use_utc=True)))
        assert datetime.fromisoformat(kept) == datetime.fromisoformat(shifted) == moment
        assert datetime.fromisoformat(kept).utcoffset() == moment.utcoffset()
        assert shifted.endswith("Z")


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(days=-1, seconds=5, microseconds=7), "-PT86394.999993S"),
        (timedelta(microseconds=1), "PT0.000001S"),
        (timedelta(0), "P0D"),
        (timedelta(days=400, hours=1), None),
        (timedelta.max, None),
        (timedelta.min, None),
    ],
)
async def test_a_duration_is_iso_8601_with_sign_and_microseconds_and_comes_back(
    span: timedelta, text: str | None
) -> None:
    class Spans(Tool):
        @tool
        def echo(self, span: timedelta) -> dict[str, timedelta]:
            return {"span": span}

        @tool
        def same(self, span: timedelta) -> bool:
            return span == expected

    expected = span
    written = (await seen(span, timedelta)).text
    assert text is None or written == text
    async with connected(serving(Spans)) as wire:
        assert (await wire.call("echo", {"span": written}))["structuredContent"] == {"span": written}
        assert await wire.texts("same", {"span": written}) == ["true"]


@pytest.mark.fault(16)
@every_revision
async def test_falsy_values_are_values(revision: str) -> None:
    @dataclass
    class Falsy:
        count: int = 0
        ratio: float = 0.0
        name: str = ""
        flag: bool = False
        items: list[int] = field(default_factory=list)
        names: dict[str, int] = field(default_factory=dict)
        at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
        data: bytes = b""
        span: timedelta = timedelta(0)
        nothing: int | None = None

    expected = {
        "count": 0,
        "ratio": 0.0,
        "name": "",
        "flag": False,
        "items": [],
        "names": {},
        "at": "1970-01-01T00:00:00Z",
        "data": "",
        "span": "P0D",
        "nothing": None,
    }
    for annotation in (Falsy, UNSAID):
        assert (await seen(Falsy(), annotation, revision=revision)).data == expected


# -- containers -------------------------------------------------------------------------------------------------------

SETS = """
from mcpconnect import McpServer, tool
server = McpServer("sets")
@server.register
@tool
def texts() -> set[str]:
    return {"b", "a", "c", "ä", "B"}
@server.register
@tool
def undeclared():
    return frozenset({"b", "a", "c", "ä", "B"})
@server.register
@tool
def inside() -> dict[str, set[int | str]]:
    return {"x": {10, 9, "a", "10"}}
server.run()
"""


@pytest.mark.fault(18)
def test_a_set_is_an_array_in_an_order_that_does_not_depend_on_hashes(tmp_path: Path) -> None:
    file = tmp_path / "sets.py"
    file.write_text(SETS, encoding="utf-8")
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": client}]
    asked += [
        {"id": number, "method": "tools/call", "params": {"name": name}}
        for number, name in enumerate(("texts", "undeclared", "inside"), 1)
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
    outputs = set()
    for seed in ("1", "2", "3"):
        run = subprocess.run(
            [sys.executable, str(file)],
            input=lines,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        answers = {message["id"]: message["result"] for message in map(json.loads, run.stdout.splitlines())}
        outputs.add(tuple(answers[number]["content"][0]["text"] for number in (1, 2, 3)))
    assert outputs == {('["B","a","b","c","ä"]', '["B","a","b","c","ä"]', '{"x":["10","a",10,9]}')}


@pytest.mark.fault(18)
async def test_the_schema_of_a_set_is_an_array_of_different_items() -> None:
    schema = (await seen({"a"}, set[str], structured=True)).schema["properties"]["result"]
    assert schema == {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


class Point(NamedTuple):
    x: int
    y: int = 0


@pytest.mark.fault(19)
@some_revisions
async def test_a_named_tuple_has_one_shape_everywhere(revision: str) -> None:
    @dataclass
    class Shape:
        p: Point
        more: list[Point] = field(default_factory=lambda: [Point(3)])

    shape = Shape(Point(1, 2))
    expected = {"p": {"x": 1, "y": 2}, "more": [{"x": 3, "y": 0}]}
    for value, annotation, data in (
        (shape, Shape, expected),
        (shape, UNSAID, expected),
        (Point(1, 2), Point, expected["p"]),
        (Point(1, 2), UNSAID, expected["p"]),
        ({"p": Point(1, 2)}, dict, {"p": expected["p"]}),
        ([Point(3)], list[Point], expected["more"]),
    ):
        outcome = await seen(value, annotation, revision=revision)
        assert outcome.data == data
    schema = (await seen(shape, Shape)).schema
    assert schema["$defs"]["Point"]["properties"].keys() == {"x", "y"}


@pytest.mark.fault(20)
@every_revision
async def test_what_a_typed_dict_leaves_out_stays_out(revision: str) -> None:
    class Person(TypedDict, total=False):
        name: Required[str]
        age: int

    class Other(TypedDict):
        name: str
        nick_name: NotRequired[str | None]

    for value, annotation, data in (
        ({"name": "Dave"}, Person, {"name": "Dave"}),
        ({"name": "Dave"}, Other, {"name": "Dave"}),
        ({"name": "Dave", "nick_name": None}, Other, {"name": "Dave", "nickName": None}),
        ([{"name": "Dave"}, {"name": "Ann", "age": 3}], list[Person], [{"name": "Dave"}, {"name": "Ann", "age": 3}]),
    ):
        assert (await seen(value, annotation, revision=revision)).data == data
    assert (await seen({"name": "Dave"}, Person)).schema["required"] == ["name"]


# -- enums, identifiers, keys -----------------------------------------------------------------------------------------


class Color(Enum):
    RED = "r"
    GREEN = "g"


class Level(IntEnum):
    LOW = 1
    HIGH = 3


class Size(StrEnum):
    BIG = "b"


class Rights(Flag):
    READ = 1
    WRITE = 2


@pytest.mark.fault(21)
@pytest.mark.parametrize(
    ("member", "by_value", "by_name"),
    [
        (Color.RED, "r", "RED"),
        (Level.HIGH, 3, "HIGH"),
        (Size.BIG, "b", "BIG"),
        (Rights.READ | Rights.WRITE, 3, 3),
    ],
)
async def test_an_enum_has_one_form_in_text_value_and_schema(member: Any, by_value: Any, by_name: Any) -> None:
    for form, wire in (("value", by_value), ("name", by_name)):
        for value, annotation, data in (
            (member, type(member), wire),
            ([member], list[type(member)], [wire]),  # type: ignore[misc]
            ({"c": member}, dict[str, type(member)], {"c": wire}),  # type: ignore[misc]
            (member, type(member) | None, wire),
        ):
            outcome = await seen(value, annotation, structured=True, server=settings(enum_as=form))
            assert outcome.structured in (data, {"result": data})
            untyped = await seen(value, UNSAID, server=settings(enum_as=form))
            assert untyped.text == outcome.text
            refused = {"result": "Color.RED", "c": "Color.RED"}
            assert not jsonschema_rs.is_valid(outcome.schema, refused)
    assert "Color." not in (await seen({Color.RED: Color.GREEN}, UNSAID)).text


@pytest.mark.fault(22)
@some_revisions
async def test_wire_names_of_an_enum_hold_everywhere(revision: str) -> None:
    @EnumNames("stop", "go")
    class Light(Enum):
        RED = 1
        GREEN = 2

    @dataclass
    class Lamp:
        light: Light
        others: set[Light]
        by_light: dict[Light, int]
        maybe: Light | None = None

    lamp = Lamp(Light.RED, {Light.GREEN, Light.RED}, {Light.GREEN: 1}, Light.GREEN)
    for value, annotation, data in (
        (Light.RED, Light, "stop"),
        ([Light.RED], list[Light], ["stop"]),
        (Light.RED, Light | None, "stop"),
        ({"l": Light.GREEN}, dict[str, Light], {"l": "go"}),
        (lamp, Lamp, {"light": "stop", "others": ["go", "stop"], "byLight": {"go": 1}, "maybe": "go"}),
    ):
        outcome = await seen(value, annotation, structured=True, revision=revision)
        assert (outcome.text if isinstance(data, str) else outcome.data) == data
        assert (await seen(value, UNSAID, revision=revision)).text == outcome.text
        if "outputSchema" in outcome.definition:
            assert '"stop"' in json.dumps(outcome.schema)
            assert "RED" not in json.dumps(outcome.schema)


@pytest.mark.fault(23)
async def test_identifiers_and_paths_are_plain_texts() -> None:
    value = {"id": UUID(int=1), "p": Path("a/b"), "w": PureWindowsPath("a\\b"), "q": PurePosixPath("/a/b")}
    expected = {"id": "00000000-0000-0000-0000-000000000001", "p": "a/b", "w": "a/b", "q": "/a/b"}

    @dataclass
    class File:
        id: UUID
        p: Path
        w: PureWindowsPath
        q: PurePosixPath

    assert (await seen(value)).data == expected
    assert (await seen(value, dict[str, Any])).data == expected
    assert (await seen(File(**value), File)).data == expected  # type: ignore[arg-type]
    assert (await seen(UUID(int=1), UUID)).text == expected["id"]
    assert (await seen(Path("a/b"))).text == "a/b"


@pytest.mark.fault(24)
@some_revisions
async def test_keys_that_become_one_text_are_an_error_that_names_it(revision: str) -> None:
    clashes: list[tuple[Any, Any]] = [
        ({1: "a", "1": "b"}, "1"),
        ({True: "a", "true": "b"}, "true"),
        ({None: "a", "null": "b"}, "null"),
        ({Color.RED: "a", "r": "b"}, "r"),
        ({UUID(int=1): "a", str(UUID(int=1)): "b"}, str(UUID(int=1))),
    ]
    for value, key in clashes:
        for annotation in (dict, UNSAID, dict[Any, str], Mapping[int | str, str] if key == "1" else dict):
            for nested in (value, [value], {"x": value}):
                outcome = await seen(nested, annotation if nested is value else UNSAID, revision=revision)
                assert outcome.is_error
                assert key in outcome.text
    assert (await seen({1: "a", "2": "b"}, dict)).data == {"1": "a", "2": "b"}


@pytest.mark.fault(24)
@pytest.mark.fault(26)
async def test_keys_that_differ_in_lone_surrogates_only_are_never_merged() -> None:
    for annotation in (dict, dict[str, int], UNSAID):
        for keys in (("\ud800", "\udfff"), ("x\ud800", "x\ufffd")):
            outcome = await seen(dict.fromkeys(keys, 1), annotation)
            assert outcome.is_error
            assert "two keys" in outcome.text
        assert (await seen({"\ud800": 1, "b": 2}, annotation)).data == {"\ufffd": 1, "b": 2}


@pytest.mark.fault(25)
async def test_a_key_that_is_no_scalar_is_an_error_that_names_it() -> None:
    @dataclass(frozen=True)
    class Key:
        x: int = 1

    for key in ((1, 2), Key(), frozenset({1}), Point(1)):
        for value in ({key: 3, "ok": 1}, [{key: 3}], {"a": {key: 3}}):
            outcome = await seen(value)
            assert outcome.is_error
            assert type(key).__name__ in outcome.text or repr(key) in outcome.text


async def test_scalars_as_keys_are_their_texts() -> None:
    keys = {2: 0, False: 1, None: 2, 1.5: 3, date(2025, 1, 2): 4, Color.RED: 5}
    expected = {"2": 0, "false": 1, "null": 2, "1.5": 3, "2025-01-02": 4, "r": 5}
    assert (await seen(keys)).data == expected
    outcome = await seen({Level.HIGH: 1.5}, dict[Level, float])
    assert outcome.structured == {"3": 1.5}
