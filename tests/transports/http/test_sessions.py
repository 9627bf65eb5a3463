"""How long a session lives, who serves it, and what is kept of it."""

import asyncio
import gc
import time
import tracemalloc
from typing import Any

import pytest

from mcpconnect import Context, DefinitionError, Limits, McpServer, tool
from mcpconnect import Session as Typed
from mcpconnect.transports.http import sessions as module
from mcpconnect.transports.http.session import Session
from tests.transports.http.caller import Caller, SessionCaller, calling, settled
from tests.transports.http.tools import another, basic, gated
from tests.wire import serving

pytestmark = pytest.mark.anyio

SECRET = "a secret of more than sixteen bytes"


def alive(server: McpServer) -> int:
    """Count the sessions that the process holds of a server."""
    return sum(isinstance(thing, Session) and thing.connection._server is server for thing in gc.get_objects())


def ping(session: SessionCaller, caller: Caller) -> Any:
    """Ask for a sign of life by another caller."""
    return SessionCaller(caller, session.id, session.revision).request("ping").done()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that can be set forward: both the time of day and the monotonic one."""
    passed = [0.0]
    real, monotonic = time.time, time.monotonic

    class Clock:
        time = staticmethod(lambda: real() + passed[0])
        monotonic = staticmethod(lambda: monotonic() + passed[0])

    monkeypatch.setattr(module, "time", Clock)
    return passed


@pytest.mark.parametrize("secret", [SECRET, SECRET.encode(), [SECRET], ["another secret, newer", SECRET]])
async def test_any_process_with_the_secret_serves_the_session(secret: Any) -> None:
    @tool
    def whoami(ctx: Context) -> str:
        return f"{ctx.client.name} {ctx.client.version} {ctx.revision} {ctx.client.can('elicitation', 'url')} {ctx.client.can('roots')}"

    async with calling(serving(whoami, secret=SECRET)) as one, calling(serving(whoami, another, secret=secret)) as two:
        session = await one.session("2025-06-18", capabilities={"elicitation": {"form": {}, "url": {}}})
        elsewhere = SessionCaller(two, session.id, session.revision)
        told = await elsewhere.call("whoami").done()
        assert told.messages[-1]["result"]["content"][0]["text"] == "tests 1 2025-06-18 True False"
        stream = elsewhere.get()
        await stream.until(lambda: stream.status == 200)
        two.app._server.unregister(another)
        assert (await stream.event()).message["method"] == "notifications/tools/list_changed", (
            "it is initialized there, too"
        )
        assert (await session.request("ping").done()).status == 200


async def test_only_so_many_ends_of_sessions_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ENDED_IDS", 2)
    async with calling(basic()) as caller:
        sessions = [await caller.session() for _ in range(3)]
        for session in sessions:
            await session.delete()
        assert [(await session.request("ping").done()).status for session in sessions] == [200, 404, 404]


async def test_the_end_of_a_session_is_known_where_it_was_told() -> None:
    async with calling(basic(secret=SECRET)) as one, calling(basic(secret=SECRET)) as two:
        session = await one.session()
        elsewhere = SessionCaller(two, session.id, session.revision)
        assert (await elsewhere.delete()).status == 200
        assert len(two.app.endpoint.sessions) == 0
        assert (await elsewhere.request("ping").done()).status == 404
        assert (await elsewhere.delete()).status == 404
        assert (await session.request("ping").done()).status == 200


@pytest.mark.parametrize("secret", ["another secret than the first", None])
async def test_another_secret_opens_no_session(secret: str | None) -> None:
    async with calling(basic(secret=SECRET)) as one, calling(basic(secret=secret)) as two:
        session = await one.session()
        assert (await ping(session, two)).status == 404


@pytest.mark.fault(206)
async def test_a_forged_id_opens_no_session() -> None:
    async with calling(basic(secret=SECRET)) as caller, calling(basic(secret=SECRET)) as fresh:
        session = await caller.session()
        for place in range(len(session.id)):
            changed = "A" if session.id[place] != "A" else "B"
            forged = session.id[:place] + changed + session.id[place + 1 :]
            assert (await fresh.ask("DELETE", b"", {"mcp-session-id": forged})).status == 404
        for forged in (
            session.id + "A",
            session.id + "=",
            session.id[:-1],
            session.id + "-TAMPERED",
            " " + session.id + "!",
            session.id * 2,
        ):
            assert (await fresh.ask("DELETE", b"", {"mcp-session-id": forged})).status == 404
        assert (await fresh.ask("DELETE", b"", {"mcp-session-id": session.id})).status == 200


@pytest.mark.parametrize("secret", ["short", b"short", ["long enough to be a secret", ""]])
async def test_a_secret_that_can_be_guessed_is_refused(secret: Any) -> None:
    with pytest.raises(DefinitionError, match="16 bytes"):
        McpServer("test", secret=secret).asgi_app()


async def test_a_session_has_an_absolute_age(clock: list[float]) -> None:
    async with (
        calling(basic(secret=SECRET, limits=Limits(session_seconds=100))) as one,
        calling(basic(secret=SECRET, limits=Limits(session_seconds=100))) as two,
    ):
        session = await one.session()
        clock[0] = 90
        assert (await ping(session, one)).status == 200
        assert (await ping(session, two)).status == 200
        clock[0] = 102
        assert (await ping(session, one)).status == 404, "where it was known"
        assert (await ping(session, two)).status == 404
        assert len(one.app.endpoint.sessions) == len(two.app.endpoint.sessions) == 0


async def test_an_open_stream_does_not_outlive_the_age_of_its_session(clock: list[float]) -> None:
    server, tools = gated(limits=Limits(session_seconds=100))
    async with calling(server) as caller:
        listens, calls = await caller.session(), await caller.session()
        stream, waiting = listens.get(), calls.call("wait")
        await stream.event()
        await settled(lambda: tools.calls)
        clock[0] = 102
        caller.app.endpoint.sessions.sweep()
        await stream.done()
        assert len(caller.app.endpoint.sessions) == 1
        tools.gate.set()
        assert "result" in (await waiting.done()).messages[-1], "a running call is waited for"
        caller.app.endpoint.sessions.sweep()
        assert len(caller.app.endpoint.sessions) == 0


@pytest.mark.fault(256)
async def test_abandoned_sessions_end_after_the_idle_time() -> None:
    async with calling(basic(limits=Limits(session_idle_seconds=0.3))) as caller:
        sessions = [await caller.session() for _ in range(200)]
        assert len(caller.app.endpoint.sessions) > 0
        await settled(lambda: len(caller.app.endpoint.sessions) == 0)
        assert (await sessions[0].request("ping").done()).status == 404
        assert len(caller.app._server.hub) == 0


async def test_a_session_that_is_used_lives_on() -> None:
    async with calling(basic(limits=Limits(session_idle_seconds=0.5))) as caller:
        session, idle = await caller.session(), await caller.session()
        while len(caller.app.endpoint.sessions) == 2:
            assert (await session.request("ping").done()).status == 200
            await asyncio.sleep(0.01)
        assert (await idle.request("ping").done()).status == 404
        assert (await session.request("ping").done()).status == 200


@pytest.mark.fault(254)
async def test_a_session_with_a_running_call_or_an_open_stream_is_not_idle() -> None:
    server, tools = gated(limits=Limits(session_idle_seconds=0.2))
    async with calling(server) as caller:
        calls, listens, left, idle = [await caller.session() for _ in range(4)]
        waiting, stream, gone = calls.call("wait"), listens.get(), left.call("wait", id="gone")
        await stream.event()
        await settled(lambda: tools.calls == 2)
        gone.leave()
        await settled(lambda: len(caller.app.endpoint.sessions) == 3)
        assert (await idle.request("ping").done()).status == 404
        for _ in range(4):  # as many sweeps as idle time would take
            caller.app.endpoint.sessions.sweep()
            await asyncio.sleep(0.06)
        assert len(caller.app.endpoint.sessions) == 3
        tools.gate.set()
        assert "result" in (await waiting.done()).messages[-1]
        stream.leave()
        await settled(lambda: len(caller.app.endpoint.sessions) == 0)
        assert tools.ended == ["finished", "finished"], "nobody cancelled them"


async def test_more_sessions_than_the_bound_make_room_for_each_other() -> None:
    async with calling(basic(limits=Limits(sessions=3))) as caller:
        sessions = [await caller.session() for _ in range(10)]
        assert len(caller.app.endpoint.sessions) == 3
        for session in sessions:
            assert (await session.request("ping").done()).status == 200, "it is adopted again"
        assert len(caller.app.endpoint.sessions) == 3
        assert len(caller.app._server.hub) == 3


async def test_the_session_that_is_missed_least_makes_room() -> None:
    server, tools = gated(limits=Limits(sessions=3))
    async with calling(server) as caller:
        calls, listens = await caller.session(), await caller.session()
        waiting, stream = calls.call("wait"), listens.get()
        await stream.event()
        await settled(lambda: tools.calls == 1)
        idle = await caller.session()
        fourth = await caller.session()
        assert not stream.task.done(), "the idle one made room"
        await settled(lambda: len(caller.app.endpoint.sessions) == 3)
        second = fourth.call("wait")
        await settled(lambda: tools.calls == 2)
        third = (await caller.session()).call("wait")
        await stream.done()
        await settled(lambda: tools.calls == 3)
        full = await caller.ask(
            "POST", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
        )
        assert (full.status, full.headers["retry-after"]) == (503, "10")
        for message in (b"", {"jsonrpc": "2.0", "id": 0, "method": "ping"}):
            answer = await caller.ask("POST" if message else "GET", message, {"mcp-session-id": idle.id})
            assert answer.status == 503
        tools.gate.set()
        for exchange in (waiting, second, third):
            assert "result" in (await exchange.done()).messages[-1]
        assert (await idle.request("ping").done()).status == 200


@pytest.mark.fault(257)
async def test_nothing_stays_of_ended_sessions() -> None:
    async with calling(basic()) as caller:
        sessions = [await caller.session() for _ in range(200)]
        assert alive(caller.app._server) >= 200
        for session in sessions:
            await session.call("add").done()
            assert (await session.delete()).status == 200
        assert len(caller.app.endpoint.sessions) == 0
        assert len(caller.app._server.hub) == 0
        caller.exchanges.clear()
        await settled(lambda: gc.collect() >= 0 and alive(caller.app._server) == 0)  # a thread may still be leaving


@pytest.mark.fault(258)
async def test_the_books_of_a_session_do_not_grow() -> None:
    server, tools = gated()

    @tool
    def fail() -> str:
        raise ValueError("no")

    server.register(fail)
    tools.gate.set()
    async with calling(server, check=False) as caller:
        session = await caller.session()
        for number in range(600):
            name = ("add", "fail", "wait")[number % 3]
            exchange = session.call(name, id=number)
            if number % 7 == 0:
                await asyncio.sleep(0)
                await session.ask(
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
                )
            if number % 5 == 0:
                exchange.leave()
            await exchange.done()
        (known,) = caller.app.endpoint.sessions
        await settled(lambda: not known.busy)
        assert known.connection.live == 0
        assert len(known._streams) < 150, "those that were not delivered, and a few others"
        for _ in range(20):
            await session.call("add").done()
        assert len(known._delivered) <= 4


async def test_a_session_costs_little() -> None:
    async with calling(basic(), check=False) as caller:
        session = await caller.session()
        await session.call("add").done()
        caller.exchanges.clear()
        caller.traffic.clear()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(200):
                session = await caller.session()
                await session.call("add").done()
                caller.exchanges.clear()
                caller.traffic.clear()
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (after - before) / 200 < 12 * 1024


async def test_sessions_with_data_make_room_last() -> None:
    class Cart(Typed):
        def __init__(self) -> None:
            self.items: list[str] = []

    @tool
    def put(item: str, cart: Cart) -> str:
        cart.items.append(item)
        return ", ".join(cart.items)

    server, tools = gated(limits=Limits(sessions=3), session=Cart)
    server.register(put)

    async def putting(session: SessionCaller, item: str) -> str:
        answer = await session.call("put", {"item": item}).done()
        found: str = answer.messages[-1]["result"]["content"][0]["text"]
        return found

    async with calling(server) as caller:
        shopper = await caller.session()
        assert await putting(shopper, "pear") == "pear"
        for _ in range(5):
            await caller.session()
        assert await putting(shopper, "plum") == "pear, plum", "those without data made room"
        listening = await caller.session()
        stream = listening.get()
        await stream.event()
        busy = await caller.session()
        waiting = busy.call("wait")
        await settled(lambda: tools.calls == 1)
        second = await caller.session()
        await stream.done()
        assert await putting(shopper, "fig") == "pear, plum, fig", "a stream can be opened again, a cart not"
        assert await putting(second, "rice") == "rice"
        assert await putting(await caller.session(), "tea") == "tea"
        assert await putting(second, "salt") == "rice, salt", "of those with data the one idle longest makes room"
        tools.gate.set()
        assert "result" in (await waiting.done()).messages[-1]
        assert await putting(shopper, "nut") == "nut", "it is adopted again, with a new cart"
