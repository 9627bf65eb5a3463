"""Asking the client: one method body, both eras."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

import pytest
from marshmallow import validate

from mcpconnect import Context, Elicit, Limits, PeerError, Roots, Sample, Tool, UrlElicitationRequired, tool
from tests.wire import NEWEST, K, Wire, connected, serving

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", NEWEST])
CAPABLE = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class Meal(Enum):
    FISH = "fish"
    VEGAN = "vegan"


@dataclass
class Seats:
    count: Annotated[int, "How many", validate.Range(min=1, max=9)]
    meal: Meal = Meal.FISH
    window: bool = False
    extras: list[Meal] = field(default_factory=list)


class Booking(Tool):
    runs: list[str] = []

    @tool
    async def book(self) -> str:
        self.runs.append("book")
        answer = await self.ctx.elicit("How many seats?", Seats)
        if not answer:
            return f"not booked: {answer.action}"
        seats = answer.content
        return f"booked {seats.count} {seats.meal.name} {seats.window}"

    @tool
    def book_in_thread(self) -> str:
        answer = self.ctx.sync.elicit("How many seats?", Seats)
        return f"booked {answer.content.count}" if answer else "not booked"

    @tool
    async def twice(self) -> str:
        first = await self.ctx.elicit(
            "First?", {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
        )
        second = await self.ctx.sample(f"Say something about {first.content['a']}", max_tokens=50)
        roots = await self.ctx.roots()
        return f"{first.content['a']}, {second.text}, {[root.uri for root in roots]}"

    @tool
    async def together(self) -> str:
        answers = await self.ctx.ask(seats=Elicit("How many?", Seats), words=Sample("Say hello"), roots=Roots())
        return f"{answers['seats'].content.count} {answers['words'].text} {len(answers['roots'])}"

    @tool
    async def page(self) -> str:
        answer = await self.ctx.elicit("Log in there", url="https://example.org/login")
        return answer.action

    @tool(errors=(PeerError,))
    async def careful(self) -> str:
        return str((await self.ctx.elicit("How many?", Seats)).action)


def reply(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Answer as a good client does."""
    if method == "elicitation/create":
        filled = {"count": 2, "meal": "vegan", "a": "Bern"}
        asked = params["requestedSchema"]["properties"]
        return {"action": "accept", "content": {name: filled[name] for name in filled if name in asked}}
    if method == "sampling/createMessage":
        return {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}
    return {"roots": [{"uri": "file:///home"}]}


async def conversed(wire: Wire, name: str, answers: Any = None, capabilities: Any = None) -> dict[str, Any]:
    """Call a tool, answer what it asks in the way of the revision, and return the final message."""
    answers = answers or reply
    if wire.revision != NEWEST:
        request_id = wire.start("tools/call", {"name": name})
        answered: set[str] = set()
        while True:
            await wire.until(
                lambda: (
                    wire.answer_to(request_id)
                    or any(
                        m.get("method", "").count("/") == 1 and "id" in m and m["id"] not in answered
                        for m in wire.messages
                    )
                )
            )
            final = wire.answer_to(request_id)
            if final is not None:
                return final
            for message in [m for m in wire.messages if "method" in m and "id" in m and m["id"] not in answered]:
                answered.add(message["id"])
                result = answers(message["method"], message["params"])
                if result is not None:
                    wire.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
    meta = {f"{K}clientCapabilities": CAPABLE if capabilities is None else capabilities}
    params: dict[str, Any] = {"name": name, "_meta": meta}
    while True:
        final = await wire.ask("tools/call", params)
        if final.get("result", {}).get("resultType") != "input_required":
            return final
        asked = final["result"]["inputRequests"]
        given = {key: answers(question["method"], question["params"]) for key, question in asked.items()}
        params = {**params, "inputResponses": given, "requestState": final["result"]["requestState"]}


def text(message: dict[str, Any]) -> str:
    return str(message["result"]["content"][0]["text"])


