from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from mcpconnect.client import Client
from mcpconnect.errors import ClientError
from mcpconnect.protocol.revisions import LATEST, SUPPORTED

pytestmark = pytest.mark.anyio

HANDSHAKE = [revision.version for revision in SUPPORTED if revision.handshake]
Respond = Callable[[dict[str, Any]], Any]


class Scripted:
    """A transport to a server that is one function: a request to a result, an exception, raw bytes, or None."""

    def __init__(self, respond: Respond, version: str | None = None) -> None:
        self.sent: list[dict[str, Any]] = []
        self._respond = respond
        self._version = version
        self._send, self._receive = anyio.create_memory_object_stream[bytes](100)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self._send.close()
        self._receive.close()

    async def send(self, message: bytes) -> None:
        request = json.loads(message)
        self.sent.append(request)
        if "id" in request and "method" in request:
            answer = self._answer(request)
            for data in answer if isinstance(answer, list) else [answer]:
                if data is not None:
                    self.push(data if isinstance(data, bytes) else wrapped(request["id"], data))

    def push(self, message: bytes | dict[str, Any]) -> None:
        self._send.send_nowait(message if isinstance(message, bytes) else json.dumps(message).encode())

    async def receive(self) -> bytes:
        try:
            return await self._receive.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise ClientError("the server has gone") from None

    def _answer(self, request: dict[str, Any]) -> Any:
        if request["method"] == "initialize" and self._version is not None:
            return {
                "protocolVersion": self._version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }
        return self._respond(request)

    def methods(self) -> list[str]:
        return [message.get("method", "answer") for message in self.sent]


def wrapped(id: Any, answer: Any) -> bytes:
    member = "error" if isinstance(answer, dict) and "code" in answer else "result"
    return json.dumps({"jsonrpc": "2.0", "id": id, member: answer}).encode()


def tool_result(text: str = "ok", **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


@pytest.mark.parametrize("version", HANDSHAKE)
async def test_the_handshake_is_shaken_in_each_revision(version):
    transport = Scripted(lambda request: {}, version)
    async with Client(transport, revision=version, capabilities={"roots": {}}, name="me", version="2") as client:
        assert client.revision.version == version
        assert client.capabilities == {"tools": {}}
        assert (client.server.name, client.server.version) == ("s", "1")
        await client.ping()
    initialize, initialized, ping = transport.sent
    assert initialize["params"] == {
        "protocolVersion": version,
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "me", "version": "2"},
    }
    assert initialized == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert ping["params"] == {}


async def test_the_newest_revision_says_in_each_request_who_asks():
    def respond(request):
        if request["method"] == "server/discover":
            meta = {"io.modelcontextprotocol/serverInfo": {"name": "s"}}
            return {
                "supportedVersions": [LATEST.version],
                "capabilities": {"tools": {}},
                "instructions": "i",
                "_meta": meta,
            }
        return tool_result()

    transport = Scripted(respond)
    async with Client(transport, revision=LATEST.version, capabilities={"roots": {}}) as client:
        assert (client.server.name, client.server.version, client.instructions) == ("s", "", "i")
        await client.call_tool("t", meta={"own": 1})
    for request in transport.sent:
        meta = request["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == LATEST.version
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {"roots": {}}
        assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "mcpconnect"
    assert transport.sent[1]["params"]["_meta"]["own"] == 1


async def test_the_server_may_choose_an_older_revision():
    async with Client(Scripted(lambda request: {}, HANDSHAKE[-1])) as client:
        assert client.revision.version == HANDSHAKE[-1]


@pytest.mark.parametrize("version", [None, 5, "1999-01-01", LATEST.version])
async def test_a_revision_that_cannot_be_spoken_ends_the_handshake(version):
    def respond(request):
        return {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}

    with pytest.raises(ClientError, match="wants to speak"):
        async with Client(Scripted(respond)):
            pass


async def test_a_server_that_does_not_speak_the_newest_revision_says_so():
    with pytest.raises(ClientError, match="does not speak"):
        async with Client(Scripted(lambda request: {"supportedVersions": ["x"]}), revision=LATEST.version):
            pass
    with pytest.raises(ClientError, match="no such method") as caught:
        async with Client(
            Scripted(lambda request: {"code": -32601, "message": "no such method"}), revision=LATEST.version
        ):
            pass
    assert caught.value.code == -32601


async def test_an_unknown_revision_is_refused_before_anything_is_opened():
    with pytest.raises(ValueError, match="1999"):
        Client(None, revision="1999-01-01")


async def test_errors_carry_code_and_data():
    transport = Scripted(
        lambda request: {"code": -32602, "message": "Unknown tool", "data": {"name": "t"}}, HANDSHAKE[0]
    )
    async with Client(transport) as client:
        with pytest.raises(ClientError, match="Unknown tool") as caught:
            await client.call_tool("t")
    assert (caught.value.code, caught.value.data) == (-32602, {"name": "t"})


async def test_all_pages_of_a_list_are_read():
    def respond(request):
        cursor = request["params"].get("cursor", "0")
        page = int(cursor)
        tools = [{"name": f"t{page}", "inputSchema": {"type": "object"}, "later": "member"}]
        return {"tools": tools, **({"nextCursor": str(page + 1)} if page < 2 else {})}

    async with Client(Scripted(respond, HANDSHAKE[0])) as client:
        assert [tool.name for tool in await client.list_tools()] == ["t0", "t1", "t2"]


@pytest.mark.parametrize(
    "page",
    [
        {"tools": [], "nextCursor": "again"},
        {"tools": [], "nextCursor": 5},
        {"tools": {}},
        {"tools": [5]},
        {},
        {"tools": [{}]},
    ],
)
async def test_a_list_that_is_wrong_or_has_no_end_is_an_error(page):
    async with Client(Scripted(lambda request: page, HANDSHAKE[0])) as client:
        with pytest.raises(ClientError):
            await client.list_tools()


async def test_progress_reaches_the_call_that_asked_for_it():
    reports = []
    transport = Scripted(lambda request: None, HANDSHAKE[0])

    def respond(request):
        token = request["params"]["_meta"]["progressToken"]

        def note(**params):
            return json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).encode()

        return [
            note(progressToken=token, progress=1, total=2, message="half"),
            note(progressToken="other", progress=1),
            note(progressToken=[], progress=1),
            note(progressToken=token, progress="x"),
            note(progressToken=token, progress=1.5),
            tool_result(),
        ]

    transport._respond = respond
    heard = []
    async with Client(transport, on_notification=heard.append) as client:
        await client.call_tool("t", progress=reports.append)
        assert client._progress == {}
    assert [(report.progress, report.total, report.message) for report in reports] == [
        (1, 2, "half"),
        (1.5, None, None),
    ]
    assert len(heard) == 5


