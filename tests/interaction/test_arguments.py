"""Arguments: what models and hosts really send, leniently and strictly, and errors that a model can act on."""

import base64
import io
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, NamedTuple, TypedDict
from uuid import UUID

import pytest
from PIL import Image
from pydantic import BaseModel

from mcpconnect import Case, SerializerConfig, Tool, tool
from tests.wire import REVISIONS, connected, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)
both_modes = pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
LIBRARIES = (
    "marshmallow",
    "pydantic",
    "msgspec",
    "jsonschema",
    "http",
    "Field",
    "Error",
    "<class",
    "Traceback",
    " at 0x",
)


def taking(annotation: Any, default: Any = ...) -> Callable[..., Any]:
    """Return the tool `t` with one parameter `x` of that type, which shows what it was given."""

    def required(x: Any) -> str:
        return repr(x)

    def optional(x: Any = default) -> str:
        return repr(x)

    method = required if default is ... else optional
    method.__annotations__["x"] = annotation
    return tool(name="t")(method)


async def outcome(annotation: Any, sent: Any, default: Any = ..., **settings: Any) -> str | None:
    """Return what the method saw of a value that was sent, or None if it was refused properly."""
    async with connected(serving(taking(annotation, default), **settings)) as wire:
        return seen_of(await wire.call("t", {"x": sent}))


def seen_of(result: Mapping[str, Any]) -> str | None:
    """Return the text of a result, or None for an error that names the argument and no library."""
    (block,) = result["content"]
    text: str = block["text"]
    if not result.get("isError"):
        return text
    assert text.startswith(("x: ", "x[", "x."))
    assert not any(word in text for word in LIBRARIES)
    return None


async def outcomes(annotation: Any, *sent: Any, default: Any = ..., strict: bool = False) -> list[str | None]:
    async with connected(serving(taking(annotation, default), strict_arguments=strict)) as wire:
        return [seen_of(await wire.call("t", {"x": value})) for value in sent]


@dataclass
class Options:
    top_k: int = 1
    tags: list[str] = field(default_factory=list)


class Filter(TypedDict):
    name: str


class Pair(NamedTuple):
    a: int
    b: int


class Color(Enum):
    RED = "r"


@pytest.mark.fault(92)
@both_modes
async def test_lists_and_objects_may_come_as_json_text(strict: bool) -> None:
    for annotation, text, value in (
        (list[str], '["a","b"]', ["a", "b"]),
        (list[str], ' ["a", "b"] ', ["a", "b"]),
        (Sequence[int], "[1,2]", [1, 2]),
        (tuple[int, str], '[1,"a"]', (1, "a")),
        (set[int], "[1]", {1}),
        (deque[int], "[1]", deque([1])),
        (dict[str, int], '{"a":1}', {"a": 1}),
        (Options, '{"topK":3,"tags":["x"]}', Options(3, ["x"])),
        (Filter, '{"name":"n"}', {"name": "n"}),
        (Pair, '{"a":1,"b":2}', Pair(1, 2)),
        (list[Options], '[{"topK":3}]', [Options(3)]),
        (list[str] | None, '["a"]', ["a"]),
    ):
        assert await outcomes(annotation, text, strict=strict) == [None if strict else repr(value)], annotation
    for annotation in (list[str], Options, dict[str, int], list[Options]):
        for text in ("a,b", "[1", "5", "null", '"x"', "{}x", "[[1]]"):
            assert await outcomes(annotation, text, strict=strict) == [None], (annotation, text)


@pytest.mark.fault(93)
@both_modes
async def test_texts_are_never_parsed(strict: bool) -> None:
    texts = ['{"a":1}', "[1]", "123", "1.0", "null", "true", "", " x ", '"quoted"', "2024-01-01"]
    for annotation in (str, str | None, Any, str | list[str], str | Options | None, object):
        assert await outcomes(annotation, *texts, strict=strict) == [repr(text) for text in texts], annotation
    assert await outcomes(list[str], ["1", "null", "[]"], strict=strict) == [repr(["1", "null", "[]"])]
    assert await outcomes(dict[str, str], {"a": "1"}, strict=strict) == [repr({"a": "1"})]