def connecting(revision: str, server: Any) -> Any:
    return connected(server, revision, capabilities=CAPABLE)


@ERAS
async def test_a_form_comes_back_as_its_dataclass(revision: str) -> None:
    async with connecting(revision, serving(Booking)) as wire:
        assert text(await conversed(wire, "book")) == "booked 2 VEGAN False"
        assert text(await conversed(wire, "book_in_thread")) == "booked 2"


@ERAS
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_refusal_is_an_answer(action: str, revision: str) -> None:
    async with connecting(revision, serving(Booking)) as wire:
        assert text(await conversed(wire, "book", lambda *_: {"action": action})) == f"not booked: {action}"


@pytest.mark.fault(244)
@ERAS
async def test_one_question_after_the_other_and_several_at_once(revision: str) -> None:
    async with connecting(revision, serving(Booking)) as wire:
        assert text(await conversed(wire, "twice")) == "Bern, hello, ['file:///home']"
        assert text(await conversed(wire, "together")) == "2 hello 1"


@ERAS
async def test_a_page_is_opened_where_the_client_can(revision: str) -> None:
    async with connecting(revision, serving(Booking)) as wire:
        if revision != "2025-06-18":
            assert text(await conversed(wire, "page", lambda *_: {"action": "accept"})) == "accept"


async def test_the_form_is_described_for_people() -> None:
    async with connecting("2025-11-25", serving(Booking)) as wire:
        await conversed(wire, "book")
        asked = next(message for message in wire.messages if message.get("method") == "elicitation/create")
        assert asked["params"]["message"] == "How many seats?"
        schema = asked["params"]["requestedSchema"]
        assert schema["required"] == ["count"]
        assert schema["properties"]["count"] == {
            "type": "integer",
            "description": "How many",
            "minimum": 1,
            "maximum": 9,
        }
        assert schema["properties"]["meal"] == {"type": "string", "enum": ["fish", "vegan"], "default": "fish"}
        assert schema["properties"]["extras"]["items"] == {"type": "string", "enum": ["fish", "vegan"]}


@pytest.mark.parametrize(
    "bad", [12345, None, {}, {"action": "accept"}, {"action": "accept", "content": {"count": 99}}, {"action": "maybe"}]
)
async def test_an_answer_that_does_not_fit_is_asked_for_again_or_an_error(bad: object) -> None:
    async with connecting(NEWEST, serving(Booking)) as wire:
        meta = {f"{K}clientCapabilities": CAPABLE}
        params = {"name": "book", "_meta": meta, "inputResponses": {"elicitation": bad}}
        assert (await wire.ask("tools/call", params))["result"]["resultType"] == "input_required"
        params["inputResponses"] = None
        assert (await wire.ask("tools/call", params))["result"]["resultType"] == "input_required"
    if isinstance(bad, dict):
        async with connecting("2025-11-25", serving(Booking)) as wire:
            assert "does not fit" in text(await conversed(wire, "careful", lambda *_: bad))


async def test_the_clients_error_fails_the_question_at_once() -> None:
    async with connecting("2025-11-25", serving(Booking)) as wire:
        request_id = wire.start("tools/call", {"name": "careful"})
        asked = await wire.until(
            lambda: next((m for m in wire.messages if m.get("method") == "elicitation/create"), None)
        )
        wire.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "the user said no"}})
        assert text(await wire.until(lambda: wire.answer_to(request_id))) == "the user said no"


@pytest.mark.fault(245)
async def test_a_client_that_never_answers_blocks_nobody_and_times_out() -> None:
    async with connecting("2025-11-25", serving(Booking, limits=Limits(answer_seconds=0.1))) as wire:
        request_id = wire.start("tools/call", {"name": "careful"})
        assert (await wire.ask("ping"))["result"] == {}
        assert "did not answer" in text(await wire.until(lambda: wire.answer_to(request_id)))
        assert any(message.get("method") == "notifications/cancelled" for message in wire.messages)


