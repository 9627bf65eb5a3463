"""Calls that run again with the answers: an answer counts only for the very question that it was given to."""

import contextlib
import logging
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from mcpconnect import Context, Elicit, Limits, McpServer, PeerError, complete, prompt, tool
from tests.interaction.test_asking import CAPABLE, ERAS, connecting, conversed, reply, text
from tests.interaction.test_asking_ends import WORD, Asks
from tests.wire import NEWEST, K, Wire, serving

pytestmark = pytest.mark.anyio


@dataclass
class Inner:
    a: int


@dataclass
class Nested:
    inner: Inner


def changes(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [
        (record.levelno, record.feature)  # type: ignore[attr-defined] # an extra
        for record in caplog.records
        if getattr(record, "event", "") == "questions-changed"
    ]


def accept(_: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"action": "accept", "content": {"a": f"yes to {params['message']}"}}


@pytest.mark.parametrize("named", [False, True])
async def test_an_answer_to_another_question_is_never_taken(named: bool, caplog: pytest.LogCaptureFixture) -> None:
    prices = iter([10, 99, 99])

    @tool
    async def buy(ctx: Context) -> str:
        question = f"Pay {next(prices)}?"
        if named:
            answer = (await ctx.ask(pay=Elicit(question, WORD)))["pay"]
        else:
            answer = await ctx.elicit(question, WORD)
        return str(answer.content["a"])

    async with connecting(NEWEST, serving(buy)) as wire:
        assert text(await conversed(wire, "buy", accept)) == "yes to Pay 99?"
    assert changes(caplog) == [(logging.WARNING, "buy")]


async def test_a_question_that_is_never_the_same_ends_with_an_error_that_says_so() -> None:
    times = iter(range(100))

    @tool
    async def ask_the_time(ctx: Context) -> str:
        return str(await ctx.elicit(f"It is {next(times)}. Well?", WORD))

    async with connecting(NEWEST, serving(ask_the_time, limits=Limits(rounds=3))) as wire:
        final = await conversed(wire, "ask_the_time", accept)
        assert final["error"]["code"] == -32602
        assert "reads differently each time" in final["error"]["message"]
    assert next(times) == 4


@ERAS
async def test_the_same_question_twice_has_two_answers(revision: str) -> None:
    @tool
    async def twice(ctx: Context) -> str:
        return " ".join([(await ctx.elicit("Next?", WORD)).content["a"] for _ in range(2)])

    said = iter(["one", "two"])
    async with connecting(revision, serving(twice)) as wire:
        answers = {"action": "accept", "content": {"a": ""}}
        assert text(await conversed(wire, "twice", lambda *_: {**answers, "content": {"a": next(said)}})) == "one two"


async def test_tasks_may_ask_in_another_order_when_the_call_runs_again() -> None:
    runs: list[int] = []

    @tool
    async def shuffled(ctx: Context) -> str:
        runs.append(1)
        answers: dict[str, str] = {}

        async def child(name: str) -> None:
            answers[name] = (await ctx.elicit(name, WORD)).content["a"]

        async with anyio.create_task_group() as tasks:
            for name in ("one", "two", "three") if len(runs) % 2 else ("three", "two", "one"):
                tasks.start_soon(child, name)
        return ", ".join(answers[name] for name in ("one", "two", "three"))

    async with connecting(NEWEST, serving(shuffled)) as wire:
        assert text(await conversed(wire, "shuffled", accept)) == "yes to one, yes to two, yes to three"


@ERAS
async def test_arguments_that_a_middleware_replaced_do_not_confuse_the_replay(revision: str) -> None:
    @tool
    async def greet(ctx: Context, name: str, title: str = "") -> str:
        answer = await ctx.elicit("Well?", WORD)
        again = await ctx.elicit("And?", WORD)
        return f"{title} {name} {answer.content['a']} {again.content['a']}"

    server = serving(greet)

    @server.middleware.add
    async def titled(call: Any, go: Any) -> Any:
        return await go(call.with_arguments(name="Ada", title="Dr"))

    async with connecting(revision, server) as wire:
        assert text(await conversed(wire, "greet", reply)) == "Dr Ada Bern Bern"


async def test_a_method_that_asks_other_questions_when_it_runs_again_is_named_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    runs: list[int] = []

    @tool
    async def fickle(ctx: Context) -> str:
        runs.append(1)
        if len(runs) == 1:
            await ctx.elicit("Well?", WORD)
        return "done"

    async with connecting(NEWEST, serving(fickle, Asks)) as wire:
        assert text(await conversed(wire, "fickle")) == "done"
        await conversed(wire, "children")
        await conversed(wire, "in_task")
    events = [record for record in caplog.records if getattr(record, "event", "") == "questions-changed"]
    assert [(record.levelno, record.feature) for record in events] == [(logging.WARNING, "fickle")]  # type: ignore[attr-defined] # an extra


async def test_an_answer_that_does_not_fit_is_asked_for_again_and_not_carried_around() -> None:
    bad: dict[str, Any] = {"action": "accept", "content": {"a": ["x"]}}
    good = {"action": "accept", "content": {"a": "x"}}
    async with connecting(NEWEST, serving(Asks)) as wire:
        answers = iter([bad, bad, good])
        assert text(await conversed(wire, "in_task", lambda *_: next(answers))) == "{'a': 'x'}"


async def asked(wire: Wire, name: str, **more: Any) -> dict[str, Any]:
    params = {"name": name, "_meta": {f"{K}clientCapabilities": CAPABLE}, **more}
    return {**params, "requestState": (await wire.ask("tools/call", params))["result"]["requestState"]}


def answered(params: dict[str, Any], kind: str = "elicitation", **content: Any) -> dict[str, Any]:
    return {**params, "inputResponses": {kind: {"action": "accept", "content": content}}}


async def test_one_name_for_several_questions_keeps_their_answers_apart() -> None:
    @tool
    async def clean(ctx: Context) -> str:
        done = []
        for name in ("a", "b"):
            answer = (await ctx.ask(ok=Elicit(f"Delete {name}?", WORD)))["ok"]
            done.append(answer.content["a"])
        return ", ".join(done)

    async with connecting(NEWEST, serving(clean)) as wire:
        assert text(await conversed(wire, "clean", accept)) == "yes to Delete a?, yes to Delete b?"


@ERAS
async def test_a_name_like_a_kind_takes_no_answer_of_another_question(revision: str) -> None:
    @tool
    async def three(ctx: Context) -> str:
        first = await ctx.elicit("one", WORD)
        second = (await ctx.ask(elicitation=Elicit("two", WORD)))["elicitation"]
        third = await ctx.elicit("three", WORD)
        return ", ".join(each.content["a"] for each in (first, second, third))

    async with connecting(revision, serving(three)) as wire:
        assert text(await conversed(wire, "three", accept)) == "yes to one, yes to two, yes to three"


@ERAS
@pytest.mark.parametrize("number", [2**64 - 1, -(2**70), 10**400, 1.5e300])
async def test_any_number_may_be_an_answer(revision: str, number: float) -> None:
    form = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}

    @tool
    async def count(ctx: Context) -> str:
        first = await ctx.elicit("How many?", form)
        second = await ctx.elicit("And then?", form)
        return str(first.content["n"] == second.content["n"] == number)

    @tool
    def count_in_thread(ctx: Context) -> str:
        return str([ctx.sync.elicit(each, form).content["n"] == number for each in ("How many?", "And then?")])

    async with connecting(revision, serving(count, count_in_thread)) as wire:
        reply = {"action": "accept", "content": {"n": number}}
        assert text(await conversed(wire, "count", lambda *_: reply)) == "True"
        assert text(await conversed(wire, "count_in_thread", lambda *_: reply)) == "[True, True]"


