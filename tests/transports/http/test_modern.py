"""The per-request era: the order of the checks, their status and codes, and the form of answers."""

import base64
import json
import threading
from typing import Any

import pytest

from mcpconnect import InvalidParams, Limits, MissingCapability, ProtocolError, Tool, prompt, resource, tool
from tests.transports.http.caller import Caller, Exchange, calling, settled
from tests.transports.http.tools import basic, gated
from tests.wire import NEWEST, K, serving

pytestmark = pytest.mark.anyio


def error(exchange: Exchange) -> tuple[int, int, Any]:
    """Return the status, the code and the id of an error."""
    failure = exchange.json
    return exchange.status, failure["error"]["code"], failure.get("id")


async def test_an_answer_is_json_of_its_length() -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, id="x").done()
        assert answer.status == 200
        assert answer.headers == {"content-type": "application/json", "content-length": str(len(answer.body))}
        assert answer.json["id"] == "x"
        assert answer.json["result"]["content"] == [{"type": "text", "text": "3"}]
        assert answer.json["result"]["_meta"][f"{K}serverInfo"] == {"name": "test", "version": "1"}


def probe(caller: Caller, body: dict[str, Any], headers: dict[str, str | None]) -> Exchange:
    return caller.send("POST", body, headers)


RIGHT_META = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}}
RIGHT_HEADERS = {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call", "mcp-name": "where"}

# What is wrong, in the order of the checks: headers, `_meta`, other params, and the status and the code that say so.
# Each is wrong in all that stands below it, too, so that a check in the wrong place shows.
ORDER: list[tuple[str, dict[str, Any], dict[str, Any], tuple[int, int]]] = [
    ("no version in _meta", {"mcp-method": "x"}, {f"{K}protocolVersion": None}, (400, -32602)),
    ("a version that is no text", {"mcp-method": "x"}, {f"{K}protocolVersion": 5}, (400, -32602)),
    ("no capabilities", {"mcp-protocol-version": "x"}, {f"{K}clientCapabilities": None}, (400, -32602)),
    ("capabilities that are no object", {"mcp-protocol-version": "x"}, {f"{K}clientCapabilities": []}, (400, -32602)),
    ("another version in the header", {"mcp-method": "x"}, {f"{K}protocolVersion": "v999.0.0"}, (400, -32020)),
    ("no version header", {"mcp-protocol-version": None}, {}, (400, -32020)),
    (
        "an unknown version",
        {"mcp-protocol-version": "v9", "mcp-method": "x"},
        {f"{K}protocolVersion": "v9"},
        (400, -32022),
    ),
    (
        "a version with a handshake",
        {"mcp-protocol-version": "2025-11-25", "mcp-method": "x"},
        {f"{K}protocolVersion": "2025-11-25"},
        (400, -32022),
    ),
    ("another method in the header", {"mcp-method": "tools/list"}, {}, (400, -32020)),
    ("the method in capitals", {"mcp-method": "TOOLS/CALL"}, {}, (400, -32020)),
    ("no method header", {"mcp-method": None}, {}, (400, -32020)),
    ("another name in the header", {"mcp-name": "add"}, {}, (400, -32020)),
    ("no name header", {"mcp-name": None}, {}, (400, -32020)),
    ("a name header that is broken", {"mcp-name": "=?base64?d2hlcmU?="}, {}, (400, -32020)),
    ("no header for the argument", {}, {}, (400, -32020)),
]


@pytest.mark.parametrize(("wrong", "headers", "meta", "expected"), ORDER, ids=[row[0] for row in ORDER])
async def test_the_first_thing_that_is_wrong_is_the_one_that_is_told(
    wrong: str, headers: dict[str, str | None], meta: dict[str, Any], expected: tuple[int, int]
) -> None:
    async with calling(basic()) as caller:
        whole = {key: value for key, value in {**RIGHT_META, **meta}.items() if value is not None}
        params = {"name": "where", "arguments": {"region": "eu"}, "_meta": whole}
        body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        answer = await probe(caller, body, {**RIGHT_HEADERS, **headers}).done()
        assert error(answer) == (*expected, 7)


async def test_an_unknown_version_is_told_which_are_known() -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern(
            "tools/list", meta={f"{K}protocolVersion": "v1"}, headers={"mcp-protocol-version": "v1"}
        ).done()
        assert answer.json["error"]["data"] == {"supported": [NEWEST], "requested": "v1"}


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "unknown/method"])
async def test_methods_that_are_gone_or_unknown_are_not_found(method: str) -> None:
    async with calling(basic()) as caller:
        assert error(await caller.modern(method, id="i").done()) == (404, -32601, "i")


