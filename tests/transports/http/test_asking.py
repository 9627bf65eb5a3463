"""Where a question could not reach the client, a call that asks ends at once."""

from typing import Any

import pytest

from mcpconnect import Context, PeerError, tool
from tests.transports.http.caller import CLIENT, calling
from tests.wire import serving

pytestmark = pytest.mark.anyio
FORM: dict[str, Any] = {"type": "object", "properties": {}}
CAPABLE = {"elicitation": {}, "roots": {}, "sampling": {}}


@tool(errors=PeerError)
async def asks(ctx: Context) -> str:
    return (await ctx.elicit("All right?", FORM)).action


@tool(errors=PeerError)
def asks_in_a_thread(ctx: Context) -> str:
    return ctx.sync.sample("Say hello").text


def message(method: str, params: Any, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"json_response": True}, marks=pytest.mark.fault(226)),
        pytest.param({"stateless": True}, marks=pytest.mark.fault(227)),
        pytest.param({"stateless": True, "json_response": True}, marks=pytest.mark.fault(227)),
    ],
)
@pytest.mark.parametrize("name", ["asks", "asks_in_a_thread"])
async def test_a_question_that_cannot_travel_fails_at_once(options: dict[str, Any], name: str) -> None:
    async with calling(serving(asks, asks_in_a_thread), **options) as caller:
        hello = {"protocolVersion": "2025-11-25", "capabilities": CAPABLE, "clientInfo": CLIENT}
        greeted = await caller.ask("POST", message("initialize", hello))
        headers = {"mcp-protocol-version": "2025-11-25", "mcp-session-id": greeted.headers.get("mcp-session-id")}
        called = await caller.ask("POST", message("tools/call", {"name": name}), headers)
        result = called.json["result"]
        assert result["isError"]
        assert "cannot ask the client" in result["content"][0]["text"]


@pytest.mark.parametrize("name", ["asks", "asks_in_a_thread"])
async def test_in_the_newest_revision_it_travels_as_json(name: str) -> None:
    async with calling(serving(asks, asks_in_a_thread), json_response=True) as caller:
        meta = {"io.modelcontextprotocol/clientCapabilities": CAPABLE}
        called = await caller.modern("tools/call", {"name": name}, meta=meta).done()
        assert called.json["result"]["resultType"] == "input_required"
