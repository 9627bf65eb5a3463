"""What holds calls and what they leave behind within bounds: threads, time limits, and lengths."""

import threading
from typing import Any

import anyio
import pytest
from anyio.abc import ByteReceiveStream

from mcpconnect import Context, Limits, tool
from tests.wire import connected, serving

pytestmark = pytest.mark.anyio
PATIENCE = 20.0


async def until(condition: Any) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.sleep(0.001)


@pytest.mark.parametrize("clients", [2, 5])
async def test_threads_that_wait_for_a_silent_client_leave_their_place_to_others(clients: int) -> None:
    most, now, lock = [0], [0], threading.Lock()

    @tool
    def ask(context: Context) -> int:
        return len(context.sync.roots())

    @tool
    def work() -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.01)
        with lock:
            now[0] -= 1
        return "done"

    server = serving(ask, work, limits=Limits(threads=2))
    async with connected(server, capabilities={"roots": {}}) as wire:
        asking = [wire.start("tools/call", {"name": "ask"}) for _ in range(clients)]

        def asked() -> list[Any]:
            return [message["id"] for message in wire.messages if message.get("method") == "roots/list"]

        await wire.until(lambda: len(asked()) == clients)
        working = [wire.start("tools/call", {"name": "work"}) for _ in range(10)]
        for id in working:
            await wire.until(lambda id=id: wire.answer_to(id))
        assert most == [2]
        assert not any(wire.answer_to(id) for id in asking)
        for id in asked():
            wire.send({"jsonrpc": "2.0", "id": id, "result": {"roots": []}})
        for id in asking:
            answer = await wire.until(lambda id=id: wire.answer_to(id))
            assert answer["result"]["content"][0]["text"] == "0"
        most[0] = 0
        for _ in range(2):  # the surplus threads are gone
            working = [wire.start("tools/call", {"name": "work"}) for _ in range(10)]
            for id in working:
                await wire.until(lambda id=id: wire.answer_to(id))
        assert most == [2]


async def test_a_thread_that_took_too_long_is_told_so() -> None:
    gate, told = threading.Event(), []

    @tool(timeout=0.05)
    def work(context: Context) -> None:
        gate.wait(PATIENCE)
        told.append((context.cancelled, context.cancel_reason))

    async with connected(serving(work)) as wire:
        assert (await wire.call("work"))["isError"]
        gate.set()
        await until(lambda: told)
    assert told == [(True, "timed out")]


@pytest.mark.parametrize("size", [1000, 1001])
async def test_a_stream_that_is_too_long_is_an_error(size: int) -> None:
    class Numbers(ByteReceiveStream):
        def __init__(self) -> None:
            self.left = size
            self.closed = False

        async def receive(self, max_bytes: int = 65536) -> bytes:
            if not self.left:
                raise anyio.EndOfStream
            piece = min(self.left, 100, max_bytes)
            self.left -= piece
            return b"x" * piece

        async def aclose(self) -> None:
            self.closed = True

    streams: list[Numbers] = []

    @tool
    async def read() -> Any:
        streams.append(Numbers())
        return streams[-1]

    async with connected(serving(read, limits=Limits(stream_bytes=1000))) as wire:
        result = await wire.call("read")
    assert result.get("isError", False) == (size > 1000)
    if size > 1000:
        assert "1000 bytes (Limits.stream_bytes)" in result["content"][0]["text"]
    assert streams[0].closed


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_hangs_while_it_is_put_away_is_given_up_and_the_rest_is_put_away(asynchronous: bool) -> None:
    gone: list[str] = []

    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            gone.append("given up")

    def leave(context: Context) -> str:
        context.defer(lambda: gone.append("last"))
        context.defer(hang)
        context.defer(lambda: gone.append("first"))
        return "done"

    @tool
    def work(context: Context) -> str:
        return leave(context)

    @tool(name="work")
    async def work_async(context: Context) -> str:
        return leave(context)

    server = serving(work_async if asynchronous else work, limits=Limits(drain_seconds=0.05))
    async with connected(server) as wire:
        with anyio.fail_after(PATIENCE / 2):
            assert await wire.texts("work") == ["done"]
    assert gone == ["first", "given up", "last"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_is_put_away_at_the_end_is_not_cancelled(asynchronous: bool) -> None:
    gone: list[str] = []
    began = anyio.Event()

    async def close() -> None:
        began.set()
        await anyio.sleep(0.05)
        gone.append("closed")

    @tool
    def work(context: Context) -> None:
        context.defer(close)

    @tool(name="work")
    async def work_async(context: Context) -> None:
        context.defer(close)

    async with connected(serving(work_async if asynchronous else work)) as wire:
        wire.start("tools/call", {"name": "work"})
        await began.wait()
    assert gone == ["closed"]
