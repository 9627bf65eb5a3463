"""Prompts as a client gets them."""

import base64
import datetime as dt
import enum
import io
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pytest
from PIL import Image

from mcpconnect import (
    YAML_TEXT,
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
    PromptMessage,
    PromptResult,
    ProtocolError,
    ResourceLink,
    ResourceResult,
    SerializerConfig,
    TextContent,
    TextResource,
    Tool,
    ToolResultBuilder,
    prompt,
    tool,
)
from tests.wire import NEWEST, REVISIONS, Wire, connected, serving

pytestmark = pytest.mark.anyio
each_revision = pytest.mark.parametrize("revision", REVISIONS)
both_eras = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])


@dataclass
class Person:
    first_name: str


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


def text(words: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": words}}


async def got(wire: Wire, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
    answer = await wire.ask("prompts/get", params)
    assert "result" in answer, answer
    result: dict[str, Any] = answer["result"]
    return result


async def messages(server: McpServer, revision: str = "2025-11-25", name: str = "asked") -> list[dict[str, Any]]:
    async with connected(server, revision) as wire:
        found: list[dict[str, Any]] = (await got(wire, name))["messages"]
        return found


async def said(value: Any, annotation: Any = None, **settings: Any) -> list[dict[str, Any]]:
    """Return the messages of a prompt that returns a value and declares an annotation (or none)."""

    def asked():
        return value

    if annotation is not None:
        asked.__annotations__["return"] = annotation
    return await messages(serving(prompt(asked), **settings))


@pytest.mark.fault(152)
@each_revision
async def test_unknown_prompts_and_missing_arguments_are_invalid_params_that_name_them(revision: str) -> None:
    @prompt
    def review(code: str, language: str, depth: int = 1) -> str:
        return code

    async with connected(serving(review), revision) as wire:
        error = (await wire.ask("prompts/get", {"name": "ghost"}))["error"]
        assert (error["code"], error["data"]) == (-32602, {"name": "ghost"})
        assert "ghost" in error["message"]
        error = (await wire.ask("prompts/get", {"name": "review"}))["error"]
        assert error["code"] == -32602
        assert "code" in error["message"]
        assert "language" in error["message"]
        bad = {"language": 3, "depth": "deep", "colour": "red"}
        error = (await wire.ask("prompts/get", {"name": "review", "arguments": bad}))["error"]
        assert error["code"] == -32602
        lines = error["message"].splitlines()
        assert sorted(line.partition(":")[0] for line in lines) == ["code", "colour", "depth", "language"]


@pytest.mark.parametrize("params", [{}, {"name": 3}, {"name": "asked", "arguments": []}, {"name": "asked", "_meta": 1}])
async def test_malformed_parameters_are_refused(params: dict[str, Any]) -> None:
    @prompt
    def asked() -> str:
        return "never"

    async with connected(serving(asked)) as wire:
        assert (await wire.ask("prompts/get", params))["error"]["code"] == -32602


@pytest.mark.fault(153)
@each_revision
async def test_a_prompt_without_parameters_needs_no_arguments(revision: str) -> None:
    @prompt
    def help() -> str:
        """How to begin."""
        return "Begin."

    async with connected(serving(help), revision) as wire:
        for arguments in (None, {}):
            result = await got(wire, "help", arguments)
            assert result["messages"] == [text("Begin.")]
            assert result["description"] == "How to begin."
        assert (await wire.ask("prompts/get", {"name": "help", "arguments": None}))["result"]["messages"]


@pytest.mark.fault(154)
async def test_typed_arguments_are_loaded_from_text_and_texts_stay_as_they_are() -> None:
    seen: dict[str, Any] = {}

    @prompt
    def asked(
        n: int,
        tags: list[str],
        flag: bool,
        s: str,
        o: str | None,
        size: Size,
        day: dt.date,
        price: Decimal,
        person: Person,
        maybe: int | None = None,
        limit: int = 7,
    ) -> str:
        seen.update(locals())
        return "done"

    async with connected(serving(asked, strict_arguments=True)) as wire:
        arguments = {
            "n": "3",
            "tags": '["a"]',
            "flag": "false",
            "s": "123",
            "o": "null",
            "size": "l",
            "day": "2026-07-28",
            "price": "1.10",
            "person": '{"firstName": "Ada"}',
            "limit": "",
        }
        await got(wire, "asked", arguments)
        seen.pop("seen", None)
        assert seen == {
            "n": 3,
            "tags": ["a"],
            "flag": False,
            "s": "123",
            "o": "null",
            "size": Size.LARGE,
            "day": dt.date(2026, 7, 28),
            "price": Decimal("1.10"),
            "person": Person("Ada"),
            "maybe": None,
            "limit": 7,
        }
        error = (await wire.ask("prompts/get", {"name": "asked", "arguments": {**arguments, "size": "x", "n": "3.5"}}))[
            "error"
        ]
        assert [line.partition(":")[0] for line in error["message"].splitlines()] == ["n", "size"]


@pytest.mark.fault(155)
@each_revision
async def test_texts_pictures_and_messages_may_be_mixed(revision: str) -> None:
    @prompt
    def asked():
        return ["look at", Image.new("RGB", (2, 2)), PromptMessage.assistant("x")]

    first, second, third = await messages(serving(asked), revision)
    assert first == text("look at")
    assert (second["role"], second["content"]["type"], second["content"]["mimeType"]) == ("user", "image", "image/png")
    assert third == text("x", "assistant")


@pytest.mark.fault(156)
@each_revision
async def test_the_list_describes_arguments_and_prompts_as_far_as_the_revision_can(revision: str) -> None:
    class Prompts(Tool, prefix="my"):
        @prompt(
            name="BAR",
            title="Bar",
            description="The bar.",
            icons=[Icon("https://example.org/a.png", "image/png")],
            meta={"example.org/a": 1},
        )
        def bar(
            self, a: Annotated[str, Param(title="A"), "The a"], b: str = "z", *, long_name: int | None = None
        ) -> str:
            return a + b

        @prompt
        def plain(self) -> str:
            """Plain.

            Args:
                nothing: nothing
            """
            return ""

    async with connected(serving(Prompts), revision) as wire:
        bar, plain = (await wire.ask("prompts/list"))["result"]["prompts"]
        assert plain == {"name": "my_plain", "description": "Plain."}
        assert bar["name"] == "my_BAR"
        assert bar["description"] == "The bar."
        assert [each["name"] for each in bar["arguments"]] == ["a", "b", "longName"]
        assert [each["required"] for each in bar["arguments"]] == [True, False, False]
        assert bar["arguments"][0]["description"] == "The a"
        assert ("title" in bar) is ("title" in bar["arguments"][0]) is ("_meta" in bar) is (revision >= "2025-06-18")
        assert ("icons" in bar) is (revision >= "2025-11-25")
        assert (await got(wire, "my_BAR", {"a": "1"}))["messages"] == [text("1z")]


@pytest.mark.fault(157)
async def test_the_context_is_injected_and_is_no_argument() -> None:
    class Prompts(Tool):
        @prompt
        async def asked(self, ctx: Context, other: Context | None = None) -> str:
            assert other is ctx
            assert self.ctx is ctx
            return f"{ctx.feature} {ctx.revision} {ctx.uri}"

    async with connected(serving(Prompts), NEWEST) as wire:
        assert "arguments" not in (await wire.ask("prompts/list"))["result"]["prompts"][0]
        assert (await got(wire, "asked"))["messages"] == [text(f"asked {NEWEST} None")]
        error = (await wire.ask("prompts/get", {"name": "asked", "arguments": {"ctx": "x"}}))["error"]
        assert error["code"] == -32602


@pytest.mark.fault(158)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Person("Ada"), [text('{"firstName":"Ada"}')]),
        ({"a": 1}, [text('{"a":1}')]),
        (None, []),
        ([], []),
        ((), []),
        (PromptResult(), []),
    ],
)
async def test_records_are_json_and_nothing_is_no_message(value: Any, expected: list[Any]) -> None:
    assert await said(value) == expected
    assert await said(value, type(value) if value is not None else None) == expected


