"""A real server on a real socket: where it listens, how it ends, and clients that behave badly."""

import asyncio
import inspect
import json
import logging
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from fastapi import FastAPI

from mcpconnect import DefinitionError, Limits, McpServer, Tool, tool
from mcpconnect.transports.http import run_http, serve_http
from mcpconnect.transports.http import serve as serve_module
from mcpconnect.transports.http.graceful import GracefulServer
from tests.transports.http.running import HEADERS, PATIENCE, Socket, call, handshake, modern, running, wait_until
from tests.transports.http.tools import basic
from tests.wire import serving


class Held(Tool):
    """Tools that wait in the server's thread for the test's."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.began = 0
        self.ended: list[str] = []

    @tool
    async def hold(self) -> str:
        """Wait."""
        self.began += 1
        try:
            while not self.release.is_set():
                await anyio.sleep(0.005)
            self.ended.append("finished")
        except BaseException:
            self.ended.append("cancelled")
            raise
        return "held"

    @tool
    async def stream(self, count: int, size: int) -> str:
        """Say much."""
        for value in range(count):
            await self.ctx.progress(value, message="x" * size)
            await anyio.sleep(0)
        return "done"


def held(**settings: Any) -> tuple[McpServer, Held]:
    tools = Held()
    return serving(tools, **settings), tools


def client() -> httpx2.Client:
    return httpx2.Client(headers=HEADERS, timeout=PATIENCE)


def session(http: httpx2.Client, url: str) -> dict[str, str]:
    """Shake hands and return the headers of the session."""
    answer = http.post(url, json=handshake())
    headers = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    assert (
        http.post(url, headers=headers, json={"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code
        == 202
    )
    return headers


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def h11(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve as if httptools was not installed."""
    monkeypatch.setitem(sys.modules, "mcpconnect.transports.http.heads", None)


# -- where it listens -------------------------------------------------------------------------------------------------


@pytest.mark.fault(273)
def test_by_default_it_listens_at_the_loopback_interface_only() -> None:
    for function in (run_http, serve_http):
        assert inspect.signature(function).parameters["host"].default == "127.0.0.1"
    with running(basic()) as served:
        assert [each.getsockname()[0] for server in served.uvicorn.servers for each in server.sockets] == ["127.0.0.1"]


def test_the_name_that_it_listens_at_is_a_host_and_that_of_every_interface_is_none() -> None:
    body, headers = modern("add")
    for host, name, status in (
        ("127.0.0.2", "127.0.0.2", 200),
        ("0.0.0.0", "0.0.0.0", 421),
        ("localhost", "localhost", 200),
    ):
        with running(basic(), host) as served, client() as http:
            answer = http.post(
                served.url.replace("127.0.0.1", name if name != "0.0.0.0" else "127.0.0.1"),
                content=body,
                headers={**headers, "host": name},
            )
            assert answer.status_code == status
    config = serve_module._uvicorn(basic(), "mcp.example.com", 0, {}).config
    assert "mcp.example.com" in config.app._settings.allowed_hosts  # type: ignore[union-attr]
    config = serve_module._uvicorn(basic(), "2001:db8::1", 0, {"allowed_hosts": ["other.example"]}).config
    assert config.app._settings.allowed_hosts == {"[2001:db8::1]", "other.example"}  # type: ignore[union-attr]


def test_it_says_where_it_listens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mcpconnect.http")
    with running(basic()) as served:
        assert f"listening at ('127.0.0.1', {served.port})" in [record.getMessage() for record in caplog.records]


def test_trio_is_refused_with_the_reason() -> None:
    with pytest.raises(DefinitionError, match="asyncio"):
        basic().run("http", backend="trio")
    with pytest.raises(DefinitionError, match="asyncio"):
        anyio.run(basic().serve, "http", backend="trio")


@pytest.mark.parametrize(("missing", "package"), [("uvicorn", "uvicorn"), ("starlette.middleware.cors", "starlette")])
def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, missing: str, package: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(DefinitionError, match=rf"{package}.*mcpconnect\[http\]"):
        basic().run("http", port=0)


