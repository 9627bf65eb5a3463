"""Structured content over the revisions: announced, sent, valid, and the same as the text."""

import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from threading import Lock
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import jsonschema
import msgspec
import pytest
from PIL import Image
from pydantic import BaseModel

from mcpconnect import (
    YAML_TEXT,
    Case,
    ContentList,
    DefinitionError,
    McpServer,
    SerializerConfig,
    TextContent,
    Tool,
    ToolError,
    ToolResult,
    ToolResultBuilder,
    tool,
)
from mcpconnect.serialization import Name
from tests.interaction.seen import UNSAID, bare, seen
from tests.wire import HANDSHAKES, NEWEST, REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)
structured_revisions = pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", NEWEST])
T = TypeVar("T")


@dataclass
class Weather:
    city: str
    degrees: float = 21.5


@dataclass
class Alert:
    alert_text: str


@dataclass
class Page(Generic[T]):
    items: list[T]


class Point(NamedTuple):
    x: int
    y: int


class Person(TypedDict):
    name: str


class Model(BaseModel):
    number: int


class Color(Enum):
    RED = "r"


ROME = Weather("Rome")
DATA = {"city": "Rome", "degrees": 21.5}

OBJECTS: list[tuple[Any, Any, Any]] = [
    (Weather, ROME, DATA),
    (Annotated[Weather, "now"], ROME, DATA),
    (Person, {"name": "Ann"}, {"name": "Ann"}),
    (Point, Point(1, 2), {"x": 1, "y": 2}),
    (Model, Model(number=1), {"number": 1}),
    (Page[Weather], Page([ROME]), {"items": [DATA]}),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (Mapping[str, Weather], {"a": ROME}, {"a": DATA}),
    (Weather | Alert, Alert("x"), {"alertText": "x"}),
]
OTHERS: list[tuple[Any, Any, Any]] = [
    (list[Weather], [ROME], [DATA]),
    (list[Weather], [], []),
    (Sequence[Weather], (ROME,), [DATA]),
    (tuple[Weather, ...], (ROME,), [DATA]),
    (Iterator[Weather], [ROME], [DATA]),
    (list[dict[str, int]], [{"a": 1}], [{"a": 1}]),
    (Weather | None, None, None),
    (Weather | None, ROME, DATA),
    (Weather | str, "text", "text"),
    (Weather | int, 5, 5),
    (list[Weather | None], [ROME, None], [DATA, None]),
]


@pytest.mark.fault(126)
@every_revision
@pytest.mark.parametrize(("annotation", "value", "data"), OBJECTS, ids=str)
async def test_objects_are_sent_as_text_and_as_they_are(annotation: Any, value: Any, data: Any, revision: str) -> None:
    outcome = await seen(value, annotation, revision=revision)
    assert outcome.data == data
    assert ("outputSchema" in outcome.definition) is (revision >= "2025-06-18")
    if revision >= "2025-06-18":
        assert outcome.structured == data
        assert outcome.schema["type"] == "object"
        jsonschema.Draft202012Validator(outcome.schema).validate(data)


@pytest.mark.fault(126)
@pytest.mark.fault(132)
@structured_revisions
@pytest.mark.parametrize(("annotation", "value", "data"), OTHERS, ids=str)
async def test_other_data_is_wrapped_until_the_newest_revision(
    annotation: Any, value: Any, data: Any, revision: str
) -> None:
    outcome = await seen(value, annotation, revision=revision)
    assert (outcome.text if isinstance(data, str) else outcome.data) == data
    assert bare(outcome.structured, revision) == data
    jsonschema.Draft202012Validator(outcome.schema).validate(outcome.structured)
    if revision != NEWEST:
        assert outcome.schema["type"] == "object"
        assert outcome.schema["required"] == ["result"]


@pytest.mark.fault(132)
@structured_revisions
async def test_wrapping_follows_the_declared_type_and_never_the_value(revision: str) -> None:
    class Maybe(Tool):
        @tool
        def weather(self, known: bool) -> Weather | None:
            return ROME if known else None

    async with connected(serving(Maybe), revision) as wire:
        schema = (await wire.tools())["weather"]["outputSchema"]
        for known, data in ((True, DATA), (False, None)):
            structured = (await wire.call("weather", {"known": known}))["structuredContent"]
            assert bare(structured, revision) == data
            jsonschema.Draft202012Validator(schema).validate(structured)


@pytest.mark.fault(127)
@structured_revisions
async def test_what_is_only_text_is_never_hidden_behind_a_structured_part(revision: str) -> None:
    for annotation in (list[TextContent | Weather], UNSAID, list[Any], ContentList):
        value: Any = [TextContent("look"), ROME]
        outcome = await seen(ContentList(value) if annotation is ContentList else value, annotation, revision=revision)
        assert outcome.texts == ["look", json.dumps(DATA, separators=(",", ":"))]
        assert "structuredContent" not in outcome.result
        assert "outputSchema" not in outcome.definition
    built = ToolResultBuilder().add_text("look").add(ROME).structured({"look": "look", **DATA}).build()
    outcome_definition = await described(tool(name="t")(lambda: built), revision=revision)
    assert "outputSchema" not in outcome_definition["t"]


