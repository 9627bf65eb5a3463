"""The same conversations over every transport and in every era: a process on stdio, a server on HTTP, and memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import anyio
import pytest
from anyio import from_thread

from mcpconnect.transports import MemoryLink
from tests.interaction.asking_server import server
from tests.interop.serving import serving
from tests.transports.stdio.process import Process

NEWEST = "2026-07-28"
REVISIONS = ("2025-06-18", "2025-11-25", NEWEST)
FILE = Path(__file__).with_name("asking_server.py")
K = "io.modelcontextprotocol/"
CAPABLE: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
Message = dict[str, Any]
Answers = Callable[[str, Message], Message]


class Link(Protocol):
    """A way to the server and back, one message at a time."""

    def send(self, message: Message) -> None:
        """Send a message."""

    def receive(self) -> Message:
        """Return the next message of the server."""
        ...


class HttpLink:
    """Each request is a POST; what comes back on its response, as JSON or as events, is received one by one."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        self._incoming: Iterator[Message] = iter(())
        self._open = ExitStack()

    def send(self, message: Message) -> None:
        connection = HTTPConnection(self._address.netloc, timeout=20)
        self._open.callback(connection.close)
        connection.request("POST", self._address.path, json.dumps(message), self._headers | self._standard(message))
        response = connection.getresponse()
        self._headers |= {"mcp-session-id": session} if (session := response.getheader("mcp-session-id")) else {}
        if response.status == 202:  # an answer: the stream of the call goes on
            assert response.read() == b""
        else:
            self._incoming = self._messages(response)

    def receive(self) -> Message:
        return next(self._incoming)

    def close(self) -> None:
        self._open.close()

    def _standard(self, message: Message) -> dict[str, str]:
        params = message.get("params", {})
        version = params.get("_meta", {}).get(f"{K}protocolVersion")
        if version is None:
            return {}
        named = {"mcp-name": params["name"]} if "name" in params else {}
        return {"mcp-protocol-version": version, "mcp-method": message["method"], **named}

    def _messages(self, response: HTTPResponse) -> Iterator[Message]:
        if response.headers.get_content_type() == "application/json":
            yield json.loads(response.read())
            return
        for line in response:
            if line.startswith(b"data:") and (data := line[5:].strip()):
                yield json.loads(data)


class MemoryDriver:
    """Speaks to the server in this process, from another thread."""

    def __init__(self, portal: from_thread.BlockingPortal, link: MemoryLink) -> None:
        self._portal = portal
        self._link = link

    def send(self, message: Message) -> None:
        self._portal.call(self._link.send, json.dumps(message).encode())

    def receive(self) -> Message:
        message: Message = json.loads(self._portal.call(self._receive))
        return message

    async def _receive(self) -> bytes:
        with anyio.fail_after(20):
            return await self._link.receive()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(FILE) as endpoint:
        yield endpoint


@pytest.fixture(params=["stdio", "stdio on trio", "http", "memory", "memory on trio"])
def link(request: pytest.FixtureRequest) -> Iterator[Link]:
    with ExitStack() as opened:
        if request.param.startswith("stdio"):
            yield opened.enter_context(Process(command=[sys.executable, str(FILE), *request.param.split()]))
        elif request.param == "http":
            http = HttpLink(request.getfixturevalue("url"))
            opened.callback(http.close)
            yield http
        else:
            backend = "trio" if request.param.endswith("trio") else "asyncio"
            portal = opened.enter_context(from_thread.start_blocking_portal(backend))
            memory = opened.enter_context(portal.wrap_async_context_manager(MemoryLink(server)))
            yield MemoryDriver(portal, memory)


class Client:
    """A client of one revision: it shakes hands where there is a handshake, and answers what it is asked."""

    def __init__(self, link: Link, revision: str, capabilities: Message) -> None:
        self.link = link
        self.revision = revision
        self.capabilities = capabilities
        self.asked: list[str] = []
        self._id = 0
        if revision != NEWEST:
            hello = {"protocolVersion": revision, "capabilities": capabilities}
            answer = self._request("initialize", {**hello, "clientInfo": {"name": "raw", "version": "1"}})
            assert answer["result"]["protocolVersion"] == revision
            link.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, name: str, answers: Answers) -> Message:
        """Call a tool, answer its questions, and return the final message."""
        if self.revision != NEWEST:
            final = self._request("tools/call", {"name": name}, answers)
            assert "resultType" not in final.get("result", {})
            return final
        meta = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": self.capabilities}
        params: Message = {"name": name, "_meta": meta}
        while True:
            final = self._request("tools/call", params)
            result = final.get("result", {})
            if result.get("resultType") != "input_required":
                return final
            given = {}
            for key, question in result["inputRequests"].items():
                self.asked.append(question["method"])
                given[key] = answers(question["method"], question["params"])["result"]
            params = {**params, "inputResponses": given, "requestState": result["requestState"]}

    def text(self, name: str, answers: Answers) -> str:
        return str(self.call(name, answers)["result"]["content"][0]["text"])

    def _request(self, method: str, params: Message, answers: Answers | None = None) -> Message:
        self._id += 1
        self.link.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while "method" in (message := self.link.receive()):
            assert answers is not None, message
            self.asked.append(message["method"])
            self.link.send({"jsonrpc": "2.0", "id": message["id"], **answers(message["method"], message["params"])})
        assert message["id"] == self._id
        return message