# -- both parsers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parser", ["httptools", "h11"])
def test_both_eras_are_served(parser: str, request: pytest.FixtureRequest) -> None:
    if parser == "h11":
        request.getfixturevalue("h11")
    with running(basic()) as served, client() as http:
        body, headers = modern("add", {"a": 2, "b": 40})
        assert http.post(served.url, content=body, headers=headers).json()["result"]["content"][0]["text"] == "42"
        mine = session(http, served.url)
        answer = http.post(served.url, headers=mine, json=call("steps", token="t"))
        assert [line for line in answer.text.splitlines() if line.startswith("data: {")][-1].count("done") == 1
        assert http.delete(served.url, headers=mine).status_code == 200
        assert http.head(served.url).status_code == 405
        assert "server" not in answer.headers


@pytest.mark.parametrize("parser", ["httptools", "h11"])
def test_a_head_that_is_too_long_is_refused_before_it_is_whole(parser: str, request: pytest.FixtureRequest) -> None:
    if parser == "h11":
        request.getfixturevalue("h11")
    with running(basic(limits=Limits(header_bytes=4000))) as served, Socket(served.port) as raw:
        raw.send(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n")
        answer = b""
        for _ in range(1000):
            try:
                raw.send(b"x-more: " + b"x" * 500 + b"\r\n")
            except OSError:
                break
        answer = raw.rest()
        assert answer.startswith(b"HTTP/1.1 431" if parser == "httptools" else b"HTTP/1.1 400")


def test_a_head_that_does_not_come_is_given_up() -> None:
    with running(basic(limits=Limits(body_seconds=0.1))) as served:
        for sent in (b"", b"POST /mcp HTTP/1.1\r\nhost: local"):
            with Socket(served.port) as raw:
                raw.send(sent)
                assert raw.rest().startswith(b"HTTP/1.1 408")
        with Socket(served.port) as raw:
            raw.request("POST", *modern("add"))
            raw.until(b'"text":"3"')
            raw.send(b"POST /mcp HTT")
            assert b"HTTP/1.1 408" in raw.rest()


def test_a_request_in_pieces_is_served_and_its_head_not_counted_with_its_body() -> None:
    with running(basic(limits=Limits(header_bytes=2000))) as served, Socket(served.port) as raw:
        body, headers = modern("hello", {"name": "x" * 5000})
        for _ in range(3):
            raw.request("POST", body, headers)
            raw.until(b"Hello " + b"x" * 5000)
        lines = [b"POST /mcp HTTP/1.1", b"host: localhost", b"content-length: %d" % len(body)]
        lines += [f"{name}: {value}".encode() for name, value in {**HEADERS, **headers}.items()]
        whole = b"\r\n".join(lines) + b"\r\n\r\n" + body
        for place in range(0, len(whole), 97):
            raw.send(whole[place : place + 97])
        raw.until(b"Hello " + b"x" * 5000)


@pytest.mark.fault(215)
def test_a_client_that_sends_too_much_gets_to_the_answer() -> None:
    with running(basic()) as served, client() as http:
        answer = http.post(served.url, content=b"x" * (50 * 1024 * 1024))
        assert answer.status_code == 413


def test_a_body_that_does_not_come_is_given_up() -> None:
    with running(basic(limits=Limits(body_seconds=0.1))) as served, Socket(served.port) as raw:
        raw.send(
            b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
        )
        assert raw.rest().startswith(b"HTTP/1.1 408")


def test_a_connection_goes_on_behind_a_refusal() -> None:
    with running(basic()) as served, Socket(served.port) as raw:
        raw.request("POST", b"x" * 100_000, {"content-type": "text/plain"})
        assert b" 415 " in raw.until(b"\r\n")
        raw.request("POST", *modern("add"))
        assert b'"text":"3"' in raw.until(b'"text":"3"')


def test_two_hosts_in_one_request_are_none() -> None:
    with running(basic()) as served, Socket(served.port) as raw:
        raw.send(b"GET /mcp HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n")
        assert re.match(rb"HTTP/1.1 4\d\d ", raw.until(b"\r\n"))


# -- clients that leave -----------------------------------------------------------------------------------------------


@pytest.mark.fault(223)
def test_clients_that_leave_at_any_moment_disturb_nobody(caplog: pytest.LogCaptureFixture) -> None:
    server, tools = held()
    with running(server) as served, client() as http:
        mine = session(http, served.url)
        body, headers = modern("hold")
        whole = json.dumps(call("hold", id="left")).encode()
        with Socket(served.port) as raw:
            raw.send(
                b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
            )
        with Socket(served.port) as raw:
            raw.request("POST", body, headers)
            wait_until(lambda: tools.began == 1)
        wait_until(lambda: tools.ended == ["cancelled"])
        with Socket(served.port) as raw:
            raw.request("POST", whole, mine)
            raw.until(b"data: \n\n")
        wait_until(lambda: tools.began == 2)
        assert (
            http.post(served.url, headers=mine, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}).json()["result"]
            == {}
        )
        tools.release.set()
        wait_until(lambda: tools.ended == ["cancelled", "finished"])
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


