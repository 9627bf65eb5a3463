"""What the Delphi original promises about tools, content and its serializer, by the rows of the differences page."""

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import pytest
from marshmallow import validate
from PIL import Image

from mcpconnect import (
    Annotations,
    BlobResource,
    Case,
    ContentList,
    Context,
    DefinitionError,
    Encoder,
    Include,
    McpServer,
    Param,
    SerializerConfig,
    TextContent,
    TextResource,
    Tool,
    ToolResult,
    ToolResultBuilder,
    Visibility,
    tool,
)
from mcpconnect.serialization import Format, Ignore, IncludeIf, Members, Name, Raw, Rule, Unwrap
from tests.interaction.seen import UNSAID, seen
from tests.wire import NEWEST, REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)


@dataclass
class Person:
    first_name: str = "Ann"
    age: int = 30


class Color(Enum):
    RED = "red"
    BLUE = "blue"


def picture() -> Image.Image:
    return Image.new("RGB", (2, 2), "red")


# -- the conversion table: C-20 to C-36 -------------------------------------------------------------------------------

TEXTS: list[tuple[str, Any, Any, list[str]]] = [
    ("C-20 text", "hi", str, ["hi"]),
    ("C-20 empty text", "", str, [""]),
    ("C-21 integer", 2**63, int, ["9223372036854775808"]),
    ("C-22 float", 1234567.5, float, ["1234567.5"]),
    ("C-22 decimal", Decimal("1234.50"), Decimal, ["1234.50"]),
    ("C-23 datetime", datetime(2026, 1, 1, 12, tzinfo=UTC), datetime, ["2026-01-01T12:00:00Z"]),
    ("C-23 date", date(2026, 1, 1), date, ["2026-01-01"]),
    ("C-23 midnight", time(0), time, ["00:00:00"]),
    ("C-24 true", True, bool, ["true"]),
    ("C-24 false", False, bool, ["false"]),
    ("C-25 enum", Color.RED, Color, ["red"]),
    ("C-26 set", {Color.RED, Color.BLUE}, set[Color], ['["blue","red"]']),
    ("C-27 object", Person(), Person, ['{"firstName":"Ann","age":30}']),
    ("C-27 list", [Person()], list[Person], ['[{"firstName":"Ann","age":30}]']),
    ("C-27 dictionary", {"a_b": Person(age=1)}, dict[str, Person], ['{"a_b":{"firstName":"Ann","age":1}}']),
    ("C-27 not only ASCII", {"a": "größe €"}, dict, ['{"a":"größe €"}']),
    ("C-30 array", (1, 2), tuple[int, ...], ["[1,2]"]),
    ("C-30 texts", ["a", "b"], list[str], ["a", "b"]),
    ("C-34 nothing", None, None, []),
    ("C-34 nothing of something", None, Person | None, ["null"]),
    ("C-34 null in a list", [Person(), None], list[Person | None], ['[{"firstName":"Ann","age":30},null]']),
    ("C-35 error", ToolResult("bad", is_error=True), ToolResult, ["bad"]),
]


@every_revision
@pytest.mark.parametrize(("value", "annotation", "texts"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS])
async def test_what_becomes_text(value: Any, annotation: Any, texts: list[str], revision: str) -> None:
    for declared in (annotation, UNSAID) if texts not in (["a", "b"], ["null"]) else (annotation,):
        outcome = await seen(value, declared, revision=revision)
        assert outcome.texts == texts
        assert outcome.kinds == ["text"] * len(texts)


