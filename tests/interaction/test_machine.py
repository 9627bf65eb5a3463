"""Random conversations, and very many calls: nothing is mixed up, late, answered twice, or left behind."""

import gc
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mcpconnect import Context, Limits, PeerError, tool
from tests.wire import Wire, connected, serving

FORM: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
LIVE = 50


class Machine(RuleBasedStateMachine):
    """A client that calls, cancels, answers and refuses as it likes, and a server whose tools come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.gates: dict[int, anyio.Event] = {}
        self.calls: dict[int, tuple[str, int]] = {}  # live, by request id: the kind of call and its argument
        self.expected: dict[int, str] = {}
        self.cancelled: set[int] = set()
        self.questions: set[str] = set()
        self.count = 0
        self.extra = False
        self._portal_manager = start_blocking_portal("asyncio")
        self.portal = self._portal_manager.__enter__()
        self.server = serving(self._hold(), self._ask(), limits=Limits(answer_seconds=60))
        opened = connected(self.server, "2025-11-25", capabilities={"elicitation": {}})
        self._connection = self.portal.wrap_async_context_manager(opened)
        self.wire: Wire = self._connection.__enter__()

    def _hold(self) -> Any:
        @tool
        async def hold(n: int, ctx: Context) -> str:
            await ctx.progress(1)
            await ctx.log("info", n)
            await self.gates.setdefault(n, anyio.Event()).wait()
            await ctx.progress(2)
            return f"held {n}"

        return hold

    def _ask(self) -> Any:
        @tool(errors=PeerError)
        async def ask(n: int, ctx: Context) -> str:
            answer = await ctx.elicit(f"{n}", FORM)
            return f"asked {n}: {answer.action} {answer.content['n'] if answer.content else None}"

        return ask

    def teardown(self) -> None:
        for request_id in list(self.calls):
            self._finish(request_id)
        self.portal.call(self._settle)
        assert self.wire.connection.live == 0
        assert not self.wire.connection._pending._waiting
        self.check_answers()
        self._connection.__exit__(None, None, None)  # checks every message against the official schema
        self._portal_manager.__exit__(None, None, None)

    @precondition(lambda self: len(self.calls) < LIVE)
    @rule(kind=st.sampled_from(["hold", "ask"]))
    def call(self, kind: str) -> None:
        self.count += 1
        params = {"name": kind, "arguments": {"n": self.count}, "_meta": {"progressToken": self.count}}
        request_id = self.portal.call(self.wire.start, "tools/call", params)
        self.calls[request_id] = (kind, self.count)
        if kind == "ask":
            self.portal.call(self.wire.until, lambda: self._question(request_id))

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), how=st.sampled_from(["accept", "decline", "error", "twice"]))
    def finish(self, data: st.DataObject, how: str) -> None:
        self._finish(data.draw(st.sampled_from(sorted(self.calls))), how)

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        request_id = data.draw(st.sampled_from(sorted(self.calls)))
        del self.calls[request_id]
        self.cancelled.add(request_id)
        self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})

    @rule()
    def tools_come_and_go(self) -> None:
        if self.extra:
            self.portal.call(self.server.unregister, "more")
        else:
            self.portal.call(self.server.register, tool(name="more")(lambda: None))
        self.extra = not self.extra
        listed = self.portal.call(self.wire.tools)
        assert ("more" in listed) is self.extra

    @rule()
    def ping(self) -> None:
        assert self.portal.call(self.wire.ask, "ping")["result"] == {}

    @invariant()
    def check_answers(self) -> None:
        answers = [m for m in self.wire.messages if "method" not in m and isinstance(m.get("id"), int)]
        seen: set[int] = set()
        for answer in answers:
            assert answer["id"] not in seen, "answered twice"
            seen.add(answer["id"])
            if answer["id"] in self.expected:
                assert answer["result"]["content"][0]["text"] == self.expected[answer["id"]]
        assert not seen & self.cancelled, "answered after a cancellation"
        assert not seen & self.calls.keys(), "answered before its end"

    def _question(self, request_id: int) -> dict[str, Any] | None:
        n = str(self.calls[request_id][1])
        asked = [m for m in self.wire.messages if m.get("method") == "elicitation/create"]
        return next((m for m in asked if m["params"]["message"] == n), None)

    def _finish(self, request_id: int, how: str = "accept") -> None:
        kind, n = self.calls[request_id]
        if kind == "hold":
            self.expected[request_id] = f"held {n}"
            self.portal.call(lambda: self.gates.setdefault(n, anyio.Event()).set())
        else:
            question = self._question(request_id)
            assert question is not None
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": question["id"]}
            if how == "error":
                reply["error"] = {"code": -1, "message": f"no {n}"}
                self.expected[request_id] = f"no {n}"
            elif how == "decline":
                reply["result"] = {"action": "decline"}
                self.expected[request_id] = f"asked {n}: decline None"
            else:
                reply["result"] = {"action": "accept", "content": {"n": -n}}
                self.expected[request_id] = f"asked {n}: accept {-n}"
            self._send(reply)
            if how == "twice":
                self._send({**reply, "result": {"action": "cancel"}})
        self.portal.call(self.wire.until, lambda: self.wire.answer_to(request_id))
        del self.calls[request_id]

    def _send(self, message: dict[str, Any]) -> None:
        self.portal.call(self.wire.send, message)

    async def _settle(self) -> None:
        with anyio.fail_after(10):
            while self.wire.connection.live:
                await anyio.sleep(0.01)


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=25, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.anyio
async def test_ten_thousand_calls_leave_nothing_and_mix_nothing_up() -> None:
    @tool
    def thread(n: int, ctx: Context) -> str:
        ctx.sync.progress(n)
        return f"{ctx.request_id} {n}"

    @tool
    async def task(n: int, ctx: Context) -> str:
        await ctx.progress(n)
        await anyio.sleep(0)
        return f"{ctx.request_id} {n}"

    async with connected(serving(thread, task, limits=Limits(concurrent_calls=600))) as wire:
        sizes = []
        for batch in range(20):
            wire.messages.clear()
            wire.traffic.clear()
            numbers = {}
            for place in range(500):
                n = 1 + batch * 500 + place
                params = {"name": ("thread", "task")[n % 2], "arguments": {"n": n}, "_meta": {"progressToken": n}}
                numbers[wire.start("tools/call", params)] = n
            await wire.until(lambda: len(wire.messages) >= 1000)
            reported: set[int] = set()
            answered = 0
            for message in wire.messages:
                if "method" in message:
                    assert message["params"]["progress"] == message["params"]["progressToken"]
                    reported.add(message["params"]["progressToken"])
                else:
                    n = numbers.pop(message["id"])
                    assert n in reported, "the answer before its progress"
                    assert message["result"]["content"][0]["text"] == f"{message['id']} {n}"
                    answered += 1
            assert answered == 500
            assert wire.connection.live == 0
            if batch in (4, 19):
                wire.messages.clear()
                wire.traffic.clear()
                gc.collect()
                sizes.append(len(gc.get_objects()))
        assert sizes[1] - sizes[0] < 500