def willing(method: str, params: Message) -> Message:
    """Answer everything."""
    if method == "elicitation/create":
        properties = params["requestedSchema"]["properties"]
        content = {name: {"count": 2, "meal": "vegan", "name": "Ada"}[name] for name in properties}
        return {"result": {"action": "accept", "content": content}}
    if method == "sampling/createMessage":
        said = params["messages"][0]["content"]
        said = said[0] if isinstance(said, list) else said
        return {
            "result": {"role": "assistant", "content": {"type": "text", "text": said["text"].upper()}, "model": "m"}
        }
    assert method == "roots/list"
    return {"result": {"roots": [{"uri": "file:///home/ada", "name": "home"}]}}


WAYS = pytest.mark.parametrize("way", ["task", "thread"])
ERAS = pytest.mark.parametrize("revision", REVISIONS)


@ERAS
@WAYS
def test_forms_samples_and_roots(link: Link, revision: str, way: str) -> None:
    client = Client(link, revision, CAPABLE)
    assert client.text(f"book_in_{way}", willing) == "booked 2 vegan"
    assert client.text(f"say_in_{way}", willing) == "HELLO"
    assert client.text(f"roots_in_{way}", willing) == "file:///home/ada home"
    assert client.asked == ["elicitation/create", "sampling/createMessage", "roots/list"]


@ERAS
@WAYS
def test_a_refusal_is_an_answer(link: Link, revision: str, way: str) -> None:
    client = Client(link, revision, CAPABLE)
    for action in ("decline", "cancel"):
        said = client.text(f"book_in_{way}", lambda *_, action=action: {"result": {"action": action}})
        assert said == f"not booked: {action}"


@ERAS
@WAYS
def test_several_at_once_and_one_after_the_other(link: Link, revision: str, way: str) -> None:
    client = Client(link, revision, CAPABLE)
    assert client.text(f"together_in_{way}", willing) == "Ada HELLO 1"
    assert sorted(client.asked) == ["elicitation/create", "roots/list", "sampling/createMessage"]
    assert client.text(f"chain_in_{way}", willing) == "Ada ADA 1"


@pytest.mark.parametrize("revision", REVISIONS[:-1])
@WAYS
def test_the_clients_error_fails_the_question(link: Link, revision: str, way: str) -> None:
    client = Client(link, revision, CAPABLE)
    error = {"error": {"code": -1, "message": "the user is away"}}
    result = client.call(f"book_in_{way}", lambda *_: error)["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == "the user is away"
    assert client.text(f"book_in_{way}", willing) == "booked 2 vegan"


@ERAS
@WAYS
def test_what_the_client_cannot_do_is_named(link: Link, revision: str, way: str) -> None:
    client = Client(link, revision, {"roots": {}})
    for name, capability in (("book", "elicitation"), ("say", "sampling"), ("together", "elicitation")):
        error = client.call(f"{name}_in_{way}", willing)["error"]
        assert error["code"] == (-32021 if revision == NEWEST else -32600)
        assert error["data"] == {"requiredCapabilities": {capability: {}}}
    assert client.asked == []
    assert client.text(f"roots_in_{way}", willing) == "file:///home/ada home"


@ERAS
@WAYS
def test_questions_beside_each_other_keep_their_answers(link: Link, revision: str, way: str) -> None:
    def named(_: str, params: Message) -> Message:
        return {"result": {"action": "accept", "content": {"name": params["message"].upper()}}}

    client = Client(link, revision, CAPABLE)
    assert client.text(f"beside_in_{way}", named) == "FIRST SECOND THIRD"
    assert sorted(client.asked) == ["elicitation/create"] * 3


@ERAS
@WAYS
def test_a_page_is_opened_by_clients_that_open_pages(link: Link, revision: str, way: str) -> None:
    client = Client(link, revision, {"elicitation": {"url": {}}})
    final = client.call(f"page_in_{way}", lambda *_: {"result": {"action": "accept"}})
    if revision == "2025-06-18":
        assert final["error"]["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}
    else:
        assert final["result"]["content"][0]["text"] == "accept"


@ERAS
@WAYS
def test_an_answer_that_does_not_fit_is_never_taken(link: Link, revision: str, way: str) -> None:
    answers = iter([{"count": "many"}, {"count": 3}])
    client = Client(link, revision, CAPABLE)
    said = client.text(f"book_in_{way}", lambda *_: {"result": {"action": "accept", "content": next(answers)}})
    assert said == "booked 3 fish" if revision == NEWEST else "does not fit" in said


@WAYS
def test_a_state_that_was_changed_or_used_is_refused(link: Link, way: str) -> None:
    client = Client(link, NEWEST, CAPABLE)
    states: list[str] = []
    request = client._request

    def watched(method: str, params: Message, answers: Answers | None = None) -> Message:
        if "requestState" in params:
            states.append(params["requestState"])
            for spoilt in (params["requestState"] + "AAAA", params["requestState"][:-4], "", "x"):
                assert request(method, {**params, "requestState": spoilt})["error"]["code"] == -32602
        return request(method, params, answers)

    client._request = watched  # type: ignore[method-assign] # to see what goes by
    assert client.text(f"book_in_{way}", willing) == "booked 2 vegan"
    meta = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": CAPABLE}
    given = {"elicitation": {"action": "accept", "content": {"count": 2}}}
    again = {"name": f"book_in_{way}", "_meta": meta, "requestState": states[0], "inputResponses": given}
    assert "used before" in request("tools/call", again)["error"]["message"]