@pytest.mark.parametrize(
    ("params", "header"),
    [
        ({"name": "no such tool"}, "no such tool"),
        ({"name": "add", "arguments": 5}, "add"),
        ({"name": "add", "arguments": [1]}, "add"),
    ],
)
async def test_wrong_parameters_of_a_call_are_an_error_with_status_200(params: dict[str, Any], header: str) -> None:
    async with calling(basic()) as caller:
        assert error(await caller.modern("tools/call", params, headers={"mcp-name": header}, id=3).done()) == (
            200,
            -32602,
            3,
        )


async def test_wrong_arguments_are_a_result_of_the_tool() -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/call", {"name": "add", "arguments": {"a": "x"}}).done()
        assert answer.status == 200
        assert answer.json["result"]["isError"] is True


async def test_a_missing_capability_that_a_tool_finds_out_has_its_status() -> None:
    class Needy(Tool):
        @tool
        async def need(self) -> str:
            raise MissingCapability("sampling is needed", data={"requiredCapabilities": {"sampling": {}}})

        @tool
        async def refuse(self, late: bool = False) -> str:
            if late:
                await self.ctx.progress(1)
            raise ProtocolError("mine", code=4711)

    async with calling(serving(Needy)) as caller:
        assert error(await caller.modern("tools/call", {"name": "need"}, id=1).done()) == (400, -32021, 1)
        assert error(await caller.modern("tools/call", {"name": "refuse"}, id=2).done()) == (200, 4711, 2)
        late = await caller.modern(
            "tools/call", {"name": "refuse", "arguments": {"late": True}}, meta={"progressToken": 1}, id=3
        ).done()
        assert late.status == 200
        assert [message.get("method", message.get("error", {}).get("code")) for message in late.messages] == [
            "notifications/progress",
            4711,
        ]


@pytest.mark.parametrize(
    ("method", "params", "right"),
    [("prompts/get", {"name": "greet"}, "greet"), ("resources/read", {"uri": "x://é"}, "=?base64?eDovL8Op?=")],
)
async def test_prompts_and_resources_are_named_in_the_header_too(method: str, params: Any, right: str) -> None:
    class Offer(Tool):
        @prompt
        def greet(self) -> str:
            return "hello"

        @resource("x://é")
        def text(self) -> str:
            return "text"

    async with calling(serving(Offer)) as caller:
        assert (await caller.modern(method, params, headers={"mcp-name": right}).done()).status == 200
        for wrong in (None, "other"):
            answer = await caller.modern(method, params, headers={"mcp-name": wrong}, id=1).done()
            assert error(answer) == (400, -32020, 1)


@pytest.mark.parametrize("name", ["add", "=?base64?YWRk?=", " add ", "\tadd"])
async def test_a_name_may_be_wrapped_and_have_white_space_around_it(name: str) -> None:
    async with calling(basic()) as caller:
        assert (await caller.modern("tools/call", {"name": "add"}, headers={"mcp-name": name}).done()).status == 200


