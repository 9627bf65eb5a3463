"""Many clients that behave badly, for a while: nothing is left of them, and the next call is answered."""

import asyncio
import json
import os
import random
import sys
from typing import Any

import anyio
import pytest

from tests.interop.serving import HERE, free_port, process

CLIENTS = 256
SECONDS = float(os.environ.get("MCPCONNECT_SOAK_SECONDS", "8"))
K = "io.modelcontextprotocol/"
META = {f"{K}protocolVersion": "2026-07-28", f"{K}clientCapabilities": {}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Misbehaving:
    """One client with a random mind."""

    def __init__(self, port: int, seed: int) -> None:
        self.port = port
        self.random = random.Random(seed)
        self.session: str | None = None
        self.ids = 0

    async def request(self, method: str, headers: dict[str, str], body: bytes, patience: float = 20.0) -> bytes:
        """Send a request on a connection of its own; read the answer, or leave after a while."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            lines = [f"{method} /mcp HTTP/1.1", "host: localhost", "connection: close", f"content-length: {len(body)}"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            await writer.drain()
            async with asyncio.timeout(patience):
                return await reader.read()
        except (TimeoutError, ConnectionError):
            return b""
        finally:
            writer.close()

    def message(self, method: str, params: dict[str, Any], **more: Any) -> bytes:
        self.ids += 1
        return json.dumps({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params, **more}).encode()

    def headers(self, **more: str) -> dict[str, str]:
        fixed = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        return {**fixed, **({"mcp-session-id": self.session} if self.session else {}), **more}

    def call(self) -> tuple[str, dict[str, Any]]:
        return self.random.choice(
            [
                ("add", {"a": 1, "b": 2}),
                ("add", {"a": "x"}),
                ("wait", {"seconds": self.random.uniform(0, 0.4)}),
                ("block", {"seconds": self.random.uniform(0, 0.02)}),
                ("fail", {"how": self.random.choice(["told", "other"])}),
                ("nobody", {}),
            ]
        )

    async def step(self) -> None:
        actions = (self.modern, self.modern, self.in_session, self.in_session, self.malformed, self.cut, self.listen)
        await self.random.choice(actions)()

    async def modern(self) -> None:
        name, arguments = self.call()
        params = {"name": name, "arguments": arguments, "_meta": {**META, "progressToken": 1}}
        fixed = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name}
        patience = self.random.choice([20.0, 0.01, 0.05])
        session, self.session = self.session, None
        await self.request("POST", self.headers(**fixed), self.message("tools/call", params), patience)
        self.session = session

    async def in_session(self) -> None:
        if self.session is None:
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "s", "version": "1"}}
            answer = await self.request("POST", self.headers(), self.message("initialize", hello))
            for line in answer.split(b"\r\n"):
                if line.lower().startswith(b"mcp-session-id:"):
                    self.session = line.partition(b":")[2].strip().decode()
            return
        name, arguments = self.call()
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": 1}}
        patience = self.random.choice([20.0, 0.01, 0.05])
        answer = await self.request("POST", self.headers(), self.message("tools/call", params), patience)
        if self.random.random() < 0.2:
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": self.ids}}
            await self.request("POST", self.headers(), json.dumps(cancelled).encode())
        if answer.startswith(b"HTTP/1.1 404") or self.random.random() < 0.1:
            await self.request("DELETE", self.headers(), b"")
            self.session = None

    async def malformed(self) -> None:
        body = self.random.choice([b"", b"{", b"\xff\xfe", b"[]", b"[" * 5000, b'{"jsonrpc":"2.0","id":1}', b"null"])
        await self.request("POST", self.headers(), body)

    async def cut(self) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(
            b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
        )
        await asyncio.sleep(self.random.uniform(0, 0.05))
        writer.close()

    async def listen(self) -> None:
        params = {"notifications": {"toolsListChanged": True}, "_meta": META}
        fixed = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
        await self.request("POST", self.headers(**fixed), self.message("subscriptions/listen", params), 0.05)


async def asked(client: Misbehaving, name: str) -> dict[str, Any]:
    """Call a tool that answers with data."""
    params = {"name": name, "arguments": {}, "_meta": META}
    fixed = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name}
    client.session = None
    answer = await client.request("POST", client.headers(**fixed), client.message("tools/call", params))
    structured: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])["result"]["structuredContent"]
    return structured


@pytest.mark.anyio
@pytest.mark.fault(223)
@pytest.mark.fault(255)
async def test_nothing_is_left_of_many_clients_that_misbehave() -> None:
    port = free_port()
    with process([sys.executable, str(HERE / "soak_server.py"), str(port)], port):
        judge = Misbehaving(port, 0)
        before = await asked(judge, "held")
        end = asyncio.get_running_loop().time() + SECONDS

        async def live(client: Misbehaving) -> None:
            while asyncio.get_running_loop().time() < end:
                await client.step()

        with anyio.fail_after(SECONDS + 60):
            async with anyio.create_task_group() as clients:
                for seed in range(1, CLIENTS + 1):
                    clients.start_soon(live, Misbehaving(port, seed))
        with anyio.fail_after(30):
            while (after := await asked(judge, "held")) != before:
                await asyncio.sleep(0.25)
        assert after == before
        assert (await asked(judge, "events"))["events"] == ["tool-failed"]
