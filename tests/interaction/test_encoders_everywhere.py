"""Encoders in prompts and resources: the order of decision, containers, kinds, and what they may return."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from mcpconnect import (
    YAML_TEXT,
    BlobResource,
    ContentList,
    CustomSerializer,
    Encoder,
    ImageContent,
    McpServer,
    PromptMessage,
    PromptResult,
    ResourceResult,
    SerializerConfig,
    TextContent,
    TextResource,
    ToolResult,
    prompt,
    resource,
    tool,
)
from tests.wire import NEWEST, connected

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Money:
    amount: int


@dataclass(frozen=True)
class Euro(Money):
    pass


class Table(list[Money]):
    """A container of its own."""


async def shown(
    server: McpServer, value: Any, annotation: Any = None, revision: str = "2025-11-25"
) -> tuple[list[str], list[str], list[str]]:
    """Return what a value becomes in a tool, a prompt and a resource: texts, `role: text`, `mime: text`."""

    def asked():
        return value

    if annotation is not None:
        asked.__annotations__["return"] = annotation
    for decorate in (tool, prompt, resource("x://y")):
        server.register(decorate(asked))
        del asked.__mcpconnect__  # type: ignore[attr-defined]
    async with connected(server, revision) as wire:
        called = await wire.call("asked")
        got = (await wire.ask("prompts/get", {"name": "asked"}))["result"]["messages"]
        read = (await wire.ask("resources/read", {"uri": "x://y"}))["result"]["contents"]
    return (
        [_text(block) for block in called["content"]],
        [f"{message['role']}: {_text(message['content'])}" for message in got],
        [f"{part.get('mimeType')}: {part.get('text', part.get('blob'))}" for part in read],
    )


def _text(block: dict[str, Any]) -> str:
    return str(block.get("text", block["type"]))


def encoding(
    cls: type, encode: Callable[[Any], Any] | Encoder[Any], kinds: set[Any] | None = None, **settings: Any
) -> McpServer:
    server = McpServer("encoders", **settings)
    server.encoders.add(cls, encode, kinds=kinds)
    return server


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", NEWEST])
async def test_one_encoder_serves_all_three_kinds(revision: str) -> None:
    server = encoding(Money, lambda money: TextContent(f"{money.amount} coins"))
    assert await shown(server, Money(3), Money, revision) == (
        ["3 coins"],
        ["user: 3 coins"],
        ["text/plain: 3 coins"],
    )


async def test_kinds_limit_an_encoder() -> None:
    json = '{"amount":3}'
    for kind, place in (("tool", 0), ("prompt", 1), ("resource", 2)):
        server = encoding(Money, lambda _: "encoded", kinds={kind})
        found = await shown(server, Money(3))
        plain = ([json], [f"user: {json}"], [f"application/json: {json}"])
        for index in range(3):
            assert (found[index] == plain[index]) is (index != place)
            assert ("encoded" in found[index][0]) is (index == place)


async def test_the_nearest_class_wins_then_the_latest_and_one_may_decline() -> None:
    class Large(Encoder[Money]):
        kinds = ("prompt", "resource")

        def supports(self, value: Money) -> bool:
            return value.amount > 10

        def encode(self, value: Money) -> Any:
            return TextContent("large")

    def make() -> McpServer:
        server = McpServer("encoders")
        server.encoders.add(object, lambda _: TextContent("anything"))
        server.encoders.add(Euro, lambda _: TextContent("euro"), kinds={"prompt", "resource"})
        server.encoders.add(Money, lambda _: TextContent("earlier"))
        server.encoders.add(Money, lambda _: TextContent("money"))
        server.encoders.add(Money, Large())
        return server

    for value, in_tool, elsewhere in (
        (Euro(1), "money", "euro"),
        (Money(1), "money", "money"),
        (Money(11), "money", "large"),
        (3, "anything", "anything"),
    ):
        assert await shown(make(), value) == (
            [in_tool],
            [f"user: {elsewhere}"],
            [f"text/plain: {elsewhere}"],
        )


async def test_ready_made_results_are_asked_of_no_encoder() -> None:
    server = encoding(object, lambda _: "encoded")
    found = await shown(server, TextContent("ready"))
    assert found == (["ready"], ["user: ready"], ["text/plain: ready"])
    server = encoding(Money, lambda _: "encoded")
    found = await shown(server, ContentList(["ready", Money(1)]))
    assert found == (
        ["ready", "encoded"],
        ["user: ready", "user: encoded"],
        ["text/plain: ready", "text/plain: encoded"],
    )
    for value, kind in ((PromptMessage.assistant("ready"), "prompt"), (TextResource("ready"), "resource")):
        server = encoding(object, lambda _: "encoded")
        register = (
            prompt(name="p")(lambda v=value: v) if kind == "prompt" else resource("x://p", name="p")(lambda v=value: v)
        )
        server.register(register)
        async with connected(server) as wire:
            if kind == "prompt":
                answer = await wire.ask("prompts/get", {"name": "p"})
                assert answer["result"]["messages"][0]["content"]["text"] == "ready"
            else:
                answer = await wire.ask("resources/read", {"uri": "x://p"})
                assert answer["result"]["contents"][0]["text"] == "ready"


async def test_lists_go_item_by_item_where_an_item_has_an_encoder() -> None:
    server = encoding(Money, lambda money: f"{money.amount} coins")
    expected = (
        ["1 coins", "2 coins"],
        ["user: 1 coins", "user: 2 coins"],
        ["text/plain: 1 coins", "text/plain: 2 coins"],
    )
    for annotation in (None, list[Money], tuple[Money, ...]):
        fresh = encoding(Money, lambda money: f"{money.amount} coins")
        assert await shown(fresh, [Money(1), Money(2)], annotation) == expected
    found = await shown(server, ["text", Money(2), 3], list[str | Money | int])
    assert found[1] == ["user: text", "user: 2 coins", "user: 3"]
    assert found[2] == ["text/plain: text", "text/plain: 2 coins", "text/plain: 3"]


async def test_an_encoder_of_a_whole_container_beats_those_of_its_items() -> None:
    server = encoding(Table, lambda table: f"{len(table)} rows")
    server.encoders.add(Money, lambda _: "a row")
    assert await shown(server, Table([Money(1), Money(2)]), Table) == (
        ["2 rows"],
        ["user: 2 rows"],
        ["text/plain: 2 rows"],
    )
    server = encoding(list, lambda values: f"{len(values)} values")
    assert await shown(server, ["a", "b"], list[str]) == (["2 values"], ["user: 2 values"], ["text/plain: 2 values"])


async def test_an_encoder_may_return_several_and_whole_results() -> None:
    server = encoding(Money, lambda _: [PromptMessage.user("a"), PromptMessage.assistant("b")], {"prompt"})
    server.encoders.add(
        Money, lambda _: [TextResource("a", mime_type="a/a"), BlobResource(b"b", mime_type="b/b")], kinds={"resource"}
    )
    server.encoders.add(Money, lambda _: ToolResult(["a", "b"]), kinds={"tool"})
    assert await shown(server, Money(1)) == (["a", "b"], ["user: a", "assistant: b"], ["a/a: a", "b/b: Yg=="])

    server = encoding(Money, lambda _: PromptResult("all of it", "described"), {"prompt"})
    server.encoders.add(
        Money, lambda _: ResourceResult(TextResource("all of it"), {"example.org/a": 1}), kinds={"resource"}
    )
    found = await shown(server, Money(1))
    assert found[1:] == (["user: all of it"], ["None: all of it"])

    server = encoding(Money, lambda money: ToolResult([f"{money.amount}", "coins"]))
    assert await shown(server, Money(1)) == (
        ["1", "coins"],
        ["user: 1", "user: coins"],
        ["text/plain: 1", "text/plain: coins"],
    )

    server = encoding(Money, lambda _: ImageContent(b"x", "image/webp"))
    assert await shown(server, Money(1)) == (["image"], ["user: image"], ["image/webp: eA=="])


async def test_what_an_encoder_returns_is_converted_in_its_place_and_never_goes_round() -> None:
    server = encoding(Money, lambda money: {"coins": money.amount})
    json = '{"coins":3}'
    assert await shown(server, Money(3)) == ([json], [f"user: {json}"], [f"application/json: {json}"])
    server = encoding(Money, lambda money: Money(money.amount + 1))
    json = '{"amount":4}'
    assert await shown(server, Money(3)) == ([json], [f"user: {json}"], [f"application/json: {json}"])


async def test_encoders_come_before_custom_serializers_and_content_types() -> None:
    config = SerializerConfig(serializers=[(Money, CustomSerializer(lambda money: f"custom {money.amount}"))])
    server = encoding(Money, lambda _: "encoded", serializer=config, content_type=YAML_TEXT)
    assert await shown(server, Money(1)) == (["encoded"], ["user: encoded"], ["text/plain: encoded"])
    plain = McpServer("none", serializer=config, content_type=YAML_TEXT)
    assert await shown(plain, Money(1)) == (["custom 1"], ["user: custom 1"], ["text/plain: custom 1"])


@pytest.mark.parametrize("failure", [ValueError("x"), SystemExit(3)])
async def test_an_encoder_that_fails_is_an_internal_error(failure: BaseException) -> None:
    def fails(_: Any) -> str:
        raise failure

    server = encoding(Money, fails)
    server.register(prompt(name="p")(lambda: Money(1)))
    server.register(resource("x://p", name="p")(lambda: Money(1)))
    async with connected(server) as wire:
        assert (await wire.ask("prompts/get", {"name": "p"}))["error"]["code"] == -32603
        assert (await wire.ask("resources/read", {"uri": "x://p"}))["error"]["code"] == -32603


async def test_encoders_added_or_removed_later_count_at_once() -> None:
    server = McpServer("encoders")
    server.register(prompt(name="p")(lambda: Money(1)))
    async with connected(server) as wire:

        async def text() -> str:
            answer = await wire.ask("prompts/get", {"name": "p"})
            found: str = answer["result"]["messages"][0]["content"]["text"]
            return found

        assert await text() == '{"amount":1}'
        server.encoders.add(Money, lambda _: "encoded")
        assert await text() == "encoded"
        server.encoders.remove(Money)
        assert await text() == '{"amount":1}'


async def test_an_encoder_for_none_is_asked_too() -> None:
    server = encoding(type(None), lambda _: "nothing", {"prompt", "resource"})
    server.register(prompt(name="p")(lambda: None))
    async with connected(server) as wire:
        answer = await wire.ask("prompts/get", {"name": "p"})
        assert answer["result"]["messages"] == []
