"""A server of the official SDK, for our client to speak to."""

from mcp.server.mcpserver import Context, Image, MCPServer

server = MCPServer("official", log_level="ERROR", instructions="Be kind.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def picture() -> Image:
    """A PNG."""
    return Image(data=b"\x89PNG\r\n\x1a\n", format="png")


@server.tool()
async def slow(ctx: Context) -> str:
    """Report progress."""
    await ctx.report_progress(1, 2)
    return "done"


@server.tool()
def broken() -> str:
    """Fail."""
    raise ValueError("boom")


if __name__ == "__main__":
    server.run()
