"""The server of the stdio tests: `python server.py BACKEND [DRAIN_SECONDS [MESSAGE_BYTES]]`."""

import os
import subprocess
import sys
import time
from pathlib import Path

import anyio

from mcpconnect import Limits, McpServer, Tool, tool

print("printed while the module is imported")


def mark(marker: str, content: str) -> None:
    Path(marker).write_text(content)


class Tools(Tool):
    """Whatever a careless tool may do."""

    @tool
    def echo(self, text: str) -> str:
        return text

    @tool
    async def echo_async(self, text: str) -> str:
        return text

    @tool
    def big(self, letter: str, size: int) -> str:
        return letter * size

    @tool
    def noisy(self) -> str:
        print("printed by a tool")
        sys.stdout.write("written by a tool\n")
        sys.stdout.flush()
        os.write(1, b"written to descriptor 1\n")
        sys.__stdout__.write("written to the original stdout\n")
        sys.__stdout__.flush()
        return "quiet"

    @tool
    def child(self) -> str:
        program = "import sys; print('child says hi'); print(repr(sys.stdin.read()))"
        subprocess.run([sys.executable, "-c", program], check=True, timeout=20)
        os.system("echo the shell says hi")
        return "done"

    @tool
    async def wait(self, marker: str, seconds: float = 60) -> str:
        mark(marker, "begun")
        try:
            await anyio.sleep(seconds)
        finally:
            mark(marker, "torn down")
        return "waited"

    @tool
    def block(self, marker: str, seconds: float = 60) -> str:
        mark(marker, "begun")
        time.sleep(seconds)
        mark(marker, "over")
        return "blocked"

    @tool
    async def hog(self, marker: str) -> str:
        mark(marker, "begun")
        time.sleep(60)  # noqa: ASYNC251 - this is the fault
        return "never"

    @tool
    async def interrupt(self) -> str:
        raise KeyboardInterrupt

    @tool
    def grow(self) -> str:
        server.register(late)
        return "grown"


@tool
def late() -> str:
    return "late"


backend, drain, size = [*sys.argv[1:], *["asyncio", "5", str(64 * 1024 * 1024)][len(sys.argv) - 1 :]]
server = McpServer("stdio-tests", limits=Limits(drain_seconds=float(drain), message_bytes=int(size)), page_size=5)
server.register(Tools())

if __name__ == "__main__":
    server.run(backend=backend)
