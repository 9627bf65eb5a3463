"""The handshake era: POST, GET and DELETE, what each answers, and on which stream."""

import asyncio
from typing import Any

import msgspec
import pytest

from mcpconnect import Context, Limits, TextContent, Tool, ToolResult, tool
from tests.transports.http.caller import CLIENT, calling, settled
from tests.transports.http.tools import another, basic, gated
from tests.wire import HANDSHAKES, NEWEST, K, serving

pytestmark = pytest.mark.anyio

RESUMING = "2025-11-25"
PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}


def hello(version: Any = RESUMING) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_a_session_from_the_handshake_to_its_end(revision: str) -> None:
    async with calling(basic()) as caller:
        session = await caller.session(revision)
        assert session.revision == revision
        assert all("!" <= character <= "~" for character in session.id)
        assert len(session.id) < 100
        assert (await session.request("ping").done()).json["result"] == {}
        listed = await session.request("tools/list").done()
        assert listed.headers["content-type"] == "application/json"
        assert {each["name"] for each in listed.json["result"]["tools"]} == {"add", "hello", "steps", "where"}
        called = await session.call("add", {"a": 2, "b": 40}).done()
        assert called.headers["content-type"] == "text/event-stream"
        assert called.messages[0]["result"]["content"] == [{"type": "text", "text": "42"}]
        ended = await session.delete()
        assert ended.status == 200
        assert len(caller.app.endpoint.sessions) == 0
        assert (await session.request("ping").done()).status == 404


@pytest.mark.fault(206)
@pytest.mark.parametrize("session_id", ["unknown", "", "x" * 5000, "AAAA" * 22, "../../etc/passwd", "\u00fc"])
async def test_an_unknown_session_is_not_found_and_a_missing_one_is_a_bad_request(session_id: str) -> None:
    async with calling(basic()) as caller:
        for method, body in (("POST", PING), ("GET", b""), ("DELETE", b"")):
            answer = await caller.ask(method, body, {"mcp-session-id": session_id})
            assert answer.status == 404
            assert not session_id or session_id not in answer.body.decode()
            assert (await caller.ask(method, body)).status == 400
        assert len(caller.app.endpoint.sessions) == 0


@pytest.mark.fault(207)
async def test_requests_that_cannot_open_a_session_keep_nothing() -> None:
    async with calling(basic()) as caller:
        for _ in range(100):
            assert (await caller.ask("GET")).status == 400
            assert (await caller.ask("DELETE")).status == 400
            assert (
                await caller.ask("POST", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
            ).status == 200
        assert len(caller.app.endpoint.sessions) == 0
        assert len(caller.app._server.hub) == 0


@pytest.mark.fault(213)
@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("1999-01-01", 400),
        ("2099-01-01", 400),
        ("", 400),
        ("nonsense", 400),
        (None, 200),
        (RESUMING, 200),
        ("2025-06-18", 200),
    ],
)
async def test_the_version_header_of_a_session_is_one_that_is_spoken(version: str | None, status: int) -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        headers = {"mcp-protocol-version": version}
        answer = await session.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers)
        assert answer.status == status
        assert status == 200 or "MCP-Protocol-Version" in answer.json["error"]["message"]
        assert (await session.ask({"jsonrpc": "2.0", "method": "notifications/x"}, headers)).status == (
            202 if status == 200 else 400
        )
        if status != 200:
            assert (await session.get(**headers).done()).status == 400
            assert (await caller.ask("DELETE", b"", {"mcp-session-id": session.id, **headers})).status == 400


@pytest.mark.fault(214)
@pytest.mark.parametrize(
    ("version", "negotiated"),
    [
        ("2099-01-01", RESUMING),
        ("", RESUMING),
        ("1999-01-01", RESUMING),
        (NEWEST, RESUMING),
        *((each, each) for each in HANDSHAKES),
    ],
)
async def test_any_text_as_a_version_is_negotiated_also_as_a_header(version: str, negotiated: str) -> None:
    async with calling(basic()) as caller:
        header = None if version == NEWEST else version
        for headers in ({}, {"mcp-protocol-version": header}):
            answer = await caller.ask("POST", hello(version), headers)
            assert answer.status == 200
            assert answer.json["result"]["protocolVersion"] == negotiated
            assert answer.headers["mcp-session-id"]