@ERAS
@pytest.mark.parametrize("way", ["in_task", "in_thread"])
@pytest.mark.parametrize(
    "bad",
    [
        lambda ask: ask("Well?", Nested),
        lambda ask: ask("Well?", {"type": "object", "properties": {"a": {"default": object()}}}),
    ],
)
async def test_a_question_that_cannot_be_asked_is_an_error_where_it_stands(revision: str, way: str, bad: Any) -> None:
    caught: list[str] = []

    @tool
    async def in_task(ctx: Context) -> str:
        try:
            return str(await bad(ctx.elicit))
        except Exception as error:
            caught.append(type(error).__name__)
            raise

    @tool
    def in_thread(ctx: Context) -> str:
        try:
            return str(bad(ctx.sync.elicit))
        except Exception as error:
            caught.append(type(error).__name__)
            raise

    async with connecting(revision, serving(in_task, in_thread)) as wire:
        assert (await conversed(wire, way))["result"]["isError"] is True
        assert len(caught) == 1
        assert (await conversed(wire, way))["result"]["isError"] is True, "the server goes on"


@pytest.mark.parametrize("threaded", [False, True])
async def test_an_answer_serves_once(threaded: bool) -> None:
    booked: list[str] = []

    @tool
    async def in_task(ctx: Context) -> str:
        booked.append((await ctx.elicit("Book?", WORD)).content["a"])
        return "booked"

    @tool
    def in_thread(ctx: Context) -> str:
        booked.append(ctx.sync.elicit("Book?", WORD).content["a"])
        return "booked"

    async with connecting(NEWEST, serving(in_task, in_thread)) as wire:
        params = answered(await asked(wire, "in_thread" if threaded else "in_task"), a="yes")
        assert text(await wire.ask("tools/call", params)) == "booked"
        again = await wire.ask("tools/call", params)
        assert (again["error"]["code"], again["error"]["message"].partition(":")[0]) == (
            -32602,
            "requestState was used before",
        )
    assert booked == ["yes"]


