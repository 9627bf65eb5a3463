"""Progress: only with a token, only growing, never after the answer, on the stream of its own call."""

import asyncio
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import anyio
import pytest

from mcpconnect import Context, Tool, ToolError, tool
from tests.transports.http.caller import SessionCaller, calling
from tests.wire import REVISIONS, connected, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)


class Reports(Tool):
    """Tools that say how far they are."""

    @tool
    async def report(self, values: list[float], total: float | None = None, message: str | None = None) -> str:
        """Report values."""
        for value in values:
            await self.ctx.progress(value, total, message)
        return "done"

    @tool
    def report_blocking(self, values: list[float]) -> str:
        """Report values from a thread."""
        for value in values:
            self.ctx.sync.progress(value, 10, "from a thread")
        return "done"

    @tool
    async def fail(self) -> str:
        """Report and fail."""
        await self.ctx.progress(1)
        raise ToolError("no")


def params(name: str, token: Any = None, **arguments: Any) -> dict[str, Any]:
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return {"name": name, "arguments": arguments, **meta}


def reports(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message["params"] for message in messages if message.get("method") == "notifications/progress"]


@pytest.mark.fault(240)
@pytest.mark.fault(241)
@every_revision
@pytest.mark.parametrize("token", [0, 1, "", "abc", "0", -5, 2**53 - 1])
async def test_reports_carry_the_token_with_its_type(revision: str, token: Any) -> None:
    async with connected(serving(Reports), revision) as wire:
        await wire.ask("tools/call", params("report", token, values=[1, 2]))
        told = reports(wire.messages)
        assert [report["progressToken"] for report in told] == [token, token]
        assert {type(report["progressToken"]) for report in told} == {type(token)}


@pytest.mark.fault(241)
@every_revision
@pytest.mark.parametrize("name", ["report", "report_blocking"])
async def test_nothing_is_reported_to_those_who_did_not_ask(revision: str, name: str) -> None:
    async with connected(serving(Reports), revision) as wire:
        assert "result" in await wire.ask("tools/call", params(name, values=[1, 2]))
        assert reports(wire.messages) == []


@pytest.mark.parametrize("token", [True, False, 1.5, [1], {"a": 1}])
async def test_what_is_no_token_is_none(token: Any) -> None:
    async with connected(serving(Reports)) as wire:
        assert "result" in await wire.ask("tools/call", params("report", token, values=[1]))
        assert reports(wire.messages) == []


@pytest.mark.fault(242)
@every_revision
async def test_reports_need_no_total(revision: str) -> None:
    async with connected(serving(Reports), revision) as wire:
        await wire.ask("tools/call", params("report", "t", values=[1, 2, 3], message="working"))
        told = reports(wire.messages)
        assert [report["progress"] for report in told] == [1, 2, 3]
        assert all("total" not in report for report in told)
        assert [report.get("message") for report in told] == ["working" if revision > "2024-11-05" else None] * 3


async def test_a_total_and_fractions_are_passed_on() -> None:
    async with connected(serving(Reports)) as wire:
        await wire.ask("tools/call", params("report", "t", values=[0, 0.25, 1], total=1.5))
        assert [(report["progress"], report["total"]) for report in reports(wire.messages)] == [
            (0, 1.5),
            (0.25, 1.5),
            (1, 1.5),
        ]


@every_revision
async def test_only_growing_values_are_reported(revision: str) -> None:
    async with connected(serving(Reports), revision) as wire:
        await wire.ask("tools/call", params("report", "t", values=[5, 5, 4, 6, 5.5, -1, 6.5]))
        assert [report["progress"] for report in reports(wire.messages)] == [5, 6, 6.5]
        await wire.ask("tools/call", params("report", "u", values=[1]))
        assert reports(wire.messages)[-1] == {"progressToken": "u", "progress": 1}, "each call counts for itself"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
async def test_what_is_no_number_in_json_is_not_reported(value: float) -> None:
    @tool
    async def odd(ctx: Context) -> str:
        await ctx.progress(value)
        await ctx.progress(1, value)
        return "done"

    async with connected(serving(odd)) as wire:
        answer = await wire.ask("tools/call", params("odd", "t"))
        assert answer["result"]["content"][0]["text"] == "done"
        assert reports(wire.messages) == [{"progressToken": "t", "progress": 1}]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_reports_from_a_thread_come_in_their_order_before_the_answer(revision: str) -> None:
    async with connected(serving(Reports), revision) as wire:
        await wire.ask("tools/call", params("report_blocking", "t", values=list(range(1, 100))))
        assert [report["progress"] for report in reports(wire.messages)] == list(range(1, 100))
        assert "result" in wire.messages[-1]


async def test_reports_come_before_a_failure_too() -> None:
    async with connected(serving(Reports)) as wire:
        answer = await wire.ask("tools/call", params("fail", "t"))
        assert answer["result"]["isError"] is True
        assert wire.messages[-1] is answer
        assert len(reports(wire.messages)) == 1


@pytest.mark.fault(243)
@pytest.mark.parametrize("how", ["task", "thread"])
async def test_nothing_is_reported_after_the_answer(how: str) -> None:
    contexts: list[Context] = []

    @tool
    async def early(ctx: Context) -> str:
        contexts.append(ctx)
        await ctx.progress(1)
        return "early"

    async with connected(serving(early)) as wire:
        await wire.ask("tools/call", params("early", "t"))
        count = len(wire.messages)
        if how == "task":
            await contexts[0].progress(2)
        else:
            thread = threading.Thread(target=contexts[0].sync.progress, args=(2,))
            thread.start()
            thread.join()
        await wire.ask("ping")
        assert len(wire.messages) == count + 1


