"""What middleware gets and gives: the result as the client would have it, digit for digit, within the limits."""

import json
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Annotated, Any

import pytest

from mcpconnect import (
    Context,
    Inject,
    Limits,
    McpServer,
    Next,
    Operation,
    ProtocolError,
    Serializer,
    SerializerConfig,
    Tool,
    ToolError,
    prompt,
    resource,
    tool,
)
from tests.wire import NEWEST, K, connected, serving

pytestmark = pytest.mark.anyio
REVISIONS = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
EXACT = Serializer(SerializerConfig(decimal_as="number"))
AWKWARD = ["0.12345678901234567890123", "1.10", "0.1", "1E+30", "12345678901234567890123456789", "-0.0", "1e-7"]


async def through(call: Operation, next: Next) -> dict[str, Any]:
    return await next(call)


def surrounded(*things: Any, by: Any = through, **settings: Any) -> McpServer:
    server = serving(*things, **settings)
    server.middleware.add(by)
    return server


def raw_results(wire: Any) -> list[bytes]:
    return [data for side, data in wire.traffic if side == "server" and b'"result"' in data]


@tool(structured=True)
def numbers() -> list[Decimal]:
    return [Decimal(text) for text in AWKWARD]


@REVISIONS
async def test_every_digit_of_a_result_stays(revision: str) -> None:
    around, without = surrounded(numbers, serializer=EXACT), serving(numbers, serializer=EXACT)
    async with connected(around, revision) as wire, connected(without, revision) as plain:
        for each in (wire, plain):
            await each.ask("tools/call", {"name": "numbers"}, id="same")
            await each.ask("tools/list", id="list")
        assert raw_results(wire)[-2:] == raw_results(plain)[-2:]
        for text in ("0.12345678901234567890123", "12345678901234567890123456789"):
            assert raw_results(wire)[-2].count(text.encode()) >= 2  # in the text, and in the data


async def test_a_number_that_no_float_holds_is_a_decimal() -> None:
    seen: list[Any] = []

    async def look(call: Operation, next: Next) -> dict[str, Any]:
        result = await next(call)
        if "structuredContent" in result:
            seen.extend(result["structuredContent"])
            result["structuredContent"].append(Decimal("0.30"))
        return result

    async with connected(surrounded(numbers, by=look, serializer=EXACT), NEWEST) as wire:
        await wire.call("numbers")
        assert raw_results(wire)[-1].endswith(b",0.30]}}")
    assert [(type(value), value) for value in seen[:3]] == [
        (Decimal, Decimal(AWKWARD[0])),
        (float, 1.1),
        (float, 0.1),
    ]


class Short(Tool):
    @tool
    def word(self) -> str:
        return "a"

    @prompt
    def ask(self) -> str:
        return "a"

    @resource("test://x")
    def read(self) -> str:
        return "a"


@REVISIONS
async def test_what_a_middleware_returns_may_not_be_too_long_either(revision: str) -> None:
    async def fatten(call: Operation, next: Next) -> dict[str, Any]:
        result = await next(call)
        return {**result, "_meta": {**result.get("_meta", {}), "fat": "x" * 5000}}

    server = surrounded(Short, by=fatten, limits=Limits(result_bytes=2000))
    async with connected(server, revision) as wire:
        called = await wire.call("word")
        assert called["isError"]
        assert called["content"][0]["text"].startswith("the result of word is too long: 5,")
        for method, params in (("prompts/get", {"name": "ask"}), ("resources/read", {"uri": "test://x"})):
            error = (await wire.ask(method, params))["error"]
            assert error["code"] == -32603
            assert "Limits.result_bytes" in error["message"]
        listed = await wire.ask("tools/list")  # which has no limit without middleware either
        assert len(json.dumps(listed)) > 5000


async def test_an_error_and_a_question_may_be_longer() -> None:
    text = "why " * 1000

    @tool
    def fail() -> str:
        raise ToolError(text)

    @tool
    async def ask(ctx: Context) -> str:
        await ctx.elicit(text, {"type": "object", "properties": {}})
        return "asked"

    limits = Limits(result_bytes=2000)
    meta = {f"{K}clientCapabilities": {"elicitation": {}}}
    for server in (surrounded(fail, ask, limits=limits), serving(fail, ask, limits=limits)):
        async with connected(server, NEWEST) as wire:
            assert (await wire.call("fail"))["content"][0]["text"] == text
            asked = await wire.ask("tools/call", {"name": "ask", "_meta": meta})
            assert asked["result"]["resultType"] == "input_required"