async def test_an_answer_that_no_call_used_may_come_again() -> None:
    gate = anyio.Event()

    @tool
    async def wait(ctx: Context) -> str:
        await gate.wait()
        return "waited"

    @tool
    async def book(ctx: Context) -> str:
        return str((await ctx.elicit("Book?", WORD)).content["a"])

    async with connecting(NEWEST, serving(wait, book, limits=Limits(concurrent_calls=1))) as wire:
        params = answered(await asked(wire, "book"), a="yes")
        waiting = wire.start("tools/call", {"name": "wait"})
        assert "too many calls" in (await wire.ask("tools/call", params))["error"]["message"]
        gate.set()
        await wire.until(lambda: wire.answer_to(waiting))
        assert text(await wire.ask("tools/call", params)) == "yes"


async def test_the_state_of_a_call_serves_no_other() -> None:
    @tool
    async def book(ctx: Context, seat: int = 0, row: int = 0) -> str:
        return str((await ctx.elicit("Book?", WORD)).content["a"])

    @prompt(name="book")
    async def book_prompt(ctx: Context) -> str:
        return str((await ctx.elicit("Book?", WORD)).content["a"])

    secret = "s" * 32
    server = serving(book, book_prompt, secret=secret)
    async with connecting(NEWEST, server) as wire:
        params = answered(await asked(wire, "book", arguments={"seat": 1, "row": 2}), a="yes")
        refused = "requestState belongs to another call"
        for other in ({"seat": 2, "row": 2}, {"seat": 1}, None):
            answer = await wire.ask("tools/call", {**params, "arguments": other})
            assert answer["error"]["message"] == refused
        answer = await wire.ask("prompts/get", {**params, "arguments": {}})
        assert answer["error"]["message"] == refused
        another = McpServer("another", secret=secret)
        another.register(book)
        async with connecting(NEWEST, another) as elsewhere:
            assert (await elsewhere.ask("tools/call", params))["error"]["message"] == refused
        async with connecting("2025-11-25", server) as before:
            request_id = before.start("tools/call", params)
            question = await before.until(
                lambda: next((m for m in before.messages if m.get("method") == "elicitation/create"), None)
            )
            before.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
            await before.until(lambda: before.answer_to(request_id))
        assert text(await wire.ask("tools/call", {**params, "arguments": {"row": 2, "seat": 1}})) == "yes"


