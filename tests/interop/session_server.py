"""A server whose secret comes from outside, and that says which process answers."""

import os

from mcpconnect import McpServer, Tool, tool


class Process(Tool):
    @tool
    def test_simple_text(self) -> str:
        """Say something."""
        return "here"

    @tool
    def process(self) -> int:
        """Tell which process answers."""
        return os.getpid()

    @tool
    async def slow(self) -> str:
        """Report progress for two seconds."""
        import asyncio

        for value in range(4):
            await self.ctx.progress(value, 4)
            await asyncio.sleep(0.5)
        return "done"


server = McpServer("sessions", secret=os.environ.get("TEST_SECRET"))
server.register(Process)

if __name__ == "__main__":
    server.run()
