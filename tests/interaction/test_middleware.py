"""What stands around operations: the server's middleware, a tool's guards."""

import threading
from typing import Any

import anyio
import pytest

from mcpconnect import (
    DefinitionError,
    InvalidParams,
    Limits,
    McpServer,
    Next,
    Operation,
    ProtocolError,
    Tool,
    ToolError,
    prompt,
    resource,
    tool,
)
from mcpconnect.errors import ClientError
from mcpconnect.testing import TestClient
from tests.wire import NEWEST, K, connected, serving

pytestmark = pytest.mark.anyio
REVISIONS = pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", NEWEST])


class Plain(Tool):
    @tool
    def echo(self, word: str) -> str:
        """Echo."""
        return word

    @tool
    async def echo_async(self, word: str) -> str:
        return word

    @tool(timeout=0.1)
    async def slow(self) -> str:
        await anyio.sleep(60)
        return "late"

    @tool
    def fail(self) -> str:
        raise ToolError("it failed")

    @prompt
    def ask(self, topic: str) -> str:
        return topic

    @resource("test://x")
    def read(self) -> str:
        return "x"


def surrounded(*middleware: Any, **settings: Any) -> McpServer:
    server = serving(Plain, **settings)
    for each in middleware:
        server.middleware.add(each)
    return server


@REVISIONS
async def test_it_stands_around_every_operation_in_order(revision: str) -> None:
    seen: list[str] = []

    async def outer(call: Operation, next: Next) -> dict[str, Any]:
        seen.append(f"outer {call.method}")
        result = await next(call)
        seen.append("out")
        return result

    async def inner(call: Operation, next: Next) -> dict[str, Any]:
        seen.append(f"inner {call.context.peer.revision.version}")
        return await next(call)

    methods: list[tuple[str, dict[str, Any]]] = [
        ("tools/list", {}),
        ("tools/call", {"name": "echo", "arguments": {"word": "a"}}),
        ("tools/call", {"name": "echo_async", "arguments": {"word": "a"}}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "ask", "arguments": {"topic": "a"}}),
        ("resources/list", {}),
        ("resources/read", {"uri": "test://x"}),
    ]
    async with connected(surrounded(outer, inner), revision) as wire, connected(serving(Plain), revision) as plain:
        seen.clear()
        for method, params in methods:
            answer, without = await wire.ask(method, params), await plain.ask(method, params)
            assert answer["result"] == without["result"]
            assert seen == [f"outer {method}", f"inner {revision}", "out"]
            seen.clear()


@REVISIONS
async def test_it_replaces_parameters_and_results(revision: str) -> None:
    async def louder(call: Operation, next: Next) -> dict[str, Any]:
        if call.method == "tools/call":
            call = call.with_arguments(word=call.arguments["word"].upper())
        result = await next(call)
        if call.method == "tools/call":
            result["content"].append({"type": "text", "text": "!"})
        return result

    async with connected(surrounded(louder), revision) as wire:
        assert await wire.texts("echo", {"word": "hey"}) == ["HEY", "!"]


@REVISIONS
async def test_it_answers_itself_refuses_and_catches(revision: str) -> None:
    async def gate(call: Operation, next: Next) -> dict[str, Any]:
        if call.method == "prompts/get":
            raise InvalidParams("no prompts today")
        if call.method == "resources/read":
            raise ProtocolError("mine", code=-1, data={"a": 1})
        if call.params.get("name") == "echo":
            return {"resultType": "complete", "content": [{"type": "text", "text": "cached"}]}
        try:
            return await next(call)
        except ProtocolError as error:
            return {"content": [{"type": "text", "text": f"caught {error.message}"}]}

    async with TestClient(surrounded(gate), revision=revision) as client:
        assert (await client.call_tool("echo", {"word": "hey"})).text == "cached"
        assert (await client.call_tool("nobody", {})).text == "caught Unknown tool: nobody"
        with pytest.raises(ClientError) as refused:
            await client.request("prompts/get", {"name": "ask"})
        assert (refused.value.code, str(refused.value)) == (-32602, "no prompts today")
        with pytest.raises(ClientError) as own:
            await client.request("resources/read", {"uri": "test://x"})
        assert (own.value.code, own.value.data) == (-1, {"a": 1})


async def test_what_fails_in_it_shows_an_id_and_no_more() -> None:
    async def broken(call: Operation, next: Next) -> dict[str, Any]:
        raise RuntimeError("secret")

    async with connected(surrounded(broken)) as wire:
        failed = await wire.call("echo", {"word": "a"})
        assert failed["isError"]
        assert "RuntimeError" in failed["content"][0]["text"]
        error = (await wire.ask("tools/list"))["error"]
        assert error["code"] == -32603
        assert "secret" not in str(failed) + str(error)


async def test_what_is_no_result_is_the_authors_fault() -> None:
    async def forgetful(call: Operation, next: Next) -> Any:
        await next(call)

    async with connected(surrounded(forgetful)) as wire:
        assert (await wire.ask("tools/list"))["error"]["code"] == -32603


