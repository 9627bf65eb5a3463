"""A server under load, which says what it still holds."""

import asyncio
import gc
import logging
import sys
import time
from typing import Annotated, Any

import anyio
import uvicorn

from mcpconnect import Limits, McpServer, Param, Tool, ToolError, tool


class Load(Tool):
    @tool
    def add(self, a: int, b: int) -> int:
        """Add."""
        return a + b

    @tool
    async def wait(self, seconds: float) -> str:
        """Wait, and tell how far it is."""
        for step in range(4):
            await self.ctx.progress(step, 4)
            await anyio.sleep(seconds / 4)
        return "waited"

    @tool
    def block(self, seconds: Annotated[float, Param(description="How long")]) -> str:
        """Block a thread."""
        time.sleep(seconds)
        return "blocked"

    @tool
    async def fail(self, how: str) -> str:
        """Fail."""
        if how == "told":
            raise ToolError("told")
        raise ValueError(how)

    @tool(structured=True)
    async def held(self) -> dict[str, int]:
        """Tell what the process holds, beside this call."""
        gc.collect()
        return {
            "tasks": len(asyncio.all_tasks()),
            "sessions": len(app.endpoint.sessions),
            "listeners": len(server.hub),
        }


class Events(logging.Handler):
    """Collects the `event=` of every record."""

    seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self.seen.add(str(getattr(record, "event", f"none: {record.name} {record.getMessage()}")))


@tool(structured=True)
async def events() -> dict[str, Any]:
    """Tell which events were logged."""
    return {"events": sorted(Events.seen)}


server = McpServer("soak", limits=Limits(session_idle_seconds=2, body_seconds=2, threads=8))
server.register(Load)
server.register(events)
app = server.asgi_app()

if __name__ == "__main__":
    logging.getLogger().addHandler(Events())
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_config=None, access_log=False)
