"""Who asks over HTTP, where nobody asks: for news of changes, in handlers, and before a tool is looked for."""

import asyncio
from typing import Annotated, Any

import pytest

from mcpconnect import Context, McpServer, Param, Tool, resource, tool
from tests.transports.http.caller import CLIENT, SessionCaller, calling, settled
from tests.transports.http.test_arrival import User
from tests.transports.http.test_sse import SseClient
from tests.wire import serving

pytestmark = pytest.mark.anyio
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
ADMIN: dict[str, str | None] = {"x-role": "admin"}
GUEST: dict[str, str | None] = {"x-role": "guest"}
REGION: dict[str, str | None] = {"mcp-param-region": "eu"}


class Mixed(Tool):
    @tool
    def open(self) -> str:
        return "open"

    @tool(tags={"secret"})
    def where(self, region: Annotated[str, Param(header="Region")]) -> str:
        return region

    @tool(tags={"secret"}, enabled=False)
    def gone(self, region: Annotated[str, Param(header="Region")]) -> str:
        return region

    @resource("test://secret", tags={"secret"})
    def read(self) -> str:
        return "x"


def by_role(**settings: Any) -> McpServer:
    server = serving(Mixed, **settings)

    @server.visible
    def secrets_for_admins(feature: Any, context: Context) -> bool:
        return "secret" not in feature.tags or "admin" in (context.headers.get("x-role"), context.principal)

    return server


def told(stream: Any) -> list[str]:
    return [message["method"].removeprefix("notifications/") for message in stream.messages]


async def begun(session: SessionCaller, headers: dict[str, str | None]) -> Any:
    assert (await session.ask(INITIALIZED, headers)).status == 202
    stream = session.get(**headers)
    await stream.until(lambda: stream.status == 200)
    return stream


async def test_changes_are_told_to_those_who_may_see_them_by_their_headers() -> None:
    server = by_role()
    async with calling(server) as caller:
        admin = await begun(await caller.session(initialized=False), ADMIN)
        guest = await begun(await caller.session(initialized=False), GUEST)
        server.disable("where")
        server.disable("open")
        await admin.until(lambda: len(told(admin)) == 2)
        await guest.until(lambda: told(guest))
        server.enable("where")
        server.enable("open")
        await guest.until(lambda: len(told(guest)) == 2)
        assert told(admin) == ["tools/list_changed"] * 4
        assert told(guest) == ["tools/list_changed"] * 2


async def test_changes_are_told_by_who_the_user_is() -> None:
    server = by_role()
    streams = {}
    async with calling(server) as caller:
        for name in ("admin", "eve"):
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
            message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
            greeted = await caller.ask("POST", message, user=User(name))
            session = SessionCaller(caller, greeted.headers["mcp-session-id"], "2025-11-25")
            assert (await session.ask(INITIALIZED, user=User(name))).status == 202
            headers = {**session.headers, "content-type": None}
            streams[name] = caller.send("GET", headers=headers, traffic=session.traffic, user=User(name))
            await streams[name].until(lambda name=name: streams[name].status == 200)
        server.disable("where")
        server.disable("open")
        await streams["eve"].until(lambda: told(streams["eve"]))
        await streams["admin"].until(lambda: len(told(streams["admin"])) == 2)
        assert told(streams["eve"]) == ["tools/list_changed"]


async def test_the_latest_request_says_who_a_client_is() -> None:
    server = by_role()
    async with calling(server) as caller:
        session = await caller.session(initialized=False)
        stream = await begun(session, GUEST)
        await session.request("tools/list", headers=ADMIN).done()
        server.disable("where")
        await stream.until(lambda: told(stream) == ["tools/list_changed"])
        assert (await session.request("resources/subscribe", {"uri": "test://secret"}, headers=ADMIN).done()).json[
            "result"
        ] == {}
        server.resource_updated("test://secret")
        await stream.until(lambda: len(told(stream)) == 2)
        await session.request("ping", headers=GUEST).done()
        server.resource_updated("test://secret")
        server.disable("open")
        await stream.until(lambda: len(told(stream)) == 3)
        assert told(stream)[1:] == ["resources/updated", "tools/list_changed"]


