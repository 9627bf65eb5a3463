"""Whatever the user's code raises, and wherever: the call is answered and the server goes on."""

import asyncio
import logging
from typing import Annotated, Any

import pytest

from mcpconnect import Context, Inject, Limits, Session, ToolError, tool
from tests.wire import connected, serving

pytestmark = pytest.mark.anyio


class Nasty(BaseException):
    """Neither an `Exception` nor a way to end a process."""


def leaving(error: type[BaseException]) -> Any:
    def provider() -> Any:
        yield "value"
        raise error("while leaving")

    return provider


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, Nasty, ValueError])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_fails_while_it_is_put_away_is_logged_and_no_more(
    error: type[BaseException], asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise error("deferred")

    async def fail_later() -> None:
        fail()

    def leave(context: Context) -> str:
        context.defer(fail)
        context.defer(fail_later)
        context.defer(fail)
        return "done"

    @tool
    def work(context: Context, value: Annotated[str, Inject(leaving(error))]) -> str:
        return leave(context)

    @tool(name="work")
    async def work_async(context: Context, value: Annotated[str, Inject(leaving(error))]) -> str:
        return leave(context)

    async with connected(serving(work_async if asynchronous else work, limits=Limits(threads=1))) as wire:
        for _ in range(3):  # with one thread: it is not lost
            assert await wire.texts("work") == ["done"]
    assert [record.event for record in caplog.records] == ["defer-failed"] * 12  # type: ignore[attr-defined]


@pytest.mark.parametrize("closing", ["close", "aclose"])
async def test_a_session_that_fails_to_close_ends_nothing(closing: str, caplog: pytest.LogCaptureFixture) -> None:
    class Kept(Session):
        if closing == "aclose":

            async def aclose(self) -> None:
                raise SystemExit(1)

        else:

            def close(self) -> None:
                raise SystemExit(1)

    @tool
    def use(kept: Kept) -> str:
        return "used"

    async with connected(serving(use, session=Kept)) as wire:
        assert await wire.texts("use") == ["used"]
    assert [record.event for record in caplog.records] == ["defer-failed"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_awaiting_a_task_that_was_cancelled_is_a_failure_like_any_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def stop() -> None:
        task = asyncio.create_task(asyncio.sleep(9))
        task.cancel()
        await task

    @tool
    async def work(context: Context) -> str:
        context.defer(stop)
        return "done"

    @tool
    def work_here(context: Context) -> str:
        context.defer(stop)
        return "done"

    async with connected(serving(work, work_here)) as wire:
        for name in ("work", "work_here", "work"):
            assert await wire.texts(name) == ["done"]
    assert [record.event for record in caplog.records] == ["defer-failed"] * 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("raised", [RuntimeError, SystemExit])
async def test_an_error_that_cannot_be_put_into_words_is_answered(
    asynchronous: bool, raised: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    class Unspeakable(ToolError):
        def __str__(self) -> str:
            raise raised("no words")

    @tool
    def work() -> None:
        raise Unspeakable

    @tool(name="work")
    async def work_async() -> None:
        raise Unspeakable

    async with connected(serving(work_async if asynchronous else work, limits=Limits(threads=1))) as wire:
        for _ in range(2):
            answer = await wire.ask("tools/call", {"name": "work"})
            assert answer["error"]["code"] == -32603
            assert "error id" in answer["error"]["message"]
    assert {record.event for record in caplog.records} >= {"request-failed"}  # type: ignore[attr-defined]
    assert all(record.levelno >= logging.ERROR for record in caplog.records)