async def test_nothing_is_reported_after_a_cancellation() -> None:
    contexts: list[Context] = []
    began = anyio.Event()

    @tool
    async def wait(ctx: Context) -> str:
        contexts.append(ctx)
        began.set()
        await anyio.sleep(60)
        return "late"

    async with connected(serving(wait)) as wire:
        request_id = wire.start("tools/call", params("wait", "t"))
        await began.wait()
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
        await contexts[0].progress(1)
        assert await wire.ask("ping")
        assert reports(wire.messages) == []


async def test_nothing_is_reported_after_the_time_limit() -> None:
    release = threading.Event()
    late = threading.Event()

    @tool(timeout=0.05)
    def slow(ctx: Context) -> str:
        release.wait(20)
        ctx.sync.progress(1)
        late.set()
        return "late"

    async with connected(serving(slow)) as wire:
        answer = await wire.ask("tools/call", params("slow", "t"))
        assert answer["result"]["isError"] is True
        release.set()
        await anyio.to_thread.run_sync(late.wait, 20)
        await wire.ask("ping")
        assert reports(wire.messages) == []


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_calls_side_by_side_report_under_their_own_tokens(revision: str) -> None:
    async with connected(serving(Reports), revision) as wire:
        ids = [
            wire.start("tools/call", params(("report", "report_blocking")[number % 2], number, values=[1, 2, 3]))
            for number in range(10)
        ]
        for id in ids:
            await wire.until(lambda id=id: wire.answer_to(id))
        for number in range(10):
            mine = [report["progress"] for report in reports(wire.messages) if report["progressToken"] == number]
            assert mine == [1, 2, 3]


@pytest.mark.fault(228)
@pytest.mark.parametrize("era", ["modern", "session", "stateless"])
@pytest.mark.parametrize("name", ["report", "report_blocking"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_over_http_reports_come_on_the_stream_of_their_call(era: str, name: str) -> None:
    async with calling(serving(Reports), stateless=era == "stateless") as caller:
        arguments = {"values": [1, 2, 3]}
        if era == "modern":
            exchanges = [
                caller.modern("tools/call", {"name": name, "arguments": arguments}, meta={"progressToken": token})
                for token in (0, "b")
            ]
        else:
            session = await caller.session() if era == "session" else SessionCaller(caller, "none", "2025-11-25")
            exchanges = [session.call(name, arguments, token=token) for token in (0, "b")]
        for exchange, token in zip(exchanges, (0, "b"), strict=True):
            await exchange.done()
            assert [(report["progressToken"], report["progress"]) for report in reports(exchange.messages)] == [
                (token, 1),
                (token, 2),
                (token, 3),
            ]
            assert "result" in exchange.messages[-1]


@pytest.mark.fault(243)
@pytest.mark.parametrize("era", ["modern", "session"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_over_http_nothing_is_reported_after_the_answer(era: str) -> None:
    contexts: list[Context] = []

    @tool
    async def early(ctx: Context) -> str:
        contexts.append(ctx)
        await ctx.progress(1)
        return "early"

    async with calling(serving(early)) as caller:
        if era == "modern":
            exchange = caller.modern("tools/call", {"name": "early"}, meta={"progressToken": 1})
            await exchange.done()
        else:
            session = await caller.session()
            exchange = session.call("early", token=1)
            await exchange.done()
        await contexts[0].progress(2)
        await contexts[0].end_stream()
        await asyncio.sleep(0)
        assert len(reports(exchange.messages)) == 1
        if era == "session":
            resumed = await session.get(exchange.events[0].id).done()
            assert len(reports(resumed.messages)) == 1


class Percent:
    def __float__(self) -> float:
        return 12.5


@pytest.mark.parametrize(
    ("value", "told"), [(Decimal("1.5"), 1.5), (Fraction(3, 2), 1.5), (Percent(), 12.5), (2**60, 2**60)]
)
async def test_a_number_of_any_class_is_told(value: Any, told: float) -> None:
    @tool
    async def work(ctx: Context) -> None:
        await ctx.progress(value, value)

    async with connected(serving(work)) as wire:
        await wire.ask("tools/call", params("work", 1))
        assert [(each["progress"], each["total"]) for each in reports(wire.messages)] == [(told, told)]


@pytest.mark.parametrize(
    "report", [("5",), (None,), (True,), (1j,), (1, "2"), (1, None, 5)], ids=["text", "none", "bool", "complex", "total", "message"]
)  # fmt: skip
@pytest.mark.parametrize("token", [None, 1])
async def test_what_is_no_report_is_the_authors_mistake_whoever_asks(report: Any, token: Any) -> None:
    caught: list[str] = []

    @tool
    async def work(ctx: Context) -> None:
        try:
            await ctx.progress(*report)
        except TypeError as error:
            caught.append(str(error))

    async with connected(serving(work)) as wire:
        await wire.ask("tools/call", params("work", token))
        assert reports(wire.messages) == []
    assert len(caught) == 1


async def test_a_number_beyond_all_bounds_is_not_told() -> None:
    @tool
    async def work(ctx: Context) -> None:
        await ctx.progress(10**400)
        await ctx.progress(1, 10**400)

    async with connected(serving(work)) as wire:
        await wire.ask("tools/call", params("work", 1))
        assert reports(wire.messages) == [{"progressToken": 1, "progress": 1}]
