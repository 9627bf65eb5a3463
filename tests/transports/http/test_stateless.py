"""The handshake era without sessions."""

import asyncio
from typing import Any

import pytest

from mcpconnect import Context, McpServer, Tool, tool
from tests.transports.http.caller import CLIENT, SessionCaller, calling, settled
from tests.transports.http.tools import another, basic, gated
from tests.wire import HANDSHAKES, NEWEST, serving

pytestmark = pytest.mark.anyio


def message(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_a_handshake_gives_no_session(revision: str) -> None:
    async with calling(basic(), stateless=True) as caller:
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
        answer = await caller.ask("POST", message("initialize", hello))
        assert answer.json["result"]["protocolVersion"] == revision
        assert "mcp-session-id" not in answer.headers
        accepted = await caller.ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (accepted.status, accepted.body) == (202, b"")
        headers = {"mcp-protocol-version": revision, "mcp-session-id": "whatever"}
        called = await caller.ask("POST", message("tools/call", {"name": "add"}), headers)
        assert called.headers["content-type"] == "application/json"
        assert called.json["result"]["content"][0]["text"] == "3"
        assert (await caller.ask("POST", message("ping"), headers)).json["result"] == {}


@pytest.mark.parametrize(("header", "revision"), [(None, "2025-03-26"), *((each, each) for each in HANDSHAKES)])
async def test_a_request_is_of_the_revision_in_its_header_or_of_the_oldest_of_this_transport(
    header: str | None, revision: str
) -> None:
    @tool
    def which(ctx: Context) -> str:
        return ctx.revision

    async with calling(serving(which), stateless=True) as caller:
        called = await caller.ask("POST", message("tools/call", {"name": "which"}), {"mcp-protocol-version": header})
        assert called.json["result"]["content"][0]["text"] == revision


async def test_the_newest_revision_is_served_beside_it() -> None:
    async with calling(basic(), stateless=True) as caller:
        answer = await caller.modern("tools/call", {"name": "add"}).done()
        assert answer.json["result"]["resultType"] == "complete"
        unknown = await caller.ask("POST", message("tools/list"), {"mcp-protocol-version": "1999-01-01"})
        assert unknown.status == 400


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_is_no_stream_to_open_and_no_session_to_end(method: str) -> None:
    async with calling(basic(), stateless=True) as caller:
        answer = await caller.ask(method, b"", {"mcp-session-id": "x"})
        assert answer.status == 405
        assert answer.headers["allow"] == "POST"
        assert (await caller.ask(method, b"", {"mcp-protocol-version": NEWEST})).status == 405


async def test_what_comes_before_the_answer_makes_it_an_event_stream() -> None:
    async with calling(basic(), stateless=True) as caller:
        session = SessionCaller(caller, "none", "2025-11-25")
        answer = await session.call("steps", token="t").done()
        assert [event.message.get("method") for event in answer.events] == ["notifications/progress"] * 3 + [None]
        assert all(event.id is None for event in answer.events), "nothing can be resumed"


async def test_a_client_of_json_that_leaves_gets_nothing() -> None:
    server, tools = gated()
    async with calling(server, stateless=True, json_response=True) as caller:
        exchange = SessionCaller(caller, "none", "2025-11-25").call("wait")
        await tools.began.wait()
        exchange.leave()
        await exchange.done()
        assert exchange.status == 0


@pytest.mark.parametrize("accept", ["application/json", None])
async def test_json_is_the_form_where_it_is_asked_for(accept: str | None) -> None:
    async with calling(basic(), stateless=True, json_response=accept is None) as caller:
        session = SessionCaller(caller, "none", "2025-11-25")
        answer = await session.call("steps", token="t", headers={} if accept is None else {"accept": accept}).done()
        assert answer.json["result"]["content"][0]["text"] == "done"


async def test_a_client_that_leaves_does_not_cancel_its_call() -> None:
    server, tools = gated()
    async with calling(server, stateless=True) as caller:
        exchange = SessionCaller(caller, "none", "2025-11-25").call("wait")
        await tools.began.wait()
        exchange.leave()
        await exchange.done()
        tools.gate.set()
        await settled(lambda: tools.ended)
        assert tools.ended == ["finished"]


async def test_batches_are_served_where_the_revision_has_them() -> None:
    async with calling(basic(), stateless=True, check=False) as caller:
        items = [message("ping", id=1), message("tools/call", {"name": "add"}, id=2)]
        answer = await caller.ask("POST", items, {"mcp-protocol-version": "2025-03-26"})
        assert sorted(item["id"] for item in answer.json) == [1, 2]
        refused = await caller.ask("POST", items, {"mcp-protocol-version": "2025-06-18"})
        assert (refused.status, refused.json["error"]["code"]) == (400, -32600)


async def test_changes_are_told_to_nobody() -> None:
    server = basic()

    class Growing(Tool):
        @tool
        def grow(self) -> str:
            server.register(another)
            return "grown"

    server.register(Growing)
    async with calling(server, stateless=True) as caller:
        answer = await SessionCaller(caller, "none", "2025-11-25").call("grow").done()
        assert answer.headers["content-type"] == "application/json"
        assert len(server.hub) == 0


@pytest.mark.fault(255)
@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_thousand_calls_leave_nothing(era: str) -> None:
    server = McpServer("test")
    server.register(another)
    async with calling(server, stateless=True, check=False) as caller:

        async def call() -> None:
            if era == "modern":
                answer = await caller.modern("tools/call", {"name": "another"}).done()
            else:
                answer = await SessionCaller(caller, "none", "2025-11-25").call("another").done()
            assert answer.status == 200

        await call()
        before = asyncio.all_tasks()
        for _ in range(100):
            await asyncio.gather(*(call() for _ in range(10)))
        assert len(caller.app.endpoint.sessions) == 0
        assert len(server.hub) == 0
        await settled(lambda: asyncio.all_tasks() == before)
