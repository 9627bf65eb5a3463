"""What may stand around calls, what it may not do, and what it cannot get around."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import pytest

from mcpconnect import DefinitionError, McpServer, Next, Operation, Tool, ToolError, prompt, tool
from tests.wire import NEWEST, K, connected, serving

pytestmark = pytest.mark.anyio
REVISIONS = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])


async def through(call: Operation, next: Next) -> dict[str, Any]:
    return await next(call)


async def forbid(call: Operation, next: Next) -> dict[str, Any]:
    raise ToolError("forbidden")


async def to_danger(call: Operation, next: Next) -> dict[str, Any]:
    return await next(call.with_params(name="danger", arguments={}))


class Guarded(Tool):
    @tool(guards=[forbid])
    def danger(self) -> str:
        return "boom"

    @tool(guards=[to_danger])
    def harmless(self) -> str:
        return "fine"


@REVISIONS
async def test_a_guard_cannot_lead_around_the_guards_of_another_tool(revision: str) -> None:
    async with connected(serving(Guarded), revision) as wire:
        called = await wire.call("harmless")
        assert (called["isError"], called["content"][0]["text"]) == (True, "forbidden")
    server = serving(Guarded)
    server.middleware.add(to_danger)
    async with connected(server, revision) as wire:
        assert (await wire.call("harmless"))["content"][0]["text"] == "forbidden"


@REVISIONS
async def test_guards_hear_only_of_arguments_that_fit(revision: str) -> None:
    heard: list[Any] = []

    async def short(call: Operation, next: Next) -> dict[str, Any]:
        heard.append(dict(call.arguments))
        if len(call.arguments["word"]) > 5:
            raise ToolError("shorter")
        return await next(call.with_arguments(word=call.arguments.get("then", call.arguments["word"])))

    @tool(guards=[short], name="look_up")
    def guarded(word: str, then: Any = None) -> str:
        return word

    @tool(name="look_up")
    def plain(word: str, then: Any = None) -> str:
        return word

    async with connected(serving(guarded), revision) as wire, connected(serving(plain), revision) as other:
        for wrong in ({}, {"word": 3}, {"word": "a", "more": 1}):
            assert await wire.call("look_up", wrong) == await other.call("look_up", wrong)
        assert heard == []
        assert await wire.texts("look_up", {"word": "abcdefg"}) == ["shorter"]
        assert await wire.texts("look_up", {"word": "a"}) == ["a"]
        replaced = await wire.call("look_up", {"word": "a", "then": {"not": "a text"}})
        assert replaced["isError"]  # what a guard puts there is looked at, too
        assert "word" in replaced["content"][0]["text"]


@pytest.mark.parametrize("as_guard", [False, True])
@pytest.mark.parametrize("kind", [SystemExit, ValueError, asyncio.CancelledError])
async def test_whatever_fails_around_a_tool_fails_as_a_tool_does(kind: type[BaseException], as_guard: bool) -> None:
    async def broken(call: Operation, next: Next) -> dict[str, Any]:
        raise kind("secret")

    @tool(guards=[broken] if as_guard else [])
    def word() -> str:
        return "a"

    server = serving(word)
    if not as_guard:
        server.middleware.add(broken)
    async with connected(server) as wire:
        failed = await wire.call("word")
        assert failed["isError"]
        assert kind.__name__ in failed["content"][0]["text"]
        assert "secret" not in failed["content"][0]["text"]


async def test_a_middleware_that_returns_nothing_fails_as_a_tool_does() -> None:
    async def forgetful(call: Operation, next: Next) -> Any:
        await next(call)

    server = serving(tool(name="word")(lambda: "a"))
    server.middleware.add(forgetful)
    async with connected(server) as wire:
        failed = await wire.call("word")
        assert failed["isError"]
        assert "TypeError" in failed["content"][0]["text"]


@pytest.mark.parametrize("member", ["method", "context"])
async def test_only_the_parameters_of_a_call_can_be_replaced(member: str, caplog: pytest.LogCaptureFixture) -> None:
    async def other(call: Operation, next: Next) -> dict[str, Any]:
        changed: dict[str, Any] = {"method": "tools/list", "context": None}
        return await next(replace(call, **{member: changed[member]}))

    server = serving(tool(name="word")(lambda: "a"))
    server.middleware.add(other)
    async with connected(server) as wire:
        assert (await wire.call("word"))["isError"]
    assert "with_params" in caplog.text


class Counting:
    """Middleware that is an object, and has methods that could be some."""

    async def __call__(self, call: Operation, next: Next) -> dict[str, Any]:
        return await next(call)

    async def method(self, call: Operation, next: Next) -> dict[str, Any]:
        return await next(call)

    async def with_more(self, more: str, call: Operation, next: Next) -> dict[str, Any]:
        return await next(call)

    async def wrong(self, call: Operation) -> dict[str, Any]:
        return {}

    async def yielding(self, call: Operation, next: Next) -> Any:
        yield {}


@wraps(through)
def wrapped(*arguments: Any) -> Any:
    return through(*arguments)


RIGHT = [through, Counting(), Counting().method, partial(Counting().with_more, "more"), wrapped]
WRONG = [
    (Counting, r"give an instance, Counting\(\)"),
    (lambda call, next: next(call), "write `async def`"),
    (Counting().yielding, "write `async def`"),
    (Counting().wrong, r"does not take \(call, next\)"),
    (partial(through, 1, 2), r"does not take \(call, next\)"),
    ("me", "got str"),
    (None, "got NoneType"),
]


@pytest.mark.parametrize("middleware", RIGHT)
async def test_it_may_be_anything_asynchronous(middleware: Any) -> None:
    server = serving(tool(name="word", guards=[middleware])(lambda: "a"))
    assert server.middleware.add(middleware) is middleware
    async with connected(server) as wire:
        assert await wire.texts("word") == ["a"]


@pytest.mark.parametrize(("middleware", "why"), WRONG)
def test_what_could_not_stand_there_is_refused_at_once(middleware: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        McpServer("test").middleware.add(middleware)
    with pytest.raises(DefinitionError, match=why):
        tool(guards=[middleware])


async def test_a_subscription_ends_by_a_result_under_middleware_too() -> None:
    server = serving(tool(name="word")(lambda: "a"))
    server.middleware.add(through)
    async with connected(server, NEWEST) as wire:
        listening = wire.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        await wire.until(lambda: any("acknowledged" in message.get("method", "") for message in wire.messages))
        wire.connection.wind_down()
        answer = await wire.until(lambda: wire.answer_to(listening))
        assert answer["result"]["_meta"][f"{K}subscriptionId"] == listening


class Asking(Tool):
    @prompt
    def greet(self) -> str:
        return "hello"


async def test_a_question_of_a_middleware_around_a_prompt_is_asked() -> None:
    async def consent(call: Operation, next: Next) -> dict[str, Any]:
        await call.context.elicit("All right?", {"type": "object", "properties": {}})
        return await next(call)

    server = serving(Asking)
    server.middleware.add(consent)
    meta = {f"{K}clientCapabilities": {"elicitation": {}}}
    async with connected(server, NEWEST) as wire:
        asked = (await wire.ask("prompts/get", {"name": "greet", "_meta": meta}))["result"]
        assert asked["resultType"] == "input_required"