@every_revision
async def test_c_29_31_32_bytes_streams_and_pictures_are_media(revision: str) -> None:
    class Media(Tool):
        @tool
        def data(self) -> bytes:
            return b"\xff" * 100

        @tool
        def stream(self) -> io.BytesIO:
            stream = io.BytesIO(b"\xff" * 100)
            stream.seek(50)
            return stream

        @tool
        def image(self) -> Image.Image:
            return picture()

    async with connected(serving(Media), revision) as wire:
        for name in ("data", "stream"):
            (block,) = (await wire.call(name))["content"]
            assert block["type"] == "resource"
            assert block["resource"]["mimeType"] == "application/octet-stream"
            assert block["resource"]["uri"]
            assert "\n" not in block["resource"]["blob"]
            assert base64.b64decode(block["resource"]["blob"]) == b"\xff" * 100
        (block,) = (await wire.call("image"))["content"]
        assert (block["type"], block["mimeType"]) == ("image", "image/png")


async def test_c_33_what_has_no_form_is_told_where_it_is_seen_first() -> None:
    @tool
    def takes(callback: Callable[[], int]) -> str: ...

    with pytest.raises(DefinitionError, match=r"takes.*'callback'"):
        McpServer("test").register(takes)
    assert (await seen(lambda: 1, Callable[[], int])).is_error


# -- writers: C-40 to C-43 --------------------------------------------------------------------------------------------


class Shape: ...


class Square(Shape): ...


class Cube(Square): ...


async def test_c_40_to_43_the_encoder_of_the_nearest_class_wins_then_the_latest() -> None:
    class Drawing(Tool):
        @tool
        def shape(self) -> Any:
            return Shape()

        @tool
        def square(self) -> Any:
            return Square()

        @tool
        def cube(self) -> Any:
            return Cube()

        @tool
        def all(self) -> Any:
            return [Shape(), Square(), Cube()]

    class OnlyCubes(Encoder[Shape]):
        def supports(self, value: Shape) -> bool:
            return type(value) is Cube

        def encode(self, value: Shape) -> Any:
            return "exactly a cube"

    server = serving(Drawing)
    add, remove = server.encoders.add, server.encoders.remove
    async with connected(server) as wire:

        async def shown() -> list[str]:
            texts = [(await wire.texts(name))[0] for name in ("shape", "square", "cube")]
            assert await wire.texts("all") == texts
            return texts

        add(Square, lambda value: "square")
        add(Shape, lambda value: "shape")
        assert await shown() == ["shape", "square", "square"]
        add(Square, lambda value: "later square")
        assert await shown() == ["shape", "later square", "later square"]
        add(Shape, OnlyCubes())
        assert await shown() == ["shape", "later square", "later square"], "the nearer class is asked first"
        add(Square, OnlyCubes())
        assert await shown() == ["shape", "later square", "exactly a cube"]
        remove(Square)
        remove(Square)
        assert await shown() == ["shape", "square", "square"]
        remove(Square)
        assert await shown() == ["shape", "shape", "exactly a cube"]
        remove(Shape)
        assert await shown() == ["shape", "shape", "shape"]
        add(object, lambda value: "anything")
        assert await wire.texts("all") == ["anything"], "the list is an object, too"