@pytest.mark.fault(94)
@both_modes
async def test_texts_that_look_like_numbers_stay_texts(strict: bool) -> None:
    assert await outcomes(str, "007", "1e5", "9007199254740993", strict=strict) == [
        "'007'",
        "'1e5'",
        "'9007199254740993'",
    ]
    for annotation in (int | str, str | int, int | str | None, float | str, bool | str):
        assert await outcomes(annotation, "42", "true", strict=strict) == ["'42'", "'true'"]
    assert await outcomes(int | str, 42, strict=strict) == ["42"]
    assert await outcomes(str, 7, 1.5, True, None, [], {}, strict=strict) == [None] * 6


@pytest.mark.fault(95)
@both_modes
async def test_a_type_that_is_text_on_the_wire_binds_from_plain_text_and_refuses_others(strict: bool) -> None:
    for annotation, text, value in (
        (UUID, "00000000-0000-0000-0000-000000000001", UUID(int=1)),
        (date, "2024-01-02", date(2024, 1, 2)),
        (datetime, "2024-01-02T03:04:05Z", datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (time, "03:04:05", time(3, 4, 5)),
        (timedelta, "PT5S", timedelta(seconds=5)),
        (Decimal, "1.10", Decimal("1.10")),
        (Path, "a/b", Path("a/b")),
        (Color, "r", Color.RED),
    ):
        plain, quoted, number, empty = await outcomes(annotation, text, f'"{text}"', [], {}, strict=strict)
        assert plain == repr(value)
        assert quoted in (None, repr(value)) or annotation is Path
        assert number is empty is None
    for bad in ("not-a-uuid", "2024-13-01", "", "r r"):
        for annotation in (UUID, date, datetime, time, timedelta, Decimal, Color):
            assert await outcomes(annotation, bad, strict=strict) == [None]


@pytest.mark.fault(96)
@both_modes
async def test_numbers_may_come_as_exactly_a_json_number(strict: bool) -> None:
    for annotation, text, value in (
        (int, "10", 10),
        (int, "-3", -3),
        (int, str(2**70), 2**70),
        (int | None, "10", 10),
        (float, "1.5", 1.5),
        (float, "1e3", 1000.0),
        (list[int], ["1", 2], [1, 2]),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (Options, {"topK": "3"}, Options(3)),
    ):
        assert await outcomes(annotation, text, strict=strict) == [None if strict else repr(value)]
    for bad in ("ten", "", " 10", "10 ", "1_000", "0x10", "+5", "010", "1,5", "NaN", "Infinity", "٣", "1.5.2"):
        for annotation in (int, float):
            assert await outcomes(annotation, bad, strict=strict) == [None], (annotation, bad)
    assert await outcomes(int, "1.5", strict=strict) == [None]


@pytest.mark.fault(97)
@both_modes
async def test_a_bool_is_no_number_and_a_number_no_bool(strict: bool) -> None:
    for annotation in (int, float, Decimal, int | None, int | float, int | str):
        assert await outcomes(annotation, True, False, strict=strict) == [None, None], annotation
    assert await outcomes(list[int], [True], [1, False], strict=strict) == [None, None]
    assert await outcomes(bool, 1, 0, 1.0, None, strict=strict) == [None] * 4
    assert await outcomes(int | bool, True, 1, strict=strict) == ["True", "1"]


@pytest.mark.fault(98)
@both_modes
async def test_booleans_as_text_are_read_by_meaning(strict: bool) -> None:
    texts = ["false", "0", "False", "FALSE", "true", "1", "True"]
    meant = [None] * 7 if strict else ["False", "False", "False", "False", "True", "True", "True"]
    assert await outcomes(bool, *texts, strict=strict) == meant
    assert await outcomes(bool, "", "maybe", "no", "yes", "off", " true", "2", [], strict=strict) == [None] * 8


@pytest.mark.fault(99)
@both_modes
async def test_an_empty_text_is_not_given_where_there_is_a_default(strict: bool) -> None:
    for annotation, default in (
        (bool | None, None),
        (date | None, None),
        (int, 5),
        (Options, Options()),
        (list[int], (1,)),
        (Color, Color.RED),
        (UUID | None, None),
    ):
        expected = None if strict else repr(default)
        assert await outcomes(annotation, "", default=default, strict=strict) == [expected], annotation
    for annotation in (bool, int, date, Options, list[int], int | None):
        assert await outcomes(annotation, "", strict=strict) == [None], annotation
    assert await outcomes(str, "", default="x", strict=strict) == ["''"]
    assert await outcomes(str | None, "", default=None, strict=strict) == ["''"]


@pytest.mark.fault(100)
@both_modes
async def test_whole_floats_are_integers_and_fractions_are_refused(strict: bool) -> None:
    assert await outcomes(int, 3.0, -0.0, 1e3, 3.7, 1e-9, strict=strict) == ["3", "0", "1000", None, None]
    assert await outcomes(float, 3, 3.5, 0, strict=strict) == ["3.0", "3.5", "0.0"]
    assert await outcomes(list[int], [1.0, 2], [1.5], strict=strict) == ["[1, 2]", None]
    assert await outcomes(int, "3.7", strict=strict) == [None]


@pytest.mark.fault(101)
@every_revision
async def test_big_integers_reach_the_method_exactly(revision: str) -> None:
    @tool(name="n")
    def number_(n: int) -> int:
        return n

    async with connected(serving(taking(Any), number_), revision) as wire:
        for number in (9007199254740993, 2**63, 2**64, 2**70, -(2**70), 10**300):
            for name, argument in (("t", "x"), ("n", "n")):
                assert await wire.texts(name, {argument: number}) == [str(number)]
        assert await wire.texts("t", {"x": {"a": [2**70]}}) == [repr({"a": [2**70]})]
    async with connected(serving(taking(float)), revision) as wire:
        assert await wire.texts("t", {"x": 2**53}) == [repr(float(2**53))]


@pytest.mark.fault(102)
@every_revision
@both_modes
async def test_a_misspelled_argument_is_named_with_those_there_are(strict: bool, revision: str) -> None:
    class Reader(Tool):
        @tool
        def read(self, topic: str = "", max_rows: int = 3) -> str:
            return topic

        @tool
        def nothing(self) -> str:
            return "nothing"

    async with connected(serving(Reader, strict_arguments=strict), revision) as wire:
        for wrong in ({"topc": "x"}, {"topic": "y", "topc": "x"}, {"Topic": "x", "topc": 1}):
            result = await wire.call("read", wrong)
            assert result["isError"] is True
            text = result["content"][0]["text"]
            assert "topc: " in text
            assert '"topic", "maxRows"' in text
        result = await wire.call("nothing", {"x": 1})
        assert result["isError"] is True
        assert "x: " in result["content"][0]["text"]


@pytest.mark.fault(103)
@every_revision
async def test_a_setting_ignores_what_hosts_add(revision: str) -> None:
    class Reader(Tool):
        @tool
        def read(self, topic: str = "", options: Options | None = None) -> str:
            return f"{topic} {options}"

    async with connected(serving(Reader, extra_arguments="ignore"), revision) as wire:
        assert await wire.texts("read", {"topic": "x", "toolCallId": "1", "_meta": {}}) == ["x None"]
    async with connected(serving(Reader), revision) as wire:
        assert (await wire.call("read", {"topic": "x", "toolCallId": "1"}))["isError"] is True


@pytest.mark.fault(105)
@every_revision
async def test_everything_that_is_wrong_is_told_at_once(revision: str) -> None:
    class Weather(Tool):
        @tool
        def forecast(self, city: str, day_count: int, unit: Literal["C", "F"] = "C", at: date | None = None) -> str:
            return city

    async with connected(serving(Weather), revision) as wire:
        result = await wire.call("forecast", {})
        assert result["isError"] is True
        lines = result["content"][0]["text"].splitlines()
        assert [line.partition(":")[0] for line in lines] == ["city", "dayCount"]
        wrong = {"city": 5, "dayCount": "many", "unit": "K", "at": "soon", "more": 1}
        text = (await wire.call("forecast", wrong))["content"][0]["text"]
        assert {line.partition(":")[0] for line in text.splitlines()} == set(wrong)
        assert "'C'" in text.replace('"', "'")
        assert not any(word in text for word in LIBRARIES)


@pytest.mark.fault(106)
@both_modes
async def test_messages_say_what_was_expected_and_what_came(strict: bool) -> None:
    class Model(BaseModel):
        number: int

    @dataclass
    class Picky:
        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("x must not be below 0")

    for annotation, sent, words in (
        (int, {}, ("integer", "object")),
        (int, [], ("integer", "list")),
        (int, None, ("integer", "null")),
        (str, 5, ("text", "5")),
        (bool, "maybe", ("maybe",)),
        (list[int], {"a": 1}, ("list", "object")),
        (Options, [1], ("object", "list")),
        (Options, {"topK": {}}, ("integer", "object")),
        (date, "x", ("date",)),
        (int | list[int], {}, ("integer", "list")),
        (dict[str, int], {"a": "b"}, ("integer",)),
        (Picky, {"x": -1}, ("must not be below 0",)),
        (Model, {"number": "x"}, ("number",)),
        (Image.Image, "AAAA", ("picture",)),
    ):
        async with connected(serving(taking(annotation), strict_arguments=strict)) as wire:
            result = await wire.call("t", {"x": sent})
        text = result["content"][0]["text"]
        assert seen_of(result) is None
        assert all(word in text for word in words), text
        assert "None" not in text
        assert "dict" not in text


class Unit(Enum):
    PIECE = "piece"


@dataclass
class Line:
    unit_kind: Unit
    due_date: date
    price: Decimal = Decimal(1)


@dataclass
class Order:
    order_lines: list[Line]
    by_name: dict[str, Line] = field(default_factory=dict)
    ordered_at: datetime | None = None


@pytest.mark.fault(107)
@every_revision
@pytest.mark.parametrize("case", [Case.CAMEL, Case.SNAKE, Case.PASCAL, Case.KEBAB, Case.SCREAMING_SNAKE])
async def test_nested_records_arrive_as_objects(case: Case, revision: str) -> None:
    seen: list[Any] = []

    @tool
    def place(the_order: Order) -> str:
        seen.append(the_order)
        return "placed"

    wire_name: Callable[[str], str] = {
        Case.CAMEL: lambda name: name.split("_")[0] + "".join(map(str.capitalize, name.split("_")[1:])),
        Case.SNAKE: str,
        Case.PASCAL: lambda name: "".join(map(str.capitalize, name.split("_"))),
        Case.KEBAB: lambda name: name.replace("_", "-"),
        Case.SCREAMING_SNAKE: str.upper,
    }[case]
    line = {wire_name("unit_kind"): "piece", wire_name("due_date"): "2025-01-02", wire_name("price"): "1.10"}
    order = {
        wire_name("order_lines"): [line, {**line, wire_name("price"): "2"}],
        wire_name("by_name"): {"first_key": line},
        wire_name("ordered_at"): "2025-01-02T03:04:05+02:00",
    }
    argument = wire_name("the_order")
    async with connected(serving(place, serializer=SerializerConfig(case=case)), revision) as wire:
        assert await wire.texts("place", {argument: order}) == ["placed"]
        expected = Line(Unit.PIECE, date(2025, 1, 2), Decimal("1.10"))
        (arrived,) = seen
        assert arrived.order_lines == [expected, Line(Unit.PIECE, date(2025, 1, 2), Decimal(2))]
        assert arrived.by_name == {"first_key": expected}
        assert arrived.ordered_at == datetime.fromisoformat("2025-01-02T03:04:05+02:00")
        lines = wire_name("order_lines")
        for wrong, path in (
            ({**order, lines: [{**line, "unknown": 1}]}, f"{argument}.{lines}[0].unknown"),
            ({**order, "unknown": 1}, f"{argument}.unknown"),
            (
                {**order, lines: [line, {**line, wire_name("due_date"): "x"}]},
                f"{argument}.{lines}[1].{wire_name('due_date')}",
            ),
            ({**order, lines: [{}]}, f"{argument}.{lines}[0].{wire_name('unit_kind')}"),
        ):
            result = await wire.call("place", {argument: wrong})
            assert result["isError"] is True
            assert f"{path}: " in result["content"][0]["text"]
    assert len(seen) == 1


@pytest.mark.fault(108)
@both_modes
async def test_untyped_values_are_handed_over_as_they_came(strict: bool) -> None:
    values = ["2024-01-01", "1", "", "true", 1, 1.0, True, None, [1, "2", {"a_b": "3"}], {"some_key": "2024-01-01"}]
    expected = [repr(value) for value in values]
    for annotation in (Any, object):
        assert await outcomes(annotation, *values, strict=strict) == expected
    assert await outcomes(dict[str, Any], {"a_b": "1", "c": [True]}, strict=strict) == [repr({"a_b": "1", "c": [True]})]
    assert await outcomes(list[Any], ["1", 1.0], strict=strict) == [repr(["1", 1.0])]
    assert await outcomes(dict, {"a": "2024-01-01"}, strict=strict) == [repr({"a": "2024-01-01"})]

    def bare(x):  # type: ignore[no-untyped-def]
        return repr(x)

    async with connected(serving(tool(name="t")(bare), strict_arguments=strict)) as wire:
        assert [seen_of(await wire.call("t", {"x": value})) for value in values] == expected


async def test_an_exact_member_of_a_union_wins_over_a_converted_one() -> None:
    assert await outcomes(int | list[int], "[1]", [1], 1, "1") == ["[1]", "[1]", "1", "1"]
    assert await outcomes(float | int, 3, 3.0) == ["3", "3.0"]
    assert await outcomes(date | str, "2024-01-02", "soon") == ["datetime.date(2024, 1, 2)", "'soon'"]
    assert await outcomes(list[int] | Options, {"topK": 2}, [1]) == [repr(Options(2)), "[1]"]


async def test_null_is_taken_only_where_it_is_declared_or_the_default() -> None:
    assert await outcomes(int, None) == [None]
    assert await outcomes(int, None, default=5) == [None]
    assert await outcomes(int | None, None) == ["None"]
    assert await outcomes(int, None, default=None) == ["None"]
    assert await outcomes(str, None) == [None]
    assert await outcomes(Any, None) == ["None"]
    assert await outcomes(Options, {"topK": None}) == [None]


async def test_python_names_are_taken_leniently_and_refused_strictly() -> None:
    @tool
    def t(row_count: int, row: Options) -> str:
        return f"{row_count} {row}"

    for strict in (False, True):
        async with connected(serving(t, strict_arguments=strict)) as wire:
            assert await wire.texts("t", {"rowCount": 1, "row": {"topK": 2}}) == [f"1 {Options(2)}"]
            result = await wire.call("t", {"row_count": 1, "row": {"topK": 2}})
            assert result.get("isError", False) is strict
            both = await wire.call("t", {"row_count": 1, "rowCount": 2, "row": {}})
            assert both["isError"] is True


async def test_streams_and_pictures_are_parameters() -> None:
    @tool
    def t(file: BinaryIO, picture: Image.Image, more: Annotated[bytes, "raw"] = b"") -> str:
        return f"{file.read()!r} {picture.size} {more!r}"

    buffer = io.BytesIO()
    Image.new("RGB", (3, 2)).save(buffer, "PNG")
    png = base64.b64encode(buffer.getvalue()).decode()
    async with connected(serving(t)) as wire:
        for prefix in ("", "data:image/png;base64,"):
            arguments = {"file": "YWJj", "picture": prefix + png, "more": "eA=="}
            assert await wire.texts("t", arguments) == ["b'abc' (3, 2) b'x'"]
        assert json.dumps((await wire.tools())["t"]["inputSchema"]["properties"]["picture"]["type"]) == '"string"'
