"""How long provided values live, how often they are made, and what leaving them may and may not do."""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import anyio
import pytest

from mcpconnect import Context, DefinitionError, Inject, Limits, Session, Tool, tool
from tests.wire import connected, serving

pytestmark = pytest.mark.anyio
events: list[str] = []


@pytest.fixture(autouse=True)
def forgotten() -> None:
    events.clear()


class Shopping(Session):
    """A cart."""


async def made_slowly() -> object:
    events.append("made")
    await anyio.sleep(0.02)
    return object()


@pytest.mark.parametrize("scope", ["server", "session"])
async def test_parallel_first_calls_make_one_value(scope: Any) -> None:
    @tool
    async def which(value: Annotated[object, Inject(made_slowly, scope)]) -> str:
        return str(id(value))

    @tool
    def which_in_thread(value: Annotated[object, Inject(made_slowly, scope)]) -> str:
        return str(id(value))

    async with connected(serving(which, which_in_thread)) as wire:
        ids = [wire.start("tools/call", {"name": name}) for name in ("which", "which_in_thread") * 3]
        answers = [await wire.until(lambda each=each: wire.answer_to(each)) for each in ids]
    assert len({answer["result"]["content"][0]["text"] for answer in answers}) == 1
    assert events == ["made"]


def of_session(session: Shopping) -> str:
    return "of one client"


def of_session_itself() -> str:
    return "of one client"


def through_session(value: Annotated[str, Inject(of_session_itself, "session")]) -> str:
    return value


@pytest.mark.parametrize("provider", [of_session, through_session])
def test_what_serves_every_client_cannot_need_what_belongs_to_one(provider: Any) -> None:
    @tool
    def run(value: Annotated[str, Inject(provider, "server")]) -> str:
        return value

    with pytest.raises(DefinitionError, match="once for a server cannot need what belongs to a session"):
        serving(run, session=Shopping)


def rolled_back() -> Iterator[str]:
    try:
        yield "transaction"
    except ValueError:
        events.append("rolled back")
        raise


async def rolled_back_async() -> AsyncIterator[str]:
    try:
        yield "transaction"
    except ValueError:
        await anyio.sleep(0)
        events.append("rolled back")
        raise


class RolledBack:
    def __enter__(self) -> str:
        return "transaction"

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, ValueError):
            events.append("rolled back")
            raise error


@pytest.mark.parametrize("provider", [rolled_back, rolled_back_async, RolledBack])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_failure_that_comes_back_from_leaving_is_no_failure_of_its_own(
    provider: Any, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    @tool(errors=(ValueError,))
    def run(value: Annotated[str, Inject(provider)]) -> str:
        raise ValueError("no")

    @tool(name="run", errors=(ValueError,))
    async def run_async(value: Annotated[str, Inject(provider)]) -> str:
        raise ValueError("no")

    with caplog.at_level(logging.WARNING, "mcpconnect"):
        async with connected(serving(run_async if asynchronous else run)) as wire:
            assert await wire.texts("run") == ["no"]
    assert events == ["rolled back"]
    assert [record for record in caplog.records if getattr(record, "event", "") == "defer-failed"] == []


async def leaving_badly() -> AsyncIterator[str]:
    yield "value"
    await anyio.sleep(0)
    raise OSError("gone already")


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_failure_of_leaving_is_logged_and_the_next_one_is_left(
    asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def closing() -> None:
        await anyio.sleep(0)
        events.append("closed")

    @tool
    def run(ctx: Context, value: Annotated[str, Inject(leaving_badly)]) -> str:
        return value

    @tool(name="run")
    async def run_async(ctx: Context, value: Annotated[str, Inject(leaving_badly)]) -> str:
        return value

    def before(ctx: Context) -> Iterator[str]:
        ctx.defer(closing)
        yield "first"

    class Both(Tool):
        first: Annotated[str, Inject(before)]

        if asynchronous:

            @tool
            async def both(self, value: Annotated[str, Inject(leaving_badly)]) -> str:
                return value

        else:

            @tool
            def both(self, value: Annotated[str, Inject(leaving_badly)]) -> str:
                return value

    with caplog.at_level(logging.WARNING, "mcpconnect.calls"):
        async with connected(serving(Both, run_async if asynchronous else run)) as wire:
            assert await wire.texts("run") == ["value"]
            assert await wire.texts("both") == ["value"]
            with anyio.fail_after(5):
                while "closed" not in events:
                    await anyio.sleep(0)
    found = [record.event for record in caplog.records]  # type: ignore[attr-defined] # every record there has one
    assert found == ["defer-failed"] * 2
    assert events == ["closed"]


class Chunks(anyio.abc.ByteReceiveStream):
    def __init__(self) -> None:
        self.chunks = [b"ab"]

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await anyio.lowlevel.checkpoint()
        if not self.chunks:
            raise anyio.EndOfStream
        return self.chunks.pop()

    async def aclose(self) -> None:
        events.append("closed")


async def test_a_stream_that_is_kept_stays_open() -> None:
    @tool
    async def read(keep: bool, ctx: Context) -> Chunks:
        stream = Chunks()
        if keep:
            ctx.keep(stream)
        return stream

    async with connected(serving(read)) as wire:
        await wire.call("read", {"keep": True})
        assert events == []
        await wire.call("read", {"keep": False})
        assert events == ["closed"]


async def test_a_generator_that_is_not_read_to_its_end_is_closed_with_the_call() -> None:
    @tool
    async def endless() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            await anyio.sleep(0)
            events.append("closed")

    @tool
    def endless_in_thread() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            events.append("closed")

    async with connected(serving(endless, endless_in_thread, limits=Limits(items=3))) as wire:
        for name in ("endless", "endless_in_thread"):
            assert (await wire.call(name))["isError"]
            assert events == ["closed"], "before the answer"
            events.clear()