@pytest.mark.fault(214)
@pytest.mark.parametrize("version", [123, None, ["2025-11-25"], {}])
async def test_a_version_of_another_type_is_invalid_and_opens_no_session(version: Any) -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask("POST", hello(version))
        assert (answer.status, answer.json["error"]["code"]) == (200, -32602)
        assert "mcp-session-id" not in answer.headers


async def test_a_handshake_that_claims_the_newest_version_by_its_header_is_no_handshake() -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask("POST", hello(), {"mcp-protocol-version": NEWEST})
        assert (answer.status, answer.json["error"]["code"]) == (400, -32602)
        with_meta = hello()
        with_meta["params"]["_meta"] = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}}
        answer = await caller.ask("POST", with_meta, {"mcp-protocol-version": NEWEST, "mcp-method": "initialize"})
        assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (404, -32601, 0)


async def test_a_second_handshake_in_a_session_is_refused_and_one_after_its_end_begins_another() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        again = await session.ask(hello())
        assert (again.status, again.json["error"]["code"]) == (400, -32600)
        assert (await session.request("ping").done()).status == 200
        await session.delete()
        anew = await session.ask(hello())
        assert anew.status == 200
        assert anew.headers["mcp-session-id"] != session.id


@pytest.mark.fault(217)
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "method": "notifications/foo"},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": 5, "error": {"code": -1, "message": "no"}},
    ],
)
async def test_what_wants_no_answer_is_accepted_with_an_empty_body(message: dict[str, Any]) -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        answer = await session.ask(message)
        assert (answer.status, answer.body) == (202, b"")
        assert "content-type" not in answer.headers


@pytest.mark.fault(246)
async def test_a_request_right_behind_the_handshake_is_answered() -> None:
    async with calling(basic()) as caller:
        session = await caller.session(initialized=False)
        assert (await session.request("tools/list").done()).status == 200
        assert (await session.call("add").done()).messages[-1]["result"]["content"][0]["text"] == "3"


@pytest.mark.fault(222)
@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_only_the_revision_that_knows_it_gets_an_event_without_a_message(revision: str) -> None:
    async with calling(basic()) as caller:
        session = await caller.session(revision)
        called = await session.call("steps", token="t").done()
        primed = [event for event in called.events if not event.data]
        assert len(primed) == (revision == RESUMING)
        assert not primed or primed[0] is called.events[0] or called.events[0].id
        assert [message.get("method") for message in called.messages] == ["notifications/progress"] * 3 + [None]
        assert ("message" in called.messages[0]["params"]) is (revision > "2024-11-05")
        ids = [event.id for event in called.events]
        assert len(set(ids)) == len(ids)
        assert None not in ids
        stream = session.get()
        if revision == RESUMING:
            assert (await stream.event()).data == ""
        else:
            await stream.until(lambda: stream.status)
            assert stream.body == b""


async def test_methods_that_the_revision_lacks_are_not_found_with_status_200() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        for method in ("server/discover", "subscriptions/listen", "totally/bogus"):
            answer = await session.request(method).done()
            assert answer.status == 200
            assert answer.json["error"]["code"] in (-32601, -32602)


@pytest.mark.fault(228)
async def test_what_belongs_to_a_call_goes_on_its_stream_before_its_answer() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        standalone = session.get()
        await standalone.event()
        first, second = session.call("steps", id=1, token="one"), session.call("steps", id=2, token="two")
        for exchange, token, id in ((await first.done(), "one", 1), (await second.done(), "two", 2)):
            assert {message["params"]["progressToken"] for message in exchange.messages[:-1]} == {token}
            assert exchange.messages[-1]["id"] == id
        assert len(standalone.events) == 1, "nothing of it went there"


@pytest.mark.fault(248)
async def test_changes_go_to_the_open_stream_of_each_session_once() -> None:
    async with calling(basic()) as caller:
        one, two, early = await caller.session(), await caller.session(), await caller.session(initialized=False)
        streams = [session.get() for session in (one, two, early)]
        for stream in streams:
            await stream.event()
        caller.app._server.register(another)
        changes = [await stream.event() for stream in streams[:2]]
        assert [change.message for change in changes] == [
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        ] * 2
        called = await one.call("another").done()
        assert [message.get("method") for message in called.messages] == [None], (
            "a call's stream has only what is its own"
        )
        assert [len(stream.events) for stream in streams] == [2, 2, 1]