async def test_a_call_that_takes_too_long_is_given_up_and_cancelled():
    transport = Scripted(lambda request: None, HANDSHAKE[0])
    async with Client(transport, timeout=0.05) as client:
        with pytest.raises(ClientError, match=r"tools/call was not answered within 0\.05 s"):
            await client.call_tool("t")
        transport.push(wrapped(transport.sent[-2]["id"], tool_result()))  # late
        with pytest.raises(ClientError, match=r"within 0\.01 s"):
            await client.request("x", timeout=0.01)
    assert transport.methods()[2:] == ["tools/call", "notifications/cancelled", "x", "notifications/cancelled"]
    assert transport.sent[3]["params"]["requestId"] == transport.sent[2]["id"]


async def test_cancelling_the_caller_cancels_the_call():
    transport = Scripted(lambda request: None, HANDSHAKE[0])
    async with Client(transport) as client:
        with anyio.move_on_after(0.05) as scope:
            await client.call_tool("t")
        assert scope.cancelled_caught
    assert transport.methods()[2:] == ["tools/call", "notifications/cancelled"]


async def test_the_handshake_is_never_cancelled():
    transport = Scripted(lambda request: None)
    with anyio.move_on_after(0.05):
        async with Client(transport):
            pass
    assert transport.methods() == ["initialize"]


@pytest.mark.parametrize("data", [b"hello", b'{"id":1}', b'{"jsonrpc":"2.0","result":{}}', b"[1]", b"[]"])
async def test_malformed_messages_are_told_to_everybody_who_waits(data):
    async with Client(Scripted(lambda request: data, HANDSHAKE[0])) as client:
        with pytest.raises(ClientError, match="no JSON-RPC message") as caught:
            await client.ping()
        assert data.decode() in str(caught.value)
        with pytest.raises(ClientError, match="no JSON-RPC message"):
            await client.ping()


async def test_a_broken_answer_fails_the_question_that_it_answers_and_no_other():
    answers = iter([b'{"jsonrpc":"2.0","id":%d,"result":[]}', b'{"jsonrpc":"2.0","id":%d,"result":{}}'])
    async with Client(Scripted(lambda request: next(answers) % request["id"], HANDSHAKE[0])) as client:
        with pytest.raises(ClientError, match="Invalid response"):
            await client.ping()
        await client.ping()


async def test_an_error_without_an_id_ends_what_waits():
    error = b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"cannot read that"}}'
    async with Client(Scripted(lambda request: error, HANDSHAKE[0])) as client:
        with pytest.raises(ClientError, match="cannot read that"):
            await client.ping()


async def test_a_batch_of_answers_is_read():
    def respond(request):
        note = b'{"jsonrpc":"2.0","method":"n"}'
        return b"[" + note + b"," + wrapped(request["id"], {"a": 1}) + b"]"

    heard = []
    async with Client(Scripted(respond, HANDSHAKE[0]), on_notification=heard.append) as client:
        assert await client.request("x") == {"a": 1}
    assert [notification.method for notification in heard] == ["n"]


async def test_the_server_s_own_requests_are_answered():
    transport = Scripted(lambda request: {}, HANDSHAKE[0])
    async with Client(transport) as client:
        transport.push({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        transport.push({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {}})
        await client.ping()
        await anyio.wait_all_tasks_blocked()
    answers = {message["id"]: message for message in transport.sent if "method" not in message}
    assert answers["p"]["result"] == {}
    assert answers["s"]["error"]["code"] == -32601


async def test_what_cannot_be_sent_any_more_is_an_error():
    transport = Scripted(lambda request: {}, HANDSHAKE[0])

    async def refuse(message: bytes) -> None:
        raise ClientError("the server has gone")

    async with Client(transport) as client:
        transport.send = refuse
        transport.push({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(ClientError, match="has gone"):
            await client.ping()


async def test_notifications_can_be_sent():
    transport = Scripted(lambda request: {}, HANDSHAKE[0])
    async with Client(transport) as client:
        await client.notify("notifications/x", {"a": 1})
    assert transport.sent[-1] == {"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": 1}}
