"""What a running call knows, and what is put away when it ends."""

import contextvars
import io
import logging

import anyio
import pytest

from mcpconnect import Context, Tool, tool
from tests.wire import NEWEST, K, connected, serving

pytestmark = pytest.mark.anyio


class Asking(Tool):
    def __init__(self) -> None:
        self.made_for = self.ctx.request_id  # works inside __init__, and without super().__init__()

    def _facts(self) -> str:
        ctx = self.ctx
        return (
            f"{ctx.request_id!r} {self.made_for!r} {ctx.client.name} {ctx.client.version} {ctx.revision} {ctx.feature}"
        )

    @tool
    def facts(self) -> str:
        return self._facts()

    @tool
    async def async_facts(self) -> str:
        async def inner(found: list[str]) -> None:
            await anyio.lowlevel.checkpoint()
            found.append(self._facts())

        found: list[str] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inner, found)
        return found[0]

    @tool
    def meta(self) -> object:
        return [self.ctx.meta["a"], self.ctx.client.can("sampling"), self.ctx.client.can("elicitation", "url")]


@pytest.mark.parametrize("name", ["facts", "async_facts"])
async def test_the_context_knows_its_request(name: str) -> None:
    async with connected(serving(Asking)) as wire:
        answer = await wire.ask("tools/call", {"name": name}, id="x")
        assert answer["result"]["content"][0]["text"] == f"'x' 'x' tests 1 2025-11-25 {name}"
    info = {f"{K}clientInfo": {"name": "modern", "version": "7"}}
    async with connected(serving(Asking), NEWEST) as wire:
        answer = await wire.ask("tools/call", {"name": name, "_meta": info}, id=5)
        assert answer["result"]["content"][0]["text"] == f"5 5 modern 7 {NEWEST} {name}"


async def test_metadata_and_capabilities_are_those_of_the_request() -> None:
    capabilities = {f"{K}clientCapabilities": {"sampling": {}, "elicitation": {"form": {}}}}
    async with connected(serving(Asking), NEWEST) as wire:
        answer = await wire.ask("tools/call", {"name": "meta", "_meta": {"a": 1, **capabilities}})
        assert answer["result"]["content"][0]["text"] == "[1,true,false]"


async def test_calls_beside_each_other_never_see_each_others_context() -> None:
    class Mixed(Tool):
        @tool
        async def asynchronous(self, tag: str) -> str:
            before = self.ctx.meta["tag"]
            await anyio.sleep(0.001)
            return f"{tag} {before} {self.ctx.meta['tag']}"

        @tool
        def threaded(self, tag: str) -> str:
            return f"{tag} {self.ctx.meta['tag']} {self.ctx.meta['tag']}"

    async with connected(serving(Mixed)) as wire:
        for number in range(200):
            name = ("asynchronous", "threaded")[number % 2]
            call = {"name": name, "arguments": {"tag": str(number)}, "_meta": {"tag": str(number)}}
            wire.start("tools/call", call, id=f"call {number}")
        for number in range(200):
            answer = await wire.until(lambda number=number: wire.answer_to(f"call {number}"))
            assert answer["result"]["content"][0]["text"] == f"{number} {number} {number}"


def test_outside_a_call_there_is_no_context() -> None:
    class Bare(Tool):
        pass

    with pytest.raises(RuntimeError, match=r"Bare\.ctx is only there while a client's call runs"):
        _ = Bare().ctx


async def test_context_variables_reach_the_thread_and_do_not_come_back() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    class Reading(Tool):
        @tool
        def read(self) -> str:
            before = variable.get()
            variable.set("changed by a call")
            return before

        @tool
        async def async_read(self) -> str:
            before = variable.get()
            variable.set("changed by a call")
            return before

    variable.set("from outside")
    async with connected(serving(Reading)) as wire:
        for name in ("read", "read", "async_read", "async_read"):
            assert await wire.texts(name) == ["from outside"]