async def test_changes_wait_once_for_a_session_that_opens_its_stream_later() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        for _ in range(500):
            caller.app._server.register(another)
            caller.app._server.unregister(another)
        stream = session.get()
        await stream.event()
        assert (await stream.event()).message["method"] == "notifications/tools/list_changed"
        await settled(lambda: True)
        assert len(stream.events) == 2
        stream.leave()
        await stream.done()
        again = session.get()
        await again.event()
        assert len(again.events) == 1, "it was delivered"


async def test_a_session_has_one_open_stream() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        first = session.get()
        await first.event()
        assert (await session.get().done()).status == 409
        first.leave()
        await first.done()
        second = session.get()
        assert (await second.event()).data == ""


async def test_a_get_needs_a_client_that_accepts_event_streams() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        assert (await session.get(accept="application/json").done()).status == 406
        stream = session.get(accept=None)
        await stream.event()


@pytest.mark.fault(218)
async def test_event_streams_say_that_nobody_may_hold_them_back() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        stream = session.get()
        await stream.event()
        called = await session.call("add").done()
        for exchange in (stream, called):
            assert exchange.headers["cache-control"] == "no-cache, no-transform"
            assert exchange.headers["x-accel-buffering"] == "no"
            assert "content-encoding" not in exchange.headers
            assert "content-length" not in exchange.headers


@pytest.mark.fault(219)
async def test_texts_are_utf8_in_both_forms() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        listed = await session.request("tools/list").done()
        assert "ユーザー".encode() in listed.body
        called = await session.call("hello").done()
        assert "Hello ユーザー".encode() in called.body
        modern = await caller.modern("tools/call", {"name": "hello"}).done()
        assert "Hello ユーザー".encode() in modern.body


async def test_an_event_has_its_message_in_one_line() -> None:
    @tool
    def broken_up() -> ToolResult:
        return ToolResult((TextContent("a\nb"),), structured=msgspec.Raw(b'{"a":\n 1,\r\n"b": "c\\n"}'))

    async with calling(serving(broken_up)) as caller:
        session = await caller.session()
        answer = await session.call("broken_up").done()
        result = answer.messages[-1]["result"]
        assert result["content"][0]["text"] == "a\nb"
        assert result["structuredContent"] == {"a": 1, "b": "c\n"}


@pytest.mark.fault(224)
async def test_the_end_of_a_session_cancels_its_calls_and_ends_its_streams() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session, other = await caller.session(), await caller.session()
        waiting, stream = session.call("wait"), session.get()
        elsewhere = other.call("wait")
        await stream.event()
        await settled(lambda: tools.calls == 2)
        assert (await session.delete()).status == 200
        await settled(lambda: tools.ended == ["cancelled"])
        assert [event.data for event in (await waiting.done()).events] == [""]
        assert [event.data for event in (await stream.done()).events] == [""]
        for answer in (session.request("ping"), session.get(), session.call("add")):
            assert (await answer.done()).status == 404
        assert (await session.delete()).status == 404
        tools.gate.set()
        assert "result" in (await elsewhere.done()).messages[-1]


@pytest.mark.fault(237)
async def test_a_cancellation_reaches_the_call_and_ends_its_stream_without_an_answer() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session, other = await caller.session(), await caller.session()
        waiting = session.call("wait", id=7)
        await tools.began.wait()
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        assert (await other.ask(cancel)).status == 202
        assert tools.ended == [], "another session cannot do it"
        assert (await session.ask(cancel)).status == 202
        await settled(lambda: tools.ended == ["cancelled"])
        assert [event.data for event in (await waiting.done()).events] == [""]
        assert (await session.ask(cancel)).status == 202