@pytest.mark.fault(221)
def test_the_answer_of_a_broken_connection_arrives_once() -> None:
    server, tools = held()
    with running(server) as served, client() as http:
        mine = session(http, served.url)
        with Socket(served.port) as raw:
            raw.request("POST", json.dumps(call("hold", id=7)).encode(), mine)
            event_id = re.search(rb"id: (\S+)\n", raw.until(b"data: \n\n"))
            assert event_id
        tools.release.set()
        resume = {**mine, "last-event-id": event_id[1].decode()}
        answer = http.get(served.url, headers=resume)
        messages = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
        assert [(message["id"], message["result"]["content"][0]["text"]) for message in messages] == [(7, "held")]


@pytest.mark.fault(230)
def test_a_client_that_stops_reading_holds_nobody_up() -> None:
    server, _ = held(limits=Limits(stream_messages=100))
    with running(server) as served, client() as http, Socket(served.port) as raw:
        mine = session(http, served.url)
        body = json.dumps(call("stream", {"count": 2000, "size": 20_000}, token="t")).encode()
        raw.request("POST", body, mine)
        raw.until(b"notifications/progress")
        began = time.monotonic()
        for id in range(20):
            assert (
                http.post(served.url, headers=mine, json={"jsonrpc": "2.0", "id": id, "method": "ping"}).status_code
                == 200
            )
        assert time.monotonic() - began < 5


@pytest.mark.fault(232)
def test_a_call_takes_no_time() -> None:
    times = []
    with running(basic()) as served, Socket(served.port) as raw:
        body, headers = modern("add")
        for _ in range(1000):
            began = time.perf_counter()
            raw.request("POST", body, headers)
            raw.until(b'"resultType"')
            while not raw.received.endswith(b"}"):
                raw.received += raw.socket.recv(65536)
            times.append(time.perf_counter() - began)
            raw.received = b""
    assert statistics.median(times) < 0.01
    assert statistics.quantiles(times, n=100)[97] < 0.1


# -- how it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.fault(231)
def test_open_streams_do_not_keep_it_from_stopping() -> None:
    server, tools = held()
    with running(server) as served, client() as http:
        mine, other = session(http, served.url), session(http, served.url)
        sockets = [Socket(served.port) for _ in range(5)]
        one, two, listening, calling, idle = sockets
        one.request("GET", b"", mine)
        two.request("GET", b"", other)
        body, headers = modern("x")
        listen = json.loads(body)
        listen.update(method="subscriptions/listen")
        listen["params"]["notifications"] = {"toolsListChanged": True}
        listening.request("POST", json.dumps(listen).encode(), {**headers, "mcp-method": "subscriptions/listen"})
        calling.request("POST", *modern("hold"))
        idle.request("POST", *modern("unknown"))
        for stream in (one, two):
            stream.until(b"data: \n\n")
        listening.until(b"acknowledged")
        wait_until(lambda: tools.began == 1)
        served.begin_stop()
        for stream in (one, two, listening):
            stream.rest()
        assert b"notifications/cancelled" in listening.received
        assert b'"result"' in listening.received
        assert tools.ended == [], "the call goes on"
        tools.release.set()
        assert b'"text":"held"' in calling.rest()
        assert served.stop() < 3
        assert tools.ended == ["finished"]
        for each in sockets:
            each.socket.close()


