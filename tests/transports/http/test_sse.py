"""HTTP with SSE, the transport of the oldest revision."""

import asyncio
from typing import Any
from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from mcpconnect import Limits, Tool, tool
from tests.transports.http.caller import CLIENT, Caller, Exchange, calling, settled
from tests.transports.http.tools import another, basic, gated
from tests.wire import HANDSHAKES, NEWEST, K

pytestmark = pytest.mark.anyio


class SseClient:
    """A connection: its stream, and the address to post to."""

    def __init__(self, caller: Caller, path: str = "/sse", **scope: Any) -> None:
        self.caller = caller
        self.path = path
        self.scope = scope
        self.traffic = caller.conversation()
        self.stream: Exchange = caller.send(
            "GET", headers={"content-type": None}, path=path, traffic=self.traffic, **scope
        )

    async def opened(self) -> "SseClient":
        first = await self.stream.event()
        assert (first.event, first.id) == ("endpoint", None)
        self.address = urljoin(f"http://localhost:8000{self.path}", first.data).removeprefix("http://localhost:8000")
        return self

    async def post(self, message: Any, **headers: str | None) -> Exchange:
        return await self.caller.ask("POST", message, headers, path=self.address, traffic=self.traffic, **self.scope)

    async def ask(self, method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
        accepted = await self.post({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})
        assert (accepted.status, accepted.body) == (202, b"")
        return (await self.stream.event()).message

    async def initialized(self, revision: str = "2024-11-05") -> "SseClient":
        await self.opened()
        answer = await self.ask(
            "initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}, id=0
        )
        assert answer["result"]["protocolVersion"] == revision
        assert (await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202
        return self


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_answers_come_on_the_stream(revision: str) -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        client = await SseClient(caller).initialized(revision)
        assert (await client.ask("ping", id="p")) == {"jsonrpc": "2.0", "id": "p", "result": {}}
        called = await client.ask("tools/call", {"name": "add", "arguments": {"a": 20, "b": 22}}, id=5)
        assert called["result"]["content"] == [{"type": "text", "text": "42"}]
        assert client.stream.headers["content-type"] == "text/event-stream"
        assert client.stream.headers["x-accel-buffering"] == "no"


async def test_notifications_come_on_the_stream_before_their_answer() -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        client = await SseClient(caller).initialized("2025-03-26")
        await client.post(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "steps", "_meta": {"progressToken": 0}},
            }
        )
        messages = [(await client.stream.event()).message for _ in range(4)]
        assert [message.get("params", {}).get("progress") for message in messages] == [1, 2, 3, None]
        caller.app._server.register(another)
        assert (await client.stream.event()).message["method"] == "notifications/tools/list_changed"


async def test_several_clients_have_connections_of_their_own() -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        clients = [await SseClient(caller).initialized() for _ in range(3)]
        assert len({client.address for client in clients}) == 3
        assert all(len(client.address) > 40 for client in clients), "nobody guesses an address"
        for client in reversed(clients):
            assert (await client.ask("tools/call", {"name": "hello", "arguments": {"name": client.address}}))["result"][
                "content"
            ][0]["text"] == f"Hello {client.address}"


async def test_its_end_cancels_what_runs_and_forgets_it() -> None:
    server, tools = gated()
    async with calling(server, sse_path="/sse") as caller:
        client = await SseClient(caller).initialized()
        other = await SseClient(caller).initialized()
        await client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}})
        await tools.began.wait()
        assert len(caller.app.endpoint.sse) == 2
        client.stream.leave()
        await client.stream.done()
        await settled(lambda: tools.ended == ["cancelled"])
        assert len(caller.app.endpoint.sse) == 1
        assert (await client.post({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status == 404
        assert (await other.ask("ping"))["result"] == {}


async def test_a_cancelled_call_is_not_answered() -> None:
    server, tools = gated()
    async with calling(server, sse_path="/sse") as caller:
        client = await SseClient(caller).initialized()
        await client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}})
        await tools.began.wait()
        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await settled(lambda: tools.ended == ["cancelled"])
        assert (await client.ask("ping", id=2))["id"] == 2


@pytest.mark.parametrize(
    "path",
    [
        "/sse/messages",
        "/sse/messages?connection=",
        "/sse/messages?connection=x",
        "/sse/messages?connection=x&connection=y",
        "/sse/messages?%ff",
    ],
)
async def test_an_unknown_address_is_not_found(path: str) -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        answer = await caller.ask("POST", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, path=path)
        assert answer.status == 404


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"NOT JSON", -32700), (b"[]", -32600), (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600)],
)
async def test_what_is_no_message_is_refused_and_the_connection_goes_on(body: bytes, code: int) -> None:
    async with calling(basic(), sse_path="/sse", check=False) as caller:
        client = await SseClient(caller).initialized()
        refused = await client.post(body)
        assert (refused.status, refused.json["error"]["code"]) == (400, code)
        assert (await client.ask("ping"))["result"] == {}


