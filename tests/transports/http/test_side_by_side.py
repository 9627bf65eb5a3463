"""Calls beside each other: what blocks, fails or is cancelled in one is nothing to the others."""

import asyncio
import contextvars
import gc
import threading
import tracemalloc
from typing import Any

import pytest

from mcpconnect import Context, Limits, Tool, tool
from tests.transports.http.caller import Caller, Exchange, calling, settled
from tests.transports.http.tools import basic, gated
from tests.wire import PATIENCE, serving

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("era", ["session", "modern"])


class Era:
    """Calls tools in one of the eras."""

    def __init__(self, caller: Caller, era: str) -> None:
        self.caller = caller
        self.era = era
        self.session: Any = None

    async def call(self, name: str, arguments: Any = None, *, id: Any = None, headers: Any = None) -> Exchange:
        if self.era == "modern":
            return self.caller.modern(
                "tools/call", {"name": name, "arguments": arguments or {}}, id=id, headers=headers
            )
        self.session = self.session or await self.caller.session()
        exchange: Exchange = self.session.call(name, arguments, id=id, headers=headers)
        return exchange


def text(exchange: Exchange) -> str:
    found: str = exchange.messages[-1]["result"]["content"][0]["text"]
    return found


@pytest.mark.fault(233)
@both_eras
async def test_a_method_that_blocks_holds_nobody_up(era: str) -> None:
    release = threading.Event()

    class Blocking(Tool):
        @tool
        def block(self) -> str:
            release.wait(PATIENCE)
            return "blocked"

        @tool
        async def quick(self) -> str:
            return "quick"

    async with calling(serving(Blocking)) as caller:
        client = Era(caller, era)
        blocked = [await client.call("block") for _ in range(3)]
        assert text(await (await client.call("quick")).done()) == "quick"
        assert not any(exchange.ended for exchange in blocked)
        release.set()
        assert [text(await exchange.done()) for exchange in blocked] == ["blocked"] * 3


@pytest.mark.fault(235)
@both_eras
async def test_each_call_sees_the_values_of_its_own_request(era: str) -> None:
    who = contextvars.ContextVar[str]("who", default="nobody")

    class Identity(Tool):
        @tool
        async def waiting(self) -> str:
            before = who.get()
            await asyncio.sleep(0.001)
            nested = await asyncio.create_task(self.nested())
            return f"{before} {who.get()} {nested}"

        async def nested(self) -> str:
            return who.get()

        @tool
        def threaded(self) -> str:
            return who.get()

    async with calling(serving(Identity)) as caller:
        inner = caller.app

        async def middleware(scope: Any, receive: Any, send: Any) -> None:
            who.set(dict(scope["headers"]).get(b"authorization", b"nobody").decode())
            await inner(scope, receive, send)

        caller.app = middleware
        client = Era(caller, era)
        exchanges = []
        for number in range(20):
            headers = {"authorization": f"user{number}"}
            exchanges.append(await client.call("waiting", headers=headers))
            exchanges.append(await client.call("threaded", headers=headers))
        for number in range(20):
            name = f"user{number}"
            assert text(await exchanges[2 * number].done()) == f"{name} {name} {name}"
            assert text(await exchanges[2 * number + 1].done()) == name
        caller.app = inner


class User:
    """What authentication middleware of ASGI leaves in the scope."""

    is_authenticated = True

    def __init__(self, name: str) -> None:
        self.display_name = name


@pytest.mark.fault(235)
@both_eras
async def test_each_call_reads_the_headers_and_the_user_of_its_own_request(era: str) -> None:
    gate, released = asyncio.Event(), threading.Event()
    began: list[int] = []

    class Identity(Tool):
        @tool
        async def task(self) -> str:
            began.append(1)
            before = self.seen()
            await gate.wait()
            nested = await asyncio.create_task(self.nested())
            return " ".join({before, self.seen(), nested})

        async def nested(self) -> str:
            return self.seen()

        @tool
        def thread(self, ctx: Context) -> str:
            began.append(1)
            before = self.seen()
            assert released.wait(PATIENCE)
            return " ".join({before, self.seen(), f"{ctx.headers['authorization']} as {ctx.principal}"})

        def seen(self) -> str:
            return f"{self.ctx.headers['authorization']} as {self.ctx.principal}"

    async with calling(serving(Identity)) as caller:
        inner = caller.app

        async def authenticating(scope: Any, receive: Any, send: Any) -> None:
            user = dict(scope["headers"]).get(b"x-user", who.encode()).decode()
            await inner({**scope, "user": User(user)}, receive, send)

        caller.app = authenticating
        sessions = {}
        for who in ("ada", "eve", "bob"):
            sessions[who] = await caller.session()
        exchanges = {}
        for number in range(5):
            for name in ("ada", "eve", "bob"):
                for kind in ("task", "thread"):
                    headers = {"authorization": f"{kind} {number} of {name}", "x-user": name}
                    if era == "session":
                        exchange = sessions[name].call(kind, headers=headers)
                    else:
                        exchange = caller.modern("tools/call", {"name": kind}, headers=headers)
                    exchanges[f"{headers['authorization']} as {name}"] = exchange
        await settled(lambda: len(began) == len(exchanges))
        gate.set()
        released.set()
        for expected, exchange in exchanges.items():
            assert text(await exchange.done()) == expected
        caller.app = inner