async def test_a_session_that_another_process_began_is_told_by_its_stream() -> None:
    settings: dict[str, Any] = {"secret": "a secret that both processes have"}
    async with calling(by_role(**settings)) as first:
        session_id = (await first.session()).id
    server = by_role(**settings)
    async with calling(server) as second:
        stream = SessionCaller(second, session_id, "2025-11-25").get(**ADMIN)
        await stream.until(lambda: stream.status == 200)
        server.disable("where")
        await stream.until(lambda: told(stream) == ["tools/list_changed"])
    server = by_role(**settings)
    async with calling(server) as third:
        stream = SessionCaller(third, session_id, "2025-11-25").get(**GUEST)
        await stream.until(lambda: stream.status == 200)
        server.disable("where")
        server.disable("read")
        server.disable("open")
        await stream.until(lambda: told(stream))
        assert told(stream) == ["tools/list_changed"]


def hearing(heard: list[str]) -> McpServer:
    server = serving()

    @server.on.initialized
    def hello(context: Context) -> None:
        heard.append(f"hello {context.headers.get('x-role')} {context.principal}")

    @server.on.roots_changed
    async def look(context: Context) -> None:
        heard.append(f"changed {context.headers.get('x-role')}")

    return server


async def test_handlers_know_how_the_notification_came() -> None:
    heard: list[str] = []
    async with calling(hearing(heard)) as caller:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        greeted = await caller.ask("POST", message, GUEST, user=User("ada"))
        session = SessionCaller(caller, greeted.headers["mcp-session-id"], "2025-11-25")
        for told_by, notification in ((ADMIN, INITIALIZED), (GUEST, INITIALIZED), (GUEST, CHANGED)):
            assert (await session.ask(notification, told_by, user=User("ada"))).status == 202
        await settled(lambda: len(heard) == 2)
    assert sorted(heard) == ["changed guest", "hello admin ada"]


@pytest.mark.parametrize("json_response", [False, True])
async def test_handlers_are_called_without_sessions_too(json_response: bool) -> None:
    heard: list[str] = []
    async with calling(hearing(heard), stateless=True, json_response=json_response) as caller:
        accepted = await caller.ask("POST", INITIALIZED, {**ADMIN, "mcp-protocol-version": "2025-11-25"})
        assert (accepted.status, accepted.body) == (202, b"")
        await settled(lambda: heard)
    assert heard == ["hello admin None"]


async def test_a_message_to_an_event_stream_comes_by_a_post_of_its_own() -> None:
    heard: list[str] = []
    server = hearing(heard)

    @tool
    def role(ctx: Context) -> str:
        return f"{ctx.headers.get('x-role')} {ctx.principal}"

    server.register(role)
    async with calling(server, sse_path="/sse") as caller:
        client = await SseClient(caller, user=User("ada")).initialized()
        assert (await client.post(CHANGED, **{"x-role": "admin"})).status == 202
        await settled(lambda: len(heard) == 2)
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "role"}}
        assert (await client.post(call, **{"x-role": "guest"})).status == 202
        assert (await client.stream.event()).message["result"]["content"][0]["text"] == "guest ada"
        client.scope = {"user": User("eve")}
        assert (await client.post(call)).status == 404
    assert sorted(heard) == ["changed admin", "hello None ada"]


async def test_deleting_a_session_cancels_its_handlers() -> None:
    contexts: list[Context] = []
    server = serving()

    @server.on.roots_changed
    async def wait(context: Context) -> None:
        contexts.append(context)
        await asyncio.Event().wait()

    async with calling(server) as caller:
        session = await caller.session()
        assert (await session.ask(CHANGED)).status == 202
        await settled(lambda: contexts)
        assert (await session.delete()).status == 200
        assert contexts[0].cancelled


@pytest.mark.parametrize("arguments", [{}, {"region": "eu"}, {"region": "us"}, {"region": 3}])
@pytest.mark.parametrize("headers", [{}, REGION])
@pytest.mark.parametrize("broken", [{}, {"requestState": "forged"}])
async def test_what_headers_a_hidden_tool_wants_stays_hidden(
    arguments: dict[str, Any], headers: dict[str, str | None], broken: dict[str, Any]
) -> None:
    async with calling(by_role()) as caller:
        answers = []
        for name in ("where", "gone", "never"):
            params = {"name": name, "arguments": arguments, **broken}
            answer = await caller.modern("tools/call", params, id=1, headers={**GUEST, **headers}).done()
            answers.append((answer.status, answer.body.replace(name.encode(), b"name")))
        assert answers[0] == answers[1] == answers[2]
        mismatch = {"name": "where", "arguments": {"region": "us"}}
        seen = await caller.modern("tools/call", mismatch, headers={**ADMIN, **REGION}).done()
        assert (seen.status, seen.json["error"]["code"]) == (400, -32020)