async def test_bodies_are_checked_as_everywhere() -> None:
    async with calling(basic(limits=Limits(body_bytes=1000)), sse_path="/sse", check=False) as caller:
        client = await SseClient(caller).opened()
        assert (await client.post(b"{}", **{"content-type": "text/plain"})).status == 415
        assert (await client.post(b"x" * 2000)).status == 413
        assert len(caller.app.endpoint.sse) == 1


async def test_a_message_before_the_handshake_is_answered_with_an_error() -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        client = await SseClient(caller).opened()
        assert (await client.ask("tools/list"))["error"]["code"] == -32600
        assert (await client.ask("ping"))["result"] == {}


async def test_batches_come_where_the_revision_has_them() -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        client = await SseClient(caller).initialized("2025-03-26")
        calls = [{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "add"}} for id in (1, 2)]
        assert (await client.post(calls)).status == 202
        answers: Any = (await client.stream.event()).message
        assert sorted(answer["id"] for answer in answers) == [1, 2]


async def test_the_newest_revision_is_served_on_a_connection_too() -> None:
    async with calling(basic(), sse_path="/sse", check=False) as caller:
        client = await SseClient(caller).opened()
        meta = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}}
        assert (await client.ask("tools/list", {"_meta": meta}))["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [("/sse", "POST", "GET"), ("/sse", "DELETE", "GET"), ("/sse/messages", "GET", "POST"), ("/sse/", "PUT", "GET")],
)
async def test_other_methods_are_refused(path: str, method: str, allowed: str) -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        answer = await caller.ask(method, b"", path=path)
        assert (answer.status, answer.headers["allow"]) == (405, allowed)


async def test_a_client_of_something_else_is_refused() -> None:
    async with calling(basic(), sse_path="/sse") as caller:
        assert (await caller.ask("GET", headers={"accept": "application/json"}, path="/sse")).status == 406
        assert (await caller.ask("GET", path="/sse/other")).status == 404


@pytest.mark.parametrize("path", ["/sse", "/sse/"])
async def test_the_address_is_right_under_any_prefix(path: str) -> None:
    app: Any = basic().asgi_app(sse_path="/sse")
    caller = Caller(Starlette(routes=[Mount("/api", app)]))
    client = await SseClient(caller, "/api" + path).initialized()
    assert client.address.startswith("/api/sse/messages?")
    assert (await client.ask("ping"))["result"] == {}
    client.stream.leave()
    await client.stream.done()
    await app.stop()


async def test_a_silent_stream_gets_comments() -> None:
    async with calling(basic(limits=Limits(keepalive_seconds=0.02)), sse_path="/sse") as caller:
        client = await SseClient(caller).opened()
        assert (await client.stream.event()).comment


async def test_connections_are_bounded() -> None:
    async with calling(basic(limits=Limits(sessions=2)), sse_path="/sse") as caller:
        clients = [await SseClient(caller).opened() for _ in range(2)]
        assert (await caller.ask("GET", path="/sse")).status == 503
        clients[0].stream.leave()
        await clients[0].stream.done()
        await SseClient(caller).opened()


async def test_a_client_that_does_not_read_loses_its_connection_and_not_an_answer() -> None:
    class Chatty(Tool):
        @tool
        async def chat(self) -> str:
            for value in range(1000):
                await self.ctx.progress(value)
            return "done"

    server = basic(limits=Limits(stream_messages=50))
    server.register(Chatty)
    async with calling(server, sse_path="/sse") as caller:
        client = await SseClient(caller).initialized("2025-03-26")
        await client.post(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "chat", "_meta": {"progressToken": 1}},
            }
        )
        async with asyncio.timeout(20):
            await client.stream.done()
        progress = [message["params"]["progress"] for message in client.stream.messages[1:] if "method" in message]
        assert progress == list(range(len(progress))), "nothing is missing in the middle"


async def test_stopping_lets_calls_be_answered() -> None:
    server, tools = gated()
    async with calling(server, sse_path="/sse") as caller:
        idle = await SseClient(caller).initialized()
        busy = await SseClient(caller).initialized()
        await busy.post({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "wait"}})
        await tools.began.wait()
        stopping = asyncio.ensure_future(caller.app.stop())
        await idle.stream.done()
        assert (await caller.ask("GET", path="/sse")).status == 503
        tools.gate.set()
        await busy.stream.done()
        assert busy.stream.messages[-1]["id"] == 9
        async with asyncio.timeout(20):
            await stopping


async def test_it_is_off_unless_it_is_asked_for() -> None:
    async with calling(basic()) as caller:
        for path in ("/sse", "/sse/messages", "/messages"):
            assert (await caller.ask("GET", path=path)).status == 404
