"""What is provided for the whole server: each value lives by itself, and with what it was made with."""

import gc
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio
import pytest
from anyio.abc import TaskGroup

from mcpconnect import Inject, tool
from tests.wire import Wire, connected, serving

pytestmark = pytest.mark.anyio
LASTING = pytest.mark.parametrize("scope", ["server", "session"])


class Open:
    def __init__(self) -> None:
        self.open = True


async def cache() -> AsyncIterator[TaskGroup]:
    async with anyio.create_task_group() as tasks:
        yield tasks


async def unrelated() -> AsyncIterator[Open]:
    made = Open()
    try:
        yield made
    finally:
        made.open = False


async def said(wire: Wire, name: str) -> str:
    return str((await wire.call(name))["content"][0]["text"])


@LASTING
async def test_a_value_that_ends_takes_along_what_was_made_with_it_and_nothing_else(
    scope: Any, caplog: pytest.LogCaptureFixture
) -> None:
    of_cache: list[Open] = []

    async def related(tasks: Annotated[TaskGroup, Inject(cache, scope)]) -> AsyncIterator[Open]:
        of_cache.append(Open())
        try:
            yield of_cache[-1]
        finally:
            of_cache[-1].open = False

    @tool
    async def break_cache(tasks: Annotated[TaskGroup, Inject(cache, scope)]) -> str:
        async def fail() -> None:
            raise ValueError("the cache broke")

        tasks.start_soon(fail)
        return "done"

    @tool
    async def use_related(value: Annotated[Open, Inject(related, scope)]) -> str:
        return str(value.open)

    kept: list[Open] = []

    @tool
    async def use_unrelated(value: Annotated[Open, Inject(unrelated, scope)]) -> str:
        kept.append(value)
        return str(value.open)

    server = serving(break_cache, use_related, use_unrelated)
    async with connected(server) as wire:
        assert await said(wire, "break_cache") == "done"
        assert await said(wire, "use_related") == "True"
        assert await said(wire, "use_unrelated") == "True"
        caplog.clear()
        assert await said(wire, "break_cache") == "done"
        with anyio.fail_after(5):
            while of_cache[0].open:
                await anyio.lowlevel.checkpoint()
        assert kept[0].open
        assert await said(wire, "use_unrelated") == "True"
        assert kept[1] is kept[0]
        assert await said(wire, "use_related") == "True", "made anew, with a new cache"
        assert len(of_cache) == 2
        lost = [r for r in caplog.records if getattr(r, "event", "") == "provided-lost" and r.levelno == logging.ERROR]
        assert len(lost) >= 1
    assert (kept[0].open, of_cache[1].open) == (False, False)


@LASTING
async def test_a_provider_that_takes_long_keeps_nobody_waiting_who_does_not_need_it(scope: Any) -> None:
    gate = anyio.Event()

    async def slow() -> AsyncIterator[str]:
        await gate.wait()
        yield "slow"

    async def quick() -> AsyncIterator[str]:
        yield "quick"

    @tool
    async def use_slow(value: Annotated[str, Inject(slow, scope)]) -> str:
        return value

    @tool
    async def use_quick(value: Annotated[str, Inject(quick, scope)]) -> str:
        return value

    async with connected(serving(use_slow, use_quick)) as wire:
        slowly = wire.start("tools/call", {"name": "use_slow"})
        assert await said(wire, "use_quick") == "quick"
        assert wire.answer_to(slowly) is None
        gate.set()
        assert (await wire.until(lambda: wire.answer_to(slowly)))["result"]["content"][0]["text"] == "slow"


async def test_what_ended_by_itself_is_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, "mcpconnect.calls")  # records keep their tracebacks

    class Short:
        def __init__(self, scope: anyio.CancelScope) -> None:
            self.scope = scope

    async def short() -> AsyncIterator[Short]:
        with anyio.CancelScope() as scope:
            yield Short(scope)

    @tool
    async def use(value: Annotated[Any, Inject(short, "server")]) -> str:
        value.scope.cancel()
        return "used"

    async with connected(serving(use)) as wire:
        for _ in range(50):
            await wire.call("use")
            await anyio.wait_all_tasks_blocked()
        gc.collect()
        assert sum(isinstance(each, Short) for each in gc.get_objects()) <= 3