@pytest.mark.fault(128)
@structured_revisions
@pytest.mark.parametrize("case", list(Case))
async def test_names_are_the_same_in_schema_value_and_text(case: Case, revision: str) -> None:
    @dataclass
    class Renamed:
        full_name: str = "Ann"
        zip_code: Annotated[str, Name("PLZ")] = "1"
        colour_of: dict[str, Color] = field(default_factory=lambda: {"my_key": Color.RED})

    server = {"serializer": SerializerConfig(case=case)}
    for annotation, value in ((Renamed, Renamed()), (list[Renamed], [Renamed()]), (Renamed | None, Renamed())):
        outcome = await seen(value, annotation, revision=revision, server=server)
        names = set((await seen(Renamed(), Renamed, revision=revision, server=server)).schema["properties"])
        written = outcome.data[0] if isinstance(value, list) else outcome.data
        assert set(written) == names
        assert "PLZ" in names
        assert next(iter(written.values())) == "Ann"
        assert {"my_key": "r"} in written.values()


@pytest.mark.fault(129)
@every_revision
async def test_errors_have_no_structured_part(revision: str) -> None:
    class Failing(Tool):
        @tool
        def raises(self) -> Weather:
            raise LookupError("no such city")

        @tool
        def says(self) -> Weather:
            raise ToolError("no such city")

        @tool
        def builds(self) -> Weather:
            error = ToolResultBuilder().add_text("no such city").structured({"city": 5}).as_error()
            return error.build()  # type: ignore[return-value]

        @tool
        def returns(self) -> list[Weather]:
            return ToolResult("no such city", {"a": 1}, is_error=True)  # type: ignore[return-value]

        @tool
        def needs(self, city: str) -> Weather: ...

    async with connected(serving(Failing, errors="message"), revision) as wire:
        for name, text in (("raises", "no such city"), ("says", "no such city"), ("needs", "city")):
            result = await wire.call(name)
            assert result["isError"] is True
            assert text in result["content"][0]["text"]
            assert "structuredContent" not in result
        for name in ("builds", "returns"):
            result = await wire.call(name)
            assert result["isError"] is True
            assert result["content"][0]["text"] == "no such city"
            assert "structuredContent" not in result


@dataclass
class Strict:
    age: int = 1
    kind: Literal["a", "b"] = "a"
    colour: Color = Color.RED
    day: date = date(2025, 1, 1)
    tags: list[str] = field(default_factory=list)
    inner: Weather = field(default_factory=lambda: Weather("Rome"))


