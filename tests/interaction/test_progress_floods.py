"""Progress: only where it was asked for, in order, before the answer, and no more of it than the client reads."""

import json
import subprocess
import sys
import threading
from typing import Any

import anyio
import pytest

from mcpconnect import Context, Tool, tool
from mcpconnect.context import DirectChannel
from mcpconnect.protocol.jsonrpc import Request
from mcpconnect.transports.http.stream import Stream
from tests.wire import REVISIONS, Wire, connected, serving

pytestmark = pytest.mark.anyio
EVERY = pytest.mark.parametrize("revision", REVISIONS)


class Slow(Tool):
    @tool
    async def count(self, total: float | None = None) -> str:
        for value in (1, 2, 3):
            await self.ctx.progress(value, total, f"step {value}")
        return "counted"

    @tool
    def count_in_thread(self) -> str:
        for value in (1, 2, 3):
            self.ctx.sync.progress(value, None, f"step {value}")
        return "counted"

    @tool
    async def back_and_forth(self) -> str:
        for value in (1, 5, 3, 5, float("nan"), 5.5, -1):
            await self.ctx.progress(value)
        return "done"

    @tool
    def leave_a_thread_behind(self, ctx: Context) -> str:
        started = threading.Event()

        def report() -> None:
            for value in range(1, 20_000):
                ctx.sync.progress(value)
                started.set()

        thread = threading.Thread(target=report)
        threads.append(thread)
        thread.start()
        started.wait(20)
        return "returned"

    @tool
    async def flood(self, reports: int) -> str:
        for value in range(1, reports + 1):
            await self.ctx.progress(value, reports)
        return "flooded"


threads: list[threading.Thread] = []


def reports(wire: Wire) -> list[dict[str, Any]]:
    return [m["params"] for m in wire.messages if m.get("method") == "notifications/progress"]


def call(name: str, token: Any, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "_meta": {"progressToken": token}}


@pytest.mark.fault(240)
@pytest.mark.fault(242)
@EVERY
@pytest.mark.parametrize("token", [0, "", "abc", 7])
@pytest.mark.parametrize("name", ["count", "count_in_thread"])
async def test_every_token_counts_and_no_total_is_needed(name: str, token: Any, revision: str) -> None:
    async with connected(serving(Slow), revision) as wire:
        await wire.ask("tools/call", call(name, token))
        assert [(report["progressToken"], report["progress"]) for report in reports(wire)] == [
            (token, 1),
            (token, 2),
            (token, 3),
        ]
        assert all("total" not in report for report in reports(wire))
        said = [report.get("message") for report in reports(wire)]
        assert said == ([None] * 3 if revision == "2024-11-05" else ["step 1", "step 2", "step 3"])
        assert wire.messages[-1]["result"]["content"][0]["text"] == "counted"


@pytest.mark.fault(241)
@EVERY
async def test_nothing_is_sent_to_those_who_did_not_ask(revision: str) -> None:
    async with connected(serving(Slow), revision) as wire:
        await wire.call("count")
        for token in (None, True, 1.5, [], {}):
            await wire.ask("tools/call", call("count", token))
        assert reports(wire) == []
        both = [wire.start("tools/call", call("count", "abc")), wire.start("tools/call", {"name": "count"})]
        for each in both:
            await wire.until(lambda each=each: wire.answer_to(each))
        assert {report["progressToken"] for report in reports(wire)} == {"abc"}
        assert len(reports(wire)) == 3


async def test_it_only_grows() -> None:
    async with connected(serving(Slow)) as wire:
        await wire.ask("tools/call", call("back_and_forth", 1))
        assert [report["progress"] for report in reports(wire)] == [1, 5, 5.5]


@pytest.mark.fault(243)
@EVERY
async def test_nothing_follows_the_answer(revision: str) -> None:
    async with connected(serving(Slow), revision) as wire:
        request_id = wire.start("tools/call", call("leave_a_thread_behind", 1))
        await wire.until(lambda: wire.answer_to(request_id))
        await anyio.to_thread.run_sync(threads.pop().join)
        assert (await wire.ask("tools/list"))["result"]
        methods = [message.get("method") for message in wire.messages]
        answered = wire.messages.index(wire.answer_to(request_id) or {})
        assert "notifications/progress" in methods[:answered]
        assert "notifications/progress" not in methods[answered:]


