"""Handlers of what a client tells ask it over the stream that belongs to no request."""

from typing import Any

import pytest

from mcpconnect import Context, Limits, McpServer, PeerError
from tests.transports.http.caller import Exchange, SessionCaller, calling, settled
from tests.wire import serving

pytestmark = pytest.mark.anyio
FORM: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}


def asking(heard: list[str], seconds: float = 20) -> McpServer:
    server = serving(limits=Limits(answer_seconds=seconds))

    @server.on.initialized
    async def greet(context: Context) -> None:
        try:
            heard.append((await context.elicit("Who are you?", FORM)).content["name"])
        except PeerError as error:
            heard.append(f"nobody: {error}")

    @server.on.roots_changed
    async def look(context: Context) -> None:
        heard.extend(root.uri for root in await context.roots())

    return server


async def question(stream: Exchange, method: str) -> dict[str, Any]:
    while True:
        event = await stream.event()
        if event.data and event.message.get("method") == method:
            return event.message


async def reply(session: SessionCaller, asked: dict[str, Any], result: dict[str, Any]) -> None:
    assert (await session.ask({"jsonrpc": "2.0", "id": asked["id"], "result": result})).status == 202


async def test_142_143_they_ask_over_the_stream_of_the_session() -> None:
    heard: list[str] = []
    async with calling(asking(heard)) as caller:
        capabilities = {"elicitation": {}, "roots": {"listChanged": True}}
        session = await caller.session(initialized=False, capabilities=capabilities)
        stream = session.get()
        await stream.until(lambda: stream.status == 200)
        assert (await session.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202
        asked = await question(stream, "elicitation/create")
        assert asked["params"]["message"] == "Who are you?"
        await reply(session, asked, {"action": "accept", "content": {"name": "ada"}})
        await settled(lambda: heard == ["ada"])
        for uri in ("file:///one", "file:///two"):
            told = await session.ask({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
            assert told.status == 202
            await reply(session, await question(stream, "roots/list"), {"roots": [{"uri": uri}]})
            await settled(lambda uri=uri: heard[-1] == uri)
        assert heard == ["ada", "file:///one", "file:///two"]


async def test_143_without_that_stream_a_question_times_out_and_holds_nobody_up() -> None:
    heard: list[str] = []
    async with calling(asking(heard, seconds=0.2), check=False) as caller:
        session = await caller.session(capabilities={"elicitation": {}})
        assert (await session.request("ping").done()).status == 200
        await settled(lambda: heard)
        assert heard[0].startswith("nobody: ")
