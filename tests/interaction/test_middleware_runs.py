"""Each run inside of middleware is whole: what it opens is closed in its thread, when it ends, and told of its failure."""

import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpconnect import Context, Inject, McpServer, Next, Operation, tool
from tests.wire import connected, serving

pytestmark = pytest.mark.anyio
PATIENCE = 20.0
events: list[str] = []


@pytest.fixture(autouse=True)
def forgotten() -> None:
    events.clear()


async def through(call: Operation, next: Next) -> dict[str, Any]:
    return await next(call)


async def twice(call: Operation, next: Next) -> dict[str, Any]:
    """Try again after an error, and say what each try brought."""
    result = await next(call)
    return await next(call) if result.get("isError") else result


def surrounded(layer: Any, how: str, *things: Any) -> McpServer:
    """Return a server with a layer around its tools: as middleware, as a guard, or both."""
    if how != "guard":
        server = serving(*(tool(thing) for thing in things))
        server.middleware.add(layer)
        return server
    return serving(*(tool(guards=[layer])(thing) for thing in things))


AROUND = pytest.mark.parametrize("how", ["middleware", "guard"])


async def until(condition: Any) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.sleep(0.001)


@AROUND
@pytest.mark.parametrize("awaits", [False, True])
async def test_a_synchronous_method_opens_and_closes_in_its_thread(how: str, awaits: bool) -> None:
    threads: list[int] = []

    async def awaited() -> str:
        await checkpoint()
        return "awaited"

    def opened() -> Iterator[str]:
        threads.append(threading.get_ident())
        yield "opened"
        threads.append(threading.get_ident())

    def opened_above(below: Annotated[str, Inject(awaited)]) -> Iterator[str]:
        yield from opened()

    def use(
        value: Annotated[str, Inject(opened_above if awaits else opened)],
        context: Context,
    ) -> str:
        threads.append(threading.get_ident())
        context.defer(lambda: threads.append(threading.get_ident()))
        return value

    async with connected(surrounded(through, how, use)) as wire:
        assert await wire.texts("use") == ["opened"]
    assert len(threads) == 4
    assert len({*threads, threading.get_ident()}) == 2


@AROUND
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_each_try_has_its_own_values_and_is_told_of_its_own_failure(how: str, asynchronous: bool) -> None:
    tries: list[int] = []

    def transaction() -> Iterator[int]:
        tries.append(len(tries))
        try:
            yield tries[-1]
        except ValueError:
            events.append("rolled back")
            raise
        else:
            events.append("committed")

    async def connection() -> AsyncIterator[str]:
        events.append("connected")
        try:
            yield "connection"
        except ValueError:
            events.append("failed")
            raise
        finally:
            await checkpoint()
            events.append("disconnected")

    def attempt(number: int, context: Context) -> str:
        context.defer(lambda: events.append(f"deferred {number}"))
        if number == 0:
            raise ValueError("once more")
        return f"try {number}"

    def use(
        connection: Annotated[str, Inject(connection)], number: Annotated[int, Inject(transaction)], context: Context
    ) -> str:
        return attempt(number, context)

    async def use_async(
        connection: Annotated[str, Inject(connection)], number: Annotated[int, Inject(transaction)], context: Context
    ) -> str:
        await checkpoint()
        return attempt(number, context)

    async with connected(surrounded(twice, how, use_async if asynchronous else use)) as wire:
        assert await wire.texts("use_async" if asynchronous else "use") == ["try 1"]
    first = ["connected", "deferred 0", "rolled back", "failed", "disconnected"]
    second = ["connected", "deferred 1", "committed", "disconnected"]
    assert events == first + second