@pytest.mark.parametrize(
    ("headers", "region", "status"),
    [
        ({"mcp-param-region": "eu"}, "eu", 200),
        ({"MCP-PARAM-REGION": "eu"}, "eu", 200),
        ({"Mcp-Param-Region": "=?base64?SGVsbG8=?="}, "Hello", 200),
        ({"mcp-param-region": f"=?base64?{base64.b64encode('日本'.encode()).decode()}?="}, "日本", 200),
        ({"mcp-param-region": "SGVsbG8=?="}, "SGVsbG8=?=", 200),
        ({}, None, 200),
        ({"mcp-param-region": "eu"}, None, 200),
        ({}, "eu", 400),
        ({"mcp-param-region": "us"}, "eu", 400),
        ({"mcp-param-region": "=?base64?SGVsbG8?="}, "Hello", 400),
        ({"mcp-param-region": "=?base64?SGVs!bG8=?="}, "Hello", 400),
        ({"mcp-param-region": "日".encode().decode("latin-1")}, "日", 400),
    ],
)
async def test_a_marked_argument_is_repeated_by_its_header(
    headers: dict[str, str], region: str | None, status: int
) -> None:
    async with calling(basic()) as caller:
        arguments = {} if region is None else {"region": region}
        answer = await caller.modern(
            "tools/call", {"name": "where", "arguments": arguments}, headers=headers, id=1
        ).done()
        assert answer.status == status
        if status == 200:
            assert answer.json["result"]["content"][0]["text"] == str(region)
        else:
            assert error(answer) == (400, -32020, 1)
        listed = await caller.modern("tools/list").done()
        schema = next(each for each in listed.json["result"]["tools"] if each["name"] == "where")["inputSchema"]
        assert schema["properties"]["region"]["x-mcp-header"] == "Region"


async def test_what_comes_before_the_answer_makes_it_an_event_stream() -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/call", {"name": "steps"}, meta={"progressToken": "t"}, id=9).done()
        assert answer.status == 200
        assert answer.headers == {
            "content-type": "text/event-stream",
            "cache-control": "no-cache, no-transform",
            "x-accel-buffering": "no",
        }
        assert all(event.id is None and event.event == "message" for event in answer.events), "nothing can be resumed"
        assert [message["params"]["progress"] for message in answer.messages[:-1]] == [1, 2, 3]
        assert answer.messages[-1]["id"] == 9
        plain = await caller.modern("tools/call", {"name": "steps"}).done()
        assert plain.headers["content-type"] == "application/json", "nobody asked for progress"


@pytest.mark.parametrize(
    ("accept", "kinds"),
    [
        ("application/json", ["application/json", "application/json"]),
        ("text/event-stream", ["text/event-stream", "text/event-stream"]),
        ("*/*", ["application/json", "text/event-stream"]),
        (None, ["application/json", "text/event-stream"]),
    ],
)
async def test_an_answer_has_a_form_that_the_client_accepts(accept: str | None, kinds: list[str]) -> None:
    async with calling(basic()) as caller:
        for token, kind in zip((None, "t"), kinds, strict=True):
            meta = {} if token is None else {"progressToken": token}
            answer = await caller.modern("tools/call", {"name": "steps"}, meta=meta, headers={"accept": accept}).done()
            assert answer.headers["content-type"] == kind
            assert answer.messages[-1]["result"]["content"][0]["text"] == "done"
        failing = await caller.modern("unknown", headers={"accept": accept}, id=1).done()
        assert error(failing) == (404, -32601, 1), "an error keeps its status, whatever is accepted"


async def test_a_subscription_needs_a_client_that_accepts_event_streams() -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern(
            "subscriptions/listen", {"notifications": {}}, headers={"accept": "application/json"}
        ).done()
        assert answer.status == 406


@pytest.mark.fault(237)
@pytest.mark.parametrize("progress", [False, True])
async def test_a_client_that_leaves_cancels_its_call(progress: bool) -> None:
    server, tools = gated()
    async with calling(server) as caller:
        leaving = caller.modern(
            "tools/call", {"name": "wait", "arguments": {"progress": progress}}, meta={"progressToken": 1}
        )
        staying = caller.modern("tools/call", {"name": "wait"})
        await settled(lambda: tools.calls == 2)
        leaving.leave()
        await leaving.done()
        await settled(lambda: tools.ended)
        assert tools.ended == ["cancelled"]
        assert leaving.ended is False
        tools.gate.set()
        assert (await staying.done()).json["result"]["content"][0]["text"] == "waited"


