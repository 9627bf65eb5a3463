"""`fastmcp`'s client lists and calls every tool of the samples over stdio, and gets the right values."""

import base64
import json
import warnings

import anyio
import pytest

from tests.interop.expected import EXPECTED, MOVED, SHAPE, TICKETS
from tests.interop.servers import command

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what its own imports warn of is not ours
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport
    from fastmcp.exceptions import ToolError

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


ARGUMENTS = {
    "find_ticket": {"title": "stud"},
    "buy_ticket": {"ticketId": 1},
    "move": {"shape": SHAPE, "by": {"X": 10, "Y": 20}},
}


@pytest.mark.parametrize("sample", EXPECTED)
async def test_every_tool_of_the_samples(sample: str) -> None:
    program, arguments = command(sample)
    with anyio.fail_after(60):
        async with Client(StdioTransport(program, arguments, keep_alive=False)) as client:
            assert [made.name for made in await client.list_tools()] == EXPECTED[sample]
            got = {}
            for name in EXPECTED[sample]:
                if name != "failure":
                    got[name] = await client.call_tool(name, ARGUMENTS.get(name, {}))
            if sample == "tickets.py":
                assert json.loads(got["get_tickets"].content[0].text) == TICKETS
                assert base64.b64decode(got["seat_map"].content[0].data).startswith(b"\x89PNG\r\n\x1a\n")
                assert got["find_ticket"].structured_content == TICKETS[2]
                assert got["buy_ticket"].content[0].text == "Purchase completed: 1 × Conference, 179.00 €."
                with pytest.raises(ToolError, match="There is no ticket 9"):
                    await client.call_tool("buy_ticket", {"ticketId": 9})
            elif sample == "serialization.py":
                assert got["shape"].structured_content == SHAPE
                assert got["move"].structured_content == MOVED
            else:
                assert [block.text for block in got["texts"].content] == ["first", "second"]
                with pytest.raises(ToolError, match="It did not work: rain"):
                    await client.call_tool("failure", {"reason": "rain"})
