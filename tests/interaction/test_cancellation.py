"""Cancelled calls, time limits, and calls that run beside each other."""

import threading
import time
from collections.abc import Iterator

import anyio
import pytest

from mcpconnect import Limits, Tool, tool
from tests.wire import NEWEST, connected, serving

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
WAIT = 20.0


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """An event that is set when the test ends, so that no thread stays behind."""
    event = threading.Event()
    yield event
    event.set()


def cancel(request_id: object, reason: str | None = None) -> dict[str, object]:
    params = {"requestId": request_id} | ({"reason": reason} if reason else {})
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


@pytest.mark.fault(237)
@both_eras
async def test_a_cancelled_call_is_stopped_and_never_answered(revision: str) -> None:
    events: list[str] = []

    class Slow(Tool):
        @tool
        async def sleep(self) -> str:
            self.ctx.defer(lambda: events.append("deferred"))
            try:
                events.append("began")
                await anyio.sleep(60)
            finally:
                events.append(f"stopped: {self.ctx.cancel_reason}")
            return "late"

        @tool
        def quick(self) -> str:
            return "quick"

    async with connected(serving(Slow), revision) as wire:
        request_id = wire.start("tools/call", {"name": "sleep"})
        with anyio.fail_after(WAIT):
            while not events:
                await anyio.lowlevel.checkpoint()
        wire.send(cancel(request_id, "too slow"))
        assert await wire.texts("quick") == ["quick"]
        with anyio.fail_after(WAIT):
            while len(events) < 3:
                await anyio.lowlevel.checkpoint()
        assert wire.answer_to(request_id) is None
        assert wire.connection.live == 0
    assert events == ["began", "stopped: too slow", "deferred"]


@both_eras
async def test_a_cancellation_right_behind_its_request_is_not_lost(revision: str) -> None:
    class Slow(Tool):
        @tool
        async def sleep(self) -> str:
            await anyio.sleep(60)
            return "late"

        @tool
        def quick(self) -> str:
            return "quick"

    async with connected(serving(Slow), revision) as wire:
        ids = [wire.start("tools/call", {"name": "sleep"}) for _ in range(20)]
        for request_id in ids:
            wire.send(cancel(request_id))
        assert wire.connection.live == 0
        assert await wire.texts("quick") == ["quick"]
        assert all(wire.answer_to(request_id) is None for request_id in ids)


@pytest.mark.fault(239)
async def test_a_cancelled_thread_is_told_and_its_late_result_dropped(gate: threading.Event) -> None:
    seen: list[tuple[bool, str | None]] = []
    began = threading.Event()
    ended = threading.Event()

    class Slow(Tool):
        @tool
        def block(self) -> str:
            context = self.ctx
            began.set()
            gate.wait(WAIT)
            seen.append((context.cancelled, context.cancel_reason))
            ended.set()
            return "late"

        @tool
        def quick(self) -> str:
            return "quick"

    async with connected(serving(Slow)) as wire:
        request_id = wire.start("tools/call", {"name": "block"})
        await anyio.to_thread.run_sync(began.wait, WAIT)
        wire.send(cancel(request_id, "changed my mind"))
        for _ in range(50):
            assert await wire.texts("quick") == ["quick"]
        gate.set()
        await anyio.to_thread.run_sync(ended.wait, WAIT)
        assert await wire.texts("quick") == ["quick"]
        assert wire.answer_to(request_id) is None
    assert seen == [(True, "changed my mind")]


@pytest.mark.fault(238)
@pytest.mark.parametrize("request_id", ["unknown", 99, True, None, 1.0, [], {}, "init"])
async def test_cancelling_something_else_is_ignored(request_id: object, gate: threading.Event) -> None:
    class Slow(Tool):
        @tool
        def block(self) -> str:
            gate.wait(WAIT)
            return "done"

    async with connected(serving(Slow)) as wire:
        running = wire.start("tools/call", {"name": "block"})
        assert running == 1, "so that True would find it"
        wire.send(cancel(request_id))
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled"})
        gate.set()
        answer = await wire.until(lambda: wire.answer_to(running))
        assert answer["result"]["content"][0]["text"] == "done"
        wire.send(cancel(running))
        assert (await wire.ask("ping"))["result"] == {}


