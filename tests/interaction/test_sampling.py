"""What the client's model is asked: options, tools, conversations; and what its answers may be."""

from typing import Any

import pytest

from mcpconnect import (
    AudioContent,
    Context,
    MissingCapability,
    ModelPreferences,
    PeerError,
    PromptMessage,
    ResourceLink,
    Sample,
    TextContent,
    ToolResult,
    ToolResultBuilder,
    tool,
)
from tests.interaction.test_asking import ERAS, conversed, text
from tests.wire import NEWEST, Wire, connected, serving

pytestmark = pytest.mark.anyio
WEATHER = {"name": "weather", "inputSchema": {"type": "object"}}
WITH_TOOLS = {"sampling": {"tools": {}}}
SAID = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hello"}}


class Model:
    """A client's model: says the given things in turn, and remembers what it was asked."""

    def __init__(self, *said: dict[str, Any]) -> None:
        self.asked: list[dict[str, Any]] = []
        self._said = said

    def __call__(self, _: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(params)
        return self._said[min(len(self.asked), len(self._said)) - 1]


async def talked(wire: Wire, name: str, model: Model, capabilities: Any = None) -> dict[str, Any]:
    return await conversed(wire, name, model, capabilities or {"sampling": {}})


@ERAS
async def test_every_option_reaches_the_client(revision: str) -> None:
    @tool
    async def write(ctx: Context) -> str:
        said = await ctx.sample(
            ["Write a line", PromptMessage("assistant", TextContent("About what?")), "Rain"],
            max_tokens=10,
            system_prompt="Be short",
            temperature=0.5,
            stop_sequences=["."],
            model_preferences=ModelPreferences(hints=("haiku", "mini"), cost=1, speed=0.5, intelligence=0),
            include_context="none",
            metadata={"trace": 1},
        )
        return f"{said.text} by {said.model}"

    model = Model(SAID)
    async with connected(serving(write), revision, capabilities={"sampling": {}}) as wire:
        assert text(await talked(wire, "write", model)) == "hello by m"
    assert model.asked == [
        {
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Write a line"}},
                {"role": "assistant", "content": {"type": "text", "text": "About what?"}},
                {"role": "user", "content": {"type": "text", "text": "Rain"}},
            ],
            "maxTokens": 10,
            "systemPrompt": "Be short",
            "temperature": 0.5,
            "stopSequences": ["."],
            "modelPreferences": {
                "hints": [{"name": "haiku"}, {"name": "mini"}],
                "costPriority": 1,
                "speedPriority": 0.5,
                "intelligencePriority": 0,
            },
            "includeContext": "none",
            "metadata": {"trace": 1},
        }
    ]


@pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
async def test_the_model_uses_tools_and_is_answered_in_one_message(revision: str) -> None:
    @tool
    async def advise(ctx: Context) -> str:
        messages: list[Any] = ["Umbrella?"]
        said = await ctx.sample(messages, tools=[WEATHER], tool_choice="required")
        bern, rome = said.tool_uses
        assert (bern.name, rome.input) == ("weather", {"city": "Rome"})
        built = ToolResultBuilder().add_text("gone").as_error().build()
        messages += [said, bern.answer(ToolResult("wet", structured={"mm": 3})), rome.answer(built)]
        return (await ctx.sample(messages, tools=[WEATHER])).text

    uses = [{"type": "tool_use", "id": city, "name": "weather", "input": {"city": city}} for city in ("Bern", "Rome")]
    model = Model({**SAID, "content": uses, "stopReason": "toolUse"}, SAID)
    async with connected(serving(advise), revision, capabilities=WITH_TOOLS) as wire:
        assert text(await talked(wire, "advise", model, WITH_TOOLS)) == "hello"
    assert model.asked[0]["tools"] == [WEATHER]
    assert model.asked[0]["toolChoice"] == {"mode": "required"}
    assert model.asked[-1]["messages"][1:] == [
        {"role": "assistant", "content": uses},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "toolUseId": "Bern",
                    "content": [{"type": "text", "text": "wet"}],
                    "structuredContent": {"mm": 3},
                },
                {
                    "type": "tool_result",
                    "toolUseId": "Rome",
                    "content": [{"type": "text", "text": "gone"}],
                    "isError": True,
                },
            ],
        },
    ]


@pytest.mark.parametrize(
    ("revision", "capabilities", "wanted"),
    [
        ("2025-06-18", WITH_TOOLS, "sampling.tools"),  # it has no such capability, whatever a client says
        ("2025-11-25", {"sampling": {}}, "sampling.tools"),
        (NEWEST, {"sampling": {}}, "sampling.tools"),
        (NEWEST, {}, "sampling.tools"),
    ],
)
async def test_a_client_that_cannot_take_tools_is_not_given_any(revision: str, capabilities: Any, wanted: str) -> None:
    @tool(errors=(MissingCapability,))
    async def advise(ctx: Context) -> str:
        return (await ctx.sample("Umbrella?", tools=[WEATHER])).text

    model = Model(SAID)
    async with connected(serving(advise), revision, capabilities=capabilities) as wire:
        assert text(await talked(wire, "advise", model, capabilities or {"roots": {}})).endswith(wanted)
    assert model.asked == []