@ERAS
async def test_a_missing_capability_is_an_error_that_names_it(revision: str) -> None:
    async with connected(serving(Booking), revision) as wire:
        error = (await conversed(wire, "book", capabilities={}))["error"]
        assert error["data"] == {"requiredCapabilities": {"elicitation": {}}}
        assert error["code"] == (-32021 if revision == NEWEST else -32600)


async def test_the_state_is_bound_to_its_call_and_cannot_be_changed() -> None:
    async with connecting(NEWEST, serving(Booking)) as wire:
        meta = {f"{K}clientCapabilities": CAPABLE}
        first = (await wire.ask("tools/call", {"name": "twice", "_meta": meta}))["result"]
        state = first["requestState"]
        answers = {
            key: reply(question["method"], question["params"]) for key, question in first["inputRequests"].items()
        }
        for name, changed in (
            ("twice", state + "-TAMPERED"),
            ("twice", state[:-1]),
            ("twice", 5),
            ("book", state),
            ("twice", "A" * len(state)),
        ):
            params = {"name": name, "_meta": meta, "inputResponses": answers, "requestState": changed}
            assert (await wire.ask("tools/call", params))["error"]["code"] == -32602
        params = {"name": "twice", "_meta": meta, "inputResponses": answers, "requestState": state}
        again = (await wire.ask("tools/call", params))["result"]
        assert again["resultType"] == "input_required"
        assert again["requestState"] != state


async def test_rounds_are_bounded() -> None:
    async with connecting(NEWEST, serving(Booking, limits=Limits(rounds=2))) as wire:
        final = await conversed(wire, "twice")
        assert final["error"]["code"] == -32602
        assert "Limits.rounds" in final["error"]["message"]


async def test_code_before_a_question_runs_again() -> None:
    Booking.runs.clear()
    async with connecting(NEWEST, serving(Booking)) as wire:
        await conversed(wire, "book")
    assert Booking.runs == ["book", "book"]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
async def test_what_a_revision_does_not_have_is_missing_whatever_the_client_says(revision: str) -> None:
    async with connecting(revision, serving(Booking)) as wire:
        assert (await conversed(wire, "book"))["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}
    async with connecting("2025-06-18", serving(Booking)) as wire:
        required = {"elicitation": {"url": {}}}
        assert (await conversed(wire, "page"))["error"]["data"] == {"requiredCapabilities": required}


async def test_an_old_client_is_not_asked_for_several_choices() -> None:
    async with connecting("2025-06-18", serving(Booking)) as wire:
        await conversed(wire, "book")
        asked = next(message for message in wire.messages if message.get("method") == "elicitation/create")
        assert "mode" not in asked["params"]
        assert list(asked["params"]["requestedSchema"]["properties"]) == ["count", "meal", "window"]


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", NEWEST])
async def test_a_page_that_has_to_be_opened_first_is_an_error_of_one_revision(revision: str) -> None:
    ids: list[str] = []

    @tool
    async def connect(done: bool, ctx: Context) -> str:
        if done:
            await ctx.elicitation_complete(ids[0])
            return "connected"
        error = UrlElicitationRequired("Connect your account first", "https://example.org/connect")
        ids.append(error.id)
        raise error

    async with connecting(revision, serving(connect)) as wire:
        error = (await wire.ask("tools/call", {"name": "connect", "arguments": {"done": False}}))["error"]
        assert error["code"] == (-32042 if revision == "2025-11-25" else -32600)
        if revision == "2025-11-25":
            (page,) = error["data"]["elicitations"]
            assert (page["mode"], page["url"], page["elicitationId"]) == ("url", "https://example.org/connect", ids[0])
        assert await wire.texts("connect", {"done": True}) == ["connected"]
        told = [each for each in wire.messages if each.get("method") == "notifications/elicitation/complete"]
        assert [each["params"]["elicitationId"] for each in told] == (ids if revision == "2025-11-25" else [])
