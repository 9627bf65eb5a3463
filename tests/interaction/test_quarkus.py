"""What the test suites of Quarkus' MCP server assert about tools, numbered as in `docs/explanation/differences.md`."""

import json
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
import sniffio
from marshmallow import validate

from mcpconnect import (
    Annotations,
    AudioContent,
    Case,
    ContentList,
    Context,
    CustomSerializer,
    DefinitionError,
    EmbeddedResource,
    Icon,
    ImageContent,
    McpServer,
    Param,
    ProtocolError,
    ResourceLink,
    SerializerConfig,
    TextContent,
    TextResource,
    Tool,
    ToolError,
    ToolResult,
    ToolResultBuilder,
    tool,
)
from tests.interaction.seen import seen
from tests.wire import NEWEST, REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)


class TimeUnit(Enum):
    HOURS = "HOURS"
    DAYS = "DAYS"


@dataclass
class MyArg:
    price: int
    names: list[str] = field(default_factory=lambda: ["foo"])


@dataclass
class Sum:
    name: str
    sum_of_all: int = 20
    valid: bool = True


# -- basics: 1 to 25 --------------------------------------------------------------------------------------------------


@every_revision
async def test_1_8_every_return_type_gives_one_tool_and_the_expected_text(revision: str) -> None:
    class Returning(Tool):
        @tool
        def result(self) -> ToolResult:
            return ToolResult("hi")

        @tool
        def content(self) -> TextContent:
            return TextContent("hi")

        @tool
        def contents(self) -> list[TextContent]:
            return [TextContent("hi")]

        @tool
        def text(self) -> str:
            return "hi"

        @tool
        def texts(self) -> list[str]:
            return ["hi"]

        @tool
        async def async_text(self) -> str:
            return "hi"

        @tool
        async def async_texts(self) -> list[str]:
            return ["hi"]

        @tool
        def awaitable(self) -> Awaitable[str]:
            return self.async_text()

    async with connected(serving(Returning), revision) as wire:
        answer = await wire.ask("tools/list")
        names = [made["name"] for made in answer["result"]["tools"]]
        assert names == [name for name in vars(Returning) if not name.startswith("_")]
        assert not any("title" in made for made in answer["result"]["tools"])
        for name in names:
            assert await wire.texts(name) == ["hi"]


@every_revision
async def test_2_3_4_arguments_are_described(revision: str) -> None:
    @tool
    def t(
        uniPrice_: Annotated[float, Param(name="uni_price")],
        unit: TimeUnit,
        ctx: Context,
        price: Annotated[int | None, "Define the price..."] = None,
    ) -> str: ...

    schema = (await described(t, revision=revision))["t"]["inputSchema"]
    assert schema["properties"]["price"] == {"type": "integer", "description": "Define the price..."}
    assert schema["properties"]["uni_price"] == {"type": "number"}
    assert schema["properties"]["unit"]["type"] == "string"
    assert schema["required"] == ["uni_price", "unit"]
    assert "ctx" not in schema["properties"]


async def test_5_6_7_metadata_and_annotations_arrive_unchanged() -> None:
    meta = {"text": "x", "number": 10, "flag": True, "list": [1, "a"], "object": {"key_name": 1}}

    class Meta(Tool):
        @tool(meta=meta)
        def noted(self) -> TextContent:
            moment = datetime(2025, 8, 26, 8, 40, tzinfo=UTC)
            notes = Annotations(audience="assistant", last_modified=moment, priority=0.5)
            return TextContent("hi", annotations=notes, meta={"content/foo": 10})

        @tool
        def result(self) -> ToolResult:
            return ToolResult("hi", meta={"alpha-foo": True})

    for revision in ("2025-06-18", "2025-11-25", NEWEST):
        async with connected(serving(Meta), revision) as wire:
            assert (await wire.tools())["noted"]["_meta"] == meta
            (block,) = (await wire.call("noted"))["content"]
            assert block["_meta"] == {"content/foo": 10}
            assert block["annotations"] == {
                "audience": ["assistant"],
                "lastModified": "2025-08-26T08:40:00Z",
                "priority": 0.5,
            }
            given = (await wire.call("result"))["_meta"]
            assert given["alpha-foo"] is True
            assert ("io.modelcontextprotocol/serverInfo" in given) is (revision == NEWEST)