async def test_every_row_of_the_table() -> None:
    assert await said("x\n") == [text("x\n")]
    assert await said("") == [text("")]
    assert await said(True) == [text("true")]
    assert await said(12) == [text("12")]
    assert await said(Decimal("1.10")) == [text("1.10")]
    assert await said(Size.LARGE) == [text("l")]
    assert await said(dt.date(2026, 7, 28)) == [text("2026-07-28")]
    assert await said(dt.timedelta(seconds=1.5)) == [text("PT1.5S")]
    assert await said([1, 2]) == [text("[1,2]")]
    assert await said(["a", "b"]) == [text('["a","b"]')]
    assert await said(["a", "b"], list[str]) == [text("a"), text("b")]
    assert await said(("a", "b"), tuple[str, ...]) == [text("a"), text("b")]
    assert await said({"b", "a"}) == [text('["a","b"]')]
    assert await said([Person("Ada")], list[Person]) == [text('[{"firstName":"Ada"}]')]
    assert await said(io.StringIO("words")) == [text("words")]
    for binary in (b"\0\1", bytearray(b"\0\1"), memoryview(b"\0\1"), io.BytesIO(b"\0\1")):
        [message] = await said(binary)
        assert message["content"]["resource"]["blob"] == "AAE="
        assert message["content"]["resource"]["mimeType"] == "application/octet-stream"
        assert message["content"]["resource"]["uri"]
    link = ResourceLink("x://y", "y")
    assert [each["content"]["type"] for each in await said([link, AudioContent(b"x", "audio/wav")])] == [
        "resource_link",
        "audio",
    ]
    built = ToolResultBuilder().add_text("a").add_text("b").build()
    assert await said(built) == [text("a"), text("b")]
    assert await said(ContentList(["a", Person("Ada")])) == [text("a"), text('{"firstName":"Ada"}')]
    assert await said(TextContent("t")) == [text("t")]