@both_eras
async def test_a_time_limit_answers_at_once_and_stops_the_method(revision: str, gate: threading.Event) -> None:
    events: list[str] = []

    class Slow(Tool):
        @tool(timeout=0.05)
        async def asynchronous(self) -> str:
            try:
                await anyio.sleep(60)
            finally:
                events.append("finally")
            return "late"

        @tool(timeout=0.05)
        def blocking(self) -> str:
            context = self.ctx
            gate.wait(WAIT)
            events.append(f"cancelled: {context.cancelled}")
            return "late"

    async with connected(serving(Slow), revision) as wire:
        for name in ("asynchronous", "blocking"):
            result = await wire.call(name)
            assert result["isError"] is True
            assert result["content"][0]["text"] == f"{name} timed out after 0.05 s"
        gate.set()
        with anyio.fail_after(WAIT):
            while len(events) < 2:
                await anyio.sleep(0.001)
        assert len([message for message in wire.messages if "content" in message.get("result", {})]) == 2
    assert sorted(events) == ["cancelled: True", "finally"]


async def test_a_timed_out_thread_keeps_its_place_in_the_limit(gate: threading.Event) -> None:
    class Slow(Tool):
        @tool(timeout=0.05)
        def block(self) -> str:
            gate.wait(WAIT)
            return "late"

        @tool
        def quick(self) -> str:
            return "quick"

    async with connected(serving(Slow, limits=Limits(threads=1))) as wire:
        assert (await wire.call("block"))["isError"] is True
        waiting = wire.start("tools/call", {"name": "quick"})
        assert (await wire.ask("ping"))["result"] == {}
        assert wire.answer_to(waiting) is None, "the only thread is still taken"
        gate.set()
        answer = await wire.until(lambda: wire.answer_to(waiting))
        assert answer["result"]["content"][0]["text"] == "quick"


async def test_the_servers_time_limit_holds_for_tools_without_one() -> None:
    class Slow(Tool):
        @tool
        async def sleep(self) -> str:
            await anyio.sleep(60)
            return "late"

        @tool(timeout=30)
        async def short(self) -> str:
            await anyio.sleep(0.05)
            return "done"

    async with connected(serving(Slow, limits=Limits(tool_seconds=0.01))) as wire:
        assert await wire.texts("sleep") == ["sleep timed out after 0.01 s"]
        assert await wire.texts("short") == ["done"]


@pytest.mark.fault(233)
async def test_a_blocking_method_stalls_nobody(gate: threading.Event) -> None:
    class Blocking(Tool):
        @tool
        def block(self) -> str:
            gate.wait(WAIT)
            return "done"

    async with connected(serving(Blocking)) as wire:
        blocked = [wire.start("tools/call", {"name": "block"}) for _ in range(10)]
        assert (await wire.ask("ping"))["result"] == {}
        assert all(wire.answer_to(request_id) is None for request_id in blocked)
        gate.set()
        for request_id in blocked:
            await wire.until(lambda request_id=request_id: wire.answer_to(request_id))


@pytest.mark.fault(234)
async def test_calls_of_one_connection_run_beside_each_other() -> None:
    opened = anyio.Event()
    thread_opened = threading.Event()

    class Pair(Tool):
        @tool
        async def wait(self) -> str:
            await opened.wait()
            return "waited"

        @tool
        async def open(self) -> str:
            opened.set()
            return "opened"

        @tool
        def wait_in_thread(self) -> str:
            return str(thread_opened.wait(WAIT))

        @tool
        def open_in_thread(self) -> str:
            thread_opened.set()
            return "opened"

    async with connected(serving(Pair)) as wire:
        waiting = wire.start("tools/call", {"name": "wait"})
        assert await wire.texts("open") == ["opened"]
        assert (await wire.until(lambda: wire.answer_to(waiting)))["result"]["content"][0]["text"] == "waited"
        waiting = wire.start("tools/call", {"name": "wait_in_thread"})
        assert await wire.texts("open_in_thread") == ["opened"]
        assert (await wire.until(lambda: wire.answer_to(waiting)))["result"]["content"][0]["text"] == "True"