async def test_9_synchronous_methods_run_in_a_worker_and_asynchronous_ones_on_the_loop(anyio_backend: str) -> None:
    loop_thread = threading.get_ident()

    class Where(Tool):
        @tool
        def sync(self) -> str:
            assert threading.get_ident() != loop_thread
            return str(self.ctx.request_id)

        @tool
        async def asynchronous(self) -> str:
            assert threading.get_ident() == loop_thread
            assert sniffio.current_async_library() == anyio_backend
            return str(self.ctx.request_id)

        @tool(thread=False)
        def inline(self) -> str:
            assert threading.get_ident() == loop_thread
            return str(self.ctx.request_id)

    async with connected(serving(Where)) as wire:
        for name in ("sync", "asynchronous", "inline"):
            answer = await wire.ask("tools/call", {"name": name}, id=f"id of {name}")
            assert answer["result"]["content"][0]["text"] == f"id of {name}"


@pytest.mark.parametrize("revision", REVISIONS[:-1])
async def test_11_a_call_without_params_is_refused(revision: str) -> None:
    async with connected(serving(tool(name="t")(lambda: "x")), revision) as wire:
        wire.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call"})
        answer = await wire.until(lambda: wire.answer_to(9))
        assert answer["error"]["code"] == -32602


@every_revision
async def test_12_13_14_bad_arguments_are_errors_of_the_tool_and_good_ones_bind(revision: str) -> None:
    @tool
    def t(
        price: int,
        is_active: bool = False,
        time_unit: TimeUnit = TimeUnit.DAYS,
        pojo: MyArg | None = None,
        pojos: tuple[MyArg, ...] = (),
    ) -> str:
        return f"{price}{time_unit.name}{is_active}{pojo}{pojos}"

    async with connected(serving(t), revision) as wire:
        for wrong, name in (
            ({}, "price"),
            ({"price": True}, "price"),
            ({"price": 1, "isActive": "hello"}, "isActive"),
            ({"price": 1, "timeUnit": "AGES"}, "timeUnit"),
            ({"price": 1, "pojo": True}, "pojo"),
            ({"price": 1, "pojos": [1, 2]}, "pojos[0]"),
        ):
            result = await wire.call("t", wrong)
            assert result["isError"] is True
            assert result["content"][0]["text"].startswith(f"{name}: ")
        given = {"price": 1, "isActive": True, "pojo": {"price": 2}, "pojos": [{"price": 3, "names": []}]}
        assert await wire.texts("t", given) == [f"1DAYSTrue{MyArg(2)}{(MyArg(3, []),)}"]


async def test_15_16_20_all_kinds_of_arguments_bind_in_one_call() -> None:
    @tool
    def t(
        flag: bool,
        short: int,
        ratio: float,
        exact: Decimal,
        number: int | float,
        ints: list[int],
        texts: list[str],
        args: list[MyArg],
        unit: TimeUnit,
        text: str,
        arg: MyArg,
        maybe_int: int | None = -1,
        maybe_float: float | None = -1.0,
    ) -> str:
        given = [flag, short, ratio, exact, number, ints, texts, args, unit, text, arg, maybe_int, maybe_float]
        return repr(given)

    arguments = {
        "flag": True,
        "short": 1,
        "ratio": 2,
        "exact": "1.10",
        "number": 2.5,
        "ints": [1, 2],
        "texts": ["a"],
        "args": [{"price": 1}],
        "unit": "HOURS",
        "text": "x",
        "arg": {"price": 2, "names": ["b"]},
    }
    args = [True, 1, 2.0, Decimal("1.10"), 2.5, [1, 2], ["a"], [MyArg(1)], TimeUnit.HOURS, "x", MyArg(2, ["b"])]
    async with connected(serving(t)) as wire:
        assert await wire.texts("t", arguments) == [repr([*args, -1, -1.0])]
        assert await wire.texts("t", {**arguments, "maybeInt": 3, "maybeFloat": 4}) == [repr([*args, 3, 4.0])]


