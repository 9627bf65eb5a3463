"""A client that lost a stream comes back for what it missed: all of it, once, and nothing else."""

import asyncio
import threading
from typing import Any

import pytest

from mcpconnect import Limits, Tool, tool
from tests.transports.http.caller import Exchange, SessionCaller, calling, settled
from tests.transports.http.tools import another, basic, gated
from tests.wire import PATIENCE, serving

pytestmark = pytest.mark.anyio

OLDER = ["2025-03-26", "2025-06-18"]


def text_of(message: dict[str, Any]) -> str:
    text: str = message["result"]["content"][0]["text"]
    return text


async def dropped(exchange: Exchange) -> str:
    """Leave a response behind its first event, and return that event's id."""
    first = await exchange.event()
    exchange.leave()
    await exchange.done()
    assert first.id
    return first.id


@pytest.mark.fault(221)
@pytest.mark.parametrize("late", [False, True])
async def test_the_answer_of_a_broken_stream_arrives_once(late: bool) -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session()
        event_id = await dropped(session.call("wait", id=5))
        await tools.began.wait()
        if not late:
            tools.gate.set()
            await settled(lambda: tools.ended)
        resumed = session.get(event_id)
        await resumed.until(lambda: resumed.status == 200)
        tools.gate.set()
        messages = (await resumed.done()).messages
        assert [(message["id"], text_of(message)) for message in messages] == [(5, "waited")]
        assert tools.ended == ["finished"], "leaving did not cancel it"
        last = resumed.events[-1].id
        assert (await session.get(last).done()).messages == [], "nothing follows the last event"


async def test_a_client_that_missed_the_end_gets_it_again() -> None:
    """A response may break behind its last byte: the server thinks that all was delivered."""
    async with calling(basic()) as caller:
        session = await caller.session()
        whole = await session.call("steps", token="t").done()
        ids = [event.id for event in whole.events]
        for missed, event_id in enumerate(ids):
            again = await session.get(event_id).done()
            assert again.messages == whole.messages[missed:]
            assert [event.id for event in again.events if event.data] == ids[missed + 1 :]


async def test_a_stream_that_runs_is_taken_over() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session()
        first = session.call("wait", {"progress": True}, token="t")
        primed = await first.event()
        await first.event()
        second = session.get(primed.id)
        await second.until(lambda: len(second.events) == 2)
        await first.done()
        tools.gate.set()
        assert [message.get("method") for message in (await second.done()).messages] == ["notifications/progress", None]
        assert len(first.messages) == 1, "the answer went to one response only"


async def test_a_stream_ended_early_says_when_to_come_back() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session()
        ended = await session.call("pause", {"retry_ms": 700}, id=3, token="t").done()
        primed, progress, retry = ended.events
        assert (primed.data, progress.message["params"]["progress"], retry.retry) == ("", 1, "700")
        assert (retry.id, retry.data) == (None, None)
        assert not tools.gate.is_set(), "the call runs on"
        resumed = session.get(progress.id)
        await resumed.until(lambda: resumed.status == 200)
        tools.gate.set()
        assert [message.get("id", message.get("method")) for message in (await resumed.done()).messages] == [
            "notifications/progress",
            3,
        ]
        assert text_of(resumed.messages[-1]) == "resumed"


async def test_a_stream_ended_early_without_a_time_says_none() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session()
        ended = await session.call("pause", token="t").done()
        assert all(event.retry is None for event in ended.events)
        tools.gate.set()
        assert text_of((await session.get(ended.events[0].id).done()).messages[-1]) == "resumed"


async def test_a_stream_is_ended_early_as_often_as_the_tool_wants() -> None:
    gates = [asyncio.Event() for _ in range(3)]

    class Polled(Tool):
        @tool
        async def poll(self) -> str:
            for number, gate in enumerate(gates):
                await gate.wait()
                await self.ctx.progress(number)
                await self.ctx.end_stream(10)
            return "done"

    async with calling(serving(Polled)) as caller:
        session = await caller.session()
        exchange = session.call("poll", token="t")
        seen: list[Any] = []
        for gate in gates[:2]:
            gate.set()
            await exchange.done()
            seen += [message["params"]["progress"] for message in exchange.messages]
            exchange = session.get(next(event.id for event in reversed(exchange.events) if event.id))
        await exchange.until(lambda: exchange.status)
        gates[2].set()
        await exchange.done()
        assert seen + [message.get("params", {}).get("progress") for message in exchange.messages] in (
            [0, 1, 2, None],
            [0, 1, 2],
        )


