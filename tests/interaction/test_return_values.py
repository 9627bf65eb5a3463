"""What tools return, as a client sees it: empty things, shapes, generators, ready-made results, odd texts."""

import base64
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from PIL import Image

from mcpconnect import (
    ContentList,
    ImageContent,
    ResourceLink,
    TextContent,
    Tool,
    ToolError,
    ToolResult,
    ToolResultBuilder,
    tool,
)
from tests.interaction.seen import UNSAID, bare, seen, strict_json
from tests.wire import HANDSHAKES, NEWEST, REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)


@dataclass
class Row:
    row_id: int
    title: str = "x"


def picture(colour: str = "red") -> Image.Image:
    return Image.new("RGB", (2, 2), colour)


@pytest.mark.fault(1)
@every_revision
@pytest.mark.parametrize("annotation", [list[str], tuple[str, ...], list[Row], list[Image.Image], list, UNSAID])
async def test_nothing_found_is_an_empty_list_and_not_silence(annotation: Any, revision: str) -> None:
    for empty in ([], ()):
        outcome = await seen(empty, annotation, revision=revision)
        assert outcome.texts == ["[]"]
        assert not outcome.is_error
        if "outputSchema" in outcome.definition:
            assert annotation == list[Row]
            assert bare(outcome.structured, revision) == []


@pytest.mark.fault(1)
async def test_an_empty_list_of_texts_has_its_structure_where_one_is_wished_for() -> None:
    outcome = await seen([], list[str], structured=True)
    assert (outcome.texts, outcome.structured) == (["[]"], {"result": []})


@pytest.mark.fault(2)
@every_revision
async def test_a_method_that_returns_nothing_succeeds_with_an_empty_array(revision: str) -> None:
    class Silent(Tool):
        @tool
        def declared(self) -> None:
            """Do something."""

        @tool
        def undeclared(self):
            """Do something."""

        @tool
        async def asynchronous(self) -> None:
            """Do something."""

        @tool
        def a_picture_or_not(self) -> Image.Image:
            return None  # type: ignore[return-value]

        @tool
        def optional(self) -> str | None:
            return None

    async with connected(serving(Silent), revision) as wire:
        assert not any("outputSchema" in definition for definition in (await wire.tools()).values())
        for name in ("declared", "undeclared", "asynchronous", "a_picture_or_not"):
            result = await wire.call(name)
            assert result["content"] == []
            assert not result.get("isError")
        assert await wire.texts("optional") == ["null"]


@pytest.mark.fault(3)
@pytest.mark.parametrize("annotation", [list[int], tuple[int, ...], set[int], deque[int], list, Any, UNSAID])
async def test_the_shape_does_not_depend_on_the_length(annotation: Any) -> None:
    make: Callable[[Any], Any] = {set[int]: set, tuple[int, ...]: tuple, deque[int]: deque}.get(annotation, list)
    for items in ([], [1], [1, 2]):
        assert (await seen(make(items), annotation)).text == json.dumps(items, separators=(",", ":"))


@pytest.mark.fault(3)
async def test_the_shape_of_texts_and_rows_does_not_depend_on_the_length_either() -> None:
    assert (await seen([Row(1)], list[Row])).data == [{"rowId": 1, "title": "x"}]
    assert (await seen(["a"], list)).text == '["a"]'
    assert (await seen(["a"], list[str])).texts == ["a"]
    assert (await seen(["a", "b"], list[str])).texts == ["a", "b"]


@pytest.mark.fault(4)
@every_revision
@pytest.mark.parametrize("annotation", [UNSAID, list[str | Image.Image], list[Any], tuple[str, Image.Image, str]])
async def test_texts_and_pictures_keep_their_order(annotation: Any, revision: str) -> None:
    outcome = await seen(["before", picture(), "after"], annotation, revision=revision)
    assert outcome.kinds == ["text", "image", "text"]
    assert outcome.texts == ["before", "after"]
    assert outcome.picture(1).getpixel((0, 0)) == (255, 0, 0)