@pytest.mark.fault(130)
@every_revision
@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"age": "41"}, "$.age"),
        ({"age": True}, "$.age"),
        ({"age": 1.5}, "$.age"),
        ({"age": None}, "$.age"),
        ({"kind": "c"}, "$.kind"),
        ({"colour": "r"}, "$.colour"),
        ({"day": "2025-01-01"}, "$.day"),
        ({"tags": ["x", 5]}, "$.tags[1]"),
        ({"tags": "x"}, "$.tags"),
        ({"inner": {"city": "Rome"}}, "$.inner"),
        ({"inner": Weather(5)}, "$.inner.city"),  # type: ignore[arg-type]
    ],
    ids=lambda value: str(value)[:20],
)
async def test_a_value_that_breaks_its_schema_is_an_error_and_stands_in_the_log(
    changes: Any, path: str, revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    for value, annotation, place in (
        (Strict(**changes), Strict, path),
        ([Strict(), Strict(**changes)], list[Strict], path.replace("$", "$[1]")),
    ):
        caplog.clear()
        outcome = await seen(value, annotation, revision=revision)
        assert outcome.is_error
        assert f"{place}: output mismatch" in outcome.text
        assert any(record.levelno >= logging.ERROR for record in caplog.records)


@pytest.mark.fault(130)
@structured_revisions
async def test_a_value_of_another_type_altogether_is_no_success(revision: str) -> None:
    for annotation in (Weather, list[Weather], Weather | None, dict[str, int]):
        for value in ("text", 5, object(), [object()], b"x", Image.new("L", (1, 1)), [TextContent("x")], Alert("x")):
            assert (await seen(value, annotation, revision=revision)).is_error, (annotation, value)


@pytest.mark.fault(131)
@every_revision
async def test_what_never_has_structure_announces_none(revision: str) -> None:
    annotations: list[Any] = [None, ContentList, ToolResult, TextContent, list[TextContent], Image.Image, bytes]
    annotations += [list[Image.Image], TextContent | Weather, list[TextContent | Weather], Image.Image | Weather]
    for annotation in annotations:
        for policy in ("records", "all"):
            outcome = await seen(None, annotation, revision=revision, server={"structured": policy})
            assert "outputSchema" not in outcome.definition
    for annotation in (str, int, bool, list[str], list[int], dict, list, Any, object, UNSAID, date, set[str]):
        assert "outputSchema" not in (await seen("x", annotation, revision=revision)).definition


@pytest.mark.fault(133)
@structured_revisions
async def test_wrappers_of_asynchronous_results_are_looked_through(revision: str) -> None:
    class Later(Tool):
        @tool
        async def plain(self) -> Weather:
            return ROME

        @tool
        def awaitable(self) -> Awaitable[Weather]:
            return self.plain()

        @tool
        def coroutine(self) -> Coroutine[Any, Any, Weather]:
            return self.plain()

        @tool
        async def twice(self) -> Awaitable[Weather]:
            return self.plain()

        @tool
        def sync(self) -> Weather:
            return ROME

    async with connected(serving(Later), revision) as wire:
        tools = await wire.tools()
        for name in tools:
            assert tools[name]["outputSchema"] == tools["sync"]["outputSchema"]
            assert (await wire.call(name))["structuredContent"] == DATA


@pytest.mark.fault(134)
@every_revision
async def test_an_exotic_return_annotation_costs_only_the_schema(revision: str) -> None:
    class Exotic(Generic[T]): ...

    annotations: list[Any] = [
        Callable[[], int],
        Lock,
        "pandas.DataFrame",
        type(ROME.__init__),
        T,
        list[Callable[[], int]],
    ]
    annotations += [Exotic[int], type, Iterator, "1 +", "list[Nowhere]", Weather | Callable[[], int], NotImplemented, 5]
    for annotation in annotations:
        outcome = await seen({"a": 1}, annotation, revision=revision)
        assert "outputSchema" not in outcome.definition
        assert outcome.data == {"a": 1}


@structured_revisions
async def test_settings_add_and_drop_structure(revision: str) -> None:
    for value, annotation, data in (
        (5, int, 5),
        ("x", str, "x"),
        ({"a": 1}, dict, {"a": 1}),
        ([1], Any, [1]),
        (None, int | None, None),
    ):
        for options in ({"structured": True}, {"server": {"structured": "all"}}):
            outcome = await seen(value, annotation, revision=revision, **options)  # type: ignore[arg-type]
            structured = outcome.structured
            assert (structured if annotation is dict else bare(structured, revision)) == data
    for options in ({"structured": False}, {"server": {"structured": "none"}}):
        assert "outputSchema" not in (await seen(ROME, Weather, revision=revision, **options)).definition  # type: ignore[arg-type]
    assert "outputSchema" in (await seen(ROME, Weather, structured=True, server={"structured": "none"})).definition


@structured_revisions
async def test_the_text_may_have_another_notation_than_the_data(revision: str) -> None:
    class Forecast(Tool):
        @tool(content_type=YAML_TEXT)
        def weather(self) -> Weather:
            return ROME

    async with connected(serving(Forecast), revision) as wire:
        result = await wire.call("weather")
        assert result["content"][0]["text"].strip() == "city: Rome\ndegrees: 21.5"
        assert result["structuredContent"] == DATA


OWN = {"type": "object", "properties": {"city": {"type": "string", "enum": ["Rome", "Oslo"]}}, "required": ["city"]}


@structured_revisions
async def test_an_own_schema_is_served_as_it_is_and_checked(revision: str) -> None:
    class Forecast(Tool):
        @tool(output_schema=OWN)
        def weather(self, city: str) -> Any:
            return {"city": city}

    async with connected(serving(Forecast), revision) as wire:
        assert (await wire.tools())["weather"]["outputSchema"] == OWN
        assert (await wire.call("weather", {"city": "Oslo"}))["structuredContent"] == {"city": "Oslo"}
        refused = await wire.call("weather", {"city": "Bonn"})
        assert refused["isError"] is True
        assert "$.city: output mismatch" in refused["content"][0]["text"]


async def test_a_wish_that_cannot_be_granted_is_refused_at_registration() -> None:
    for annotation in (Callable[[], int], "pandas.DataFrame", ContentList, Image.Image):

        @tool(structured=True)
        def t() -> Any: ...

        t.__annotations__["return"] = annotation
        with pytest.raises(DefinitionError, match=r"\bt: .*needs a return annotation with a JSON form"):
            McpServer("test").register(t)


async def test_revisions_without_structure_get_the_text_alone() -> None:
    for revision in HANDSHAKES[:2]:
        outcome = await seen([ROME], list[Weather], revision=revision)
        assert outcome.data == [DATA]
        assert set(outcome.result) == {"content"}


@pytest.mark.anyio
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_json_that_the_user_has_encoded_stays_on_one_line_and_is_json(revision: str) -> None:
    @tool
    def pretty() -> ToolResult:
        return ToolResult((TextContent("x"),), structured=msgspec.Raw(b'{\n  "a": "b c"\r\n}'))

    @tool
    def broken() -> ToolResult:
        return ToolResult((TextContent("x"),), structured=msgspec.Raw(b'{"a": '))

    async with connected(serving(pretty, broken), revision) as wire:
        assert (await wire.call("pretty"))["structuredContent"] == {"a": "b c"}
        failed = await wire.call("broken")
        assert failed["isError"]
        assert "is no JSON" in failed["content"][0]["text"]