async def test_a_method_in_a_thread_may_end_its_stream_early() -> None:
    gate = threading.Event()

    class Threaded(Tool):
        @tool
        def threaded(self) -> str:
            self.ctx.sync.end_stream(20)
            gate.wait(PATIENCE)
            return "done"

    async with calling(serving(Threaded)) as caller:
        session = await caller.session()
        ended = await session.call("threaded").done()
        assert [event.retry for event in ended.events] == [None, "20"]
        gate.set()
        assert text_of((await session.get(ended.events[0].id).done()).messages[-1]) == "done"


@pytest.mark.parametrize("revision", OLDER)
async def test_a_revision_that_cannot_resume_keeps_its_stream(revision: str) -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session(revision)
        exchange = session.call("pause", {"retry_ms": 5}, token="t")
        await tools.began.wait()
        tools.gate.set()
        assert text_of((await exchange.done()).messages[-1]) == "resumed"
        assert all(event.retry is None for event in exchange.events)


@pytest.mark.parametrize("era", ["modern", "json", "stateless"])
async def test_ending_early_does_nothing_where_there_is_nothing_to_resume(era: str) -> None:
    server, tools = gated()
    options = {"json": {"json_response": True}, "stateless": {"stateless": True}}.get(era, {})
    async with calling(server, **options) as caller:
        tools.gate.set()
        if era == "modern":
            exchange = caller.modern("tools/call", {"name": "pause"}, meta={"progressToken": 1})
        elif era == "json":
            exchange = (await caller.session()).call("pause", token="t")
        else:
            exchange = SessionCaller(caller, "none", "2025-11-25").call("pause", token="t")
        assert text_of((await exchange.done()).messages[-1]) == "resumed"


@pytest.mark.parametrize("revision", OLDER)
async def test_older_revisions_resume_a_broken_stream_too(revision: str) -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session(revision)
        event_id = await dropped(session.call("wait", {"progress": True}, token="t"))
        tools.gate.set()
        resumed = await session.get(event_id).done()
        assert [text_of(message) for message in resumed.messages] == ["waited"]


@pytest.mark.fault(220)
async def test_nothing_of_another_session_or_stream_is_replayed() -> None:
    async with calling(basic()) as caller:
        one, two = await caller.session(), await caller.session()
        mine, other = await one.call("hello", {"name": "one"}).done(), await two.call("hello", {"name": "two"}).done()
        second = await one.call("hello", {"name": "again"}).done()
        ids = {event.id for exchange in (mine, other, second) for event in exchange.events}
        assert len(ids) == 6, "ids are unique"
        foreign = await one.get(other.events[0].id).done()
        assert foreign.status == 410
        assert b"two" not in foreign.body
        assert text_of((await one.get(mine.events[0].id).done()).messages[0]) == "Hello one", (
            "and not that of the second call"
        )


FORGED = [
    "nonsense",
    "0",
    "--",
    "a-b-c",
    "{nonce}-1",
    "{nonce}-1-99",
    "{nonce}-99-0",
    "{nonce}--1-0",
    "{nonce}-1-0-0",
    "{nonce}-1-" + "9" * 5000,
    "{nonce}-" + "9" * 5000 + "-1",
    "{nonce}-\u0661-0",
    "x{nonce}-1-0",
]


@pytest.mark.parametrize("forged", FORGED)
async def test_an_event_id_that_leads_nowhere_is_gone(forged: str) -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        called = await session.call("add").done()
        nonce = (called.events[0].id or "").partition("-")[0]
        try:
            answer = await session.get(forged.format(nonce=nonce)).done()
        except UnicodeEncodeError:
            return  # no header can say it
        assert answer.status == 410
        assert (await session.request("ping").done()).status == 200


async def test_an_empty_event_id_opens_the_stream_of_what_belongs_to_no_request() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        stream = session.get("")
        assert (await stream.event()).data == ""