@pytest.mark.fault(5)
@pytest.mark.parametrize("annotation", [list[list[int]], list[tuple[int, ...]], list, UNSAID])
async def test_nested_lists_stay_nested(annotation: Any) -> None:
    assert (await seen([[1, 2], [3]], annotation)).text == "[[1,2],[3]]"
    assert (await seen([[[]], []], annotation if annotation in (list, UNSAID) else list)).text == "[[[]],[]]"


@pytest.mark.fault(5)
async def test_nested_lists_of_texts_stay_nested() -> None:
    assert (await seen([["a"], ["b", "c"]], list[list[str]])).text == '[["a"],["b","c"]]'


@pytest.mark.fault(6)
@every_revision
@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
async def test_bytes_are_a_binary_block(make: Any, revision: str) -> None:
    data = b"\x89\xff\x00"
    for annotation in (make, UNSAID, bytes | None):
        outcome = await seen(make(data), annotation, revision=revision)
        assert outcome.kinds == ["resource"]
        resource = outcome.content[0]["resource"]
        assert base64.b64decode(resource["blob"], validate=True) == data
        assert resource["mimeType"] == "application/octet-stream"
        assert resource["uri"]
        assert "outputSchema" not in outcome.definition


@pytest.mark.fault(7)
@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
async def test_bytes_inside_rows_are_one_base64_text(make: Any) -> None:
    @dataclass
    class Signed:
        sig: bytes

    rows = [{"id": 1, "sig": make(b"\xff\x00")}]
    for annotation in (list[dict], list[dict[str, Any]], UNSAID):
        assert (await seen(rows, annotation)).data == [{"id": 1, "sig": "/wA="}]
    assert (await seen([Signed(b"\xff\x00")], list[Signed])).data == [{"sig": "/wA="}]


@pytest.mark.fault(8)
@every_revision
async def test_what_a_generator_yields_is_collected(revision: str) -> None:
    class Yielding(Tool):
        @tool
        def plain(self) -> Iterator[int]:
            yield 1
            yield 2

        @tool
        def generator(self) -> Generator[int, None, str]:
            yield 1
            yield 2
            return "not an item"

        @tool
        async def asynchronous(self) -> AsyncIterator[int]:
            yield 1
            await anyio.lowlevel.checkpoint()
            yield 2

        @tool
        def undeclared(self):
            yield from (1, 2)

        @tool
        def expression(self):
            return (number for number in (1, 2))

        @tool
        async def mapped(self) -> Iterator[int]:
            return map(int, "12")

        @tool
        def iterator(self):
            return iter([1, 2])

        @tool
        def counting(self):
            return range(1, 3)

        @tool
        def keys(self):
            return {1: "a", 2: "b"}.keys()

    async with connected(serving(Yielding), revision) as wire:
        for name in await wire.tools():
            assert await wire.texts(name) == ["[1,2]"], name


@pytest.mark.fault(8)
async def test_generators_of_texts_pictures_and_rows_count_as_the_list_they_declare() -> None:
    class Yielding(Tool):
        @tool
        def words(self) -> Iterator[str]:
            yield from ("a", "b")

        @tool
        async def pictures(self) -> AsyncIterator[Image.Image]:
            yield picture()
            yield picture("blue")

        @tool
        def rows(self) -> Iterator[Row]:
            yield Row(1)

        @tool
        def nothing(self) -> Iterator[Row]:
            yield from ()

    async with connected(serving(Yielding)) as wire:
        assert await wire.texts("words") == ["a", "b"]
        assert [block["type"] for block in (await wire.call("pictures"))["content"]] == ["image", "image"]
        assert (await wire.call("rows"))["structuredContent"] == {"result": [{"rowId": 1, "title": "x"}]}
        assert (await wire.call("nothing"))["structuredContent"] == {"result": []}


