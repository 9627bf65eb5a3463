"""Questions that are not answered, or answered in strange ways; and calls that end while they ask."""

import threading
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from mcpconnect import Context, Elicit, Limits, PeerError, Roots, Tool, tool
from tests.interaction.test_asking import CAPABLE, ERAS, connecting, conversed, text
from tests.wire import NEWEST, K, Wire, connected, serving

pytestmark = pytest.mark.anyio
WORD = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
kept: list[Any] = []


class Asks(Tool):
    @tool
    def in_thread(self) -> str:
        try:
            return str(self.ctx.sync.elicit("Well?", WORD).content)
        except PeerError as error:
            kept.append(str(error))
            raise

    @tool
    async def in_task(self) -> str:
        try:
            return str((await self.ctx.elicit("Well?", WORD)).content)
        except PeerError as error:
            kept.append(str(error))
            raise

    @tool(errors=(PeerError,))
    async def both(self) -> str:
        return str(await self.ctx.ask(first=Elicit("One?", WORD), second=Roots()))

    @tool(errors=(PeerError,))
    def both_in_thread(self) -> str:
        return str(self.ctx.sync.ask(first=Elicit("One?", WORD), second=Roots()))

    @tool(timeout=0.2)
    def hurried(self) -> str:
        return str(self.ctx.sync.elicit("Well?", WORD).content)

    @tool(errors=(RuntimeError,))
    async def blocking(self) -> str:
        return str(self.ctx.sync.elicit("Well?", WORD))

    @tool
    async def nothing(self) -> str:
        return str(await self.ctx.ask())

    @tool
    async def keep(self) -> str:
        kept.append(self.ctx)
        return "kept"

    @tool
    async def children(self) -> str:
        answers: dict[str, str] = {}

        async def child(name: str) -> None:
            answers[name] = (await self.ctx.ask(**{name: Elicit(name, WORD)}))[name].content["a"]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child, "one")
            tasks.start_soon(child, "two")
        return " ".join(f"{name} {answers[name]}" for name in sorted(answers))


@pytest.fixture(autouse=True)
def forgotten() -> None:
    kept.clear()


async def question(wire: Wire, method: str = "elicitation/create", after: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = await wire.until(
        lambda: next((m for m in wire.messages[after:] if m.get("method") == method and "id" in m), None)
    )
    return found


def withdrawn(wire: Wire) -> list[Any]:
    return [m["params"]["requestId"] for m in wire.messages if m.get("method") == "notifications/cancelled"]


@pytest.mark.parametrize("name", ["in_task", "in_thread"])
async def test_a_cancelled_call_withdraws_its_question_and_frees_its_thread(name: str) -> None:
    limits = Limits(threads=1)
    async with connecting("2025-11-25", serving(Asks, limits=limits)) as wire:
        request_id = wire.start("tools/call", {"name": name})
        asked = await question(wire)
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
        await wire.until(lambda: withdrawn(wire) == [asked["id"]])
        before = len(wire.messages)
        second = wire.start("tools/call", {"name": "in_thread"})
        again = await question(wire, after=before)
        wire.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"a": "late"}}})
        wire.send({"jsonrpc": "2.0", "id": again["id"], "result": {"action": "accept", "content": {"a": "mine"}}})
        assert "mine" in text(await wire.until(lambda: wire.answer_to(second)))
        assert wire.answer_to(request_id) is None
        assert kept == ([] if name == "in_task" else ["cannot ask the client: the call has ended"])


async def test_a_call_that_takes_too_long_withdraws_its_question() -> None:
    async with connecting("2025-11-25", serving(Asks, limits=Limits(threads=1))) as wire:
        request_id = wire.start("tools/call", {"name": "hurried"})
        asked = await question(wire)
        assert (await wire.until(lambda: wire.answer_to(request_id)))["result"]["isError"] is True
        assert withdrawn(wire) == [asked["id"]]
        assert wire.messages[-1].get("id") == request_id, "the answer is the last word"
        assert text(await conversed(wire, "in_thread")) == "{'a': 'Bern'}"