async def test_the_stream_of_what_belongs_to_no_request_is_resumed() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        stream = session.get()
        primed = await stream.event()
        caller.app._server.register(another)
        change = await stream.event()
        stream.leave()
        await stream.done()
        caller.app._server.unregister(another)
        for event_id, count in ((change.id, 1), (primed.id, 2), (change.id, 1)):
            resumed = session.get(event_id)
            for _ in range(count + 1):
                last = await resumed.event()
            assert last.message["method"] == "notifications/tools/list_changed"
            assert len(resumed.events) == count + 1
            resumed.leave()
            await resumed.done()


async def test_another_process_goes_on_with_the_stream_of_what_belongs_to_no_request() -> None:
    secret = "a secret of more than sixteen bytes"
    async with calling(basic(secret=secret)) as one, calling(basic(secret=secret)) as two:
        session = await one.session()
        stream = session.get()
        event_id = (await stream.event()).id
        called = await session.call("add").done()
        elsewhere = SessionCaller(two, session.id, session.revision)
        resumed = elsewhere.get(event_id)
        assert (await resumed.event()).data == ""
        assert (await elsewhere.get(called.events[0].id).done()).status == 410, "an answer is only where the call ran"
        stream.leave()
        await stream.done()


async def test_a_taken_over_stream_of_what_belongs_to_no_request_ends_the_old_response() -> None:
    async with calling(basic()) as caller:
        session = await caller.session()
        first = session.get()
        event_id = (await first.event()).id
        second = session.get(event_id)
        await second.event()
        await first.done()
        caller.app._server.register(another)
        assert (await second.event()).message["method"] == "notifications/tools/list_changed"


@pytest.mark.fault(259)
async def test_what_a_client_may_come_back_for_is_bounded_and_stale_ids_are_gone() -> None:
    server, tools = gated(limits=Limits(stream_messages=100, replay_bytes=15_000))

    class Chatty(Tool):
        @tool
        async def chat(self, name: str) -> str:
            tools.calls += 1
            await tools.gate.wait()
            for value in range(10_000):
                await self.ctx.log("info", value)
            return name

    server.register(Chatty)
    async with calling(server) as caller:
        session = await caller.session()
        ids = []
        for number in range(3):
            exchange = session.call("chat", {"name": str(number)}, token="t")
            ids.append(await dropped(exchange))
        await settled(lambda: tools.calls == 3)
        tools.gate.set()
        (known,) = caller.app.endpoint.sessions
        await settled(lambda: known.connection.live == 0)
        await settled(lambda: caller.app.endpoint.sessions.waiting == 1)
        assert [(await session.get(event_id).done()).status for event_id in ids[:2]] == [410, 410]
        resumed = await session.get(ids[2]).done()
        assert [message["params"]["data"] for message in resumed.messages[:-1]] == list(range(9901, 10_000))
        assert text_of(resumed.messages[-1]) == "2"
        assert caller.app.endpoint.sessions.waiting == 0


async def test_an_answer_that_waits_goes_with_its_session() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session()
        event_id = await dropped(session.call("wait"))
        tools.gate.set()
        await settled(lambda: caller.app.endpoint.sessions.waiting == 1)
        await session.delete()
        assert caller.app.endpoint.sessions.waiting == 0
        assert (await session.get(event_id).done()).status == 404


async def test_a_cancelled_call_of_a_client_that_left_leaves_nothing() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session()
        await dropped(session.call("wait", id=1))
        await tools.began.wait()
        await session.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await settled(lambda: tools.ended == ["cancelled"])
        (known,) = caller.app.endpoint.sessions
        assert list(known._streams) == [0]
        assert caller.app.endpoint.sessions.waiting == 0


async def test_an_answer_of_a_batch_is_resumed_as_a_whole() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session("2025-03-26")
        calls = [
            {
                "jsonrpc": "2.0",
                "id": id,
                "method": "tools/call",
                "params": {
                    "name": name,
                    "arguments": {"progress": True} if name == "wait" else {},
                    "_meta": {"progressToken": id},
                },
            }
            for id, name in ((1, "wait"), (2, "add"))
        ]
        event_id = await dropped(session.send(calls))
        tools.gate.set()
        resumed = await session.get(event_id).done()
        (event,) = resumed.events
        assert sorted(item["id"] for item in event.message) == [1, 2]  # type: ignore[index]