async def test_a_state_gets_too_old() -> None:
    async with connecting(NEWEST, serving(Asks, limits=Limits(state_seconds=0.01))) as wire:
        params = answered(await asked(wire, "in_task"), a="yes")
        await anyio.sleep(0.02)
        assert "too old" in (await wire.ask("tools/call", params))["error"]["message"]


async def test_what_is_sealed_in_another_shape_is_refused_as_any_other() -> None:
    server = serving(Asks)
    for data in (b"", b"{}", b'{"bond":1}', b"\xff"):
        async with connecting(NEWEST, server) as wire:
            params = {"name": "in_task", "_meta": {f"{K}clientCapabilities": CAPABLE}}
            sealed = server.sealer("state").seal(data)
            answer = await wire.ask("tools/call", {**params, "requestState": sealed})
            assert (answer["error"]["code"], "not valid" in answer["error"]["message"]) == (-32602, True)


async def test_answers_of_earlier_rounds_cannot_be_given_anew() -> None:
    @tool
    async def two(ctx: Context) -> str:
        answers = [(await ctx.ask(**{name: Elicit(name, WORD)}))[name].content["a"] for name in ("one", "two")]
        return ", ".join(answers)

    async with connecting(NEWEST, serving(two)) as wire:
        params = answered(await asked(wire, "two"), "one", a="first")
        second = (await wire.ask("tools/call", params))["result"]
        reply = {"action": "accept", "content": {"a": "changed"}}
        params = {**params, "requestState": second["requestState"], "inputResponses": {"one": reply, "two": reply}}
        assert text(await wire.ask("tools/call", params)) == "first, changed"


@pytest.mark.parametrize("way", ["in_task", "in_thread"])
async def test_a_method_that_catches_its_question_is_named_in_the_log(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    @tool
    async def in_task(ctx: Context) -> str:
        with contextlib.suppress(BaseException):
            await ctx.elicit("Well?", WORD)
        return "went on"

    @tool
    def in_thread(ctx: Context) -> str:
        with contextlib.suppress(BaseException):
            ctx.sync.elicit("Well?", WORD)
        return "went on"

    async with connecting(NEWEST, serving(in_task, in_thread)) as wire:
        assert text(await conversed(wire, way)) == "went on"
    events = [record.event for record in caplog.records if hasattr(record, "event")]
    assert events == ["question-swallowed"]


async def test_what_never_fits_is_told_why_in_the_end() -> None:
    async with connecting(NEWEST, serving(Asks, limits=Limits(rounds=2))) as wire:
        bad: dict[str, Any] = {"action": "accept", "content": {"a": 5}}
        message = (await conversed(wire, "in_task", lambda *_: bad))["error"]["message"]
        assert message.startswith("no answer in 2 rounds fits its question (Limits.rounds): $.a: 5 is not")


@pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
async def test_completions_may_only_ask_where_there_is_an_answer_for_it(revision: str) -> None:
    @prompt
    def review(language: str) -> str:
        return language

    @complete("review", "language")
    async def languages(ctx: Context, typed: str) -> list[str]:
        try:
            return [(await ctx.elicit("Which?", WORD)).content["a"]]
        except PeerError as error:
            return [str(error)]

    params: dict[str, Any] = {
        "ref": {"type": "ref/prompt", "name": "review"},
        "argument": {"name": "language", "value": ""},
    }
    async with connecting(revision, serving(review, languages)) as wire:
        if revision == NEWEST:
            answer = await wire.ask("completion/complete", {**params, "_meta": {f"{K}clientCapabilities": CAPABLE}})
            (said,) = answer["result"]["completion"]["values"]
            assert "no question can be the answer to completion/complete" in said
            return
        request_id = wire.start("completion/complete", params)
        question = await wire.until(
            lambda: next((m for m in wire.messages if m.get("method") == "elicitation/create"), None)
        )
        wire.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"a": "py"}}})
        answer = await wire.until(lambda: wire.answer_to(request_id))
        assert answer["result"]["completion"]["values"] == ["py"]


@ERAS
async def test_an_async_method_cannot_wait_in_any_era(revision: str) -> None:
    async with connecting(revision, serving(Asks)) as wire:
        assert "await the context's own method" in text(await conversed(wire, "blocking"))