async def test_a_client_that_reads_slowly_gets_fewer_reports_and_always_the_last() -> None:
    waiting = [0]
    async with connected(serving(Slow)) as wire:
        channel = DirectChannel(wire._write, lambda: waiting[0])
        wire.connection._channel = channel
        waiting[0] = 100_000
        await wire.ask("tools/call", call("flood", 1, reports=10_000))
        assert [report["progress"] for report in reports(wire)] == [10_000]
        waiting[0] = 0
        await wire.ask("tools/call", call("flood", 2, reports=100))
        assert len(reports(wire)) == 101


async def test_a_cancelled_call_reports_no_more() -> None:
    started = anyio.Event()

    @tool
    async def wait(ctx: Context) -> None:
        await ctx.progress(1)
        started.set()
        await anyio.sleep_forever()

    async with connected(serving(wait)) as wire:
        wire.connection._channel = DirectChannel(wire._write, lambda: 100_000)
        wire.start("tools/call", call("wait", 1), id="cancelled")
        await started.wait()
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "cancelled"}})
        assert (await wire.ask("ping"))["result"] == {}
        assert reports(wire) == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_over_http_a_flood_never_pushes_out_what_matters() -> None:
    async with connected(serving(Slow)) as wire:
        for kept in (True, False):
            stream = Stream(1024, kept=kept)
            stream.send(b'{"method":"a question"}')
            params = call("flood", 1, reports=50_000)
            outcome = wire.connection.take(Request(f"flood {kept}", "tools/call", params), stream)
            assert isinstance(outcome, tuple)
            wire.runner.start(*outcome)
            with anyio.fail_after(20):
                while not stream.closed:
                    await stream.changed()
            kept_messages = [message for _, message in stream.messages]
            assert kept_messages[0] == b'{"method":"a question"}'
            assert b'"progress":50000' in kept_messages[-2]
            assert b"flooded" in kept_messages[-1]
            assert len(kept_messages) < 100


async def test_a_client_that_reads_nothing_loses_messages_and_keeps_its_answers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    written: list[bytes] = []
    channel = DirectChannel(written.append, lambda: sum(map(len, written)))
    for _ in range(2000):
        channel.send(b"x" * 10_000)
    channel.answer(b"answer")
    assert sum(map(len, written)) < 5_000_000
    assert written[-1] == b"answer"
    assert [getattr(record, "event", None) for record in caplog.records] == ["client-not-reading"]


FLOODING = """
import threading, resource
from mcpconnect import McpServer, Tool, tool
class Flood(Tool):
    @tool
    async def flood(self) -> str:
        for value in range(1, 150_001):
            await self.ctx.progress(value, message="m" * 1000)
        return "flooded"
    @tool
    async def talk(self) -> str:
        for value in range(1, 60_001):
            await self.ctx.log("error", "m" * 1000)
        return "talked"
    @tool
    def used(self) -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import logging
logging.getLogger("mcpconnect.calls").setLevel(logging.CRITICAL)
server = McpServer("flood")
server.register(Flood)
server.run()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the measure differs")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
def test_on_stdio_a_client_that_does_not_read_does_not_make_memory_grow(anyio_backend: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", FLOODING], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None

    def send(message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    def answer(id: str) -> dict[str, Any]:
        assert process.stdout is not None
        for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == id:
                return message["result"]  # type: ignore[no-any-return] # it is an object
        raise AssertionError("no answer")

    try:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        send({"id": "i", "method": "initialize", "params": hello})
        answer("i")
        send({"id": "before", "method": "tools/call", "params": {"name": "used"}})
        before = int(answer("before")["content"][0]["text"])
        send({"id": "flood", "method": "tools/call", "params": call("flood", 1)})
        send({"id": "talk", "method": "tools/call", "params": {"name": "talk"}})
        assert "flooded" in str(answer("flood"))
        assert "talked" in str(answer("talk"))
        send({"id": "after", "method": "tools/call", "params": {"name": "used"}})
        assert int(answer("after")["content"][0]["text"]) - before < 40_000, "KiB"
    finally:
        process.kill()
        process.communicate()