@pytest.mark.parametrize("name", ["both", "both_in_thread"])
async def test_one_error_of_several_fails_at_once_and_withdraws_the_others(name: str) -> None:
    async with connecting("2025-11-25", serving(Asks)) as wire:
        request_id = wire.start("tools/call", {"name": name})
        first, second = await question(wire), await question(wire, "roots/list")
        wire.send({"jsonrpc": "2.0", "id": second["id"], "error": {"code": -32000, "message": "no roots today"}})
        assert text(await wire.until(lambda: wire.answer_to(request_id))) == "no roots today"
        assert withdrawn(wire) == [first["id"]]


async def test_the_time_limit_is_for_all_questions_together() -> None:
    async with connecting("2025-11-25", serving(Asks, limits=Limits(answer_seconds=0.3))) as wire:
        for name in ("both", "both_in_thread"):
            request_id = wire.start("tools/call", {"name": name})
            assert "did not answer" in text(await wire.until(lambda id=request_id: wire.answer_to(id)))
        assert len(withdrawn(wire)) == 4


async def test_strange_answers_belong_to_nobody() -> None:
    async with connecting("2025-11-25", serving(Asks)) as wire:
        request_id = wire.start("tools/call", {"name": "in_task"})
        asked = await question(wire)
        good = {"action": "accept", "content": {"a": "first"}}
        for strange in (None, True, 1, "ask-99", "", "ask-01", [asked["id"]], {"id": asked["id"]}):
            wire.send({"jsonrpc": "2.0", "id": strange, "result": good})
        assert (await wire.ask("ping"))["result"] == {}
        assert wire.answer_to(request_id) is None
        for said in ("first", "second"):
            wire.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"a": said}}})
        assert text(await wire.until(lambda: wire.answer_to(request_id))) == "{'a': 'first'}"


@pytest.mark.parametrize(
    "bad",
    [
        {"action": "accept", "content": {"a": ["x"] * 10_000}},
        {"action": "accept", "content": {"a": {"a": {"a": "b"}}}},
        {"action": ["accept"], "content": {"a": "x"}},
        {"action": {"accept": 1}},
        {"action": "accept", "content": [["a", "x"]]},
        {"action": "accept", "content": {}},
        {},
    ],
)
async def test_hostile_answers_never_reach_the_method(bad: dict[str, Any]) -> None:
    async with connecting("2025-11-25", serving(Asks)) as wire:
        await conversed(wire, "in_task", lambda *_: bad)
        assert len(kept) == 1
        assert "does not fit" in kept[0]
    async with connecting(NEWEST, serving(Asks)) as wire:
        given = {"name": "in_task", "_meta": {f"{K}clientCapabilities": CAPABLE}}
        (key,) = (await wire.ask("tools/call", given))["result"]["inputRequests"]
        answer = await wire.ask("tools/call", {**given, "inputResponses": {key: bad}})
        assert answer["result"]["resultType"] == "input_required"


@pytest.mark.parametrize("name", ["in_task", "in_thread"])
@pytest.mark.parametrize(
    "broken",
    [
        {"result": 5},
        {"result": None},
        {"error": {"code": -1}},
        {"error": "boom"},
        {"error": None},
        {"result": {}, "error": {"code": 1, "message": "m"}},
    ],
)
async def test_a_broken_reply_fails_the_question_at_once(name: str, broken: dict[str, Any]) -> None:
    async with connecting("2025-11-25", serving(Asks)) as wire:
        request_id = wire.start("tools/call", {"name": name})
        asked = await question(wire)
        wire.send({"jsonrpc": "2.0", "id": asked["id"], **broken})
        await wire.until(lambda: wire.answer_to(request_id))
        assert kept[0].startswith("Invalid response")


async def test_a_large_answer_is_taken_whole() -> None:
    large = "ü" * 1_000_000
    said = {"action": "accept", "content": {"a": large}}
    for revision in ("2025-11-25", NEWEST):
        async with connecting(revision, serving(Asks)) as wire:
            assert text(await conversed(wire, "in_task", lambda *_: said)) == str({"a": large})


@ERAS
async def test_no_questions_need_no_answers(revision: str) -> None:
    async with connecting(revision, serving(Asks)) as wire:
        assert text(await conversed(wire, "nothing")) == "{}"


