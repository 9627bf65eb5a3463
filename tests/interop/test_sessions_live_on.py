"""Sessions survive a restart of the server, and any process serves them, if the secret is the same."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from mcpconnect.cli.serving import application
from tests.interop.serving import HERE, free_port, node, process, proxied, serving

SERVER = HERE / "session_server.py"
SECRET = "a secret of more than sixteen bytes"
SESSIONS = 100  # of each of the two clients
HEADERS = {"accept": "application/json, text/event-stream"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def official_session(url: str) -> AsyncIterator[ClientSession]:
    async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        yield session


class TypeScriptSessions:
    """Sessions of the TypeScript SDK, in a process of their own."""

    def __init__(self, url: str, count: int) -> None:
        command = [node(), "sdk.mjs", url, str(count)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE)
        self.ready = self._line()

    def _line(self) -> dict[str, object]:
        assert self._process.stdout is not None
        line: dict[str, object] = json.loads(self._process.stdout.readline())
        return line

    def call_all(self) -> list[str]:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        answers = self._line()["answers"]
        assert isinstance(answers, list)
        return answers

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.mark.anyio
async def test_two_hundred_sessions_survive_a_restart() -> None:
    port = free_port()
    async with AsyncExitStack() as stack:
        with serving(SERVER, port=port, secret=SECRET) as url:
            typescript = TypeScriptSessions(url, SESSIONS)
            stack.callback(typescript.close)
            official = [await stack.enter_async_context(official_session(url)) for _ in range(SESSIONS)]
            assert typescript.ready["ready"] == SESSIONS
            before = [(await session.call_tool("process", {})).content[0].text for session in official]
        with serving(SERVER, port=port, secret=SECRET):
            with anyio.fail_after(120):
                after = [(await session.call_tool("process", {})).content[0].text for session in official]
                assert len(set(before)) == len(set(after)) == 1
                assert set(before).isdisjoint(after), "another process answers"
                assert await anyio.to_thread.run_sync(typescript.call_all) == ["here"] * SESSIONS


def session_of(url: str, client: httpx2.Client) -> str:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    answer = client.post(
        url, headers=HEADERS, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    )
    return str(answer.headers["mcp-session-id"])


def test_with_another_secret_the_session_is_not_there() -> None:
    port = free_port()
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    with httpx2.Client() as client:
        with serving(SERVER, port=port, secret=SECRET) as url:
            headers = {**HEADERS, "mcp-session-id": session_of(url, client)}
            assert client.post(url, headers=headers, json=ping).status_code == 200
        with serving(SERVER, port=port, secret=SECRET):
            assert client.post(url, headers=headers, json=ping).status_code == 200
        with serving(SERVER, port=port, secret="another " + SECRET):
            assert client.post(url, headers=headers, json=ping).status_code == 404
        with serving(SERVER, port=port):
            assert client.post(url, headers=headers, json=ping).status_code == 404


@pytest.mark.anyio
async def test_sessions_are_served_by_three_processes_behind_a_proxy_without_affinity(tmp_path: Path) -> None:
    ports = [free_port() for _ in range(3)]
    with ExitStack() as servers:
        for port in ports:
            servers.enter_context(serving(SERVER, port=port, secret=SECRET))
        url = servers.enter_context(proxied(tmp_path, ports))
        typescript = TypeScriptSessions(url, 20)
        servers.callback(typescript.close)
        with anyio.fail_after(120):
            async with official_session(url) as session:
                processes = {(await session.call_tool("process", {})).content[0].text for _ in range(12)}
            assert len(processes) == 3, "one session, three processes"
            assert await anyio.to_thread.run_sync(typescript.call_all) == ["here"] * 20


def test_workers_share_the_secret_of_their_parent() -> None:
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "process"}}
    with serving(SERVER, "--workers", "3") as url, httpx2.Client() as client:
        headers = {**HEADERS, "mcp-session-id": session_of(url, client)}
        processes = set()
        end = time.monotonic() + 30
        while len(processes) < 2 and time.monotonic() < end:
            with httpx2.Client() as another:  # a new connection, which any of the processes may take
                answer = another.post(url, headers=headers, json=call)
                assert answer.status_code == 200, answer.text
                processes.add(answer.text[answer.text.index("data: {") :])
        assert len(processes) >= 2


@pytest.mark.parametrize("option", [["--workers", "2"], ["--reload"]])
def test_other_processes_bound_and_stop_as_a_single_one_does(option: list[str]) -> None:
    port = free_port()
    command = [sys.executable, "-m", "mcpconnect", "run", str(SERVER), "--http", "--host", "127.0.0.1"]
    with process([*command, "--port", str(port), *option], port) as running, httpx2.Client() as client:
        url = f"http://127.0.0.1:{port}/mcp"
        headers = {"accept": "text/event-stream", "mcp-session-id": session_of(url, client)}
        with socket.create_connection(("127.0.0.1", port), 10) as raw:
            raw.sendall(b"POST /mcp HTTP/1.1\r\nx: " + b"a" * 100_000)
            assert raw.recv(100).startswith(b"HTTP/1.1 431")
        with client.stream("GET", url, headers=headers) as stream:
            assert stream.status_code == 200
            running.terminate()
            running.wait(10)


def test_other_processes_answer_to_the_name_they_listen_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TARGET", str(SERVER)), ("PATH", "/mcp"), ("HOST", "box.example"), ("SECRET", SECRET)):
        monkeypatch.setenv(f"MCPCONNECT_{name}", value)
    with TestClient(application(), base_url="http://box.example") as client:
        assert client.get("/mcp").status_code == 400, "there is no session"
        assert client.get("/mcp", headers={"host": "other.example"}).status_code == 421


@pytest.mark.parametrize("where", ["proxy", "direct"])
def test_events_are_not_held_back(where: str, tmp_path: Path) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "slow", "_meta": {"progressToken": "p"}},
    }
    port = free_port()
    with ExitStack() as stack:
        url = stack.enter_context(serving(SERVER, port=port, secret=SECRET))
        if where == "proxy":
            url = stack.enter_context(proxied(tmp_path, [port]))
        client = stack.enter_context(httpx2.Client(timeout=20))
        headers = {**HEADERS, "mcp-session-id": session_of(url, client)}
        arrived = []
        with client.stream("POST", url, headers=headers, json=call) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: {"):
                    arrived.append(time.monotonic())
        assert len(arrived) == 5
        assert arrived[-1] - arrived[0] >= 1
