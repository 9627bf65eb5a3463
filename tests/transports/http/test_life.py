"""From the lifespan's beginning to its end: a start that fails, and the order in which everything ends."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest

from mcpconnect import Context, Inject, McpServer, Session, tool
from mcpconnect.transports.http import serve_http
from tests.transports.http.caller import Caller, calling
from tests.transports.http.running import PATIENCE, running, wait_until
from tests.transports.http.test_serve import client, listens, session
from tests.transports.http.tools import basic
from tests.wire import serving

pytestmark = pytest.mark.anyio
events: list[str] = []


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def forgotten() -> None:
    events.clear()


class Shopping(Session):
    async def aclose(self) -> None:
        await anyio.sleep(0)
        events.append("session")


def of_the_server() -> Iterator[str]:
    yield "database"
    events.append("server")


async def of_the_session() -> AsyncIterator[str]:
    yield "login"
    await anyio.sleep(0)
    events.append("for the session")


@asynccontextmanager
async def lifespan(server: McpServer) -> AsyncIterator[None]:
    yield
    events.append("lifespan")


@tool
async def use(
    shopping: Shopping,
    login: Annotated[str, Inject(of_the_session, "session")],
    database: Annotated[str, Inject(of_the_server, "server")],
    context: Context,
) -> str:
    context.defer(lambda: events.append("call"))
    return f"{login} {database}"


ENDED = ["call", "for the session", "session", "server", "lifespan"]


async def test_everything_ends_in_reverse_order() -> None:
    app: Any = serving(use, session=Shopping, lifespan=lifespan).asgi_app()
    async with asyncio.timeout(PATIENCE):
        shopper = await Caller(app).session()
        assert (await shopper.call("use").done()).messages[-1]["result"]["content"][0]["text"] == "login database"
        assert events == ["call"]
        await app.stop()
    assert events == ENDED


async def test_each_of_many_sessions_is_closed() -> None:
    app: Any = serving(use, session=Shopping).asgi_app()
    async with asyncio.timeout(PATIENCE):
        caller = Caller(app)
        for _ in range(3):
            await (await caller.session()).call("use").done()
        await app.stop()
    assert events.count("session") == 3


def test_a_server_that_is_stopped_closes_its_sessions() -> None:
    with running(serving(use, session=Shopping, lifespan=lifespan)) as served, client() as http:
        headers = session(http, served.url)
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "use"}}
        assert "login database" in http.post(served.url, json=body, headers=headers).text
    assert events == ENDED


async def test_a_server_whose_task_is_cancelled_closes_its_sessions(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mcpconnect.http")
    serves = asyncio.ensure_future(
        serve_http(serving(use, session=Shopping, lifespan=lifespan), host="127.0.0.1", port=0)
    )

    def listening() -> list[Any]:
        return [record.args for record in caplog.records if record.msg == "listening at %s"]

    def shop(port: int) -> None:
        with client() as http:
            url = f"http://127.0.0.1:{port}/mcp"
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "use"}}
            assert "login database" in http.post(url, json=body, headers=session(http, url)).text

    async with asyncio.timeout(PATIENCE):
        while not listening():
            await asyncio.sleep(0.005)
        await asyncio.to_thread(shop, listening()[0][0][1])
        serves.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serves
    assert events == ENDED


PROGRAM = """
import sys
import threading
from contextlib import asynccontextmanager
from mcpconnect import McpServer, Session, tool

class Kept(Session):
    async def aclose(self):
        print("session closed", flush=True)

@asynccontextmanager
async def lifespan(server):
    if sys.argv[2] == "fails":
        raise ValueError("no database")
    yield
    print("lifespan left", flush=True)

server = McpServer("test", session=Kept, lifespan=lifespan)

@server.register
@tool
def use(kept: Kept) -> str:
    return "used"