async def test_17_a_type_may_be_read_from_other_names_or_from_a_text() -> None:
    @dataclass
    class Alpha:
        name: str
        number: int

    def other_names(data: Any) -> Alpha:
        return Alpha(data["n"], data["i"])

    def from_text(data: Any) -> Alpha:
        name, _, number = str(data).partition(":")
        return Alpha(name, int(number))

    @tool
    def t(alpha: Alpha) -> str:
        return repr(alpha)

    for load, sent, schema in ((other_names, {"n": "alpha", "i": 42}, "object"), (from_text, "alpha:42", "string")):
        custom = CustomSerializer(str, load, {"type": schema})
        server = McpServer("test", serializer=SerializerConfig(serializers={Alpha: custom}))
        server.register(t)
        async with connected(server) as wire:
            assert await wire.texts("t", {"alpha": sent}) == [repr(Alpha("alpha", 42))]
            assert (await wire.tools())["t"]["inputSchema"]["properties"]["alpha"] == {"type": schema}


async def test_18_19_optional_lists_and_numbers() -> None:
    @tool
    def optional(tasks: list[str] | None = None, n: int | None = None, x: float | None = None) -> str: ...

    @tool
    def plain(tasks: list[str]) -> str: ...

    tools = await described(optional, plain)
    texts = {"type": "array", "items": {"type": "string"}}
    assert tools["optional"]["inputSchema"] == {
        "type": "object",
        "properties": {"tasks": texts, "n": {"type": "integer"}, "x": {"type": "number"}},
        "additionalProperties": False,
    }
    assert tools["plain"]["inputSchema"] == {
        "type": "object",
        "properties": {"tasks": texts},
        "required": ["tasks"],
        "additionalProperties": False,
    }


@dataclass
class Address:
    street: str


@dataclass
class Customer:
    default_address: Address
    other_address: Address | None = None


@dataclass
class Node:
    children: list["Node"]


@every_revision
async def test_21_22_shared_and_recursive_types_are_defined_at_the_root(revision: str) -> None:
    @tool
    def t(customer: Customer, second: Customer, node: Node, flag: bool) -> int:
        return len(node.children)

    async with connected(serving(t), revision) as wire:
        schema = (await wire.tools())["t"]["inputSchema"]
        assert schema["properties"]["customer"] == {"$ref": "#/$defs/Customer"}
        assert schema["$defs"]["Customer"]["properties"]["defaultAddress"] == {"$ref": "#/$defs/Address"}
        assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
        assert schema["properties"]["flag"] == {"type": "boolean"}
        customer = {"defaultAddress": {"street": "x"}}
        node = {"children": [{"children": []}]}
        arguments = {"customer": customer, "second": customer, "node": node, "flag": True}
        assert await wire.texts("t", arguments) == ["1"]


async def test_23_two_arguments_of_one_name_are_refused_and_dots_are_not() -> None:
    @tool
    def twice(a: Annotated[int, Param(name="code")], b: Annotated[int, Param(name="code")]) -> str: ...

    with pytest.raises(DefinitionError, match=r"twice.*'a' and 'b'.*'code'"):
        McpServer("test").register(twice)

    @tool
    def dotted(sku: Annotated[str, Param(name="sku.code"), validate.Length(min=2)]) -> str:
        return sku

    async with connected(serving(dotted)) as wire:
        assert await wire.texts("dotted", {"sku.code": "ab"}) == ["ab"]
        refused = await wire.call("dotted", {"sku.code": "a"})
        assert refused["isError"] is True


async def test_25_the_registered_function_is_what_it_was() -> None:
    class Marked(Tool):
        @tool
        def method(self, x: int) -> str:
            """Do it."""
            return str(x)

        method.custom = "annotation"  # type: ignore[attr-defined]

    server = serving(Marked)
    assert (Marked.method.__name__, Marked.method.__doc__) == ("method", "Do it.")
    assert Marked.method.custom == "annotation"  # type: ignore[attr-defined]
    assert [feature.where for feature in server.tools] == [f"{Marked.__module__}.{Marked.__qualname__}.method"]


