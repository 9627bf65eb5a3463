"""What the random conversations are held with: tools that wait for the test, and a reader who notices what is wrong."""

from __future__ import annotations

import threading
from typing import Any

import anyio

from mcpconnect import Context, PeerError, Tool, tool
from mcpconnect.context.context import current
from tests.wire import PATIENCE

FORM: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
CHANGED = "notifications/tools/list_changed"


class Gate:
    """Lets a task and a thread go on at once. Made and opened on the loop."""

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.flag = threading.Event()

    def open(self) -> None:
        self.flag.set()
        self.event.set()


class Waiting(Tool):
    """Tools that wait for the gate of their number, and leave their context behind. One object serves all calls."""

    def __init__(self) -> None:
        self.gates: dict[int, Gate] = {}
        self.contexts: dict[int, Context] = {}
        self.inside: set[int] = set()

    @tool
    async def hold(self, n: int, ctx: Context) -> str:
        self._begin(n, ctx)
        await ctx.progress(1)
        await ctx.log("info", n)
        try:
            await self.gates[n].event.wait()
            await ctx.progress(2)
            return self._said("hold", n, ctx)
        finally:
            self.inside.discard(n)

    @tool
    async def stubborn(self, n: int, ctx: Context) -> str:
        """Answer also when it is cancelled."""
        self._begin(n, ctx)
        await ctx.progress(1)
        await ctx.log("info", n)
        try:
            await self.gates[n].event.wait()
        except anyio.get_cancelled_exc_class():
            pass
        await ctx.progress(2)
        self.inside.discard(n)
        return self._said("stubborn", n, ctx)

    @tool
    def thread(self, n: int, ctx: Context) -> str:
        return self._held("thread", n, ctx)

    @tool(timeout=0.01)
    def slow(self, n: int, ctx: Context) -> str:
        """Take too long."""
        return self._held("slow", n, ctx)

    @tool(errors=PeerError)
    async def ask(self, n: int, ctx: Context) -> str:
        self._begin(n, ctx)
        try:
            answer = await ctx.elicit(f"{n}", FORM)
            await ctx.progress(1)
            return self._said("ask", n, ctx) + f": {answer.action} {answer.content['n'] if answer.content else None}"
        finally:
            self.inside.discard(n)

    @tool(errors=PeerError)
    def ask_thread(self, n: int, ctx: Context) -> str:
        self._begin(n, ctx)
        try:
            answer = ctx.sync.elicit(f"{n}", FORM)
            ctx.sync.progress(1)
            said = self._said("ask_thread", n, ctx)
            return said + f": {answer.action} {answer.content['n'] if answer.content else None}"
        finally:
            self.inside.discard(n)

    def _held(self, kind: str, n: int, ctx: Context) -> str:
        self._begin(n, ctx)
        try:
            ctx.sync.progress(1)
            ctx.sync.log("info", n)
            assert self.gates[n].flag.wait(PATIENCE)
            ctx.sync.progress(2)
            return self._said(kind, n, ctx)
        finally:
            self.inside.discard(n)

    def _begin(self, n: int, ctx: Context) -> None:
        assert self.ctx is ctx
        self.inside.add(n)
        self.contexts[n] = ctx

    def _said(self, kind: str, n: int, ctx: Context) -> str:
        assert self.ctx is ctx, "a call sees the context of another one"
        return f"{kind} {n}"


REPORTS = {"hold": 2, "stubborn": 2, "thread": 2, "ask": 1, "ask_thread": 1}
"""How many reports of progress come before the answer of a call that ends by itself."""


def nobody_calls() -> bool:
    """Say whether the context of no call is visible here."""
    return current.get(None) is None


class Reader:
    """Reads the server's messages in order, once, and knows what each call may still say.

    `expected` are the texts of answers by request id, `numbers` the number of each call, `silent` the numbers of those
    that may say nothing more.
    """

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.messages = messages
        self.numbers: dict[int, int] = {}
        self.kinds: dict[int, str] = {}
        self.expected: dict[int, str] = {}
        self.answered: set[int] = set()
        self.cancelled: set[int] = set()
        self.silent: set[int] = set()
        self.questions: dict[int, Any] = {}  # the question's id, or the state to send back, by the number of the call
        self.reports: dict[int, int] = {}
        self.logged: set[int] = set()
        self.changes = 0
        self._read = 0

    def read(self) -> None:
        """Read what came since."""
        while self._read < len(self.messages):
            message = self.messages[self._read]
            self._read += 1
            self._take(message)

    def cancel(self, request_id: int) -> None:
        """Expect nothing more of a call, from now on."""
        self.read()
        self.cancelled.add(request_id)
        self.silent.add(self.numbers[request_id])

    def _take(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case None:
                self._answer(message)
            case "notifications/progress":
                self._report(message["params"]["progressToken"], message["params"]["progress"])
            case "notifications/message":
                self._log(message["params"]["data"])
            case "elicitation/create":
                n = int(message["params"]["message"])
                assert n not in self.questions, "asked twice"
                assert n not in self.silent, "asked after the end"
                self.questions[n] = message["id"]
            case method if method == CHANGED:
                self.changes += 1
            case method:
                assert method in ("notifications/cancelled", "notifications/subscriptions/acknowledged"), message

    def _report(self, n: int, value: float) -> None:
        assert n not in self.silent, "progress after the end"
        assert value == self.reports.get(n, 0) + 1, "progress in another order"
        self.reports[n] = self.reports.get(n, 0) + 1

    def _log(self, n: int) -> None:
        assert n not in self.silent, "a log message after the end"
        assert n not in self.logged, "logged twice"
        self.logged.add(n)

    def _answer(self, answer: dict[str, Any]) -> None:
        request_id = answer["id"]
        assert request_id not in self.answered, "answered twice"
        assert request_id not in self.cancelled, "answered after a cancellation"
        self.answered.add(request_id)
        n = self.numbers.get(request_id)
        if n is None:  # no call of ours
            return
        result = answer["result"]
        self.silent.add(n)
        if result.get("resultType") == "input_required":
            self.questions[n] = (*result["inputRequests"], result["requestState"])
            return
        assert request_id in self.expected, "answered before its end"
        assert self.expected[request_id] in result["content"][0]["text"]
        kind = self.kinds[request_id]
        if not result.get("isError"):
            assert self.reports.get(n, 0) == REPORTS[kind], "the answer before its progress"
            assert (n in self.logged) is not kind.startswith("ask"), "the answer before its log message"
        else:
            assert kind in ("slow", "ask", "ask_thread")