async def test_time_limits_and_cancellation_hold_inside() -> None:
    states: list[str] = []

    async def through(call: Operation, next: Next) -> dict[str, Any]:
        try:
            return await next(call)
        finally:
            states.append("left")

    async with connected(surrounded(through)) as wire:
        assert "timed out" in (await wire.call("slow"))["content"][0]["text"]
        request_id = wire.start("tools/call", {"name": "slow"})
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
        await wire.ask("ping")
        await anyio.sleep(0.2)
        assert wire.answer_to(request_id) is None
    assert "left" in states


async def test_it_cannot_be_what_cannot_be_called() -> None:
    with pytest.raises(DefinitionError, match="async def"):
        McpServer("test").middleware.add("me")  # type: ignore[type-var] # the mistake


async def test_listening_goes_through_it() -> None:
    async def through(call: Operation, next: Next) -> dict[str, Any]:
        return await next(call)

    server = surrounded(through)
    async with connected(server, NEWEST) as wire:
        wire.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        await wire.until(lambda: any("acknowledged" in message.get("method", "") for message in wire.messages))

        @tool
        def more() -> None: ...

        server.register(more)
        await wire.until(lambda: any("tools/list_changed" in message.get("method", "") for message in wire.messages))


async def exclaim(call: Operation, next: Next) -> dict[str, Any]:
    result = await next(call)
    result["content"][0]["text"] += "!"
    return result


async def only_short(call: Operation, next: Next) -> dict[str, Any]:
    if len(call.arguments["word"]) > 5:
        raise ToolError("too long")
    return await next(call.with_arguments(word=call.arguments["word"] * 2))


class Guarded(Tool):
    @tool(guards=[exclaim, only_short])
    def echo(self, word: str) -> str:
        return word

    @tool(guards=[exclaim])
    async def fail(self) -> str:
        raise ToolError("it failed")


@REVISIONS
async def test_guards_see_arguments_and_results_also_errors(revision: str) -> None:
    async with connected(serving(Guarded), revision) as wire:
        assert await wire.texts("echo", {"word": "ab"}) == ["abab!"]
        refused = await wire.call("echo", {"word": "abcdefgh"})
        assert refused["isError"]
        assert refused["content"][0]["text"] == "too long!"
        failed = await wire.call("fail")
        assert failed["isError"]
        assert failed["content"][0]["text"] == "it failed!"


async def test_guards_stand_inside_of_middleware() -> None:
    server = serving(Guarded)

    @server.middleware.add
    async def brackets(call: Operation, next: Next) -> dict[str, Any]:
        result = await next(call)
        if call.method == "tools/call":
            result["content"][0]["text"] = f"({result['content'][0]['text']})"
        return result

    async with connected(server) as wire:
        assert await wire.texts("echo", {"word": "a"}) == ["(aa!)"]


async def test_many_calls_at_once_keep_their_own() -> None:
    async def through(call: Operation, next: Next) -> dict[str, Any]:
        await anyio.sleep(0)
        result = await next(call)
        assert result["content"][0]["text"] == call.arguments["word"]
        return result

    server = serving(Plain, limits=Limits(concurrent_calls=500))
    async with connected(server) as wire:
        server.middleware.add(through)
        calls = [
            (n, wire.start("tools/call", {"name": name, "arguments": {"word": str(n)}}))
            for n in range(100)
            for name in ("echo", "echo_async")
        ]
        for n, request_id in calls:
            answer = await wire.until(lambda request_id=request_id: wire.answer_to(request_id))
            assert answer["result"]["content"][0]["text"] == str(n)


async def test_a_middleware_asks_the_client() -> None:
    async def consent(call: Operation, next: Next) -> dict[str, Any]:
        if call.method == "tools/call" and not await call.context.elicit(
            "All right?", {"type": "object", "properties": {}}
        ):
            raise ToolError("the user said no")
        return await next(call)

    async with connected(surrounded(consent), NEWEST) as wire:
        meta = {f"{K}clientCapabilities": {"elicitation": {}}}
        params: dict[str, Any] = {"name": "echo", "arguments": {"word": "a"}, "_meta": meta}
        for action, text in (("accept", "a"), ("decline", "the user said no")):
            asked = (await wire.ask("tools/call", params))["result"]
            assert asked["resultType"] == "input_required"
            reply = {"action": action, **({"content": {}} if action == "accept" else {})}
            given = {"inputResponses": dict.fromkeys(asked["inputRequests"], reply)}
            again = {**params, **given, "requestState": asked["requestState"]}
            assert (await wire.ask("tools/call", again))["result"]["content"][0]["text"] == text


async def test_threads_inside_are_bounded_as_elsewhere() -> None:
    running: list[int] = []
    most: list[int] = []

    @tool
    def work() -> None:
        running.append(1)
        most.append(len(running))
        threading.Event().wait(0.02)
        running.pop()

    async def through(call: Operation, next: Next) -> dict[str, Any]:
        return await next(call)

    server = serving(work, limits=Limits(threads=2))
    server.middleware.add(through)
    async with connected(server) as wire:
        ids = [wire.start("tools/call", {"name": "work"}) for _ in range(12)]
        await wire.until(lambda: all(wire.answer_to(each) for each in ids))
    assert max(most) <= 2
