"""Calls that run again with the answers: an answer counts only for the very question that it was given to."""

import logging
from typing import Any

import anyio
import pytest

from mcpconnect import Context, Elicit, Limits, tool
from tests.interaction.test_asking import ERAS, connecting, conversed, reply, text
from tests.interaction.test_asking_ends import WORD, Asks
from tests.wire import NEWEST, serving

pytestmark = pytest.mark.anyio


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
