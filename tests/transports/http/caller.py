"""A client of the ASGI application in this process: no socket, but everything that a server for ASGI would do.

Rule: every message of the server is checked against the official schema at the end, and nothing may be left running.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcpconnect import McpServer
from tests.schema_check import check_message, check_traffic
from tests.wire import NEWEST, PATIENCE, K

BOTH = "application/json, text/event-stream"
CLIENT = {"name": "tests", "version": "1"}
Traffic = list[tuple[str, bytes]]


@dataclass
class Event:
    """One server-sent event, or a comment."""

    id: str | None = None
    event: str | None = None
    data: str | None = None
    retry: str | None = None
    comment: bool = False

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message that the event carries."""
        message: dict[str, Any] = json.loads(self.data or "")
        return message


def parse_event(block: str) -> Event:
    event = Event()
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        if not name:
            event.comment = True
        else:
            assert getattr(event, name) is None, f"{name} twice in {block!r}"
            setattr(event, name, value.removeprefix(" "))
    return event


class Exchange:
    """One request under way."""

    def __init__(self, app: Any, scope: dict[str, Any], body: list[bytes], hold: bool, traffic: Traffic) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.ended = False
        self.left = False
        self.traffic = traffic
        self.chunks: list[bytes] = []
        self._taken = 0
        self._noted = False
        self._pieces = body
        self._hold = hold  # the rest of the body does not come
        self._news = asyncio.Event()
        self._gone = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self.task = asyncio.ensure_future(self._run(app, scope))

    async def _run(self, app: Any, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            self._tell()

    async def _receive(self) -> dict[str, Any]:
        if self._pieces and not self.left:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces) or self._hold}
        if not self.ended:
            await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        await self._writable.wait()
        if self.left:
            return
        if message["type"] == "http.response.start":
            assert not self.status, "a second response"
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            assert self.status
            assert not self.ended
            self.body += message.get("body", b"")
            self.chunks.append(message.get("body", b""))
            self.ended = not message.get("more_body", False)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def leave(self) -> None:
        """Go away without waiting for the answer."""
        self.left = True
        self._gone.set()
        self._tell()

    def stall(self) -> None:
        """Stop reading."""
        self._writable.clear()

    def read_on(self) -> None:
        """Read again."""
        self._writable.set()

    async def until(self, condition: Any) -> Any:
        """Wait until the condition gives something true."""
        async with asyncio.timeout(PATIENCE):
            while not (found := condition()):
                if self.task.done():
                    self.task.result()
                    assert condition(), f"the response ended: {self.status} {self.body!r}"
                    continue
                await self._news.wait()
            return found

    async def done(self) -> Exchange:
        """Wait until the server has ended the response."""
        async with asyncio.timeout(PATIENCE):
            await self.task
        assert self.ended or self.left, f"no whole response: {self.status} {self.body!r}"
        self.note()
        return self

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Event]:
        """The events so far."""
        if not self.status:
            return []
        assert self.headers["content-type"] == "text/event-stream", (self.status, self.body)
        return [parse_event(block) for block in self.body.decode().split("\n\n")[:-1]]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages so far, in whatever form they came."""
        if self.headers.get("content-type") != "text/event-stream":
            found = self.json
            return found if isinstance(found, list) else [found]
        return [event.message for event in self.events if event.data and event.event == "message"]

    async def event(self) -> Event:
        """Return the next event."""
        found = (
            await self.until(lambda: len(self.events) > self._taken if self.status else False)
            and self.events[self._taken]
        )
        self._taken += 1
        return found

    def note(self) -> None:
        """Add what was said to the conversation, once."""
        if self._noted:
            return
        self._noted = True
        kind = self.headers.get("content-type")
        if kind == "text/event-stream":
            self.traffic.extend(
                ("server", event.data.encode()) for event in self.events if event.data and event.event == "message"
            )
        elif (
            kind == "application/json"
            and self.status != 421
            and "id" in (self.json if isinstance(self.json, dict) else {"id"})
        ):
            self.traffic.append(("server", self.body))


class Caller:
    """A client of an application. `send` starts a request, `ask` waits for its end."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.traffic: Traffic = []
        self.conversations = [self.traffic]
        self.modern_conversations: list[Traffic] = []
        self.exchanges: list[Exchange] = []
        self.ids = 0

    def send(
        self,
        method: str = "POST",
        body: Any = b"",
        headers: Mapping[str, str | None] | None = None,
        *,
        path: str = "/mcp",
        pieces: list[bytes] | None = None,
        hold: bool = False,
        traffic: Traffic | None = None,
        **scope: Any,
    ) -> Exchange:
        """Start a request; a header that is None is left out. `traffic` is the conversation that it belongs to."""
        traffic = self.traffic if traffic is None else traffic
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if data:
            traffic.append(("client", data))
        given = {"host": "localhost:8000", "accept": BOTH, "content-type": "application/json", **(headers or {})}
        path, _, query = path.partition("?")
        raw = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in given.items()
            if value is not None
        ]
        whole = {
            "type": "http",
            "method": method,
            "path": path,
            "root_path": "",
            "query_string": query.encode(),
            "headers": raw,
            **scope,
        }
        exchange = Exchange(self.app, whole, [data] if pieces is None else pieces, hold, traffic)
        self.exchanges.append(exchange)
        return exchange

    async def ask(
        self, method: str = "POST", body: Any = b"", headers: Mapping[str, str | None] | None = None, **more: Any
    ) -> Exchange:
        """Send a request and wait for the whole response."""
        return await self.send(method, body, headers, **more).done()

    def modern(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        id: Any = None,
        headers: Mapping[str, str | None] | None = None,
        meta: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Exchange:
        """Send a request of the per-request era, with all the headers that it needs."""
        self.ids += 1
        params = dict(params or {})
        params["_meta"] = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}, **(meta or {})}
        given: dict[str, str | None] = {"mcp-protocol-version": NEWEST, "mcp-method": method}
        named = params.get("uri" if method == "resources/read" else "name")
        if isinstance(named, str):
            given["mcp-name"] = named
        message = {"jsonrpc": "2.0", "id": self.ids if id is None else id, "method": method, "params": params}
        self.modern_conversations.append([])
        return self.send("POST", message, {**given, **(headers or {})}, traffic=self.modern_conversations[-1], **more)

    def conversation(self) -> Traffic:
        """Begin a conversation, whose messages are checked for themselves."""
        self.conversations.append([])
        return self.conversations[-1]

    async def session(self, revision: str = "2025-11-25", *, initialized: bool = True, **params: Any) -> SessionCaller:
        """Shake hands."""
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT, **params}
        answer = await self.ask("POST", {"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": hello})
        assert answer.status == 200, answer.body
        session = SessionCaller(self, answer.headers["mcp-session-id"], answer.json["result"]["protocolVersion"])
        if initialized:
            assert (await session.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202
        return session


class SessionCaller:
    """One session of a caller."""

    def __init__(self, caller: Caller, session_id: str, revision: str) -> None:
        self.caller = caller
        self.id = session_id
        self.revision = revision
        hello = {"protocolVersion": revision, "capabilities": {}, "serverInfo": CLIENT}
        self.traffic = caller.conversation()  # begins like this, wherever the handshake was made
        self.traffic.append(("client", b'{"id": "init", "method": "initialize"}'))
        self.traffic.append(("server", json.dumps({"jsonrpc": "2.0", "id": "init", "result": hello}).encode()))

    @property
    def headers(self) -> dict[str, str | None]:
        version = self.revision if self.revision >= "2025-06-18" else None
        return {"mcp-session-id": self.id, "mcp-protocol-version": version}

    def send(self, message: Any, headers: Mapping[str, str | None] | None = None, **more: Any) -> Exchange:
        return self.caller.send("POST", message, {**self.headers, **(headers or {})}, traffic=self.traffic, **more)

    async def ask(self, message: Any, headers: Mapping[str, str | None] | None = None, **more: Any) -> Exchange:
        return await self.send(message, headers, **more).done()

    def request(
        self, method: str, params: Any = None, *, id: Any = None, headers: Mapping[str, str | None] | None = None
    ) -> Exchange:
        """Send a request."""
        self.caller.ids += 1
        message = {
            "jsonrpc": "2.0",
            "id": self.caller.ids if id is None else id,
            "method": method,
            "params": params or {},
        }
        return self.send(message, headers)

    def call(
        self,
        name: str,
        arguments: Any = None,
        *,
        id: Any = None,
        token: Any = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Exchange:
        """Call a tool."""
        params = {"name": name, "arguments": arguments or {}}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        return self.request("tools/call", params, id=id, headers=headers)

    def get(self, last_event: str | None = None, **headers: str | None) -> Exchange:
        """Open the stream of what belongs to no request, or resume one."""
        return self.caller.send(
            "GET",
            headers={**self.headers, "content-type": None, "last-event-id": last_event, **headers},
            traffic=self.traffic,
        )

    async def delete(self) -> Exchange:
        return await self.caller.ask("DELETE", b"", {**self.headers, "content-type": None})


@asynccontextmanager
async def calling(server: McpServer, *, check: bool = True, **options: Any) -> AsyncIterator[Caller]:
    """Give a caller of a server; at the end check what was said, and that nothing runs any more."""
    before = asyncio.all_tasks()
    app: Any = server.asgi_app(**options)
    await app.endpoint.started()
    caller = Caller(app)
    try:
        yield caller
    finally:
        for exchange in caller.exchanges:
            if not exchange.task.done():
                exchange.read_on()
                exchange.leave()
        await app.stop(0)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(exchange.done() for exchange in caller.exchanges))
            while asyncio.all_tasks() - before:
                await asyncio.sleep(0)
    if check:
        for conversation in caller.conversations:
            check_traffic(conversation)
        for (_, request), *answers in caller.modern_conversations:
            for _, answer in answers:
                check_message(NEWEST, json.loads(answer), json.loads(request)["method"])


async def settled(condition: Any) -> None:
    """Wait until a condition holds that nobody tells of."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.001)
