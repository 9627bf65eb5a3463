"""Random conversations: nothing is mixed up, late, answered twice, said after the end, or left behind."""

import sys
from contextlib import suppress
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mcpconnect import Limits, tool
from tests.interaction.conversing import Gate, Reader, Waiting, nobody_calls
from tests.wire import NEWEST, K, Wire, connected, serving

KINDS = ("hold", "thread", "ask", "stubborn", "ask_thread", "slow")
LIVE = 50
LEFT = 20  # threads of calls that have ended, and that nobody has let go yet


class Machine(RuleBasedStateMachine):
    """A client that calls, cancels, answers and refuses as it likes, and a server whose tools come and go."""

    backend = "asyncio"
    revision = "2025-11-25"

    def __init__(self) -> None:
        super().__init__()
        self.tools = Waiting()
        self.live: set[int] = set()  # request ids of calls that wait for the test
        self.ended: list[int] = []  # numbers of calls that were answered or cancelled
        self.left: list[int] = []  # numbers of calls that have ended, whose methods may still run
        self.count = 0
        self.changes = 0
        self.extra = False
        self._portal_manager = start_blocking_portal(self.backend)
        self.portal = self._portal_manager.__enter__()
        limits = Limits(answer_seconds=60, threads=LIVE + 2 * LEFT)
        self.server = serving(self.tools, limits=limits)
        opened = connected(self.server, self.revision, capabilities={"elicitation": {}})
        self._connection = self.portal.wrap_async_context_manager(opened)
        self.wire: Wire = self._connection.__enter__()
        self.reader = Reader(self.wire.messages)
        if self.modern:
            self._start("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="listening")
            self._until(lambda: self.wire.messages)

    @property
    def modern(self) -> bool:
        return self.revision == NEWEST

    def teardown(self) -> None:
        if sys.exception() is not None:  # a step has failed: end without waiting for what may not come
            self.portal.call(self._open_all)
            with suppress(BaseException):
                self._connection.__exit__(None, None, None)
            self._portal_manager.__exit__(None, None, None)
            return
        for request_id in sorted(self.live):
            self._finish(request_id, "accept")
        self._let_go(len(self.left))
        if self.modern:
            self._send({"method": "notifications/cancelled", "params": {"requestId": "listening"}})
        self.portal.call(self._settle)
        self.check()
        assert self.wire.connection.live == 0
        assert not self.wire.connection._pending._waiting
        assert not self.wire.runner._jobs
        self._connection.__exit__(None, None, None)  # checks every message against the official schema
        assert len(self.server.hub) == 0
        self._portal_manager.__exit__(None, None, None)

    # -- what the client does -----------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.live) < LIVE)
    @rule(first=st.integers(0, len(KINDS) - 1), count=st.integers(1, 25), hurried=st.booleans())
    def call(self, first: int, count: int, hurried: bool) -> None:
        kinds = [KINDS[(first + place) % len(KINDS)] for place in range(min(count, LIVE - len(self.live)))]
        started = [self._call(kind) for kind in kinds]
        for request_id in started:
            n = self.reader.numbers[request_id]
            if self.reader.kinds[request_id] == "slow":
                self._until(lambda request_id=request_id: self.wire.answer_to(request_id))
                self.left.append(n)
                self.ended.append(n)
                continue
            self.live.add(request_id)
            if not hurried:
                self._until(lambda n=n: self._read() and (n in self.reader.logged or n in self.reader.questions))
        self._let_go(len(self.left) - LEFT)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), how=st.sampled_from(["accept", "decline", "error", "twice"]))
    def finish(self, data: st.DataObject, how: str) -> None:
        for request_id in self._some(data):
            self._finish(request_id, how)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        for request_id in self._some(data):
            self._send({"method": "notifications/cancelled", "params": {"requestId": request_id}}, cancels=request_id)
            self.live.discard(request_id)
            self.left.append(self.reader.numbers[request_id])
            self.ended.append(self.reader.numbers[request_id])
        self._let_go(len(self.left) - LEFT)

    @precondition(lambda self: self.left)
    @rule(count=st.integers(1, 5))
    def let_go(self, count: int) -> None:
        """Let methods go on whose calls have ended: nobody may hear of it."""
        self._let_go(min(count, len(self.left)))

    @precondition(lambda self: self.ended)
    @rule(place=st.integers(1, 20), in_thread=st.booleans())
    def report_late(self, place: int, in_thread: bool) -> None:
        """Report for a call that has ended."""
        n = self.ended[-min(place, len(self.ended))]
        ctx = self.tools.contexts.get(n)
        if ctx is None:  # it ended before its method began
            return

        async def report() -> None:
            await ctx.progress(99)
            await ctx.log("error", n)

        if in_thread:
            ctx.sync.progress(99)
            ctx.sync.log("error", n)
        else:
            self.portal.call(report)

    @rule()
    def tools_come_and_go(self) -> None:
        if self.extra:
            self.portal.call(self.server.unregister, "more")
        else:
            self.portal.call(self.server.register, tool(name="more")(lambda: None))
        self.extra = not self.extra
        self.changes += 1
        listed = self.portal.call(self.wire.tools)
        assert ("more" in listed) is self.extra

    @rule()
    def ping(self) -> None:
        self._ping()

    @invariant()
    def check(self) -> None:
        self.reader.read()
        assert self.reader.changes == self.changes, "each change is told once"
        assert self.reader.answered.isdisjoint(self.live - self._asked), "answered before its end"

    # -- how ----------------------------------------------------------------------------------------------------------

    @property
    def _asked(self) -> set[int]:
        """The calls whose answer is a question, which go on by another request."""
        if not self.modern:
            return set()
        return {request_id for request_id in self.live if self.reader.kinds[request_id].startswith("ask")}

    def _some(self, data: st.DataObject) -> list[int]:
        return data.draw(st.lists(st.sampled_from(sorted(self.live)), min_size=1, max_size=8, unique=True))

    def _call(self, kind: str) -> int:
        self.count += 1
        return self._request(kind, self.count)

    def _request(self, kind: str, n: int, **more: Any) -> int:
        meta: dict[str, Any] = {"progressToken": n}
        if self.modern:
            meta |= {f"{K}logLevel": "info", f"{K}clientCapabilities": {"elicitation": {}}}

        async def noted() -> int:
            self.tools.gates.setdefault(n, Gate())
            self.reader.numbers[self.wire._id + 1] = n
            self.reader.kinds[self.wire._id + 1] = kind
            if kind == "slow":
                self.reader.expected[self.wire._id + 1] = "slow timed out"
            request_id: int = self.wire.start(
                "tools/call", {"name": kind, "arguments": {"n": n}, "_meta": meta, **more}
            )
            assert nobody_calls(), "who sends a request is in its call"
            return request_id

        return self.portal.call(noted)

    def _finish(self, request_id: int, how: str) -> None:
        n, kind = self.reader.numbers[request_id], self.reader.kinds[request_id]
        if kind.startswith("ask"):
            self._until(lambda: self._read() and n in self.reader.questions)
            request_id = self._answer(request_id, kind, n, how)
        else:
            self.reader.expected[request_id] = f"{kind} {n}"
            self.portal.call(self.tools.gates[n].open)
        self._until(lambda: self.wire.answer_to(request_id))
        self.live.discard(request_id)
        self.ended.append(n)

    def _answer(self, request_id: int, kind: str, n: int, how: str) -> int:
        """Answer the question of a call; return the id of the request that goes on."""
        reply: dict[str, Any] = {"action": "accept", "content": {"n": -n}}
        expected = f"{kind} {n}: accept {-n}"
        if how == "decline" or (how == "error" and self.modern):
            reply, expected = {"action": "decline"}, f"{kind} {n}: decline None"
        if self.modern:
            name, state = self.reader.questions[n]
            self.live.discard(request_id)
            self.reader.silent.discard(n)
            # Expected before it is sent: the answer may come at once.
            self.reader.expected[self.wire._id + 1] = expected
            return self._request(kind, n, inputResponses={name: reply}, requestState=state)
        self.reader.expected[request_id] = f"no {n}" if how == "error" else expected
        answer: dict[str, Any] = {"id": self.reader.questions[n]}
        if how == "error":
            self._send({**answer, "error": {"code": -1, "message": f"no {n}"}})
        else:
            self._send({**answer, "result": reply})
        if how == "twice":
            self._send({**answer, "result": {"action": "cancel"}})
        return request_id

    def _let_go(self, count: int) -> None:
        for _ in range(count):
            n = self.left.pop(0)
            self.portal.call(self.tools.gates[n].open)
            self._soon(lambda n=n: n not in self.tools.inside)
        if count > 0:
            self._ping()  # time for a late answer, which would be read next

    def _ping(self) -> None:
        assert self.portal.call(self.wire.ask, "ping" if not self.modern else "server/discover")["result"] is not None

    def _start(self, method: str, params: dict[str, Any], id: Any) -> None:
        self.portal.call(self.wire.start, method, params, id)

    def _send(self, message: dict[str, Any], cancels: int | None = None) -> None:
        async def sent() -> None:
            self.wire.send({"jsonrpc": "2.0", **message})
            assert nobody_calls()
            if cancels is not None:
                self.reader.cancel(cancels)

        self.portal.call(sent)

    def _read(self) -> bool:
        self.reader.read()
        return True

    def _until(self, condition: Any) -> None:
        self.portal.call(self.wire.until, condition)

    def _soon(self, condition: Any) -> None:
        """Wait for something that no message tells of."""

        async def waited() -> None:
            with anyio.fail_after(10):
                while not condition():
                    await anyio.sleep(0.0005)

        self.portal.call(waited)

    async def _open_all(self) -> None:
        for gate in self.tools.gates.values():
            gate.open()

    async def _settle(self) -> None:
        with anyio.fail_after(10):
            while self.wire.connection.live or self.wire.runner._jobs:
                await anyio.sleep(0.0005)


class OnTrio(Machine):
    backend = "trio"


class PerRequest(Machine):
    revision = NEWEST


class PerRequestOnTrio(OnTrio):
    revision = NEWEST


TestMachine = Machine.TestCase
TestOnTrio = OnTrio.TestCase
TestPerRequest = PerRequest.TestCase
TestPerRequestOnTrio = PerRequestOnTrio.TestCase
SETTINGS = settings(
    max_examples=6,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # shrinking would wait for what does not come, again and again
)
TestMachine.settings = TestOnTrio.settings = TestPerRequest.settings = TestPerRequestOnTrio.settings = SETTINGS
