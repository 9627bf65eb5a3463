from __future__ import annotations

import json
import threading

import anyio
import pytest

from mcpconnect import McpServer, tool
from mcpconnect.transports import MemoryLink

pytestmark = pytest.mark.anyio

HELLO = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def message(id, method, **params) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()


def served() -> McpServer:
    server = McpServer("memory")

    @tool
    def where() -> str:
        return threading.current_thread().name

    @tool
    async def wait() -> str:
        await anyio.sleep(60)
        return "never"

    server.register(where)
    server.register(wait)
    return server


async def received(link: MemoryLink):
    with anyio.fail_after(5):
        return json.loads(await link.receive())


async def test_bytes_go_in_and_come_out():
    async with MemoryLink(served()) as link:
        await link.send(message(0, "initialize", **HELLO))
        assert (await received(link))["result"]["serverInfo"]["name"] == "memory"
        await link.send(message(1, "tools/call", name="where"))
        answer = await received(link)
        assert answer["result"]["content"][0]["text"] != threading.current_thread().name  # from a worker thread
        await link.send(b"NOT JSON")
        assert (await received(link))["error"]["code"] == -32700


async def test_a_batch_is_answered_in_one_message():
    async with MemoryLink(served()) as link:
        await link.send(message(0, "initialize", **HELLO))
        await received(link)
        await link.send(b"[" + message(1, "ping") + b"," + message(2, "tools/call", name="where") + b"]")
        assert {answer["id"] for answer in await received(link)} == {1, 2}


async def test_every_call_can_be_seen_before_it_starts():
    seen = []
    async with MemoryLink(served(), on_job=seen.append) as link:
        await link.send(message(0, "initialize", **HELLO))
        await link.send(message(1, "tools/call", name="where"))
        await received(link)
        await received(link)
    assert len(seen) == 1
    assert seen[0].done


async def test_leaving_ends_what_runs():
    with anyio.fail_after(5):
        async with MemoryLink(served()) as link:
            await link.send(message(0, "initialize", **HELLO))
            await link.send(message(1, "tools/call", name="wait"))
            await anyio.wait_all_tasks_blocked()
