"""In which thread providers run, and who waits for whom."""

import threading
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpconnect import Inject, Limits, Tool, tool
from tests.wire import connected, serving

pytestmark = pytest.mark.anyio
threads: dict[str, int] = {}
PATIENCE = 20.0


@pytest.fixture(autouse=True)
def forgotten() -> None:
    threads.clear()


def seen(name: str) -> None:
    threads[name] = threading.get_ident()


async def awaited() -> str:
    await checkpoint()
    seen("awaited")
    return "awaited"


def opened(below: Annotated[str, Inject(awaited)]) -> Iterator[str]:
    seen("opened")
    yield f"opened with {below}"
    seen("closed")


async def test_only_what_is_awaited_runs_on_the_loop_for_a_synchronous_method() -> None:
    class Using(Tool):
        member: Annotated[str, Inject(opened)]

        def __init__(self) -> None:
            seen("made")

        @tool
        def use(self, other: Annotated[str, Inject(awaited)]) -> str:
            seen("used")
            return self.member

    async with connected(serving(Using)) as wire:
        assert await wire.texts("use") == ["opened with awaited"]
    assert threads.pop("awaited") == threading.get_ident()
    assert threads.keys() == {"opened", "made", "used", "closed"}
    assert len({*threads.values(), threading.get_ident()}) == 2


async def test_a_timed_out_method_with_an_awaited_provider_keeps_what_it_uses() -> None:
    gate, ended = threading.Event(), threading.Event()
    open_now: list[str] = []

    async def connection() -> AsyncIterator[str]:
        open_now.append("open")
        yield "connection"
        open_now.clear()

    @tool(timeout=0.05)
    def use(connection: Annotated[str, Inject(connection)]) -> str:
        gate.wait(PATIENCE)
        assert open_now == ["open"]
        ended.set()
        return "late"

    async with connected(serving(use)) as wire:
        result = await wire.call("use")
        assert "timed out" in result["content"][0]["text"]
        assert open_now == ["open"]
        gate.set()
        await until(lambda: not open_now)
        assert ended.is_set()


async def until(condition: Any) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.sleep(0.001)


async def test_a_call_cancelled_while_it_waits_for_a_thread_never_runs_and_closes_what_was_awaited() -> None:
    gate, began = threading.Event(), threading.Event()
    events: list[str] = []

    async def connection() -> AsyncIterator[str]:
        events.append("open")
        yield "connection"
        events.append("closed")

    @tool
    def block() -> str:
        began.set()
        gate.wait(PATIENCE)
        return "free"

    @tool
    def use(connection: Annotated[str, Inject(connection)]) -> str:
        events.append("ran")
        return connection

    @tool
    def plain() -> str:
        events.append("ran")
        return "plain"

    async with connected(serving(block, use, plain, limits=Limits(threads=1))) as wire:
        blocking = wire.start("tools/call", {"name": "block"})
        await until(began.is_set)
        cancelled = [wire.start("tools/call", {"name": name}) for name in ("use", "plain")]
        await until(lambda: events)
        for id in cancelled:
            wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        gate.set()
        await wire.until(lambda: wire.answer_to(blocking))
        assert await wire.texts("block") == ["free"]  # after those two had their turn
        await until(lambda: len(events) == 2)
    assert events == ["open", "closed"]


async def test_what_no_thread_takes_before_the_end_is_closed_all_the_same() -> None:
    gate, began = threading.Event(), threading.Event()
    events: list[str] = []

    async def connection() -> AsyncIterator[str]:
        events.append("open")
        yield "connection"
        await checkpoint()
        events.append("closed")

    @tool
    def block() -> None:
        began.set()
        gate.wait(PATIENCE)

    @tool
    def use(connection: Annotated[str, Inject(connection)]) -> None:
        events.append("ran")

    try:
        async with connected(serving(block, use, limits=Limits(threads=1))) as wire:
            wire.start("tools/call", {"name": "block"})
            await until(began.is_set)
            wire.start("tools/call", {"name": "use"})
            await until(lambda: events)
        assert events == ["open", "closed"]
    finally:
        gate.set()


@pytest.mark.parametrize("scope", ["session", "server"])
async def test_a_slow_provider_in_a_thread_keeps_nobody_else_waiting(scope: Any) -> None:
    gate, began = threading.Event(), threading.Event()
    made: list[str] = []

    def slow() -> str:
        began.set()
        gate.wait(PATIENCE)
        made.append("slow")
        return "slow"

    def quick() -> str:
        return "quick"

    Slow, Quick = Annotated[str, Inject(slow, scope)], Annotated[str, Inject(quick, scope)]

    @tool
    def use_slow(value: Slow) -> str:
        return value

    @tool
    def use_quick(value: Quick) -> str:
        return value

    @tool
    async def use_slow_async(value: Slow) -> str:
        return value

    @tool
    async def use_quick_async(value: Quick) -> str:
        return value

    async with connected(serving(use_slow, use_quick, use_slow_async, use_quick_async)) as wire:
        try:
            waiting = [wire.start("tools/call", {"name": "use_slow"})]
            await until(began.is_set)
            waiting += [wire.start("tools/call", {"name": name}) for name in ("use_slow_async", "use_slow")]
            with anyio.fail_after(PATIENCE / 2):
                assert await wire.texts("use_quick_async") == ["quick"]
                assert await wire.texts("use_quick") == ["quick"]
            assert not any(wire.answer_to(id) for id in waiting)
        finally:
            gate.set()
        for id in waiting:
            answer = await wire.until(lambda id=id: wire.answer_to(id))
            assert answer["result"]["content"][0]["text"] == "slow"
    assert made == ["slow"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_failure_is_not_remembered(asynchronous: bool) -> None:
    gate, began = threading.Event(), threading.Event()
    tries: list[int] = []

    def fails_once() -> str:
        tries.append(len(tries))
        began.set()
        if tries == [0]:
            gate.wait(PATIENCE)
            raise ValueError("not yet")
        return "made"

    Value = Annotated[str, Inject(fails_once, "server")]

    @tool
    def first(value: Value) -> str:
        return value

    @tool
    def second(value: Value) -> str:
        return value

    @tool(name="second")
    async def second_async(value: Value) -> str:
        return value

    async with connected(serving(first, second_async if asynchronous else second)) as wire:
        failing = wire.start("tools/call", {"name": "first"})
        await until(began.is_set)
        waiting = wire.start("tools/call", {"name": "second"})
        gate.set()
        assert (await wire.until(lambda: wire.answer_to(failing)))["result"]["isError"]
        assert (await wire.until(lambda: wire.answer_to(waiting)))["result"]["content"][0]["text"] == "made"
    assert tries == [0, 1]