# -- defaults: 26 to 31 -----------------------------------------------------------------------------------------------


@every_revision
async def test_26_31_defaults_are_shown_in_json_and_used(revision: str) -> None:
    @tool
    def t(
        flag: bool = True,
        n: int = 2,
        m: int | None = 2,
        ratio: float = 2.1,
        text: str = "fooo",
        unit: TimeUnit = TimeUnit.HOURS,
        span: timedelta = timedelta(seconds=5),
        arg: MyArg = MyArg(10, ["foo", "bar", "baz"]),  # noqa: B008
        exact: Decimal = Decimal("1.10"),
        noted: Annotated[Annotated[int, object()], "unrelated", dict] = 7,
    ) -> str:
        return f"{flag}::{n}::{m}::{ratio}::{text}::{unit.name}::{span}::{arg}::{exact}::{noted}"

    async with connected(serving(t), revision) as wire:
        schema = (await wire.tools())["t"]["inputSchema"]
        assert "required" not in schema
        assert {name: made["default"] for name, made in schema["properties"].items()} == {
            "flag": True,
            "n": 2,
            "m": 2,
            "ratio": 2.1,
            "text": "fooo",
            "unit": "HOURS",
            "span": "PT5S",
            "arg": {"price": 10, "names": ["foo", "bar", "baz"]},
            "exact": "1.10",
            "noted": 7,
        }
        arg = MyArg(10, ["foo", "bar", "baz"])
        assert await wire.texts("t") == [f"True::2::2::2.1::fooo::HOURS::0:00:05::{arg}::1.10::7"]


async def test_27_28_a_serializer_of_ones_own_beats_the_built_in_one_also_for_an_abstract_class() -> None:
    words = {"one": 1, "two": 2}

    class Shape(ABC):
        @abstractmethod
        def area(self) -> int: ...

    class Square(Shape):
        def area(self) -> int:
            return 4

    @tool
    def t(number: int, shape: Shape) -> str:
        return f"{number} {shape.area()}"

    @tool
    def shape() -> Shape:
        return Square()

    serializers = {
        int: CustomSerializer(str, words.__getitem__, {"enum": list(words)}),
        Shape: CustomSerializer(lambda shape: type(shape).__name__, lambda data: Square(), {"type": "string"}),
    }
    server = serving(t, shape, serializer=SerializerConfig(serializers=serializers))
    async with connected(server) as wire:
        assert (await wire.tools())["t"]["inputSchema"]["properties"]["number"] == {"enum": ["one", "two"]}
        assert await wire.texts("t", {"number": "two", "shape": "any"}) == ["2 4"]
        assert await wire.texts("shape") == ["Square"]


# -- errors: 32 to 38 -------------------------------------------------------------------------------------------------


@every_revision
async def test_32_to_38_who_reads_which_error(revision: str) -> None:
    class Failing(Tool):
        @tool
        def business(self) -> str:
            raise ToolError("Business error")

        @tool(errors=(ValueError,))
        def named(self) -> str:
            raise ValueError("I am not ready!")

        @tool(errors=(ValueError,))
        async def named_async(self) -> str:
            raise ValueError("I am not ready!")

        @tool(errors=(Exception,))
        def protocol(self) -> str:
            raise ProtocolError("Testik", code=-32603)

        @tool(errors=(Exception,))
        def business_too(self) -> str:
            raise ToolError("Business error")

        @tool
        def bug(self) -> str:
            return None.missing  # type: ignore[attr-defined,no-any-return]

    async with connected(serving(Failing), revision) as wire:
        for name, text in (
            ("business", "Business error"),
            ("business_too", "Business error"),
            ("named", "I am not ready!"),
            ("named_async", "I am not ready!"),
        ):
            result = await wire.call(name)
            assert (result["isError"], result["content"][0]["text"]) == (True, text)
        error = (await wire.ask("tools/call", {"name": "protocol"}))["error"]
        assert (error["code"], error["message"]) == (-32603, "Testik")
        hidden = (await wire.call("bug"))["content"][0]["text"]
        assert hidden.startswith("bug failed: AttributeError (error id ")