@pytest.mark.fault(238)
@pytest.mark.parametrize(
    "params",
    [
        {"requestId": "unknown"},
        {"requestId": 1},
        {"requestId": "init"},
        {"requestId": None},
        {"requestId": [1]},
        {"requestId": True},
        {},
    ],
)
async def test_cancelling_nothing_is_accepted(params: dict[str, Any]) -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        await session.call("add", id=1).done()
        assert (
            await session.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        ).status == 202
        assert (await session.request("ping").done()).status == 200


@pytest.mark.fault(234)
async def test_calls_of_one_session_run_side_by_side() -> None:
    event = asyncio.Event()

    class Pair(Tool):
        @tool
        async def wait(self) -> str:
            await event.wait()
            return "met"

        @tool
        async def meet(self) -> str:
            event.set()
            return "here"

    async with calling(serving(Pair)) as caller:
        session = await caller.session()
        waiting = session.call("wait")
        assert "result" in (await session.call("meet").done()).messages[-1]
        assert (await waiting.done()).messages[-1]["result"]["content"][0]["text"] == "met"


async def test_an_id_in_use_is_refused_in_its_session_only() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session, other = await caller.session(), await caller.session()
        waiting = session.call("wait", id=1)
        await tools.began.wait()
        again = await session.call("add", id=1).done()
        assert (again.status, again.json["error"]["code"]) == (400, -32600)
        assert "result" in (await other.call("add", id=1).done()).messages[-1]
        assert "result" in (await session.call("add", id="1").done()).messages[-1]
        tools.gate.set()
        assert "result" in (await waiting.done()).messages[-1]


def batch(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"jsonrpc": "2.0", **message} for message in messages]


async def test_a_batch_is_answered_by_a_batch() -> None:
    async with calling(basic()) as caller:
        session = await caller.session("2025-03-26")
        calls = {"method": "tools/call", "params": {"name": "add", "arguments": {"a": 1, "b": 1}}}
        answer = await session.ask(
            batch(
                {"id": 1, **calls},
                {"method": "notifications/x"},
                {"id": 2, "method": "ping"},
                {"id": 3, "method": "nope"},
            )
        )
        assert answer.status == 200
        (items,) = [event.message for event in answer.events]
        assert {item["id"]: item.get("error", {}).get("code") for item in items} == {1: None, 2: None, 3: -32601}  # type: ignore[call-overload]
        at_once = await session.ask(batch({"id": 1, "method": "ping"}, {"id": 2, "method": "ping"}))
        assert at_once.headers["content-type"] == "application/json"
        assert sorted(item["id"] for item in at_once.json) == [1, 2]


async def test_a_batch_that_wants_no_answer_gets_none() -> None:
    async with calling(basic()) as caller:
        session = await caller.session("2025-03-26")
        answer = await session.ask(batch({"method": "notifications/initialized"}, {"id": 5, "result": {}}))
        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.fault(151)
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", RESUMING])
async def test_a_batch_is_refused_where_there_are_none(revision: str) -> None:
    async with calling(basic()) as caller:
        session = await caller.session(revision)
        answer = await session.ask(batch({"id": 1, "method": "ping"}))
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
        assert ("id" in answer.json) is (revision != RESUMING)
        assert (await session.request("ping").done()).status == 200


@pytest.mark.parametrize(
    ("items", "status"), [([], 400), ([1], 200), ([{"jsonrpc": "2.0", "id": 1, "method": "initialize"}], 200)]
)
async def test_an_odd_batch_is_answered(items: list[Any], status: int) -> None:
    async with calling(basic()) as caller:
        session = await caller.session("2025-03-26")
        answer = await session.ask(items)
        assert answer.status == status
        failures = answer.json if isinstance(answer.json, list) else [answer.json]
        assert {failure["error"]["code"] for failure in failures} == {-32600}


async def test_a_handshake_in_a_batch_opens_no_session() -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask("POST", [hello("2025-03-26")])
        assert answer.status == 400
        assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("accept", ["application/json", None])
async def test_json_is_the_form_where_it_is_asked_for(accept: str | None) -> None:
    server, tools = gated()
    async with calling(server, json_response=accept is None) as caller:
        session = await caller.session()
        headers = {} if accept is None else {"accept": accept}
        answer = await session.call("steps", token="t", headers=headers).done()
        assert answer.headers["content-type"] == "application/json"
        assert answer.json["result"]["content"][0]["text"] == "done", "and nothing of what came before it"
        waiting = session.call("wait", {"progress": True}, id=1, token="t", headers=headers)
        await tools.began.wait()
        await session.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        cancelled = await waiting.done()
        assert (cancelled.status, cancelled.body) == (202, b""), "a cancelled call has no answer"