async def test_deferred_things_are_put_away_before_the_answer_in_reverse_order() -> None:
    events: list[str] = []

    class Deferring(Tool):
        @tool
        def threaded(self, fail: bool = False) -> str:
            self.ctx.defer(lambda: events.append("outer"))
            self.ctx.defer(lambda: events.append("inner"))
            if fail:
                raise ValueError
            return "done"

        @tool
        async def asynchronous(self, fail: bool = False) -> str:
            async def close() -> None:
                await anyio.lowlevel.checkpoint()
                events.append("inner")

            self.ctx.defer(lambda: events.append("outer"))
            self.ctx.defer(close)
            if fail:
                raise ValueError
            return "done"

        @tool
        def threaded_with_async_disposal(self) -> str:
            async def close() -> None:
                await anyio.lowlevel.checkpoint()
                events.append("inner")

            self.ctx.defer(lambda: events.append("outer"))
            self.ctx.defer(close)
            return "done"

    async with connected(serving(Deferring)) as wire:
        for name, arguments in (
            ("threaded", {}),
            ("threaded", {"fail": True}),
            ("asynchronous", {}),
            ("asynchronous", {"fail": True}),
            ("threaded_with_async_disposal", {}),
        ):
            events.clear()
            await wire.call(name, arguments)
            assert events == ["inner", "outer"], name


async def test_a_returned_stream_is_closed_unless_it_is_kept() -> None:
    returned: list[io.BytesIO] = []

    class Streaming(Tool):
        @tool
        def stream(self, keep: bool) -> io.BytesIO:
            stream = io.BytesIO(b"bytes")
            returned.append(stream)
            if keep:
                self.ctx.keep(stream)
            return stream

    async with connected(serving(Streaming)) as wire:
        await wire.call("stream", {"keep": False})
        await wire.call("stream", {"keep": True})
    assert [stream.closed for stream in returned] == [True, False]


async def test_anyio_streams_are_read_and_closed() -> None:
    closed: list[str] = []

    class Chunks(anyio.abc.ByteReceiveStream):
        def __init__(self, *chunks: bytes) -> None:
            self.chunks = list(chunks)

        async def receive(self, max_bytes: int = 65536) -> bytes:
            await anyio.lowlevel.checkpoint()
            if not self.chunks:
                raise anyio.EndOfStream
            return self.chunks.pop(0)

        async def aclose(self) -> None:
            closed.append("closed")

    class Streaming(Tool):
        @tool
        async def chunks(self) -> Chunks:
            return Chunks(b"ab", b"cd")

        @tool
        def chunks_from_thread(self) -> Chunks:
            return Chunks(b"ab", b"cd")

    async with connected(serving(Streaming)) as wire:
        for name in ("chunks", "chunks_from_thread"):
            (block,) = (await wire.call(name))["content"]
            assert block["resource"]["blob"] == "YWJjZA=="
    assert closed == ["closed", "closed"]


async def test_the_log_of_a_call_goes_to_the_standard_logger(caplog: pytest.LogCaptureFixture) -> None:
    class Logging(Tool):
        @tool
        def threaded(self) -> str:
            self.ctx.sync.log("warning", {"a": 1})
            return "done"

        @tool
        async def asynchronous(self, ctx: Context) -> str:
            await ctx.log("debug", "detail", logger="db")
            return "done"

        @tool
        def wrong(self) -> str:
            self.ctx.sync.log("loud", "x")  # type: ignore[arg-type]
            return "done"

    async with connected(serving(Logging)) as wire:
        with caplog.at_level(logging.DEBUG, "mcpconnect.calls"):
            await wire.call("threaded")
            await wire.call("asynchronous")
            assert (await wire.call("wrong"))["isError"] is True
    lines = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert lines[:2] == [
        ("mcpconnect.calls", "WARNING", "threaded: {'a': 1}"),
        ("mcpconnect.calls.db", "DEBUG", "asynchronous: detail"),
    ]


async def test_a_threaded_method_may_run_a_loop_of_its_own() -> None:
    class Nested(Tool):
        @tool
        def own_loop(self) -> int:
            async def body() -> int:
                await anyio.sleep(0)
                return 42

            return anyio.run(body)

    async with connected(serving(Nested)) as wire:
        assert await wire.texts("own_loop") == ["42"]


async def test_generators_are_drained_and_closed() -> None:
    closed: list[str] = []

    class Yielding(Tool):
        @tool
        def numbers(self):
            try:
                yield 1
                yield 2
            finally:
                closed.append("sync")

        @tool
        async def async_numbers(self):
            try:
                yield 1
                yield 2
            finally:
                closed.append("async")

        @tool
        def endless(self):
            try:
                while True:
                    yield 1
            finally:
                closed.append("endless")

    from mcpconnect import Limits

    async with connected(serving(Yielding, limits=Limits(items=100))) as wire:
        assert await wire.texts("numbers") == ["[1,2]"]
        assert await wire.texts("async_numbers") == ["[1,2]"]
        result = await wire.call("endless")
        assert result["isError"] is True
        assert "100 items" in result["content"][0]["text"]
    assert closed == ["sync", "async", "endless"]