@pytest.mark.fault(236)
async def test_an_object_bound_to_its_thread_works_in_a_class_made_for_each_call() -> None:
    import sqlite3

    class Database(Tool):
        def __init__(self) -> None:
            self.connection = sqlite3.connect(":memory:")  # refuses to be used in another thread
            self.ctx.defer(self.connection)

        @tool
        def answer(self) -> int:
            time.sleep(0.01)
            return int(self.connection.execute("select 42").fetchone()[0])

    async with connected(serving(Database)) as wire:
        ids = [wire.start("tools/call", {"name": "answer"}) for _ in range(5)]
        for request_id in ids:
            answer = await wire.until(lambda request_id=request_id: wire.answer_to(request_id))
            assert answer["result"]["content"][0]["text"] == "42"


@pytest.mark.fault(258)
async def test_nothing_is_left_of_answered_failed_and_cancelled_calls() -> None:
    class Mixed(Tool):
        @tool
        async def work(self, kind: str) -> str:
            if kind == "fail":
                raise ValueError
            if kind == "wait":
                await anyio.sleep(60)
            return kind

    async with connected(serving(Mixed)) as wire:
        for number in range(300):
            kind = ("work", "fail", "wait")[number % 3]
            request_id = wire.start("tools/call", {"name": "work", "arguments": {"kind": kind}})
            if kind == "wait":
                wire.send(cancel(request_id))
            else:
                await wire.until(lambda request_id=request_id: wire.answer_to(request_id))
        assert wire.connection.live == 0
        assert await wire.runner.drain(WAIT)


async def test_one_call_more_than_the_limit_is_refused_by_name(gate: threading.Event) -> None:
    class Blocking(Tool):
        @tool
        def block(self) -> str:
            gate.wait(WAIT)
            return "done"

    async with connected(serving(Blocking, limits=Limits(concurrent_calls=2))) as wire:
        first = [wire.start("tools/call", {"name": "block"}) for _ in range(2)]
        answer = await wire.ask("tools/call", {"name": "block"})
        assert answer["error"]["code"] == -32603
        assert "Limits.concurrent_calls" in answer["error"]["message"]
        gate.set()
        for request_id in first:
            await wire.until(lambda request_id=request_id: wire.answer_to(request_id))
        assert await wire.texts("block") == ["done"]


async def test_an_id_that_is_still_running_is_refused(gate: threading.Event) -> None:
    class Blocking(Tool):
        @tool
        def block(self) -> str:
            gate.wait(WAIT)
            return "done"

    async with connected(serving(Blocking)) as wire:
        wire.start("tools/call", {"name": "block"}, id="same")
        wire.start("tools/call", {"name": "block"}, id="same")
        assert (await wire.until(lambda: wire.answer_to("same")))["error"]["code"] == -32600
        gate.set()
        await wire.until(lambda: [message for message in wire.messages if "content" in message.get("result", {})])


async def test_a_method_that_cancels_itself_is_answered(anyio_backend: str) -> None:
    if anyio_backend == "trio":
        pytest.skip("trio has no way for a task to cancel itself from outside a scope")
    import asyncio

    class Odd(Tool):
        @tool
        async def cancels(self) -> str:
            raise asyncio.CancelledError

    async with connected(serving(Odd)) as wire:
        result = await wire.call("cancels")
        assert result["isError"] is True
        assert (await wire.ask("ping"))["result"] == {}


async def test_what_runs_may_finish_when_the_runner_drains(gate: threading.Event) -> None:
    class Slow(Tool):
        @tool
        def block(self) -> str:
            gate.wait(WAIT)
            return "done"

        @tool
        async def sleep(self) -> str:
            await anyio.sleep(0.05)
            return "done"

    async with connected(serving(Slow)) as wire:
        sleeping = wire.start("tools/call", {"name": "sleep"})
        assert await wire.runner.drain(WAIT)
        assert wire.answer_to(sleeping) is not None
        wire.start("tools/call", {"name": "block"})
        assert not await wire.runner.drain(0.01)
        gate.set()
        assert await wire.runner.drain(WAIT)


async def test_a_cancellation_from_around_the_server_is_no_failure_of_the_tool(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Slow(Tool):
        @tool
        async def sleep(self) -> str:
            await anyio.sleep(60)
            return "late"

    with anyio.move_on_after(0.2) as around:
        async with connected(serving(Slow)) as wire:
            await wire.call("sleep")
    assert around.cancelled_caught
    assert not caplog.records