@pytest.mark.fault(205)
async def test_a_server_of_json_serves_clients_of_json() -> None:
    async with calling(basic(), json_response=True) as caller:
        session = await caller.session()
        answer = await session.call("add", headers={"accept": "application/json"}).done()
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.fault(204)
@pytest.mark.parametrize(
    "accept", ["*/*", "application/*, text/*", None, "", "application/json;q=0.5,text/event-stream"]
)
async def test_wildcards_are_accepted(accept: str | None) -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        answer = await session.call("add", headers={"accept": accept}).done()
        assert answer.status == 200
        assert answer.messages[-1]["result"]["content"][0]["text"] == "3"


async def test_a_client_of_event_streams_alone_gets_nothing_else() -> None:
    async with calling(basic()) as caller:
        only = {"accept": "text/event-stream"}
        answer = await caller.ask("POST", hello(), only)
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.messages[0]["result"]["protocolVersion"] == RESUMING
        session = await caller.session()
        assert (await session.request("ping", headers=only).done()).messages[0]["result"] == {}


@pytest.mark.fault(225)
async def test_a_silent_stream_gets_comments() -> None:
    server, tools = gated(limits=Limits(keepalive_seconds=0.05))
    async with calling(server) as caller:
        session = await caller.session()
        began = asyncio.get_running_loop().time()
        stream, waiting = session.get(), session.call("wait")
        for exchange in (stream, waiting):
            assert (await exchange.event()).data == ""
            assert (await exchange.event()).comment
            assert (await exchange.event()).comment
            assert asyncio.get_running_loop().time() - began >= 0.09
        tools.gate.set()
        assert "result" in (await waiting.done()).messages[-1]


@pytest.mark.fault(225)
async def test_nothing_of_a_stream_stays_when_its_client_leaves() -> None:
    async with calling(basic(limits=Limits(keepalive_seconds=0.01))) as caller:
        session = await caller.session()
        before = asyncio.all_tasks()
        streams = []
        for _ in range(20):
            stream = session.get()
            await stream.event()
            assert (await stream.event()).comment
            stream.leave()
            await stream.done()
            streams.append(stream)
        await settled(lambda: asyncio.all_tasks() == before)


@pytest.mark.fault(230)
async def test_a_client_that_does_not_read_holds_nobody_up() -> None:
    class Big(Tool):
        @tool
        async def big(self) -> str:
            for value in range(100):
                await self.ctx.log("info", f"{value}" + "x" * 10_000)
            return "x" * 1_000_000

    async with calling(basic()) as caller:
        caller.app._server.register(Big)
        session = await caller.session()
        stalled = session.call("big", token="t")
        stalled.stall()
        await asyncio.sleep(0)
        quick = await session.call("add").done()
        assert quick.messages[-1]["result"]["content"][0]["text"] == "3"
        stalled.read_on()
        assert len((await stalled.done()).messages) == 101


@pytest.mark.fault(288)
async def test_two_servers_in_one_process_know_nothing_of_each_other() -> None:
    async with calling(basic()) as one, calling(serving(another)) as two:
        session = await one.session()
        assert (await two.ask("POST", PING, session.headers)).status == 404
        other = await two.session()
        listed = await other.request("tools/list").done()
        assert [each["name"] for each in listed.json["result"]["tools"]] == ["another"]


async def test_a_tool_sees_what_its_client_said_of_itself() -> None:
    @tool
    def whoami(ctx: Context) -> str:
        return f"{ctx.client.name} {ctx.client.version} {ctx.revision} {ctx.client.can('sampling')} {ctx.client.can('roots')}"

    async with calling(serving(whoami)) as caller:
        session = await caller.session("2025-06-18", capabilities={"sampling": {}})
        answer = await session.call("whoami").done()
        assert answer.messages[-1]["result"]["content"][0]["text"] == "tests 1 2025-06-18 True False"