# -- the builder: C-50 to C-58 ----------------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("make", [ToolResultBuilder, ContentList])
async def test_c_50_to_56_every_method_adds_its_block(make: Callable[[], Any], revision: str) -> None:
    stream = io.BytesIO(b"abc")
    stream.seek(1)
    content = (
        make()
        .add_text("t")
        .add_image("image/png", picture())
        .add_image("image/png", "iVBORw0KGgo=")
        .add_audio("audio/wav", b"RIFF")
        .add_link("text/html", "https://a.example/receipts/1?x=2", "A receipt")
        .add_blob("text/csv", stream)
        .add_blob(None, b"x", uri="file:///x")
        .add_resource(TextResource("r", "file:///r", "text/plain"))
        .add_resource(BlobResource(b"r", "file:///s"))
        .add(Person())
        .add([1, 2])
        .add_text("noted", annotations=Annotations("user"), meta={"k": 1})
    )
    outcome = await seen(content.build() if make is ToolResultBuilder else content, revision=revision)
    assert len(outcome.content) == 12
    assert not stream.closed
    blocks = outcome.content
    assert blocks[0] == {"type": "text", "text": "t"}
    assert blocks[2] == {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    if revision >= "2025-06-18":
        link = {"type": "resource_link", "uri": "https://a.example/receipts/1?x=2", "name": "1"}
        assert blocks[4] == {**link, "description": "A receipt", "mimeType": "text/html"}
        assert blocks[3] == {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
        assert blocks[11]["_meta"] == {"k": 1}
    assert base64.b64decode(blocks[5]["resource"]["blob"]) == b"abc"
    assert blocks[6]["resource"]["uri"] == "file:///x"
    assert blocks[7]["resource"] == {"uri": "file:///r", "mimeType": "text/plain", "text": "r"}
    assert [blocks[9]["text"], blocks[10]["text"]] == ['{"firstName":"Ann","age":30}', "[1,2]"]
    assert blocks[11]["annotations"] == {"audience": ["user"]}


async def test_c_57_58_building_twice_gives_two_whole_results() -> None:
    builder = ToolResultBuilder().add_text("a").structured({"a": 1}).meta(k=1)
    first, second = builder.build(), builder.build()
    first.append(TextContent("b"))

    class Full(Tool):
        @tool
        def longer(self) -> ContentList:
            return first

        @tool
        def full(self) -> ContentList:
            return second

        @tool
        def by_hand(self) -> ToolResult:
            return ToolResult(TextContent("a"), {"a": 1}, meta={"k": 1})

    async with connected(serving(Full)) as wire:
        assert await wire.texts("longer") == ["a", "b"]
        for name in ("full", "by_hand"):
            result = await wire.call(name)
            assert [block["text"] for block in result["content"]] == ["a"]
            assert (result["structuredContent"], result["_meta"]["k"]) == ({"a": 1}, 1)


# -- schema and arguments: B-8 to B-14 --------------------------------------------------------------------------------


@dataclass
class Ticket:
    """A ticket."""

    ticket_id: int
    buyer_name: str
    tags: list[str] = field(default_factory=list)
    parent_ticket: "Ticket | None" = None


@every_revision
async def test_b_8_to_14_what_the_schema_shows_is_what_is_taken(revision: str) -> None:
    @tool
    def t(
        ticket: Annotated[Ticket, "The parameter's text wins"],
        color: Color,
        count: Annotated[int, validate.Range(min=1, max=10)] = 1,
        colors: set[Color] = frozenset(),  # type: ignore[assignment]
        by_name: dict[str, Ticket] | None = None,
        ticket_ids: tuple[int, ...] = (),
    ) -> str:
        return f"{ticket} {color.name} {count} {sorted(c.name for c in colors)} {by_name} {ticket_ids}"

    async with connected(serving(t), revision) as wire:
        schema = (await wire.tools())["t"]["inputSchema"]
        assert schema["required"] == ["ticket", "color"]
        assert schema["properties"]["color"] == {"type": "string", "enum": ["red", "blue"]}
        assert schema["properties"]["count"] == {"type": "integer", "minimum": 1, "maximum": 10, "default": 1}
        assert schema["properties"]["ticket"]["description"] == "The parameter's text wins"
        shown = schema["$defs"]["Ticket"]["properties"]
        assert list(shown) == ["ticketId", "buyerName", "tags", "parentTicket"]
        ticket = {"ticketId": 1, "buyerName": "Ann", "parentTicket": {"ticketId": 2, "buyerName": "Bob"}}
        arguments = {"ticket": ticket, "color": "blue", "colors": ["red"], "byName": {"x": ticket}, "ticketIds": [1]}
        parsed = Ticket(1, "Ann", [], Ticket(2, "Bob"))
        assert await wire.texts("t", arguments) == [f"{parsed} BLUE 1 ['RED'] { ({'x': parsed}) } (1,)"]
        for wrong, path in (
            ({**arguments, "color": "RED"}, "color"),
            ({**arguments, "count": 11}, "count"),
            ({**arguments, "ticket": {**ticket, "TicketId": 1}}, "ticket.TicketId"),
            ({**arguments, "ticket": {"ticketId": "x", "buyerName": "Ann"}}, "ticket.ticketId"),
            ({"color": "blue"}, "ticket"),
            ({**arguments, "ticket": None}, "ticket"),
        ):
            refused = await wire.call("t", wrong)
            assert refused["isError"] is True
            assert refused["content"][0]["text"].startswith(f"{path}: ")


async def test_b_1_3_6_registrations_are_whole_and_belong_to_one_server() -> None:
    class Half(Tool):
        @tool
        def fine(self) -> str: ...

        @tool
        def wrong(self, *args: int) -> str: ...

    server = McpServer("one")
    with pytest.raises(DefinitionError):
        server.register(Half)
    assert [made.name for made in server.tools] == []

    class Whole(Tool):
        @tool
        def b(self) -> str: ...

        @tool
        def a(self) -> str: ...

    other = McpServer("two")
    for each in (server, other):
        each.register(Whole)
    server.unregister("b")
    assert [[made.name for made in each.tools] for each in (server, other)] == [["a"], ["b", "a"]]


# -- injection: G-1 to G-6 --------------------------------------------------------------------------------------------


async def test_g_1_3_6_the_context_comes_to_self_to_init_and_to_parameters_and_disposes_in_reverse() -> None:
    events: list[str] = []

    class Base(Tool):
        def __init__(self) -> None:
            self.opened = f"opened for {self.ctx.request_id}"
            self.ctx.defer(lambda: events.append("first deferred"))

    class Derived(Base):
        @tool
        def fine(self, given: Context) -> str:
            given.defer(lambda: events.append("last deferred"))
            assert given is self.ctx
            return self.opened

        @tool
        def fails(self) -> str:
            raise ValueError

    async with connected(serving(Derived)) as wire:
        answer = await wire.ask("tools/call", {"name": "fine"}, id="x")
        assert answer["result"]["content"][0]["text"] == "opened for x"
        assert events == ["last deferred", "first deferred"]
        await wire.call("fails")
        assert events[2:] == ["first deferred"]


# -- names: 2.B -------------------------------------------------------------------------------------------------------

#   name               camel              snake               screaming           kebab
CASES = [
    ("FirstName", "firstName", "first_name", "FIRST_NAME", "first-name"),
    ("UserID", "userId", "user_id", "USER_ID", "user-id"),
    ("ServerURL", "serverUrl", "server_url", "SERVER_URL", "server-url"),
    ("URLServer", "urlServer", "url_server", "URL_SERVER", "url-server"),
    ("HTMLParser", "htmlParser", "html_parser", "HTML_PARSER", "html-parser"),
    ("XMLHttpRequest", "xmlHttpRequest", "xml_http_request", "XML_HTTP_REQUEST", "xml-http-request"),
    ("MyURLParser", "myUrlParser", "my_url_parser", "MY_URL_PARSER", "my-url-parser"),
    ("ID", "id", "id", "ID", "id"),
    ("Id", "id", "id", "ID", "id"),
    ("URL", "url", "url", "URL", "url"),
    ("PointX", "pointX", "point_x", "POINT_X", "point-x"),
    ("Address1", "address1", "address1", "ADDRESS1", "address1"),
    ("Address1Line", "address1Line", "address1_line", "ADDRESS1_LINE", "address1-line"),
    ("ItemNo1A", "itemNo1A", "item_no1_a", "ITEM_NO1_A", "item-no1-a"),
    ("X1Y2", "x1Y2", "x1_y2", "X1Y2", "x1-y2"),
    ("Is3DModel", "is3DModel", "is3_d_model", "IS3_D_MODEL", "is3-d-model"),
    ("IPv4Address", "ipv4Address", "ipv4_address", "IPV4_ADDRESS", "ipv4-address"),
    ("OAuth2Token", "oAuth2Token", "o_auth2_token", "O_AUTH2_TOKEN", "o-auth2-token"),
    ("TotalCOUNT", "totalCount", "total_count", "TOTAL_COUNT", "total-count"),
    ("COUNTRY", "country", "country", "COUNTRY", "country"),
    ("Item_Count", "itemCount", "item_count", "ITEM_COUNT", "item-count"),
    ("firstName", "firstName", "first_name", "FIRST_NAME", "first-name"),
    ("myLongName", "myLongName", "my_long_name", "MY_LONG_NAME", "my-long-name"),
    ("first_name", "firstName", "first_name", "FIRST_NAME", "first-name"),
]


@pytest.mark.parametrize("row", CASES, ids=[row[0] for row in CASES])
async def test_2b_the_names_of_the_originals_table(row: tuple[str, ...]) -> None:
    name, *expected = row
    record = make_dataclass("Record", [(name, int)])
    styles = (Case.CAMEL, Case.SNAKE, Case.SCREAMING_SNAKE, Case.KEBAB)
    shown = []
    for style in styles:
        outcome = await seen(record(1), record, server={"serializer": SerializerConfig(case=style)})
        assert list(outcome.schema["properties"]) == list(outcome.data)
        shown.extend(outcome.data)
    assert shown == expected


# -- members: 2.C, 2.D, NE-26 -----------------------------------------------------------------------------------------


@dataclass
class Decided:
    """One member for each step of the decision order."""

    plain: int = 1
    listed: int = 2
    _hidden: int = 3
    ignored: Annotated[int, Ignore] = 4
    insisted: Annotated[int, Ignore, IncludeIf()] = 5
    _insisted_hidden: Annotated[int, IncludeIf()] = 6
    insisted_listed: Annotated[int, IncludeIf()] = 7
    _asked_yes: Annotated[int, IncludeIf(lambda context: True)] = 8
    asked_no: Annotated[int, IncludeIf(lambda context: False)] = 9
    asked_nothing: Annotated[int, IncludeIf(lambda context: None)] = 10
    ignored_asked: Annotated[int, Ignore, IncludeIf(lambda context: True)] = 11
    listed_asked: Annotated[int, IncludeIf(lambda context: True)] = 12

    @property
    def computed(self) -> int:
        return 13


async def test_ne_26_members_are_chosen_in_the_originals_order() -> None:
    config = SerializerConfig(case=Case.UNCHANGED, ignore={"listed", "insisted_listed", "listed_asked"})
    expected = {
        "plain": 1,
        "insisted": 5,
        "insisted_hidden": 6,
        "insisted_listed": 7,
        "asked_yes": 8,
        "asked_nothing": 10,
        "listed_asked": 12,
    }
    for annotation in (Decided, UNSAID):
        outcome = await seen(Decided(), annotation, server={"serializer": config})
        assert outcome.data == expected


async def test_ne_20_to_25_kinds_visibility_order_and_lists() -> None:
    class Base:
        b: int = 1
        a: int = 2

    class Shown(Base):
        z: int = 3
        _y: int = 4

        @property
        def read_only(self) -> int:
            return 5

    for config, expected in (
        (SerializerConfig(), ["b", "a", "z"]),
        (SerializerConfig(members={Members.PROPERTIES}), ["readOnly"]),
        (SerializerConfig(members=set(Members), visibility=set(Visibility)), ["b", "a", "z", "y", "readOnly"]),
        (SerializerConfig(sort_members=True), ["a", "b", "z"]),
        (SerializerConfig(ignore={"a"}), ["b", "z"]),
        (SerializerConfig(rules={Base: Rule(ignore=["b"])}), ["a", "z"]),
        (SerializerConfig(rules={Shown: Rule(members={Members.PROPERTIES})}), ["readOnly"]),
    ):
        assert list((await seen(Shown(), Shown, server={"serializer": config})).data) == expected


async def test_ne_30_to_37_markers() -> None:
    @dataclass
    class Inner:
        size: int = 1

    @dataclass
    class Marked:
        renamed: Annotated[int, Name("Exactly_This")] = 1
        hidden: Annotated[str, Ignore] = "secret"
        data: Annotated[bytes, Format("hex")] = b"\xff"
        inner: Annotated[Inner, Unwrap] = field(default_factory=Inner)
        raw: Annotated[str, Raw] = '{"a":[1]}'

    class Echo(Tool):
        @tool
        def echo(self, marked: Marked) -> Marked:
            assert marked == Marked()
            return marked

    expected = {"Exactly_This": 1, "data": "ff", "size": 1, "raw": {"a": [1]}}
    assert (await seen(Marked(), Marked)).data == expected
    async with connected(serving(Echo)) as wire:
        sent = {"Exactly_This": 1, "data": "ff", "size": 1}
        assert (await wire.call("echo", {"marked": sent}))["structuredContent"] == expected


# -- include conditions: 2.E ------------------------------------------------------------------------------------------

ALWAYS, NOT_NONE, NOT_EMPTY, NOT_DEFAULT = list(Include)
CONDITIONS: list[tuple[str, Any, Any, set[Include]]] = [
    ("text", str, "", {ALWAYS, NOT_NONE}),
    ("number", int, 0, {ALWAYS, NOT_NONE, NOT_EMPTY}),
    ("float", float, 0.0, {ALWAYS, NOT_NONE, NOT_EMPTY}),
    ("boolean", bool, False, {ALWAYS, NOT_NONE, NOT_EMPTY}),
    ("enum", Color, Color.RED, set(Include)),
    ("moment", datetime, datetime(1970, 1, 1, tzinfo=UTC), set(Include)),
    ("no object", Person | None, None, {ALWAYS}),
    ("an object", Person, Person(), set(Include)),
    ("list", list[int], [], {ALWAYS, NOT_NONE}),
    ("set", set[int], set(), {ALWAYS, NOT_NONE}),
    ("dictionary", dict[str, int], {}, {ALWAYS, NOT_NONE}),
    ("no number", int | None, None, {ALWAYS}),
    ("a number or none", int | None, 0, set(Include)),
    ("anything", Any, None, {ALWAYS}),
    ("bytes", bytes, b"", {ALWAYS, NOT_NONE}),
    ("identifier", UUID, UUID(int=0), set(Include)),
]


@pytest.mark.parametrize("rule", list(Include), ids=lambda rule: rule.value)
@pytest.mark.parametrize(
    ("annotation", "value", "written"), [row[1:] for row in CONDITIONS], ids=[row[0] for row in CONDITIONS]
)
async def test_2e_what_is_written_under_which_condition(
    annotation: Any, value: Any, written: set[Include], rule: Include
) -> None:
    everywhere = make_dataclass("Record", [("member", annotation), ("other", int, field(default=1))])
    here = make_dataclass("Record", [("member", Annotated[annotation, IncludeIf(rule)])])
    for record, config in ((everywhere, SerializerConfig(include=rule)), (here, SerializerConfig())):
        for declared in (record, UNSAID):
            outcome = await seen(record(value), declared, server={"serializer": config})
            assert ("member" in outcome.data) == (rule in written)


async def test_2e_a_function_decides_for_each_object() -> None:
    @dataclass
    class Number:
        n: Annotated[int, IncludeIf(lambda context: context.value % 2 == 1)]

    assert (await seen([Number(1), Number(2)], list[Number])).data == [{"n": 1}, {}]


# -- reading: 2.F to 2.H ----------------------------------------------------------------------------------------------


@dataclass
class Box:
    items: list[int] = field(default_factory=lambda: [1])
    limit: int | None = 5
    inner: Person | None = None

    def __post_init__(self) -> None:
        if self.limit == 13:
            raise ValueError("limit must not be 13")


@pytest.mark.parametrize("strict", [False, True])
async def test_ne_52_and_60_to_74_what_is_read_is_made_by_its_class_or_refused(strict: bool) -> None:
    @tool
    def t(box: Box) -> str:
        return repr(box)

    async with connected(serving(t, strict_arguments=strict)) as wire:
        for sent, made in (
            ({}, Box()),
            ({"items": [], "limit": None}, Box([], None)),
            ({"inner": {"firstName": "Bob"}}, Box(inner=Person("Bob"))),
            ({"inner": {}}, Box(inner=Person())),
        ):
            assert await wire.texts("t", {"box": sent}) == [repr(made)]
        for sent, path in (
            ({"items": None}, "box.items"),
            ({"items": {}}, "box.items"),
            ({"limit": True}, "box.limit"),
            ({"limit": "x"}, "box.limit"),
            ({"Items": []}, "box.Items"),
            ({"more": 1}, "box.more"),
            ({"inner": {"age": []}}, "box.inner.age"),
            ({"limit": 13}, "box"),
        ):
            refused = await wire.call("t", {"box": sent})
            assert refused["isError"] is True
            assert refused["content"][0]["text"].startswith(f"{path}: ")
        numeric = await wire.call("t", {"box": {"limit": "7"}})
        assert numeric.get("isError", False) is strict


async def test_ne_80_to_87_containers_go_out_and_come_back() -> None:
    @dataclass
    class All:
        matrix: list[list[int]]
        by_number: dict[int, str]
        by_color: dict[Color, int]
        colors: set[Color]
        maybe: list[int | None]
        data: bytes

    class Echo(Tool):
        @tool
        def echo(self, given: All) -> All:
            assert given == All([[1], []], {1: "a"}, {Color.RED: 2}, {Color.RED, Color.BLUE}, [1, None], b"\xff")
            return given

    wire_form = {
        "matrix": [[1], []],
        "byNumber": {"1": "a"},
        "byColor": {"red": 2},
        "colors": ["blue", "red"],
        "maybe": [1, None],
        "data": "/w==",
    }
    for strict in (False, True):
        async with connected(serving(Echo, strict_arguments=strict)) as wire:
            assert (await wire.call("echo", {"given": wire_form}))["structuredContent"] == wire_form


# -- versions: V-1 to V-6 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answered"),
    [*zip(REVISIONS[:-1], REVISIONS[:-1], strict=True), (NEWEST, "2025-11-25"), ("2099-01-01", "2025-11-25")],
)
async def test_v_1_to_5_versions_are_echoed_or_answered_with_the_newest_handshake(asked: str, answered: str) -> None:
    server = McpServer("named", "3", title="T", instructions="Ask first.", website_url="https://a.example")
    async with connected(server, "2025-11-25", initialize=False) as wire:
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        result = (await wire.ask("initialize", params))["result"]
        assert result["protocolVersion"] == answered
        assert result["capabilities"]["tools"] == {"listChanged": True}
        assert result["instructions"] == "Ask first."
        assert (result["serverInfo"]["name"], result["serverInfo"]["version"]) == ("named", "3")
        assert ("title" in result["serverInfo"]) is (answered >= "2025-06-18")
        assert (await wire.ask("ping"))["result"] == {}


async def test_a_1_to_12_declarations() -> None:
    class Auth(Tool, prefix="auth"):
        @tool
        def login(self, user_name: Annotated[str, Param("user", description="Who")]) -> str:
            """Log in."""
            return user_name

        @tool(enabled=False)
        def hidden(self) -> str: ...

        def not_a_tool(self) -> str: ...

    tools = await described(Auth)
    assert list(tools) == ["auth_login"]
    assert tools["auth_login"]["description"] == "Log in."
    assert tools["auth_login"]["inputSchema"]["properties"] == {"user": {"type": "string", "description": "Who"}}
    async with connected(serving(Auth)) as wire:
        assert await wire.texts("auth_login", {"user": "ann"}) == ["ann"]
        assert (await wire.ask("tools/call", {"name": "auth_hidden"}))["error"]["code"] == -32602