@pytest.mark.fault(239)
async def test_cancelled_calls_that_cannot_be_interrupted_give_their_place_back() -> None:
    release = threading.Event()
    began: list[int] = []

    class Blocking(Tool):
        @tool
        def block(self) -> str:
            began.append(1)
            release.wait(PATIENCE)
            return "late"

    server = basic(limits=Limits(concurrent_calls=5))
    server.register(Blocking)
    async with calling(server) as caller:
        session = await caller.session()
        exchanges = [session.call("block", id=number) for number in range(5)]
        await settled(lambda: len(began) == 5)
        full = await session.call("add").done()
        assert full.json["error"]["code"] == -32603
        assert "concurrent_calls" in full.json["error"]["message"]
        for number in range(5):
            await session.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        for exchange in exchanges:
            assert (await exchange.done()).messages == []
        for _ in range(50):
            assert text(await session.call("add").done()) == "3"
        release.set()
        await asyncio.sleep(0.01)
        assert all(exchange.messages == [] for exchange in exchanges), "the late results are dropped"


@pytest.mark.fault(247)
async def test_requests_before_the_handshake_are_told_so_and_a_later_handshake_works() -> None:
    async with calling(basic()) as caller:
        for method in ("tools/list", "ping"):
            answer = await caller.ask("POST", {"jsonrpc": "2.0", "id": 1, "method": method})
            assert answer.status == 400
            assert "initialize" in answer.json["error"]["message"]
        session = await caller.session()
        assert (await session.request("ping").done()).json["result"] == {}


@pytest.mark.fault(253)
@pytest.mark.parametrize(
    "failure",
    [
        BaseExceptionGroup("all", [SystemExit(3), ValueError("x")]),
        SystemExit(1),
        GeneratorExit(),
        asyncio.CancelledError(),
    ],
)
async def test_nothing_that_a_call_raises_ends_another_session(
    failure: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    server, tools = gated()

    class Failing(Tool):
        @tool
        async def fail(self) -> str:
            raise failure

        @tool
        def fail_in_thread(self) -> str:
            raise failure

    server.register(Failing)
    async with calling(server) as caller:
        one, two = await caller.session(), await caller.session()
        waiting = two.call("wait")
        await tools.began.wait()
        for name in ("fail", "fail_in_thread"):
            answer = await one.call(name).done()
            assert answer.messages[-1]["result"]["isError"] is True
            modern = await caller.modern("tools/call", {"name": name}).done()
            assert modern.json["result"]["isError"] is True
        assert text(await one.call("add").done()) == "3"
        tools.gate.set()
        assert text(await waiting.done()) == "waited"


async def test_many_calls_of_many_clients_at_once_get_their_own_answers() -> None:
    async with calling(basic(limits=Limits(threads=4)), check=False) as caller:
        sessions = [await caller.session() for _ in range(10)]
        exchanges = [
            (session.call("add", {"a": number, "b": 1000 * place}), number + 1000 * place)
            for number in range(10)
            for place, session in enumerate(sessions)
        ]
        exchanges += [
            (caller.modern("tools/call", {"name": "add", "arguments": {"a": number, "b": 1}}), number + 1)
            for number in range(100)
        ]
        for exchange, expected in exchanges:
            assert text(await exchange.done()) == str(expected)
        assert all(known.connection.live == 0 for known in caller.app.endpoint.sessions)


async def test_the_memory_of_calls_is_given_back() -> None:
    async with calling(basic(), check=False) as caller:
        session = await caller.session()

        async def calls(count: int) -> None:
            for _ in range(count):
                await session.call("add").done()
                await caller.modern("tools/call", {"name": "add"}).done()
                for forgotten in (caller.exchanges, caller.traffic, session.traffic, caller.modern_conversations):
                    forgotten.clear()

        await calls(200)
        tracemalloc.start()
        try:
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            await calls(1000)
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert after - before < 50_000