@ERAS
async def test_a_context_whose_call_has_ended_is_silent_and_asks_nobody(revision: str) -> None:
    async with connecting(revision, serving(Asks)) as wire:
        meta = {"progressToken": 1, f"{K}logLevel": "debug", f"{K}clientCapabilities": CAPABLE}
        await wire.ask("tools/call", {"name": "keep", "_meta": meta})
        (context,) = kept
        assert isinstance(context, Context)
        before = len(wire.messages)
        await context.progress(1)
        await context.log("error", "late")
        with pytest.raises(PeerError, match="the call has ended"):
            await context.elicit("Late?", WORD)
        with pytest.raises(PeerError, match="the call has ended"):
            await anyio.to_thread.run_sync(lambda: context.sync.roots())
        assert len(wire.messages) == before


@ERAS
async def test_tasks_of_one_call_ask_beside_each_other(revision: str) -> None:
    def answers(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": {"a": params["message"].upper()}}

    async with connecting(revision, serving(Asks)) as wire:
        assert text(await conversed(wire, "children", answers)) == "one ONE two TWO"


async def test_many_threads_that_ask_get_their_own_answers() -> None:
    gate = threading.Barrier(20)

    @tool
    def echo(ctx: Context, number: int) -> str:
        gate.wait(20)
        said = "".join(ctx.sync.elicit(f"{number}", WORD).content["a"] for _ in range(20))
        return f"{number} {said}"

    async with connecting("2025-11-25", serving(echo)) as wire:
        ids = {n: wire.start("tools/call", {"name": "echo", "arguments": {"number": n}}) for n in range(20)}
        seen = 0
        asked: set[str] = set()
        while len(asked) < 400:
            await wire.until(lambda: len(wire.messages) > seen)  # noqa: B023 - used at once
            for message in wire.messages[seen:]:
                if message.get("method") == "elicitation/create":
                    assert message["id"] not in asked
                    asked.add(message["id"])
                    said = {"action": "accept", "content": {"a": f"<{message['params']['message']}>"}}
                    wire.send({"jsonrpc": "2.0", "id": message["id"], "result": said})
                seen += 1
        for n, request_id in ids.items():
            answer = await wire.until(lambda id=request_id: wire.answer_to(id))
            assert text(answer) == f"{n} " + f"<{n}>" * 20


def questions(wire: Wire) -> list[str]:
    return [m["method"] for m in wire.messages if m.get("method", "").count("/") == 1 and "id" in m]


async def test_nothing_is_asked_if_one_of_several_cannot_be() -> None:
    async with connected(serving(Asks), "2025-11-25", capabilities={"elicitation": {}}) as wire:
        error = (await wire.ask("tools/call", {"name": "both"}))["error"]
        assert error["data"] == {"requiredCapabilities": {"roots": {}}}
        assert questions(wire) == []


@ERAS
async def test_a_client_that_only_opens_pages_is_shown_no_forms(revision: str) -> None:
    capabilities = {"elicitation": {"url": {}}}
    async with connected(serving(Asks), revision, capabilities=capabilities) as wire:
        error = (await conversed(wire, "in_task", None, capabilities))["error"]
        assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
        assert questions(wire) == []


@ERAS
async def test_a_form_is_read_as_leniently_as_arguments_are(revision: str) -> None:
    @dataclass
    class Seats:
        count: int
        window: bool = False

    @tool
    async def seats(ctx: Context) -> str:
        return str((await ctx.elicit("How many?", Seats)).content)

    async with connecting(revision, serving(seats)) as wire:
        said = {"action": "accept", "content": {"count": "2", "window": "true"}}
        assert "count=2, window=True" in text(await conversed(wire, "seats", lambda *_: said))


@pytest.mark.parametrize("name", ["in_task", "in_thread"])
async def test_a_connection_that_closes_leaves_no_question_open(name: str) -> None:
    ended = threading.Event()

    class Ends(Asks):
        @tool
        def last(self) -> str:
            try:
                return self.in_thread()
            finally:
                ended.set()

    async with connecting("2025-11-25", serving(Ends)) as wire:
        wire.start("tools/call", {"name": "last" if name == "in_thread" else name})
        await question(wire)
    if name == "in_thread":
        assert await anyio.to_thread.run_sync(ended.wait, 5)
    assert len(kept) == (1 if name == "in_thread" else 0)