async def test_37_the_cause_of_a_failure_stands_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    @tool
    def t() -> str:
        try:
            raise LookupError("postgres://u:pw@h/db")
        except LookupError as error:
            raise ValueError("no such row") from error

    async with connected(serving(t)) as wire:
        (text,) = await wire.texts("t")
    assert "postgres" not in text
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ValueError)
    assert isinstance(record.exc_info[1].__cause__, LookupError)


# -- conversion: 39 to 51 ---------------------------------------------------------------------------------------------


async def test_39_40_encoders_give_content_or_a_whole_result() -> None:
    class Encoded(Tool):
        @tool
        def one(self) -> Sum:
            return Sum("foo")

        @tool
        def several(self) -> list[Sum]:
            return [Sum("foo"), Sum("bar")]

        @tool
        def others(self) -> list[dict[str, int]]:
            return [{"x": 1}]

    server = serving(Encoded, structured="none")
    async with connected(server) as wire:
        server.encoders.add(Sum, lambda value: TextContent(f"MyObject {value.name}"))
        assert await wire.texts("one") == ["MyObject foo"]
        assert await wire.texts("several") == ["MyObject foo", "MyObject bar"]
        server.encoders.add(
            Sum, lambda value: ToolResultBuilder().add_text("bad").as_error(value.name == "foo").build()
        )
        assert [(await wire.call(name)).get("isError", False) for name in ("one", "several", "others")] == [
            True,
            True,
            False,
        ]
        server.encoders.add(list, lambda values: TextContent(f"{len(values)} of them"))
        assert await wire.texts("several") == ["2 of them"]
        server.encoders.remove(list)
        server.encoders.remove(Sum)
        server.encoders.remove(Sum)
        assert await wire.texts("several") == [
            '[{"name":"foo","sumOfAll":20,"valid":true},{"name":"bar","sumOfAll":20,"valid":true}]'
        ]


async def test_41_a_list_of_records_is_one_json_text() -> None:
    sums = [Sum("foo"), Sum("bar", valid=False)]
    for annotation in (list[Sum], tuple[Sum, ...], Awaitable[list[Sum]], list):
        outcome = await seen(sums, annotation)
        assert [item["name"] for item in outcome.data] == ["foo", "bar"]


async def test_42_five_kinds_of_content_arrive_in_order() -> None:
    content = (
        ToolResultBuilder()
        .add_text("t")
        .add_image("image/png", b"i")
        .add_audio("audio/wav", b"a")
        .add_link("text/html", "https://a.example/x", "d")
        .add_resource(TextResource("r", "file:///r"))
        .build()
    )
    kinds = ["text", "image", "audio", "resource_link", "resource"]
    assert (await seen(content, ContentList)).kinds == kinds
    assert (await seen(list(content), list[Any])).kinds == kinds
    assert (await seen(ToolResult(tuple(content)), ToolResult)).kinds == kinds
    for block in (
        AudioContent(b"a", "audio/wav"),
        ImageContent(b"i", "image/png"),
        ResourceLink("https://a.example/x"),
        EmbeddedResource(TextResource("r", "file:///r")),
    ):
        assert (await seen(block, type(block))).kinds == [block.type]


async def test_43_44_48_structured_objects_and_lists_also_from_asynchronous_methods() -> None:
    @dataclass
    class Value:
        val: int

    class Structured(Tool):
        @tool
        def one(self) -> Value:
            return Value(10)

        @tool
        async def one_async(self) -> Value:
            return Value(10)

        @tool
        def several(self) -> list[Value]:
            return [Value(10), Value(20)]

        @tool
        async def several_async(self) -> list[Value]:
            return [Value(10), Value(20)]

    async with connected(serving(Structured), NEWEST) as wire:
        tools = await wire.tools()
        for name in ("one", "one_async"):
            result = await wire.call(name)
            assert result["structuredContent"] == {"val": 10}
            assert [block["text"] for block in result["content"]] == ['{"val":10}']
            assert tools[name]["outputSchema"]["properties"]["val"] == {"type": "integer"}
        for name in ("several", "several_async"):
            assert (await wire.call(name))["structuredContent"] == [{"val": 10}, {"val": 20}]
            assert tools[name]["outputSchema"]["type"] == "array"