class Missing(Tool):
    @resource("test://x")
    def read(self) -> str | None:
        return None

    @tool
    async def refuse(self) -> str:
        raise ProtocolError("no", code=-7, data={"a": [1]})


@REVISIONS
async def test_the_data_of_an_error_stays(revision: str) -> None:
    requests: list[tuple[str, dict[str, Any], Any]] = [
        ("resources/read", {"uri": "none://x"}, {"uri": "none://x"}),
        ("resources/read", {"uri": "test://x"}, {"uri": "test://x"}),
        ("tools/call", {"name": "refuse"}, {"a": [1]}),
    ]
    async with connected(surrounded(Missing), revision) as wire, connected(serving(Missing), revision) as plain:
        for method, params, data in requests:
            error = (await wire.ask(method, params))["error"]
            assert error == (await plain.ask(method, params))["error"]
            assert error["data"] == data


async def test_what_a_synchronous_tool_returns_may_be_asynchronous() -> None:
    @tool
    def count() -> AsyncIterator[int]:
        async def numbers() -> AsyncIterator[int]:
            yield 1
            yield 2

        return numbers()

    async with connected(surrounded(count), NEWEST) as wire:
        assert await wire.texts("count") == await _plain_texts(count)


async def _plain_texts(feature: Any) -> list[str]:
    async with connected(serving(feature), NEWEST) as wire:
        return await wire.texts(feature.__name__)


async def test_what_is_provided_hears_how_the_call_ended() -> None:
    heard: list[str] = []

    def transaction() -> Iterator[str]:
        try:
            yield "transaction"
        except ToolError as error:
            heard.append(f"rolled back: {error}")
            raise
        heard.append("committed")

    @tool
    def save(fail: bool, held: Annotated[str, Inject(transaction)]) -> str:
        if fail:
            raise ToolError("disk full")
        return held

    async with connected(surrounded(save)) as wire:
        assert await wire.texts("save", {"fail": False}) == ["transaction"]
        assert (await wire.call("save", {"fail": True}))["isError"]
    assert heard == ["committed", "rolled back: disk full"]


@REVISIONS
async def test_parameters_that_are_replaced_reach_the_context(revision: str) -> None:
    @tool
    async def facts(ctx: Context) -> str:
        await ctx.progress(1)
        await ctx.log("info", "hello")
        return str(ctx.meta.get("tenant"))

    async def of_a_tenant(call: Operation, next: Next) -> dict[str, Any]:
        token = {"progressToken": "mine", f"{K}logLevel": "debug"} if call.method == "tools/call" else {}
        return await next(call.with_params(_meta={**call.context.meta, "tenant": "acme", **token}))

    async with connected(surrounded(facts, by=of_a_tenant), revision) as wire:
        assert await wire.texts("facts") == ["acme"]
        told = [message for message in wire.messages if message.get("method") == "notifications/progress"]
        assert [message["params"]["progressToken"] for message in told] == ["mine"]
        assert any(message.get("method") == "notifications/message" for message in wire.messages)

    async def broken(call: Operation, next: Next) -> dict[str, Any]:
        return await next(call.with_params(_meta=3))

    async with connected(surrounded(facts, by=broken), revision) as wire:
        assert (await wire.ask("tools/call", {"name": "facts"}))["error"]["code"] == -32602


async def test_changing_the_arguments_in_place_does_not_change_whose_state_it_is() -> None:
    @tool
    async def book(city: str, ctx: Context) -> str:
        answer = await ctx.elicit(f"{city}?", {"type": "object", "properties": {}})
        return f"{city} {answer.action}"

    async def in_place(call: Operation, next: Next) -> dict[str, Any]:
        if call.method == "tools/call":
            call.params["arguments"]["city"] += "!"
            call.params["_meta"]["seen"] = True
        return await next(call)

    async with connected(surrounded(book, by=in_place), NEWEST) as wire:
        params: dict[str, Any] = {"name": "book", "arguments": {"city": "Rome"}}
        params["_meta"] = {f"{K}clientCapabilities": {"elicitation": {}}}
        asked = (await wire.ask("tools/call", params))["result"]
        params["inputResponses"] = {key: {"action": "accept", "content": {}} for key in asked["inputRequests"]}
        params["requestState"] = asked["requestState"]
        answer = await wire.ask("tools/call", params)
        assert answer["result"]["content"][0]["text"] == "Rome! accept"
        other = await wire.ask("tools/call", {**params, "arguments": {"city": "Oslo"}})
        assert other["error"]["message"] == "requestState belongs to another call"
