"""`subscriptions/listen`: what a client hears of changes, on a connection and over HTTP, and how it ends."""

import asyncio
import json
import sys
import threading
from typing import Any

import anyio
import pytest

from mcpconnect import Limits, tool
from tests.transports.http.caller import calling, settled
from tests.transports.stdio.process import Process, request
from tests.wire import HANDSHAKES, NEWEST, PATIENCE, K, connected, serving

ID = f"{K}subscriptionId"
CHANGED = "notifications/tools/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TOOLS = {"notifications": {"toolsListChanged": True}}


@tool
def first() -> str:
    """Be there."""
    return "first"


@tool
def second() -> str:
    """Come and go."""
    return "second"


@tool
async def slow() -> str:
    """Report for a while."""
    await anyio.sleep(60)
    return "slow"


def methods(messages: list[dict[str, Any]]) -> list[str | None]:
    return [message.get("method") for message in messages]


def subscription(message: dict[str, Any]) -> Any:
    """Return the id that a message names, whether it is a notification or the result."""
    return (message["params"] if "method" in message else message["result"])["_meta"][ID]


# -- on a connection --------------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("id", [12, "twelve", 0, ""])
async def test_the_acknowledgement_comes_first_and_every_message_names_the_subscription(id: Any) -> None:
    server = serving(first)
    async with connected(server, NEWEST) as wire:
        wire.start("subscriptions/listen", TOOLS, id=id)
        await wire.until(lambda: len(wire.messages) == 1)
        assert wire.messages[0]["method"] == ACKNOWLEDGED
        assert wire.messages[0]["params"]["notifications"] == {"toolsListChanged": True}
        server.register(second)
        server.unregister(second)
        assert methods(wire.messages) == [ACKNOWLEDGED, CHANGED, CHANGED]
        wire.connection.wind_down()
        await wire.until(lambda: wire.answer_to(id))
        assert methods(wire.messages)[3:] == ["notifications/cancelled", None]
        assert wire.messages[3]["params"]["requestId"] == id
        assert wire.messages[4]["result"]["resultType"] == "complete"
        assert wire.messages[4]["result"]["_meta"][f"{K}serverInfo"] == {"name": "test", "version": "1"}
        assert [subscription(message) for message in wire.messages] == [id] * 5
        assert all(type(subscription(message)) is type(id) for message in wire.messages)
        server.register(second)
        assert len(wire.messages) == 5, "nothing follows the result"
        assert len(server.hub) == 0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wishes", "honoured"),
    [
        ({}, {}),
        ({"toolsListChanged": False}, {}),
        ({"toolsListChanged": 1}, {}),
        ({"toolsListChanged": "true"}, {}),
        ({"unknown": True}, {}),
        ({"toolsListChanged": True, "unknown": True}, {"toolsListChanged": True}),
    ],
)
async def test_only_what_was_asked_for_and_is_known_is_honoured_and_heard(
    wishes: dict[str, Any], honoured: dict[str, bool]
) -> None:
    server = serving(first)
    async with connected(server, NEWEST) as wire:
        wire.start("subscriptions/listen", {"notifications": wishes}, id=1)
        await wire.until(lambda: wire.messages)
        assert wire.messages[0]["params"]["notifications"] == honoured
        server.register(second)
        assert methods(wire.messages) == [ACKNOWLEDGED, *([CHANGED] if honoured else [])]


@pytest.mark.anyio
@pytest.mark.parametrize("params", [{}, {"notifications": None}, {"notifications": []}, {"notifications": True}])
async def test_a_wish_that_is_no_object_is_invalid(params: dict[str, Any]) -> None:
    async with connected(serving(first), NEWEST) as wire:
        answer = await wire.ask("subscriptions/listen", params)
        assert answer["error"]["code"] == -32602
        assert wire.connection.live == 0


@pytest.mark.anyio
async def test_several_subscriptions_interleave_with_each_other_and_with_calls() -> None:
    server = serving(first)
    async with connected(server, NEWEST) as wire:
        wire.start("subscriptions/listen", TOOLS, id="a")
        wire.start("subscriptions/listen", TOOLS, id="b")
        await wire.until(lambda: len(wire.messages) == 2)
        assert await wire.texts("first") == ["first"]
        server.register(second)
        heard = [subscription(message) for message in wire.messages if message.get("method") == CHANGED]
        assert sorted(heard) == ["a", "b"]


@pytest.mark.anyio
async def test_a_cancelled_subscription_is_silent_at_once() -> None:
    server = serving(first)
    async with connected(server, NEWEST) as wire:
        for id in ("a", "b"):
            wire.start("subscriptions/listen", TOOLS, id=id)
        await wire.until(lambda: len(wire.messages) == 2)
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}})
        server.register(second)
        assert [subscription(message) for message in wire.messages[2:]] == ["b"]
        assert await wire.texts("first") == ["first"]
        assert wire.answer_to("a") is None
        with anyio.fail_after(PATIENCE):
            while len(server.hub) > 1:
                await anyio.sleep(0)