async def test_a_client_that_leaves_tells_a_thread() -> None:
    began, release = threading.Event(), threading.Event()
    seen: list[bool] = []

    class Blocking(Tool):
        @tool
        def block(self) -> str:
            context = self.ctx
            began.set()
            while not context.cancelled and not release.wait(0.001):
                pass
            seen.append(context.cancelled)
            return "late"

    async with calling(serving(Blocking)) as caller:
        exchange = caller.modern("tools/call", {"name": "block"})
        await settled(began.is_set)
        exchange.leave()
        await exchange.done()
        await settled(lambda: seen)
        release.set()
        assert seen == [True]
        assert exchange.body == b""


async def test_a_cancellation_by_another_post_is_accepted_and_does_nothing() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        waiting = caller.modern("tools/call", {"name": "wait"}, id="w")
        await tools.began.wait()
        meta = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}}
        params = {"requestId": "w", "_meta": meta}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        answer = await caller.ask("POST", cancel, {"mcp-protocol-version": NEWEST})
        assert (answer.status, answer.body) == (202, b"")
        tools.gate.set()
        assert "result" in (await waiting.done()).json


@pytest.mark.fault(146)
@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/foo", "x"])
async def test_a_notification_is_accepted_with_an_empty_body(method: str) -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask("POST", {"jsonrpc": "2.0", "method": method}, {"mcp-protocol-version": NEWEST})
        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize(
    "body", [[], [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {"jsonrpc": "2.0", "id": 1, "result": {}}]
)
async def test_batches_and_answers_of_clients_are_refused(body: Any) -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask("POST", body, {"mcp-protocol-version": NEWEST})
        assert error(answer) == (400, -32600, None)
        assert "id" not in answer.json


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_only_post_is_there(method: str) -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask(method, b"", {"mcp-protocol-version": NEWEST})
        assert answer.status == 405
        assert answer.headers["allow"] == "POST"


async def test_session_ids_and_event_ids_are_ignored() -> None:
    async with calling(basic()) as caller:
        headers = {"mcp-session-id": "nonsense", "last-event-id": "5"}
        answer = await caller.modern("tools/list", headers=headers).done()
        assert answer.status == 200
        assert "mcp-session-id" not in answer.headers
        assert len(caller.app.endpoint.sessions) == 0


async def test_discovery_tells_what_the_server_is() -> None:
    async with calling(basic()) as caller:
        result = (await caller.modern("server/discover").done()).json["result"]
        assert result["supportedVersions"] == [NEWEST]
        assert "tools" in result["capabilities"]


@pytest.mark.fault(147)
@pytest.mark.parametrize("id", [0, "1", 1, "", 2**53 - 1, "日"])
async def test_ids_are_echoed_with_their_type(id: Any) -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/call", {"name": "add"}, id=id).done()
        assert answer.json["id"] == id
        assert type(answer.json["id"]) is type(id)


@pytest.mark.fault(147)
@pytest.mark.parametrize("id", ["null", "true", "1.5", "[1]", "{}"])
async def test_illegal_ids_are_refused(id: str) -> None:
    async with calling(basic()) as caller:
        body = f'{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{json.dumps({"_meta": RIGHT_META})}}}'
        answer = await caller.ask("POST", body.encode(), {"mcp-protocol-version": NEWEST, "mcp-method": "tools/list"})
        assert error(answer) == (400, -32600, None)


async def test_the_stream_of_a_client_that_does_not_read_is_bounded() -> None:
    class Chatty(Tool):
        @tool
        async def chat(self) -> str:
            for value in range(5000):
                await self.ctx.log("info", value)
            return "done"

    async with calling(serving(Chatty, limits=Limits(stream_messages=10))) as caller:
        answer = await caller.modern("tools/call", {"name": "chat"}, meta={f"{K}logLevel": "info"}).done()
        assert [message["params"]["data"] for message in answer.messages[:-1]] == list(range(4991, 5000))
        assert answer.messages[-1]["result"]["content"][0]["text"] == "done"


async def test_a_tool_may_raise_a_kind_of_protocol_error() -> None:
    @tool
    def picky() -> str:
        raise InvalidParams("not so", data={"x": 1})

    async with calling(serving(picky)) as caller:
        answer = await caller.modern("tools/call", {"name": "picky"}, id=1).done()
        assert answer.json == {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32602, "message": "not so", "data": {"x": 1}},
        }