@AROUND
@pytest.mark.parametrize("ends", ["timeout", "cancelled", "around"])
async def test_a_thread_that_is_left_alone_keeps_what_it_uses(how: str, ends: str) -> None:
    gate, began = threading.Event(), threading.Event()
    told: list[Any] = []
    open_now: list[str] = []

    def opened() -> Iterator[str]:
        open_now.append("open")
        yield "value"
        open_now.clear()

    async def connection() -> AsyncIterator[str]:
        events.append("connected")
        yield "connection"
        events.append("disconnected")

    async def impatient(call: Operation, next: Next) -> dict[str, Any]:
        if ends == "around":
            with anyio.move_on_after(0.05):
                return await next(call)
            return {"resultType": "complete", "content": [{"type": "text", "text": "given up"}]}
        return await next(call)

    @tool(timeout=0.05 if ends == "timeout" else None, guards=[impatient] if how == "guard" else [])
    def use(
        connection: Annotated[str, Inject(connection)], value: Annotated[str, Inject(opened)], context: Context
    ) -> str:
        began.set()
        gate.wait(PATIENCE)
        told.append((list(open_now), list(events), context.cancelled, context.cancel_reason))
        return "late"

    server = serving(use)
    if how == "middleware":
        server.middleware.add(impatient)
    reason = {"timeout": "timed out", "cancelled": "no more", "around": "what stands around it went on without it"}[
        ends
    ]
    async with connected(server) as wire:
        id = wire.start("tools/call", {"name": "use"})
        await until(began.is_set)
        if ends == "cancelled":
            params = {"requestId": id, "reason": "no more"}
            wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        else:
            answer = await wire.until(lambda: wire.answer_to(id))
            text = answer["result"]["content"][0]["text"]
            assert text == "given up" if ends == "around" else "timed out" in text
        assert open_now == ["open"]
        gate.set()
        await until(lambda: events == ["connected", "disconnected"])
        assert open_now == []
    assert told == [(["open"], ["connected"], True, reason)]


@AROUND
async def test_a_try_after_one_that_took_too_long_begins_anew(how: str) -> None:
    gate, seen = threading.Event(), []

    @tool(timeout=0.05, guards=[twice] if how == "guard" else [])
    def use(context: Context) -> str:
        first = not seen
        seen.append(context)
        if first:
            gate.wait(PATIENCE)
            context.sync.log("info", "late")
            context.defer(lambda: events.append("first closed"))
        return f"cancelled: {context.cancelled}"

    server = serving(use)
    if how == "middleware":
        server.middleware.add(twice)
    async with connected(server) as wire:
        assert await wire.texts("use") == ["cancelled: False"]
        gate.set()
        await until(lambda: events)
        assert seen[0].cancelled
        assert not [message for message in wire.messages if message.get("method") == "notifications/message"]


@AROUND
async def test_tries_beside_each_other_share_nothing(how: str) -> None:
    numbers = iter(range(10))

    async def hedged(call: Operation, next: Next) -> dict[str, Any]:
        results: list[dict[str, Any]] = []

        async def attempt() -> None:
            results.append(await next(call))

        async with anyio.create_task_group() as group:
            group.start_soon(attempt)
            group.start_soon(attempt)
        texts = sorted(result["content"][0]["text"] for result in results)
        return {**results[0], "content": [{"type": "text", "text": " ".join(texts)}]}

    @contextlib.asynccontextmanager
    async def connection() -> AsyncIterator[int]:
        number = next(numbers)
        yield number
        events.append(f"closed {number}")

    async def use(number: Annotated[int, Inject(connection)], context: Context) -> str:
        context.defer(lambda: events.append(f"deferred {number}"))
        await anyio.sleep(0.01)
        return str(number)

    async with connected(surrounded(hedged, how, use)) as wire:
        assert await wire.texts("use") == ["0 1"]
    assert sorted(events) == ["closed 0", "closed 1", "deferred 0", "deferred 1"]


@AROUND
async def test_a_cancelled_method_ends_before_what_stands_around_it(how: str) -> None:
    began = anyio.Event()

    async def around(call: Operation, next: Next) -> dict[str, Any]:
        try:
            return await next(call)
        finally:
            events.append("around ended")

    async def use(context: Context) -> str:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
            events.append(f"method ended, cancelled: {context.cancelled} {context.cancel_reason}")
        return "never"

    async with connected(surrounded(around, how, use)) as wire:
        id = wire.start("tools/call", {"name": "use"})
        await began.wait()
        params = {"requestId": id, "reason": "no more"}
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        await until(lambda: len(events) == 2)
    assert events == ["method ended, cancelled: True no more", "around ended"]


async def test_a_synchronous_method_may_return_what_is_awaited() -> None:
    async def items() -> AsyncIterator[str]:
        for item in "ab":
            await checkpoint()
            yield item

    def use() -> Any:
        return items()

    async with connected(surrounded(through, "middleware", use)) as wire:
        assert await wire.texts("use") == ['["a","b"]']