@pytest.mark.parametrize(("revision", "asked"), [("2025-06-18", 1), ("2025-11-25", 0), (NEWEST, 0)])
async def test_other_conversations_are_only_asked_for_where_the_client_shares_them(revision: str, asked: int) -> None:
    @tool(errors=(MissingCapability,))
    async def sum_up(ctx: Context) -> str:
        return (await ctx.sample("Sum up", include_context="allServers")).text

    model = Model(SAID)
    async with connected(serving(sum_up), revision, capabilities={"sampling": {}}) as wire:
        await talked(wire, "sum_up", model)
    assert len(model.asked) == asked


async def test_a_model_that_knows_no_sound_is_not_given_any() -> None:
    @tool(errors=(PeerError,))
    async def listen(ctx: Context) -> str:
        return (await ctx.sample(PromptMessage("user", AudioContent(b"RIFF", "audio/wav")))).text

    for revision, answer in (
        ("2024-11-05", "a client of 2024-11-05 cannot give its model sound"),
        ("2025-03-26", "hello"),
    ):
        async with connected(serving(listen), revision, capabilities={"sampling": {}}) as wire:
            assert text(await talked(wire, "listen", Model(SAID))) == answer


@pytest.mark.parametrize(
    "bad",
    [
        {**SAID, "content": {"type": "text"}},
        {**SAID, "content": [{"type": "text", "text": 1}]},
        {**SAID, "content": {"type": "tool_use", "id": 1, "name": "weather", "input": {}}},
        {**SAID, "content": {"type": "tool_use", "id": "1", "name": "weather"}},
        {**SAID, "content": {"type": ["text"]}},
        {**SAID, "content": None},
        {**SAID, "content": "hello"},
        {**SAID, "content": {"type": "film", "text": "x"}},
        {**SAID, "content": {"type": "image", "mimeType": "image/png"}},
        {**SAID, "content": [SAID["content"], {"type": "tool_result", "toolUseId": "1"}]},
        {**SAID, "model": None},
        {**SAID, "model": {}},
        {**SAID, "role": 5},
        {**SAID, "role": "system"},
        {**SAID, "stopReason": [1]},
    ],
)
async def test_what_is_no_answer_of_a_model_is_never_taken(bad: dict[str, Any]) -> None:
    @tool(errors=(PeerError,))
    async def say(ctx: Context) -> str:
        return (await ctx.sample("Say")).text

    async with connected(serving(say), "2025-11-25", capabilities={"sampling": {}}) as wire:
        assert "does not fit" in text(await talked(wire, "say", Model(bad)))
    async with connected(serving(say), NEWEST) as wire:
        assert text(await talked(wire, "say", Model(bad, SAID))) == "hello"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Sample([3]), "not int"),  # type: ignore[list-item] # on purpose
        (lambda: Sample(PromptMessage("user", ResourceLink("text://a", "a"))), "not ResourceLink"),
    ],
)
def test_what_no_model_can_be_given_is_named(make: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        make()


def test_a_priority_is_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="speed=2"):
        ModelPreferences(speed=2)


@pytest.mark.parametrize("way", ["in_task", "in_thread"])
async def test_a_question_has_its_own_time_limit(way: str) -> None:
    @tool(errors=(PeerError,))
    async def in_task(ctx: Context) -> str:
        return (await ctx.sample("Say", timeout=0.05)).text

    @tool(errors=(PeerError,))
    def in_thread(ctx: Context) -> str:
        return str(ctx.sync.roots(timeout=0.05))

    capabilities: dict[str, Any] = {"sampling": {}, "roots": {}}
    async with connected(serving(in_task, in_thread), "2025-11-25", capabilities=capabilities) as wire:
        final = await conversed(wire, way, lambda *_: None, capabilities)
        assert "did not answer within 0.05 s" in text(final)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"roots": "x"},
        {"roots": [3]},
        {"roots": [{"uri": 3}]},
        {"roots": [{"uri": "https://example.org"}]},
        {"roots": [{"uri": "../../x"}]},
        {"roots": [{"uri": "file:///a", "name": 5}]},
    ],
)
async def test_what_is_no_answer_of_roots_is_never_taken(bad: dict[str, Any]) -> None:
    @tool(errors=(PeerError,))
    async def look(ctx: Context) -> str:
        return str([root.uri for root in await ctx.roots()])

    good = {"roots": [{"uri": "file:///a", "name": "A"}]}
    async with connected(serving(look), "2025-11-25", capabilities={"roots": {}}) as wire:
        assert "does not fit" in text(await conversed(wire, "look", lambda *_: bad, {"roots": {}}))
    async with connected(serving(look), NEWEST) as wire:
        answers = iter([bad, good])
        assert text(await conversed(wire, "look", lambda *_: next(answers), {"roots": {}})) == "['file:///a']"