async def test_45_49_a_result_made_by_hand_may_have_a_schema_and_members_have_descriptions() -> None:
    own = {
        "type": "object",
        "properties": {"val": {"type": "integer", "description": "the value"}},
        "required": ["val"],
    }

    @dataclass
    class Described:
        """What is described."""

        val: Annotated[int, "the value"]
        more: Annotated[list[int], Param(description="others", title="Others")] = field(default_factory=list)

    class Structured(Tool):
        @tool(output_schema=own)
        def by_hand(self) -> ToolResult:
            return ToolResult("ten", {"val": 10})

        @tool
        def described(self) -> Described:
            return Described(10)

    async with connected(serving(Structured)) as wire:
        tools = await wire.tools()
        assert tools["by_hand"]["outputSchema"] == own
        assert (await wire.call("by_hand"))["structuredContent"] == {"val": 10}
        properties = tools["described"]["outputSchema"]["properties"]
        assert tools["described"]["outputSchema"]["description"] == "What is described."
        assert properties["val"] == {"type": "integer", "description": "the value"}
        assert (properties["more"]["description"], properties["more"]["title"]) == ("others", "Others")


async def test_50_an_empty_result_and_a_structured_error() -> None:
    assert (await seen(ToolResult(()), ToolResult)).content == []
    assert (await seen(ContentList(), ContentList)).content == []
    with pytest.raises(TypeError):
        ToolResult(None)  # type: ignore[arg-type]
    failed = await seen(ToolResultBuilder().add_text("foo").as_error().build(), ContentList)
    assert (failed.is_error, failed.texts) == (True, ["foo"])


async def test_51_an_own_input_schema_is_served_verbatim_whatever_the_settings() -> None:
    own = {
        "type": "object",
        "properties": {"snake_name": {"type": "integer", "x-own": [1]}},
        "required": ["snake_name"],
        "$comment": "by hand",
    }

    @tool(input_schema=own)
    def t(snake_name: int) -> str:
        return repr(snake_name)

    async with connected(serving(t, serializer=SerializerConfig(case=Case.UPPER))) as wire:
        for _ in range(2):
            assert (await wire.tools())["t"]["inputSchema"] == own
        assert await wire.texts("t", {"snake_name": 3}) == ["3"]
        refused = await wire.call("t", {"snake_name": "3"})
        assert refused["isError"] is True


# -- annotations and icons: 52, 53 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", NEWEST])
async def test_52_53_hints_titles_and_icons_are_there_only_if_given(revision: str) -> None:
    class Hinted(Tool):
        @tool(title="T", read_only=True, destructive=False, idempotent=True, open_world=False)
        def full(self) -> str: ...

        @tool(destructive=False)
        def one(self) -> str: ...

        @tool(icons=[Icon("data:image/png;base64,AAAA", mime_type="image/png", sizes=["48x48"], theme="dark")])
        def pictured(self) -> str: ...

        @tool
        def bare(self) -> str: ...

    async with connected(serving(Hinted), revision) as wire:
        tools = await wire.tools()
        raw = [data for sender, data in wire.traffic if sender == "server"][-1]
        assert b"null" not in raw
    hints = tools["full"]["annotations"]
    assert {**hints, "title": "T"} == {
        "title": "T",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert tools["one"]["annotations"] == {"destructiveHint": False}
    assert set(tools["bare"]) == {"name", "inputSchema"}
    icons = [{"src": "data:image/png;base64,AAAA", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}]
    assert tools["pictured"].get("icons") == (icons if revision >= "2025-11-25" else None)
    assert json.dumps(tools)
