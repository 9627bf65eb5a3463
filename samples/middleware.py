"""Middleware: logging, timing, a rate limit, a response limit and a read-only mode, each a function of a few lines.

A middleware is `async def mw(call, next)`: it may look at the call, change it, answer itself, raise, or look at the
result of `await next(call)`. A guard is a middleware of one tool.
"""

import logging
import time
from collections import deque
from typing import Annotated, Any, Final

from mcpconnect import Context, McpServer, Next, Operation, Param, Tool, ToolError, tool

log = logging.getLogger("samples.middleware")
server = McpServer("middleware", version="1.0.0")
READ_ONLY: Final = True
CALLS_PER_MINUTE: Final = 100
LONGEST: Final = 200
_recent: deque[float] = deque()


@server.middleware.add
async def logged(call: Operation, next: Next) -> dict[str, Any]:
    """Log every operation, and how long it took."""
    began = time.perf_counter()
    try:
        return await next(call)
    finally:
        log.info("%s: %.1f ms", call.method, 1000 * (time.perf_counter() - began))


@server.middleware.add
async def rate_limited(call: Operation, next: Next) -> dict[str, Any]:
    """Let so many calls through in a minute; the model can read why one was refused."""
    if call.method == "tools/call":
        now = time.monotonic()
        while _recent and _recent[0] < now - 60:
            _recent.popleft()
        if len(_recent) >= CALLS_PER_MINUTE:
            raise ToolError("too many calls: try again in a minute")
        _recent.append(now)
    return await next(call)


@server.middleware.add
async def bounded(call: Operation, next: Next) -> dict[str, Any]:
    """Cut the texts of results that would fill a model's context."""
    result = await next(call)
    for block in result.get("content", ()):
        if len(block.get("text", "")) > LONGEST:
            block["text"] = block["text"][:LONGEST] + " … (cut)"
    return result


@server.visible
def only_reading(feature: Any, _: Context) -> bool:
    """Hide what writes: it is neither listed nor callable."""
    return not READ_ONLY or "writes" not in feature.tags


async def polite(call: Operation, next: Next) -> dict[str, Any]:
    """Refuse what nobody should look up; a guard of one tool."""
    if call.arguments.get("word") == "password":
        raise ToolError("this word is not looked up")
    return await next(call)


class DictionaryTool(Tool):
    """A dictionary."""

    words: dict[str, str] = {"pear": "a fruit", "plum": "another fruit"}

    @tool(guards=[polite])
    def look_up(self, word: Annotated[str, Param(examples=["pear"])]) -> str:
        """Say what a word means."""
        if word not in self.words:
            raise ToolError(f"no word {word!r}; there are {', '.join(sorted(self.words))}")
        return self.words[word]

    @tool
    def all_words(self) -> str:
        """Return a very long text."""
        return ", ".join(self.words) * 50

    @tool(tags={"writes"})
    def define(self, word: str, meaning: str) -> None:
        """Define a word; hidden while the server is read-only."""
        self.words[word] = meaning


server.register(DictionaryTool)

if __name__ == "__main__":
    server.run()
