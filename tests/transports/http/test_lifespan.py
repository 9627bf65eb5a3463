"""One lifespan for all clients over HTTP: entered once, shared by everyone, left whole at the end."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpconnect import McpServer, Tool, tool
from tests.interop.serving import free_port, wait_for
from tests.transports.http.caller import Exchange, SessionCaller, calling, settled
from tests.wire import PATIENCE, serving

pytestmark = pytest.mark.anyio


class Counting(Tool):
    """Tools that show the state of the lifespan."""

    began = 0
    gate: asyncio.Event

    @tool
    async def state(self) -> str:
        Counting.began += 1
        before = self.ctx.state
        await self.gate.wait()
        assert self.ctx.state is before
        assert before["open"]
        return f"state {before['number']}"

    @tool
    def state_in_thread(self) -> str:
        assert self.ctx.state["open"]
        return f"state {self.ctx.state['number']}"


@pytest.fixture
def events() -> list[str]:
    return []


@pytest.fixture
async def server(events: list[str]) -> McpServer:
    @asynccontextmanager
    async def lifespan(server: McpServer) -> AsyncIterator[dict[str, int]]:
        state = {"number": 1 + sum(event == "entered" for event in events), "open": 1}
        events.append("entered")
        try:
            yield state
        finally:
            state["open"] = 0
            await asyncio.sleep(0.01)
            events.append("left")

    Counting.began = 0
    Counting.gate = asyncio.Event()
    return serving(Counting, lifespan=lifespan)


def text(exchange: Exchange) -> str:
    found: str = exchange.messages[-1]["result"]["content"][0]["text"]
    return found


@pytest.mark.fault(250)
@pytest.mark.parametrize("stateless", [False, True])
async def test_it_is_entered_once_for_many_sessions_with_parallel_calls(
    server: McpServer, events: list[str], stateless: bool
) -> None:
    async with calling(server, stateless=stateless) as caller:
        assert events == ["entered"]
        if stateless:
            clients = [SessionCaller(caller, "", "2025-11-25") for _ in range(3)]
            no_session = {"mcp-session-id": None}
            calls = [client.call("state", headers=no_session) for client in clients for _ in range(3)]
            calls += [caller.modern("tools/call", {"name": "state"}) for _ in range(3)]
        else:
            sessions = [await caller.session() for _ in range(3)]
            calls = [session.call("state") for session in sessions for _ in range(3)]
            calls += [caller.modern("tools/call", {"name": "state_in_thread"}) for _ in range(3)]
        await settled(lambda: Counting.began >= 9)
        Counting.gate.set()
        assert [text(await call.done()) for call in calls] == ["state 1"] * 12
        assert events == ["entered"]
    assert events == ["entered", "left"]


@pytest.mark.fault(252)
async def test_a_client_that_ends_takes_nothing_from_the_others(server: McpServer, events: list[str]) -> None:
    async with calling(server) as caller:
        leaving, staying = await caller.session(), await caller.session()
        working = staying.call("state")
        await settled(lambda: Counting.began == 1)
        assert text(await leaving.call("state_in_thread").done()) == "state 1"
        assert (await leaving.delete()).status == 200
        assert (await leaving.request("ping").done()).status == 404
        assert events == ["entered"]
        Counting.gate.set()
        assert text(await working.done()) == "state 1", "what it works with is still open"
        assert text(await staying.call("state_in_thread").done()) == "state 1"
        assert text(await (await caller.session()).call("state_in_thread").done()) == "state 1"
        assert events == ["entered"]
    assert events == ["entered", "left"]


PROGRAM = """
import asyncio, sys
from contextlib import asynccontextmanager
from mcpconnect import Limits, McpServer, tool

@asynccontextmanager
async def lifespan(server):
    try:
        yield
    finally:
        await asyncio.sleep(0.2)
        print("left whole", file=sys.stderr, flush=True)

server = McpServer("test", lifespan=lifespan, limits=Limits(drain_seconds=1))

@server.register
@tool
async def wait() -> str:
    print("waiting", file=sys.stderr, flush=True)
    await asyncio.sleep(60)
    return "late"

server.run(*sys.argv[1:2], **({"port": int(sys.argv[2])} if sys.argv[2:] else {}))
"""
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'


@pytest.mark.fault(251)
@pytest.mark.parametrize(
    ("transport", "endings"),
    [
        ("stdio", [signal.SIGTERM]),
        ("stdio", [signal.SIGINT]),
        ("stdio", [signal.SIGTERM, signal.SIGINT]),  # the second one lets no call finish
        ("http", [signal.SIGTERM]),
        ("http", [signal.SIGINT]),
    ],
)
def test_it_is_left_whole_when_a_signal_ends_the_process(
    tmp_path: Path, transport: str, endings: list[signal.Signals]
) -> None:
    file = tmp_path / "server.py"
    file.write_text(PROGRAM)
    port = free_port()
    arguments = [sys.executable, str(file), transport, *([str(port)] if transport == "http" else [])]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stderr is not None
            if transport == "http":
                wait_for(port, process)
            else:
                process.stdin.write(CALL + b"\n")
                process.stdin.flush()
                assert process.stderr.readline() == b"waiting\n"
            for ending in endings:
                process.send_signal(ending)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert b"left whole" in errors