@pytest.mark.anyio
async def test_changes_from_threads_are_heard_behind_the_acknowledgement_and_all_of_them() -> None:
    server = serving(first)
    stop = threading.Event()
    changes = 0

    def change() -> None:
        nonlocal changes
        while not stop.is_set():
            server.hub.publish("tools")
            changes += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        async with connected(server, NEWEST) as wire:
            for id in range(20):
                wire.start("subscriptions/listen", TOOLS, id=id)
                await wire.until(lambda id=id: sum(subscription(message) == id for message in wire.messages) > 3)
                wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
                count = sum(subscription(message) == id for message in wire.messages)
                mine = [message["method"] for message in wire.messages if subscription(message) == id]
                assert mine == [ACKNOWLEDGED] + [CHANGED] * (len(mine) - 1)
                await anyio.sleep(0)
                assert sum(subscription(message) == id for message in wire.messages) == count, "it was cancelled"
    finally:
        stop.set()
        thread.join()


@pytest.mark.anyio
@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_revisions_with_a_handshake_do_not_know_it(revision: str) -> None:
    async with connected(serving(first), revision) as wire:
        assert (await wire.ask("subscriptions/listen", TOOLS))["error"]["code"] == -32601


# -- over stdio -------------------------------------------------------------------------------------------------------

META = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}}
LISTENING_SERVER = """
import sys
from mcpconnect import McpServer, tool
server = McpServer("test")
@tool
def other() -> str:
    return "other"
@tool
def change() -> str:
    server.register(other)
    return "changed"
server.register(change)
server.run(backend=sys.argv[1])
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_subscription_over_stdio_ends_with_the_input(backend: str, tmp_path: Any) -> None:
    file = tmp_path / "server.py"
    file.write_text(LISTENING_SERVER)
    with Process(command=[sys.executable, str(file), backend]) as process:
        process.send(request("l", "subscriptions/listen", {**TOOLS, "_meta": META}))
        assert process.receive()["method"] == ACKNOWLEDGED
        process.send(request("c", "tools/call", {"name": "change", "_meta": META}))
        assert {message.get("method", message.get("id")) for message in (process.receive(), process.receive())} == {
            CHANGED,
            "c",
        }
        process.close()
        ended, result = process.rest()
        assert (ended["method"], ended["params"]["requestId"]) == ("notifications/cancelled", "l")
        assert (result["id"], subscription(result)) == ("l", "l")
        assert process.wait() == 0


# -- over HTTP --------------------------------------------------------------------------------------------------------


def over_http(test: Any) -> Any:
    """Run a test on asyncio."""

    def run(**arguments: Any) -> None:
        asyncio.run(test(**arguments))

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


@over_http
async def test_over_http_it_is_an_event_stream_that_ends_with_its_client() -> None:
    server = serving(first)
    async with calling(server) as caller:
        listening, other = (
            caller.modern("subscriptions/listen", TOOLS, id="x"),
            caller.modern("subscriptions/listen", {"notifications": {}}, id="y"),
        )
        assert (await listening.event()).message["method"] == ACKNOWLEDGED
        await other.event()
        assert listening.headers["content-type"] == "text/event-stream"
        assert listening.headers["x-accel-buffering"] == "no"
        server.register(second)
        changed = await listening.event()
        assert (changed.message["method"], changed.message["params"]["_meta"][ID]) == (CHANGED, "x")
        assert changed.id is None
        assert len(server.hub) == 2
        listening.leave()
        await listening.done()
        await settled(lambda: len(server.hub) == 1)
        assert len(other.events) == 1


@over_http
async def test_over_http_no_other_call_speaks_on_it() -> None:
    server = serving(first, slow)
    async with calling(server) as caller:
        listening = caller.modern("subscriptions/listen", TOOLS, meta={"progressToken": 1}, id=1)
        await listening.event()
        assert (
            await caller.modern("tools/call", {"name": "first"}, meta={"progressToken": 1}, id=1).done()
        ).status == 200
        session = await caller.session()
        await session.call("first").done()
        assert len(listening.events) == 1


@over_http
async def test_over_http_a_silent_subscription_gets_comments() -> None:
    async with calling(serving(first, limits=Limits(keepalive_seconds=0.02))) as caller:
        listening = caller.modern("subscriptions/listen", TOOLS)
        assert (await listening.event()).data
        assert (await listening.event()).comment
        assert (await listening.event()).comment


@over_http
async def test_over_http_a_client_that_does_not_read_loses_the_oldest_changes() -> None:
    server = serving(first, limits=Limits(stream_messages=10))
    async with calling(server) as caller:
        listening = caller.modern("subscriptions/listen", TOOLS)
        await listening.event()
        listening.stall()
        for _ in range(1000):
            server.hub.publish("tools")
        await asyncio.sleep(0)
        for _ in range(1000):
            server.hub.publish("tools")
        listening.read_on()
        await listening.event()
        await asyncio.sleep(0.05)
        assert 1 < len(listening.events) <= 22


@over_http
async def test_over_http_the_end_of_the_server_is_told() -> None:
    async with calling(serving(first)) as caller:
        listening = caller.modern("subscriptions/listen", TOOLS, id=5)
        await listening.event()
        await caller.app.stop()
        messages = (await listening.done()).messages
        assert methods(messages) == [ACKNOWLEDGED, "notifications/cancelled", None]
        assert [subscription(message) for message in messages] == [5, 5, 5]
        assert messages[1]["params"]["requestId"] == 5


@over_http
async def test_over_http_a_wish_that_is_no_object_is_invalid_before_any_stream_begins() -> None:
    async with calling(serving(first)) as caller:
        answer = await caller.modern("subscriptions/listen", {"notifications": 5}).done()
        assert answer.headers["content-type"] == "application/json"
        assert json.loads(answer.body)["error"]["code"] == -32602
