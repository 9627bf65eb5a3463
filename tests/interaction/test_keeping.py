"""Asynchronous context managers that hold cancel scopes, task groups and context variables over their `yield`."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Annotated, Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpconnect import Context, Inject, McpServer, tool
from tests.wire import connected, serving

pytestmark = pytest.mark.anyio
events: list[str] = []
variable: ContextVar[str] = ContextVar("variable")


@pytest.fixture(autouse=True)
def forgotten() -> None:
    events.clear()


async def in_a_scope() -> AsyncIterator[str]:
    with anyio.fail_after(30):
        yield "scope"
        events.append("scope left")


async def in_a_group(scope: Annotated[str, Inject(in_a_scope)]) -> AsyncIterator[str]:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        yield f"group in {scope}"
        events.append("group left")
        group.cancel_scope.cancel()


async def session_scope() -> AsyncIterator[str]:
    with anyio.move_on_after(30):
        yield "session"
        await checkpoint()
        events.append("session left")


async def server_group() -> AsyncIterator[str]:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        yield "server"
        await checkpoint()
        events.append("server left")
        group.cancel_scope.cancel()


Grouped = Annotated[str, Inject(in_a_group)]
OfSession = Annotated[str, Inject(session_scope, "session")]
OfServer = Annotated[str, Inject(server_group, "server")]


@tool
def work(a: Grouped, b: OfSession, c: OfServer, context: Context) -> str:
    context.defer(lambda: events.append("deferred"))
    return f"{a}, {b}, {c}"


@tool(name="work")
async def work_async(a: Grouped, b: OfSession, c: OfServer, context: Context) -> str:
    await checkpoint()
    return work(a, b, c, context)  # type: ignore[no-any-return]


BOTH = pytest.mark.parametrize("work", [work, work_async], ids=["sync", "async"])


@BOTH
async def test_scopes_and_task_groups_may_stay_open_over_a_yield(work: Any) -> None:
    async with connected(serving(work)) as wire:
        for _ in range(2):
            assert await wire.texts("work") == ["group in scope, session, server"]
            assert events == ["deferred", "group left", "scope left"]
            events.clear()
    assert events == ["session left", "server left"]


@BOTH
async def test_calls_beside_each_other_leave_what_is_theirs(work: Any) -> None:
    async with connected(serving(work)) as wire:
        ids = [wire.start("tools/call", {"name": "work"}) for _ in range(10)]
        for id in ids:
            assert "result" in await wire.until(lambda id=id: wire.answer_to(id))
    assert events.count("group left") == 10
    assert events[-2:] == ["session left", "server left"]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", ["deadline", "task"])
async def test_what_ends_while_a_call_uses_it_fails_the_call(asynchronous: bool, kind: str) -> None:
    ends, gate, told = anyio.Event(), threading.Event(), []

    async def fail() -> None:
        await ends.wait()
        raise ValueError("the connection broke")

    async def provider() -> AsyncIterator[str]:
        if kind == "deadline":
            with anyio.fail_after(0.05):
                yield "value"
        else:
            async with anyio.create_task_group() as group:
                group.start_soon(fail)
                yield "value"

    @tool(name="use")
    async def use_async(value: Annotated[str, Inject(provider)]) -> str:
        ends.set()
        await anyio.sleep_forever()
        return "never"

    @tool
    def use(value: Annotated[str, Inject(provider)], context: Context) -> str:
        loop.wake(ends.set)
        gate.wait(20)
        told.append((context.cancelled, context.cancel_reason))
        return "never"

    @tool
    async def other() -> str:
        return "goes on"

    server = serving(use_async if asynchronous else use, other)
    async with connected(server) as wire:
        loop = wire.runner.runtime
        result = await wire.call("use")
        assert result["isError"]
        assert ("TimeoutError" if kind == "deadline" else "ValueError") in result["content"][0]["text"]
        gate.set()
        assert await wire.texts("other") == ["goes on"]
        if not asynchronous:
            await until(lambda: told)
            assert told == [(True, "something that it uses has failed")]


async def until(condition: Any) -> None:
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.001)


@BOTH
async def test_a_scope_that_gives_up_quietly_fails_the_call_too(work: Any) -> None:
    async def provider() -> AsyncIterator[str]:
        with anyio.move_on_after(0.05):
            yield "value"

    @tool
    async def use(value: Annotated[str, Inject(provider)]) -> str:
        await anyio.sleep_forever()
        return "never"

    async with connected(serving(use)) as wire:
        assert (await wire.call("use"))["isError"]


@pytest.mark.parametrize("scope", ["session", "server"])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_ends_in_a_longer_scope_is_made_anew(
    scope: Any, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    ends = [anyio.Event(), anyio.Event()]
    made: list[int] = []

    async def below() -> AsyncIterator[str]:
        yield "below"
        events.append("below left")

    async def provider(base: Annotated[str, Inject(below, scope)]) -> AsyncIterator[int]:
        made.append(len(made))
        end = ends[made[-1]]

        async def fail() -> None:
            await end.wait()
            raise ValueError("the connection broke")

        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            yield made[-1]
            group.cancel_scope.cancel()

    @tool
    def use(value: Annotated[int, Inject(provider, scope)]) -> int:
        return value

    @tool(name="use")
    async def use_async(value: Annotated[int, Inject(provider, scope)]) -> int:
        return value

    async with connected(serving(use_async if asynchronous else use)) as wire:
        assert await wire.texts("use") == ["0"]
        ends[0].set()
        await until(lambda: caplog.records)
        assert await wire.texts("use") == ["1"]
        assert events == []
    assert events == ["below left"]
    assert [record.event for record in caplog.records] == ["provided-lost"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_a_provider_sets_reaches_the_method(asynchronous: bool) -> None:
    async def bound() -> AsyncIterator[None]:
        token = variable.set("bound")
        yield
        variable.reset(token)
        events.append("reset")

    async def noted(bound: Annotated[None, Inject(bound)]) -> str:
        return variable.get()

    @tool
    def use(noted: Annotated[str, Inject(noted)]) -> str:
        return f"{noted} {variable.get()}"

    @tool(name="use")
    async def use_async(noted: Annotated[str, Inject(noted)]) -> str:
        return f"{noted} {variable.get()}"

    async with connected(serving(use_async if asynchronous else use)) as wire:
        for _ in range(2):
            assert await wire.texts("use") == ["bound bound"]
    assert events == ["reset", "reset"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_call_that_is_cancelled_while_it_waits_for_a_provider_leaves_nothing(asynchronous: bool) -> None:
    waiting = anyio.Event()

    async def outer() -> AsyncIterator[str]:
        with anyio.CancelScope():
            try:
                yield "outer"
            except BaseException:
                events.append("outer failed")
                raise

    async def provider(outer: Annotated[str, Inject(outer)]) -> AsyncIterator[str]:
        waiting.set()
        try:
            await anyio.sleep_forever()
            yield "never"
        finally:
            events.append("given up")

    @tool
    def use(value: Annotated[str, Inject(provider)]) -> str:
        events.append("ran")
        return value

    @tool(name="use")
    async def use_async(value: Annotated[str, Inject(provider)]) -> str:
        events.append("ran")
        return value

    async with connected(serving(use_async if asynchronous else use)) as wire:
        id = wire.start("tools/call", {"name": "use"})
        await waiting.wait()
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        await until(lambda: len(events) == 2)
        assert wire.answer_to(id) is None
    assert events == ["given up", "outer failed"]


async def test_a_hanging_end_is_bounded() -> None:
    async def provider() -> AsyncIterator[str]:
        try:
            yield "value"
            await anyio.sleep_forever()
        finally:
            events.append("ended")

    from mcpconnect import Limits

    @tool
    async def use(value: Annotated[str, Inject(provider)]) -> str:
        return value

    async with connected(serving(use, limits=Limits(drain_seconds=0.05))) as wire:
        with anyio.fail_after(10):
            assert await wire.texts("use") == ["value"]
    assert events == ["ended"]


async def test_a_synchronous_manager_may_hold_a_scope_for_an_asynchronous_method() -> None:
    def provider() -> Iterator[str]:
        with anyio.fail_after(30):
            yield "value"
        events.append("left")

    def lasting() -> Iterator[str]:
        with anyio.fail_after(30):
            yield "value"
        events.append("left at the end")

    async def later() -> None:
        await checkpoint()
        events.append("later")

    async def awaited(value: Annotated[str, Inject(provider)]) -> str:
        return value

    @tool
    async def use(value: Annotated[str, Inject(provider)], context: Context) -> str:
        context.defer(later)
        return value

    @tool
    async def use_lasting(value: Annotated[str, Inject(lasting, "server")]) -> str:
        return value

    @tool
    def use_below(value: Annotated[str, Inject(awaited)]) -> str:
        return value

    @tool
    async def other() -> str:
        return "goes on"

    async with connected(serving(use, use_lasting, use_below, other)) as wire:
        for name in ("use", "use_lasting", "use_below"):
            with anyio.fail_after(10):
                assert await wire.texts(name) == ["value"]
        assert await wire.texts("other") == ["goes on"]
    assert events == ["later", "left", "left", "left at the end"]


async def test_a_synchronous_manager_whose_scope_ends_fails_the_call() -> None:
    def provider() -> Iterator[str]:
        with anyio.fail_after(0.05):
            yield "value"

    @tool
    async def use(value: Annotated[str, Inject(provider)]) -> str:
        await anyio.sleep_forever()
        return value

    async with connected(serving(use)) as wire:
        with anyio.fail_after(10):
            assert (await wire.call("use"))["isError"]


async def test_a_lifespan_may_hold_a_task_group() -> None:
    @asynccontextmanager
    async def lifespan(server: McpServer) -> AsyncIterator[str]:
        async with anyio.create_task_group() as group:
            with anyio.CancelScope():
                group.start_soon(anyio.sleep_forever)
                yield "state"
                await checkpoint()
                events.append("left")
            group.cancel_scope.cancel()

    @tool
    def state(context: Context) -> str:
        return str(context.state)

    async with connected(serving(state, lifespan=lifespan)) as wire:
        assert await wire.texts("state") == ["state"]
    assert events == ["left"]
    with anyio.move_on_after(0.1) as around:
        async with connected(serving(state, lifespan=lifespan)):
            await anyio.sleep_forever()
    assert around.cancelled_caught
    assert events == ["left", "left"]


async def test_a_lifespan_that_breaks_ends_the_server_with_its_error() -> None:
    @asynccontextmanager
    async def lifespan(server: McpServer) -> AsyncIterator[None]:
        async def fail() -> None:
            await checkpoint()
            raise ValueError("the connection broke")

        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            yield

    with anyio.fail_after(10), pytest.raises(BaseExceptionGroup) as raised:
        async with connected(McpServer("test", lifespan=lifespan), initialize=False):
            await anyio.sleep_forever()
    assert raised.value.split(ValueError)[1] is None