async def test_messages_say_who_speaks_and_take_anything_or_lists_of_it() -> None:
    picture = Image.new("L", (1, 1))
    user = PromptMessage.user(["a", TextContent("b"), picture, b"\0", TextResource("r", "x://r")])
    assert [message.role for message in user] == ["user"] * 5
    assert [message.content.type for message in user] == ["text", "text", "image", "resource", "resource"]
    assert await said([PromptMessage.assistant("a"), *PromptMessage.user(["b"])]) == [text("a", "assistant"), text("b")]
    assert await said(PromptMessage.assistant("a")) == [text("a", "assistant")]
    assert await said([PromptMessage.user(["a", "b"]), "c"]) == [text("a"), text("b"), text("c")]


@each_revision
async def test_a_result_brings_its_own_description_and_meta(revision: str) -> None:
    @prompt
    def asked() -> PromptResult:
        """The prompt's own."""
        return PromptResult("hello", "This time.", {"example.org/a": 1})

    async with connected(serving(asked), revision) as wire:
        result = await got(wire, "asked")
        assert result["messages"] == [text("hello")]
        assert result["description"] == "This time."
        assert result["_meta"]["example.org/a"] == 1
        assert ("resultType" in result) is (revision == NEWEST)


@each_revision
async def test_all_kinds_of_blocks_arrive_in_the_form_that_the_revision_knows(revision: str) -> None:
    @prompt
    def asked():
        return [
            TextContent("t", meta={"a": 1}),
            ImageContent(b"x", "image/png"),
            AudioContent(b"x", "audio/wav"),
            ResourceLink("x://y", "y", title="Y"),
            EmbeddedResource(TextResource("r", "x://r", "text/plain")),
        ]

    found = [message["content"]["type"] for message in await messages(serving(asked), revision)]
    assert found[0:2] == ["text", "image"]
    assert found[2] == ("audio" if revision >= "2025-03-26" else "resource")
    assert found[3] == ("resource_link" if revision >= "2025-06-18" else "text")
    assert found[4] == "resource"


async def test_asynchronous_methods_iterators_static_and_class_methods() -> None:
    class Prompts(Tool):
        @prompt
        async def later(self) -> list[str]:
            return ["later"]

        @prompt
        def steps(self) -> Iterator[str]:
            yield "a"
            yield "b"

        @prompt
        async def async_steps(self) -> AsyncIterator[PromptMessage]:
            yield PromptMessage.user("a")
            yield PromptMessage.assistant("b")

        @prompt
        @staticmethod
        def static() -> str:
            return "static"

        @prompt
        @classmethod
        def of_class(cls) -> str:
            return cls.__name__

    async with connected(serving(Prompts)) as wire:
        assert (await got(wire, "later"))["messages"] == [text("later")]
        assert (await got(wire, "steps"))["messages"] == [text("a"), text("b")]
        assert (await got(wire, "async_steps"))["messages"] == [text("a"), text("b", "assistant")]
        assert (await got(wire, "static"))["messages"] == [text("static")]
        assert (await got(wire, "of_class"))["messages"] == [text("Prompts")]