@pytest.mark.fault(9)
@pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
async def test_a_generator_runs_inside_the_guard_and_the_time_limit(revision: str) -> None:
    events: list[str] = []

    class Yielding(Tool):
        @tool
        def fails(self) -> Iterator[int]:
            try:
                yield 1
                raise ValueError("boom")
            finally:
                events.append("fails")

        @tool
        async def fails_later(self) -> AsyncIterator[int]:
            try:
                yield 1
                raise ValueError("boom")
            finally:
                events.append("fails_later")

        @tool(timeout=0.05)
        async def never_ends(self) -> AsyncIterator[int]:
            try:
                yield 1
                await anyio.sleep(60)
            finally:
                events.append("never_ends")

        @tool
        def yields_nonsense(self) -> Iterator[object]:
            try:
                yield object()
                yield 2
            finally:
                events.append("yields_nonsense")

    async with connected(serving(Yielding, errors="message"), revision) as wire:
        for name in ("fails", "fails_later"):
            result = await wire.call(name)
            assert result["isError"] is True
            assert "boom" in result["content"][0]["text"]
        assert await wire.texts("never_ends") == ["never_ends timed out after 0.05 s"]
        assert (await wire.call("yields_nonsense"))["isError"] is True
        assert (await wire.ask("tools/list"))["result"]["tools"]
    assert events == ["fails", "fails_later", "never_ends", "yields_nonsense"]


@pytest.mark.fault(26)
@every_revision
async def test_a_lone_surrogate_never_costs_the_connection(revision: str) -> None:
    bad = "ok\udc80"

    @dataclass
    class Text:
        text: str

    class Surrogates(Tool):
        @tool
        def text(self) -> str:
            return bad

        @tool
        def texts(self) -> list[str]:
            return [bad, "fine"]

        @tool
        def record(self) -> Text:
            return Text(bad)

        @tool
        def key(self) -> dict[str, int]:
            return {bad: 1}

        @tool
        def untyped(self):
            return {"a": [bad, {bad: bad}]}

        @tool
        def error(self) -> str:
            raise ToolError(bad)

        @tool
        def exception(self) -> str:
            raise ValueError(bad)

        @tool
        def built(self) -> ContentList:
            return ToolResultBuilder().add_text(bad).add_link(None, "file:///x", bad).meta(x=bad).build()

        @tool
        def link(self) -> ResourceLink:
            return ResourceLink("file:///x", name=bad)

    async with connected(serving(Surrogates, errors="message"), revision) as wire:
        for name in ("text", "texts", "record", "key", "untyped", "error", "exception", "built", "link"):
            result = await wire.call(name)
            assert isinstance(result["content"], list), name
        assert await wire.texts("text") == ["ok\ufffd"]
        assert await wire.texts("error") == ["ok\ufffd"]
        strict_json(*(data for sender, data in wire.traffic if sender == "server"))


@pytest.mark.fault(27)
async def test_every_character_makes_the_round_trip() -> None:
    text = "".join(map(chr, range(1, 0x100))) + "\u2028\u2029\x00\ufeff\U0001f389"

    class Echo(Tool):
        @tool
        def echo(self, text: str) -> str:
            return text

        @tool
        def echo_inside(self, text: str) -> dict[str, str]:
            return {text: text}

    async with connected(serving(Echo)) as wire:
        assert await wire.texts("echo", {"text": text}) == [text]
        assert (await wire.call("echo_inside", {"text": text}))["structuredContent"] == {text: text}


@pytest.mark.fault(28)
@pytest.mark.parametrize("text", ["hi", "", '{"a": 1}', '"quoted"', "null", "[1]", "12", "a\nb", "\\n", "ü"])
async def test_a_text_is_sent_as_it_is(text: str) -> None:
    for annotation in (str, UNSAID, Any, object, str | None, Row | str):
        assert (await seen(text, annotation)).text == text


@pytest.mark.fault(29)
async def test_booleans_are_json() -> None:
    for annotation in (bool, UNSAID, bool | None, Any):
        assert (await seen(True, annotation)).text == "true"
        assert (await seen(False, annotation)).text == "false"
    for value, text in ((0, "0"), (0.0, "0.0"), ("", "")):
        assert (await seen(value)).text == text


