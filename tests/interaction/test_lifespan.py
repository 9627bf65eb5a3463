"""The lifespan of a server: once, around everything, closed whatever happens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from mcpconnect import McpServer, Tool, tool
from mcpconnect.testing import TestClient
from tests.wire import connected

pytestmark = pytest.mark.anyio


class Counting(Tool):
    @tool
    def name(self) -> str:
        return str(self.ctx.state["name"])

    @tool
    async def wait(self) -> str:
        await anyio.sleep(60)
        return "late"


def with_lifespan(events: list[str], **settings: object) -> McpServer:
    @asynccontextmanager
    async def lifespan(server: McpServer) -> AsyncIterator[dict[str, str]]:
        events.append(f"entered by {server.name}")
        try:
            yield {"name": "the state"}
        finally:
            await anyio.sleep(0.01)
            events.append("left")

    server = McpServer("test", lifespan=lifespan, **settings)  # type: ignore[arg-type]
    server.register(Counting)
    return server


async def test_it_is_entered_once_before_the_first_request_and_left_once() -> None:
    events: list[str] = []
    async with connected(with_lifespan(events)) as wire:
        assert events == ["entered by test"]
        for _ in range(3):
            assert await wire.texts("name") == ["the state"]
        assert events == ["entered by test"]
    assert events == ["entered by test", "left"]


async def test_it_is_left_whole_even_if_everything_is_cancelled() -> None:
    events: list[str] = []
    with anyio.move_on_after(0.1) as around:
        async with TestClient(with_lifespan(events)) as client:
            await client.call_tool("wait")
    assert around.cancelled_caught
    assert events == ["entered by test", "left"]


async def test_without_one_there_is_no_state() -> None:
    class Bare(Tool):
        @tool
        def has_state(self) -> bool:
            return self.ctx.state is not None

    server = McpServer("test")
    server.register(Bare)
    async with connected(server) as wire:
        assert await wire.texts("has_state") == ["false"]


async def test_what_it_raises_at_the_start_is_raised() -> None:
    @asynccontextmanager
    async def failing(server: McpServer) -> AsyncIterator[None]:
        raise ValueError("no database")
        yield

    with pytest.raises(ValueError, match="no database"):
        async with TestClient(McpServer("test", lifespan=failing)):
            pass


async def test_who_leaves_first_takes_nothing_from_the_others() -> None:
    events: list[str] = []
    server = with_lifespan(events)
    async with connected(server) as staying:
        async with connected(server) as leaving:
            assert await leaving.texts("name") == ["the state"]
        assert await staying.texts("name") == ["the state"]
