"""The part of `everything.py` that asks the client.

One method body serves both eras: until 2025-11-25 a question goes out while the call runs; from 2026-07-28 on the call
ends with it and runs again with the answer, so what has an effect stands after the last question.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from mcpconnect import Elicit, Question, Roots, Sample, Tool, prompt, tool


@dataclass
class Name:
    """Who it is."""

    name: str


@dataclass
class Color:
    """What color."""

    color: str


@dataclass
class Consent:
    """Yes or no."""

    ok: bool


@dataclass
class Context:
    """What it is about."""

    context: str


@dataclass
class User:
    """Whom to register."""

    username: str
    email: str


@dataclass
class Defaults:
    """A form where everything is filled in already."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


CHOICES = ["one", "two", "three"]
TITLED = [{"const": choice, "title": choice.title()} for choice in CHOICES]
ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": CHOICES},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": CHOICES, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": CHOICES}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


class LiveTool(Tool):
    """Questions and logs of a call that runs."""

    @tool
    async def test_tool_with_logging(self) -> str:
        """Log three times."""
        for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await self.ctx.log("info", text)
            await asyncio.sleep(0.05)
        return "Logged."

    @tool
    async def test_sampling(self, prompt: str) -> str:
        """Ask the client's model."""
        return f"LLM response: {(await self.ctx.sample(prompt, max_tokens=100)).text}"

    @tool
    async def test_elicitation(self, message: str) -> str:
        """Ask the client's user."""
        answer = await self.ctx.elicit(message, User)
        return f"User response: {answer.action}, {answer.content}"

    @tool
    async def test_elicitation_sep1034_defaults(self) -> str:
        """Ask with defaults."""
        answer = await self.ctx.elicit("Please check these", Defaults)
        return f"User response: {answer.action}, {answer.content}"

    @tool
    async def test_elicitation_sep1330_enums(self) -> str:
        """Ask for choices of every kind."""
        answer = await self.ctx.elicit("Please choose", ENUMS)
        return f"User response: {answer.action}, {answer.content}"


class RoundsTool(Tool):
    """Calls that end with a question and run again with its answer."""

    @tool
    async def test_input_required_result_elicitation(self) -> str:
        """Ask for a name."""
        answers = await self.ctx.ask(user_name=Elicit("What is your name?", Name))
        name = answers["user_name"]
        return f"Hello, {name.content.name}!" if name else "Hello, whoever you are!"

    @tool
    async def test_input_required_result_sampling(self) -> str:
        """Ask the client's model."""
        question = Sample("What is the capital of France?", max_tokens=100)
        return f"The client says: {(await self.ctx.ask(capital_question=question))['capital_question'].text}"

    @tool
    async def test_input_required_result_list_roots(self) -> str:
        """Ask for the client's roots."""
        roots = (await self.ctx.ask(client_roots=Roots()))["client_roots"]
        return ", ".join(root.uri for root in roots) or "no roots"

    @tool
    async def test_input_required_result_request_state(self) -> str:
        """Ask for consent; the state travels with the client."""
        return "state-ok" if (await self.ctx.ask(confirm=Elicit("All right?", Consent)))["confirm"] else "no"

    @tool
    async def test_input_required_result_tampered_state(self) -> str:
        """Ask for consent; a state that was changed is refused."""
        return "done" if (await self.ctx.ask(confirm=Elicit("All right?", Consent)))["confirm"] else "no"

    @tool
    async def test_input_required_result_multiple_inputs(self) -> str:
        """Ask three things at once."""
        answers = await self.ctx.ask(
            user_name=Elicit("What is your name?", Name),
            greeting=Sample("Generate a greeting", max_tokens=50),
            client_roots=Roots(),
        )
        return f"{answers['greeting'].text} {answers['user_name'].content}, {len(answers['client_roots'])} roots"

    @tool
    async def test_input_required_result_multi_round(self) -> str:
        """Ask one thing after the other."""
        first = (await self.ctx.ask(step1=Elicit("What is your name?", Name)))["step1"]
        second = (await self.ctx.ask(step2=Elicit("Which color do you like?", Color)))["step2"]
        return f"{first.content} {second.content}"

    @tool
    async def test_input_required_result_capabilities(self) -> str:
        """Ask only what the client can answer."""
        questions: dict[str, Question[Any]] = {}
        if self.ctx.client.can("sampling"):
            questions["greeting"] = Sample("Generate a greeting", max_tokens=50)
        if self.ctx.client.can("elicitation"):
            questions["user_name"] = Elicit("What is your name?", Name)
        return f"{len(await self.ctx.ask(**questions))} answers"

    @prompt
    async def test_input_required_result_prompt(self) -> str:
        """A prompt that asks before it says something."""
        answer = (await self.ctx.ask(user_context=Elicit("What is it about?", Context)))["user_context"]
        return f"Please explain: {answer.content.context}" if answer else "Please explain."