@pytest.mark.fault(30)
@every_revision
async def test_a_result_built_as_an_error_arrives_as_one(revision: str) -> None:
    built = ToolResultBuilder().add_text("no such ticket").add_link(None, "https://a.example/list").as_error().build()
    for value, annotation in (
        (built, ContentList),
        (built, UNSAID),
        (built, list[TextContent]),
        (built, Row),
        (ToolResult("no such ticket", is_error=True), ToolResult),
        (ContentList([TextContent("no such ticket")], is_error=True), Any),
    ):
        outcome = await seen(value, annotation, revision=revision)
        assert outcome.is_error
        assert outcome.texts[0] == "no such ticket"
        assert "structuredContent" not in outcome.result


async def test_what_cannot_be_sent_is_an_error_that_says_why() -> None:
    class Odd(Tool):
        @tool
        def unfinished(self) -> Any:
            return ToolResultBuilder().add_text("x")

        @tool
        def digits(self) -> int:
            return 10**5000

    async with connected(serving(Odd)) as wire:
        for name, reason in (("unfinished", "return what its build() gives"), ("digits", "too many digits")):
            result = await wire.call(name)
            assert result["isError"]
            assert f"{name} returned a value that cannot be sent" in result["content"][0]["text"]
            assert reason in result["content"][0]["text"]


@pytest.mark.fault(31)
async def test_subclasses_of_results_are_results() -> None:
    class MyList(ContentList): ...

    class MyResult(ToolResult): ...

    class MyText(TextContent): ...

    for value in (MyList([TextContent("x")]), MyResult("x"), MyText("x")):
        outcome = await seen(value, type(value), server={"structured": "all"})
        assert outcome.texts == ["x"]
        assert "outputSchema" not in outcome.definition


@pytest.mark.fault(32)
async def test_dicts_that_look_like_blocks_are_data() -> None:
    for value in ([{"type": "text", "text": "x"}], {"content": [{"type": "text", "text": "x"}], "isError": True}):
        for annotation in (type(value), UNSAID, Any):
            outcome = await seen(value, annotation)
            assert outcome.data == value
            assert not outcome.is_error


@pytest.mark.fault(33)
async def test_blocks_are_sent_once_and_promise_nothing() -> None:
    blocks = [TextContent("x"), ImageContent(b"\x89PNG", "image/png")]
    for annotation in (list[TextContent | ImageContent], list[TextContent] | list[ImageContent], UNSAID, ContentList):
        outcome = await seen(blocks, annotation, server={"structured": "all"} if annotation is not UNSAID else None)
        assert outcome.kinds == ["text", "image"]
        assert "outputSchema" not in outcome.definition
        assert "structuredContent" not in outcome.result


@pytest.mark.fault(34)
async def test_the_same_value_is_the_same_text_under_every_annotation() -> None:
    @dataclass
    class Person:
        full_name: str
        age: float = 3.0
        friends: list["Person"] = field(default_factory=list)

    person = Person("Ann", friends=[Person("Bob")])
    texts = {(await seen(person, annotation)).text for annotation in (Person, object, Any, UNSAID, Person | None)}
    expected = '{"fullName":"Ann","age":3.0,"friends":[{"fullName":"Bob","age":3.0,"friends":[]}]}'
    assert texts == {expected}


@pytest.mark.fault(35)
async def test_an_object_without_form_is_an_error_and_never_its_address() -> None:
    class Empty: ...

    class Slotted:
        __slots__ = ()

    class Plain:
        def __init__(self) -> None:
            self.full_name = "Ann"
            self._secret = 1

    for value in (object(), lambda: 1, Slotted(), [object()], {"a": object()}, Row, len, json):
        for annotation in (UNSAID, Any):
            outcome = await seen(value, annotation)
            assert outcome.is_error, value
            assert "0x" not in outcome.text
    assert "object" in (await seen(object())).text
    assert "0x" not in (await seen(Empty())).text
    assert (await seen(Plain())).data == {"fullName": "Ann"}


async def test_a_wrapped_result_is_bare_where_the_revision_allows_it() -> None:
    class Rows(Tool):
        @tool
        def rows(self) -> list[Row]:
            return [Row(1)]

    for revision in (*HANDSHAKES[2:], NEWEST):
        schema = (await described(Rows, revision=revision))["rows"]["outputSchema"]
        assert schema["type"] == ("array" if revision == NEWEST else "object")