server.run("http", port=int(sys.argv[1]))
"""


def program(tmp_path: Path, port: int, how: str) -> subprocess.Popen[str]:
    file = tmp_path / "server.py"
    file.write_text(PROGRAM)
    arguments = [sys.executable, str(file), str(port), how]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_process_that_is_told_to_end_closes_its_sessions_first(tmp_path: Path) -> None:
    port = free_port()
    process = program(tmp_path, port, "works")
    wait_until(lambda: listens(port))
    with client() as http:
        url = f"http://127.0.0.1:{port}/mcp"
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "use"}}
        assert "used" in http.post(url, json=body, headers=session(http, url)).text
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=PATIENCE)
    assert (output, errors) == ("session closed\nlifespan left\n", "")
    assert process.returncode == -signal.SIGTERM


def test_a_process_whose_lifespan_fails_ends_with_that_error(tmp_path: Path) -> None:
    process = program(tmp_path, free_port(), "fails")
    output, errors = process.communicate(timeout=PATIENCE)
    assert output == ""
    assert errors.rstrip().endswith("ValueError: no database")
    assert process.returncode == 1


def failing(*errors: BaseException) -> McpServer:
    """Return a server whose lifespan raises these errors, one after the other, when it starts."""
    left = list(errors)

    @asynccontextmanager
    async def fail(server: McpServer) -> AsyncIterator[None]:
        if left:
            raise left.pop(0)
        yield

    server = basic()
    server._lifespan = fail
    return server


@pytest.mark.parametrize("error", [ValueError("no database"), SystemExit(3)])
async def test_a_lifespan_that_fails_is_told_to_the_host(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    app: Any = failing(error).asgi_app()
    messages: asyncio.Queue[Any] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    async with asyncio.timeout(PATIENCE):
        await messages.put({"type": "lifespan.startup"})
        await app({"type": "lifespan"}, messages.get, sent.put)
    told = sent.get_nowait()
    assert told["type"] == "lifespan.startup.failed"
    assert type(error).__name__ in told["message"]
    assert [record.event for record in caplog.records] == ["start-failed"]  # type: ignore[attr-defined]


async def test_where_no_host_starts_it_requests_are_refused_until_it_can(caplog: pytest.LogCaptureFixture) -> None:
    app: Any = failing(ValueError("no database")).asgi_app()
    caller = Caller(app)
    async with asyncio.timeout(PATIENCE):
        refused = await caller.modern("tools/call", {"name": "add"}).done()
        assert refused.status == 503
        assert "database" not in refused.body.decode()
        assert (await caller.modern("tools/call", {"name": "add"}).done()).status == 200
        await app.stop()
    assert [record.event for record in caplog.records] == ["start-failed"]  # type: ignore[attr-defined]


async def test_a_start_that_hangs_can_be_stopped() -> None:
    entered, left = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def hanging(server: McpServer) -> AsyncIterator[None]:
        entered.set()
        try:
            await anyio.sleep_forever()
            yield
        finally:
            left.set()

    app: Any = McpServer("test", lifespan=hanging).asgi_app()
    async with asyncio.timeout(PATIENCE):
        waiting = Caller(app).modern("tools/call", {"name": "add"})
        await entered.wait()
        await app.stop()
        assert left.is_set()
        assert (await waiting.done()).status == 503


async def test_a_session_that_is_deleted_ends_after_its_calls() -> None:
    gate, began = threading.Event(), threading.Event()

    @tool
    def hold(shopping: Shopping) -> None:
        began.set()
        gate.wait(PATIENCE)
        events.append("call")

    async with calling(serving(hold, session=Shopping)) as caller, asyncio.timeout(PATIENCE):
        shopper = await caller.session()
        holding = shopper.call("hold")
        await asyncio.to_thread(began.wait, PATIENCE)
        await shopper.delete()
        await holding.done()
        assert events == []
        gate.set()
        while len(events) < 2:
            await asyncio.sleep(0.001)
    assert events == ["call", "session"]


async def test_a_lifespan_that_breaks_is_logged_and_begins_anew(caplog: pytest.LogCaptureFixture) -> None:
    breaks = asyncio.Event()

    @asynccontextmanager
    async def breaking(server: McpServer) -> AsyncIterator[None]:
        async def fail() -> None:
            await breaks.wait()
            breaks.clear()
            raise ValueError("the connection broke")

        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            yield
            group.cancel_scope.cancel()

    server = basic()
    server._lifespan = breaking
    app: Any = server.asgi_app()
    caller = Caller(app)
    async with asyncio.timeout(PATIENCE):
        assert (await caller.modern("tools/call", {"name": "add"}).done()).status == 200
        first = app.endpoint
        breaks.set()
        while first.alive:
            await asyncio.sleep(0.001)
        assert (await caller.modern("tools/call", {"name": "add"}).done()).status == 200
        await app.stop()
    assert [record.event for record in caplog.records] == ["serving-failed"]  # type: ignore[attr-defined]