async def test_streams_are_read_and_closed_also_when_something_behind_fails() -> None:
    first, second = io.BytesIO(b"a"), io.BytesIO(b"b")

    @prompt
    def asked():
        return [first, object(), second]

    async with connected(serving(asked)) as wire:
        assert (await wire.ask("prompts/get", {"name": "asked"}))["error"]["code"] == -32603
    assert first.closed
    assert second.closed


@pytest.mark.fault(150)
@both_eras
async def test_an_unexpected_exception_is_an_internal_error_whose_cause_stands_in_the_log(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    @prompt
    def asked() -> str:
        try:
            raise KeyError("the deepest cause")
        except KeyError as error:
            raise RuntimeError("secret detail") from error

    @prompt
    async def leaves() -> str:
        raise SystemExit(3)

    async with connected(serving(asked, leaves), revision) as wire:
        error = (await wire.ask("prompts/get", {"name": "asked"}))["error"]
        assert error["code"] == -32603
        assert "secret" not in error["message"]
        error_id = error["message"].rpartition(" ")[2].rstrip(")")
        record = next(each for each in caplog.records if error_id in each.getMessage())
        shown = logging.Formatter().format(record)
        assert "the deepest cause" in shown
        assert "secret detail" in shown
        assert (await wire.ask("prompts/get", {"name": "leaves"}))["error"]["code"] == -32603
        assert "result" in await wire.ask("prompts/list")


async def test_a_protocol_error_keeps_its_code_message_and_data() -> None:
    @prompt
    def asked() -> str:
        raise ProtocolError("not today", code=-7, data={"when": "tomorrow"})

    async with connected(serving(asked)) as wire:
        error = (await wire.ask("prompts/get", {"name": "asked"}))["error"]
        assert error == {"code": -7, "message": "not today", "data": {"when": "tomorrow"}}


async def test_code_of_the_user_that_fails_while_arguments_are_loaded_ends_nothing() -> None:
    class Odd:
        pass

    def load(_: Any) -> Odd:
        raise SystemExit(3)

    @prompt
    def asked(odd: Odd) -> str:
        return "never"

    config = SerializerConfig(serializers=[(Odd, CustomSerializer(str, load))])
    async with connected(serving(asked, serializer=config)) as wire:
        error = (await wire.ask("prompts/get", {"name": "asked", "arguments": {"odd": "x"}}))["error"]
        assert error["code"] == -32603
        assert "result" in await wire.ask("prompts/list")


@pytest.mark.parametrize(
    "annotation", [TextResource, ResourceResult, list[TextResource], TextResource | None, list[ResourceResult | str]]
)
def test_what_only_a_resource_can_return_is_refused_when_registered(annotation: Any) -> None:
    def asked():
        return None

    asked.__annotations__["return"] = annotation
    with pytest.raises(DefinitionError, match=r"asked: a prompt cannot return a (Text|Resource)"):
        serving(prompt(asked))


@pytest.mark.parametrize("annotation", [PromptMessage, PromptResult, list[PromptMessage], ResourceResult])
def test_a_tool_that_returns_messages_is_refused_when_registered(annotation: Any) -> None:
    def asked():
        return None

    asked.__annotations__["return"] = annotation
    with pytest.raises(DefinitionError, match="asked"):
        serving(tool(asked))


@pytest.mark.parametrize(
    "value", [PromptMessage.user("x"), PromptResult("x"), ResourceResult([]), [PromptMessage.user("x")]]
)
async def test_a_tool_that_returns_messages_all_the_same_says_so(value: Any) -> None:
    @tool
    def asked():
        return value

    async with connected(serving(asked)) as wire:
        result = await wire.call("asked")
        assert result["isError"]
        assert "cannot be sent" in result["content"][0]["text"]


async def test_a_prompt_that_returns_contents_all_the_same_fails_inside() -> None:
    @prompt
    def asked():
        return TextResource("x")

    async with connected(serving(asked)) as wire:
        assert (await wire.ask("prompts/get", {"name": "asked"}))["error"]["code"] == -32603


def test_parameters_that_cannot_come_from_a_client_are_refused() -> None:
    def rest(*args: str) -> str:
        return ""

    def unknown(x: object()) -> str:  # type: ignore[valid-type]
        return ""

    for function in (rest, unknown):
        with pytest.raises(DefinitionError, match=function.__name__):
            serving(prompt(function))
    with pytest.raises(DefinitionError, match="tags"):
        prompt(tags="one")
    with pytest.raises(DefinitionError, match="decorates"):
        prompt(Person)


async def test_names_of_arguments_follow_the_servers_style_and_their_python_names_are_taken() -> None:
    @prompt
    def asked(first_name: str) -> str:
        return first_name

    async with connected(serving(asked, serializer=SerializerConfig(case=Case.KEBAB))) as wire:
        listed = (await wire.ask("prompts/list"))["result"]["prompts"][0]
        assert listed["arguments"][0]["name"] == "first-name"
        for name in ("first-name", "first_name"):
            assert (await got(wire, "asked", {name: "Ada"}))["messages"] == [text("Ada")]


async def test_the_servers_content_type_presents_data() -> None:
    assert await said({"a": [1]}, content_type=YAML_TEXT) == [text("a:\n- 1")]
    assert await said("a: b", content_type=YAML_TEXT) == [text("a: b")]


async def test_prompts_are_listed_page_by_page_in_the_order_of_registration() -> None:
    server = McpServer("pages", page_size=3)
    made = []
    for number in range(8):

        def asked() -> str:
            return ""

        made.append(prompt(name=f"p{number}")(asked))
        server.register(made[-1])
    async with connected(server, NEWEST) as wire:
        names, cursor, pages = [], None, []
        while True:
            result = (await wire.ask("prompts/list", {"cursor": cursor} if cursor else {}))["result"]
            pages.append(len(result["prompts"]))
            names += [each["name"] for each in result["prompts"]]
            if len(pages) == 1:
                server.unregister("p1")
                server.unregister("p4")
            cursor = result.get("nextCursor")
            if cursor is None:
                break
        assert names == ["p0", "p1", "p2", "p3", "p5", "p6", "p7"]
        assert pages == [3, 3, 1]
        for bad in ("garbage", "", "YWZ0ZXI6OTk=", 3):
            assert (await wire.ask("prompts/list", {"cursor": bad}))["error"]["code"] == -32602


@both_eras
async def test_the_capability_is_there_only_with_prompts(revision: str) -> None:
    @prompt
    def asked() -> str:
        return ""

    for server, there in ((serving(asked), True), (McpServer("none"), False)):
        async with connected(server, revision) as wire:
            if revision == NEWEST:
                found = (await wire.ask("server/discover"))["result"]["capabilities"]
            else:
                found = (await wire.until(lambda w=wire: w.answer_to("init")))["result"]["capabilities"]
            assert found.get("prompts") == ({"listChanged": True} if there else None)
            answer = await wire.ask("prompts/list")
            assert ("result" in answer) is there
            if not there:
                assert answer["error"]["code"] == -32601
                assert (await wire.ask("prompts/get", {"name": "x"}))["error"]["code"] == -32601


async def test_prompts_can_be_disabled_and_taken_back_by_name_class_and_tag() -> None:
    class Prompts(Tool):
        @prompt(tags=["draft"])
        def one(self) -> str:
            return "1"

        @prompt(tags=["draft", "old"], enabled=False)
        def two(self) -> str:
            return "2"

        @prompt
        def three(self) -> str:
            return "3"

    server = serving(Prompts)

    async def listed(wire: Wire) -> list[str]:
        return [each["name"] for each in (await wire.ask("prompts/list"))["result"]["prompts"]]

    async with connected(server) as wire:
        assert await listed(wire) == ["one", "three"]
        assert (await wire.ask("prompts/get", {"name": "two"}))["error"]["code"] == -32602
        server.enable(tags=["old"])
        assert await listed(wire) == ["one", "two", "three"]
        server.disable(tags=["draft"])
        assert await listed(wire) == ["three"]
        server.enable("one")
        server.disable("three")
        assert await listed(wire) == ["one"]
        server.enable("three")
        server.unregister("one")
        assert await listed(wire) == ["three"]
        with pytest.raises(DefinitionError, match="not registered"):
            server.disable("one")
        server.register(type("More", (Tool,), {"four": prompt(lambda self: "4")}))
        server.unregister(Prompts)
        assert await listed(wire) == ["four"]


async def test_pictures_in_messages_are_whole_pictures() -> None:
    [message] = await said(Image.new("CMYK", (3, 2)))
    picture = Image.open(io.BytesIO(base64.b64decode(message["content"]["data"])))
    assert (picture.format, picture.size) == ("PNG", (3, 2))
