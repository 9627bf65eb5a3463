"""Handlers of what a client says: bounded, in their own time, with their connection."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import anyio
import pytest

from mcpconnect import Context, DefinitionError, Limits, McpServer, tool
from tests.wire import NEWEST, Wire, connected, serving, settled

pytestmark = pytest.mark.anyio
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
ROOTS: dict[str, Any] = {"roots": {"listChanged": True}}


async def asked(wire: Wire, nth: int = 1) -> dict[str, Any]:
    """Return the nth question for the client's roots."""

    def found() -> list[dict[str, Any]]:
        return [message for message in wire.messages if message.get("method") == "roots/list"]

    await wire.until(lambda: len(found()) >= nth)
    return found()[nth - 1]


def tell_roots(wire: Wire, question: dict[str, Any], *uris: str) -> None:
    wire.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": uri} for uri in uris]}})


async def test_however_often_a_client_says_it_the_handlers_run_once_more() -> None:
    runs: list[str] = []
    server = serving(limits=Limits(concurrent_calls=10))

    @server.on.roots_changed
    async def look(context: Context) -> None:
        runs.append("begin")
        runs.extend(root.uri for root in await context.roots())

    async with connected(server, capabilities=ROOTS) as wire:
        for _ in range(2000):
            wire.send(CHANGED)
        tell_roots(wire, await asked(wire, 1), "file:///first")
        tell_roots(wire, await asked(wire, 2), "file:///second")
        await settled(lambda: len(runs) == 4)
        assert runs == ["begin", "file:///first", "begin", "file:///second"]
        await wire.ask("ping")
        assert sum(message.get("method") == "roots/list" for message in wire.messages) == 2
        wire.send(CHANGED)  # and it is heard again
        tell_roots(wire, await asked(wire, 3))
        await settled(lambda: len(runs) == 5)


async def test_each_run_has_a_context_of_its_own() -> None:
    contexts: list[Context] = []
    closed: list[int] = []
    server = serving()

    @server.on.roots_changed
    async def look(context: Context) -> None:
        assert len(closed) == len(contexts)  # what the run before deferred
        contexts.append(context)
        context.defer(lambda: closed.append(1))
        await context.roots()

    async with connected(server, capabilities=ROOTS) as wire:
        wire.send(CHANGED)
        wire.send({**CHANGED, "params": {"_meta": {"a": 1}}})
        tell_roots(wire, await asked(wire, 1))
        tell_roots(wire, await asked(wire, 2))
        await settled(lambda: len(closed) == 2)
    assert [context.meta for context in contexts] == [{}, {"a": 1}]


async def test_the_end_of_the_connection_cancels_them() -> None:
    contexts: list[Context] = []
    ends: list[str] = []
    server = serving()

    @server.on.roots_changed
    async def wait(context: Context) -> None:
        contexts.append(context)
        try:
            await anyio.sleep_forever()
        finally:
            ends.append("left")

    async with connected(server) as wire:
        wire.send(CHANGED)
        wire.send(CHANGED)
        await settled(lambda: contexts)
        wire.connection.close("enough")
        await settled(lambda: ends)
        assert (contexts[0].cancelled, contexts[0].cancel_reason) == (True, "enough")
        await wire.ask("ping")
    assert len(contexts) == 1  # the one that waited for its turn never began


async def test_a_client_is_greeted_once() -> None:
    greeted: list[str] = []
    changed: list[str] = []
    server = serving()
    server.on.initialized(lambda context: greeted.append(context.client.name))
    server.on.roots_changed(lambda context: changed.append(context.client.name))
    async with connected(server) as wire:
        wire.send(INITIALIZED)
        await settled(lambda: greeted)
        wire.send(INITIALIZED)
        wire.send(CHANGED)
        await settled(lambda: changed)
    assert greeted == ["tests"]


async def test_one_that_is_not_asynchronous_runs_in_a_thread_and_may_ask() -> None:
    threads: list[int] = []
    heard: list[str] = []
    server = serving()

    class Looking:
        def __call__(self, context: Context) -> None:
            threads.append(threading.get_ident())
            heard.extend(root.uri for root in context.sync.roots())

    server.on.roots_changed(Looking())
    async with connected(server, capabilities=ROOTS) as wire:
        wire.send(CHANGED)
        tell_roots(wire, await asked(wire), "file:///a")
        await settled(lambda: heard)
    assert heard == ["file:///a"]
    assert threads != [threading.get_ident()]


async def test_an_asynchronous_one_runs_on_the_loop_whatever_it_is() -> None:
    threads: list[int] = []
    server = serving()

    class Greeter:
        async def __call__(self, context: Context) -> None:
            threads.append(threading.get_ident())

        async def greet(self, word: str, context: Context) -> None:
            threads.append(threading.get_ident())

    server.on.initialized(Greeter())
    server.on.initialized(partial(Greeter().greet, "hello"))
    async with connected(server):
        await settled(lambda: len(threads) == 2)
    assert set(threads) == {threading.get_ident()}


@pytest.mark.parametrize("kind", [SystemExit, ValueError, asyncio.CancelledError])
async def test_one_that_fails_stops_nobody(kind: type[BaseException]) -> None:
    heard: list[str] = []
    server = serving()

    @server.on.initialized
    async def fail(context: Context) -> None:
        raise kind

    @server.on.initialized
    def fail_in_a_thread(context: Context) -> None:
        raise kind

    @server.on.initialized
    async def hear(context: Context) -> None:
        heard.append("heard")

    async with connected(server) as wire:
        await settled(lambda: heard)
        assert "result" in await wire.ask("ping")


async def test_nobody_is_heard_before_the_handshake() -> None:
    heard: list[str] = []
    server = serving()
    server.on.initialized(lambda _: heard.append("initialized"))
    server.on.roots_changed(lambda _: heard.append("changed"))
    async with connected(server, initialize=False) as wire:
        wire.send(INITIALIZED)
        wire.send(CHANGED)
        server.register(tool(name="early")(lambda: None))
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        await wire.ask("initialize", hello)
        wire.send(CHANGED)
        await settled(lambda: heard)
        assert heard == ["changed"]
        server.register(tool(name="still_early")(lambda: None))
        await wire.ask("ping")
        assert not [message for message in wire.messages if "method" in message]
        wire.send(INITIALIZED)
        await settled(lambda: len(heard) == 2)
    async with connected(server, NEWEST) as wire:
        wire.send(CHANGED)
        await wire.ask("tools/list")
    assert heard == ["changed", "initialized"]


async def test_one_whose_meta_is_malformed_is_ignored() -> None:
    heard: list[str] = []
    server = serving()
    server.on.initialized(lambda _: heard.append("initialized"))
    server.on.roots_changed(lambda _: heard.append("changed"))
    async with connected(server) as wire:
        wire.send({**CHANGED, "params": {"_meta": 3}})
        assert "result" in await wire.ask("ping")
        wire.send(CHANGED)
        await settled(lambda: len(heard) == 2)
    assert sorted(heard) == ["changed", "initialized"]


def test_what_cannot_be_called_with_a_context_is_none() -> None:
    server = McpServer("test")

    class Handling:
        def __call__(self, context: Context) -> None: ...

    for wrong, why in ((None, "NoneType"), (Handling, r"Handling\(\)"), (lambda: None, "does not take")):
        with pytest.raises(DefinitionError, match=why):
            server.on.initialized(wrong)  # type: ignore[type-var] # the mistake
    server.on.initialized(Handling())