def test_a_call_that_does_not_end_is_stopped_in_time(caplog: pytest.LogCaptureFixture) -> None:
    server, tools = held(limits=Limits(drain_seconds=0.2))
    with running(server) as served, Socket(served.port) as raw:
        raw.request("POST", *modern("hold"))
        wait_until(lambda: tools.began == 1)
        assert served.stop() < 3
        assert raw.rest().startswith(b"HTTP/1.1 503")
    assert tools.ended == ["cancelled"]
    assert {
        getattr(record, "event", record.getMessage()) for record in caplog.records if record.levelno >= logging.WARNING
    } == {"drain-timeout"}


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["task", "scope"])
async def test_serving_ends_with_its_task(how: str, caplog: pytest.LogCaptureFixture) -> None:
    server, tools = held()
    scope = anyio.CancelScope()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    async def serve() -> None:
        with scope:
            await server.serve("http", port=port)

    def ask() -> int:
        body, headers = modern("hold")
        wait_until(lambda: listens(port))
        with client() as http:
            return http.post(f"http://127.0.0.1:{port}/mcp", content=body, headers=headers).status_code

    async with asyncio.timeout(PATIENCE):
        serving_task = asyncio.create_task(serve())
        asking = asyncio.create_task(asyncio.to_thread(ask))
        while not tools.began:
            await asyncio.sleep(0.005)
        if how == "task":
            serving_task.cancel()
        else:
            scope.cancel()
        await asyncio.wait({serving_task})
        assert serving_task.cancelled() is (how == "task")
        assert await asking == 503
    assert tools.ended == ["cancelled"]
    assert not listens(port)
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


PROGRAM = """
import asyncio, sys
from mcpconnect import Limits, McpServer, Tool, tool

class Slow(Tool):
    @tool
    async def slow(self) -> str:
        print("began", flush=True)
        await asyncio.sleep(0.5)
        print("finished", flush=True)
        return "slow"

    @tool
    async def endless(self) -> str:
        print("began", flush=True)
        try:
            await asyncio.sleep(3600)
        finally:
            print("torn down", flush=True)
        return "endless"

    @tool
    async def stubborn(self) -> str:
        print("began", flush=True)
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                print("refused", flush=True)

server = McpServer("test", limits=Limits(drain_seconds=float(sys.argv[2])))
server.register(Slow)
server.run("http", port=int(sys.argv[1]))
print("ended", flush=True)
"""


def program(tmp_path: Path, drain: float) -> tuple[subprocess.Popen[str], int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file = tmp_path / "server.py"
    file.write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, str(file), str(port), str(drain)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )

    wait_until(lambda: listens(port))
    return process, port


@pytest.mark.fault(200)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_ends_it_quietly_after_its_calls(tmp_path: Path, number: signal.Signals, busy: bool) -> None:
    process, port = program(tmp_path, 5)
    with Socket(port) as raw:
        if busy:
            raw.request("POST", *modern("slow"))
            assert process.stdout
            assert process.stdout.readline() == "began\n"
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
        if busy:
            assert b'"text":"slow"' in raw.rest()
            assert output.startswith("finished\n")
    assert errors == ""
    assert process.returncode == (0 if number == signal.SIGINT else -signal.SIGTERM)


def test_an_application_inside_another_is_served_as_any_other() -> None:
    outer = FastAPI()
    outer.mount("/api", basic().asgi_app())
    config = uvicorn.Config(outer, port=0, log_config=None, access_log=False)
    served = GracefulServer(config)
    thread = threading.Thread(target=served.run)
    thread.start()
    wait_until(lambda: served.started)
    with Socket(served.servers[0].sockets[0].getsockname()[1]) as raw:
        raw.request("POST", *modern("add"), path="/api/mcp")
        raw.until(b'"text":"3"')
    served.should_exit = True
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_second_interrupt_ends_it_at_once(tmp_path: Path) -> None:
    process, port = program(tmp_path, 60)
    with Socket(port) as raw:
        raw.request("POST", *modern("endless"))
        assert process.stdout
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - began < 5
    assert (output, errors, process.returncode) == ("torn down\nended\n", "", 0)


def test_a_call_that_refuses_to_be_cancelled_does_not_keep_the_process(tmp_path: Path) -> None:
    process, port = program(tmp_path, 0.2)
    with Socket(port) as raw:
        raw.request("POST", *modern("stubborn"))
        assert process.stdout
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "ends by force" in errors


def test_a_port_that_is_taken_is_an_error_that_says_so(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        file = tmp_path / "server.py"
        file.write_text(PROGRAM)
        done = subprocess.run(
            [sys.executable, str(file), str(taken.getsockname()[1]), "1"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=dict(os.environ),
        )
    assert done.returncode != 0
    assert "address already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_text_is_no_collection_of_host_names() -> None:
    with pytest.raises(DefinitionError, match="a collection of texts"):
        McpServer("x").run("http", port=0, allowed_hosts="mcp.example.com")
