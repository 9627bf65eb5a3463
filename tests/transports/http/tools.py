"""Tools that the tests of this folder call."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from mcpconnect import McpServer, Param, Tool, tool
from tests.wire import serving


class Basic(Tool):
    """Tools that end by themselves."""

    @tool
    def add(self, a: int = 1, b: int = 2) -> int:
        """Add."""
        return a + b

    @tool
    async def hello(self, name: str = "ユーザー") -> str:
        """Greet; ユーザー."""
        return f"Hello {name}"

    @tool
    async def steps(self, count: int = 3) -> str:
        """Report some steps."""
        for value in range(count):
            await self.ctx.progress(value + 1, count, f"step {value + 1}")
        return "done"

    @tool
    def where(self, region: Annotated[str | None, Param(header="Region")] = None) -> str:
        """Say where."""
        return str(region)


class Gated(Tool):
    """Tools that wait for the test; one object for each server."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.gate = asyncio.Event()
        self.ended: list[str] = []
        self.calls = 0

    @tool
    async def wait(self, progress: bool = False) -> str:
        """Wait for the gate."""
        self.calls += 1
        if progress:
            await self.ctx.progress(1)
        self.began.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("finished")
        return "waited"

    @tool
    async def pause(self, retry_ms: int | None = None) -> str:
        """End the stream early, then wait for the gate."""
        await self.ctx.progress(1)
        await self.ctx.end_stream(retry_ms)
        self.began.set()
        await self.gate.wait()
        await self.ctx.progress(2)
        return "resumed"


def basic(**settings: Any) -> McpServer:
    """Return a server with the tools that end by themselves."""
    return serving(Basic, **settings)


def gated(**settings: Any) -> tuple[McpServer, Gated]:
    """Return a server with all tools, and the object that holds their gate."""
    tools = Gated()
    return serving(Basic, tools, **settings), tools


@tool
def another() -> str:
    """Come later."""
    return "another"
