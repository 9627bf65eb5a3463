"""A raw client of the engine in this process: bytes in, bytes out, every message of the server checked at the end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from mcpconnect import McpServer
from mcpconnect.context import DirectChannel
from mcpconnect.engine import Connection, Runner
from mcpconnect.engine.backend import loop_waker
from tests.schema_check import check_traffic

K = "io.modelcontextprotocol/"
NEWEST = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS = (*HANDSHAKES, NEWEST)
PATIENCE = 20.0


class Wire:
    """One connection. `ask` waits for the answer; `send` only sends; `messages` holds what the server said."""

    def __init__(self, server: McpServer, revision: str) -> None:
        self.revision = revision
        self.traffic: list[tuple[str, bytes]] = []
        self.messages: list[dict[str, Any]] = []
        self._wake = loop_waker()
        self._news = anyio.Event()
        self._id = 0
        self.runner = Runner(server)
        self.connection = Connection(server, DirectChannel(self._write), self.runner.runtime)

    def _write(self, data: bytes) -> None:
        assert b"\n" not in data
        self.traffic.append(("server", data))
        message = json.loads(data)
        self.messages.extend(message if isinstance(message, list) else [message])
        self._wake(self._tell)

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def send(self, message: Any) -> None:
        """Send a message, or bytes as they are."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.traffic.append(("client", data))
        outcome = self.connection.receive(data)
        if isinstance(outcome, bytes):
            self._write(outcome)
        elif outcome:
            self.runner.start(*outcome)

    async def until(self, condition: Any) -> Any:
        """Wait until the condition gives something true, and return that."""
        with anyio.fail_after(PATIENCE):
            while not (found := condition()):
                await self._news.wait()
            return found

    def start(self, method: str, params: dict[str, Any] | None = None, id: Any = None) -> Any:
        """Send a request and return its id."""
        if id is None:
            self._id += 1
            id = self._id
        params = dict(params or {})
        if self.revision == NEWEST:
            meta = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}, **params.get("_meta", {})}
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def answer_to(self, id: Any) -> dict[str, Any] | None:
        """Return the answer to a request, if it is there."""
        for message in self.messages:
            if "method" not in message and message.get("id") == id and type(message.get("id")) is type(id):
                return message
        return None

    async def ask(self, method: str, params: dict[str, Any] | None = None, id: Any = None) -> dict[str, Any]:
        """Send a request and return the whole answer."""
        id = self.start(method, params, id)
        answer: dict[str, Any] = await self.until(lambda: self.answer_to(id))
        return answer

    async def call(self, name: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        answer = await self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more})
        result: dict[str, Any] = answer["result"]
        return result

    async def texts(self, name: str, arguments: Any = None) -> list[str]:
        """Call a tool and return the texts of its blocks."""
        return [block["text"] for block in (await self.call(name, arguments))["content"]]

    async def tools(self) -> dict[str, dict[str, Any]]:
        """Return the definitions of all tools by name."""
        answer = await self.ask("tools/list")
        return {tool["name"]: tool for tool in answer["result"]["tools"]}


async def settled(condition: Any) -> None:
    """Wait until a condition holds that no message tells of."""
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.sleep(0.001)


@asynccontextmanager
async def connected(
    server: McpServer, revision: str = "2025-11-25", initialize: bool = True, capabilities: dict[str, Any] | None = None
) -> AsyncIterator[Wire]:
    """Connect to a server, shake hands where the revision has a handshake, and check all messages at the end."""
    wire = Wire(server, revision)
    async with wire.runner:
        if initialize and revision != NEWEST:
            client = {"name": "tests", "version": "1"}
            params = {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": client}
            answer = await wire.ask("initialize", params, id="init")
            assert answer["result"]["protocolVersion"] == revision
            wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        try:
            yield wire
        finally:
            wire.connection.close()
    check_traffic(wire.traffic)


def serving(*things: Any, **settings: Any) -> McpServer:
    """Return a server that offers things."""
    server = McpServer("test", "1", **settings)
    for thing in things:
        server.register(thing)
    return server


async def described(*things: Any, revision: str = "2025-11-25", **settings: Any) -> dict[str, dict[str, Any]]:
    """Return the tools of a server that offers things, as a client sees them."""
    async with connected(serving(*things, **settings), revision) as wire:
        return await wire.tools()
