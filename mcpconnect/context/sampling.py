"""`Sample`: what the client's model says to some messages, and the tools that it may ask for on the way.

Rule: a message is whatever a conversation is made of: a text, a `PromptMessage`, what the model said before, the answer
to a tool that it used. The model's own tools are not the server's: the method runs them and gives back what came out.

Source: the specification's page *Sampling*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ..content import UNSET, AudioContent, ContentList, ImageContent, PromptMessage, TextContent, ToolResult
from ..errors import PeerError
from ..protocol import names
from ..protocol.peer import Peer
from ..protocol.wire import dump
from ..serialization import Serializer
from .questions import Capability, Question, Unusable


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What came of a tool that the client's model used; goes back as a message behind what the model said."""

    tool_use_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the client's model wants to use: one of those that `Sample(tools=…)` offered."""

    id: str
    name: str
    input: Mapping[str, Any]

    def answer(self, result: Any, *, is_error: bool = False) -> ToolAnswer:
        """Return the message that tells the model what came of it.

        `result` is a text, a content block, several of them, or a `ToolResult`.
        """
        if isinstance(result, ToolResult):
            return ToolAnswer(self.id, result)
        if isinstance(result, ContentList):
            return ToolAnswer(self.id, ToolResult(result, result.structured, result.is_error or is_error))
        return ToolAnswer(self.id, ToolResult(result, is_error=is_error))


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the client's model said: its parts as JSON objects, and why it stopped."""

    parts: tuple[dict[str, Any], ...]
    model: str
    role: str = "assistant"
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """The texts among the parts, a line each."""
        return "\n".join(part["text"] for part in self.parts if part.get("type") == "text")

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The tools that the model wants to use; each needs its answer in the messages that follow."""
        return tuple(
            ToolUse(part["id"], part["name"], part["input"]) for part in self.parts if part["type"] == "tool_use"
        )


@dataclass(frozen=True, slots=True)
class ModelPreferences:
    """Which model the server would like; the client decides.

    `hints` are names or parts of names, the best first; the priorities are from 0 to 1.

    Raises:
        ValueError: a priority is not between 0 and 1.
    """

    hints: tuple[str, ...] = ()
    cost: float | None = None
    speed: float | None = None
    intelligence: float | None = None

    def __post_init__(self) -> None:
        for name in ("cost", "speed", "intelligence"):
            priority = getattr(self, name)
            if not (priority is None or 0 <= priority <= 1):
                raise ValueError(f"ModelPreferences({name}={priority!r}): a priority is between 0 and 1")

    def params(self) -> dict[str, Any]:
        """Return the wire form."""
        return _given(
            hints=[{"name": hint} for hint in self.hints] or None,
            costPriority=self.cost,
            speedPriority=self.speed,
            intelligencePriority=self.intelligence,
        )


_PARTS: Final[Mapping[str, Mapping[str, type]]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"toolUseId": str, "content": list},
}
_HEARD = (TextContent, ImageContent, AudioContent)
SamplingMessage: TypeAlias = str | PromptMessage | Sampled | ToolAnswer


class Sample(Question[Sampled]):
    """Asks the client's model to go on from some messages; texts are what the user said.

    `tools` are definitions as in `tools/list`, and only for clients that can take them. `include_context` asks for
    messages of other conversations to be added; the specification advises against it. `timeout` is in seconds.

    Raises:
        TypeError: a message is none.
    """

    method = names.SAMPLE
    capability = ("sampling",)

    def __init__(
        self,
        messages: SamplingMessage | Iterable[SamplingMessage],
        *,
        max_tokens: int = 1000,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Iterable[str] = (),
        model_preferences: ModelPreferences | None = None,
        include_context: Literal["none", "thisServer", "allServers"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tools: Iterable[Mapping[str, Any]] = (),
        tool_choice: Literal["auto", "required", "none"] | None = None,
        timeout: float | None = None,
    ) -> None:
        self.messages = [messages] if isinstance(messages, SamplingMessage) else list(messages)
        for message in self.messages:
            _check_message(message)
        self.tools = list(tools)
        self.include_context = include_context
        self.timeout = timeout
        self._options = _given(
            maxTokens=max_tokens,
            systemPrompt=system_prompt,
            temperature=temperature,
            stopSequences=list(stop_sequences) or None,
            modelPreferences=None if model_preferences is None else model_preferences.params(),
            includeContext=include_context,
            metadata=None if metadata is None else dict(metadata),
            tools=self.tools or None,
            toolChoice=None if tool_choice is None else {"mode": tool_choice},
        )

    def needs(self, peer: Peer) -> Iterable[Capability]:
        """Return that the client's model can be asked, with tools and other conversations if they are wanted."""
        if self.tools or any(isinstance(each, ToolAnswer) for each in self.messages):
            yield ("sampling", "tools"), names.SAMPLE_TOOLS
        # Before there were capabilities within sampling, context could be asked of any client.
        if self.include_context not in (None, "none") and peer.revision.has(names.SAMPLE_TOOLS):
            yield ("sampling", "context"), self.method
        yield from super().needs(peer)

    def params(self, peer: Peer, serializer: Serializer) -> dict[str, Any]:
        """Return the messages and the options that were given.

        Raises:
            PeerError: the revision has no place for sound.
        """
        heard = any(isinstance(m, PromptMessage) and isinstance(m.content, AudioContent) for m in self.messages)
        if heard and not peer.revision.has(names.SAMPLE_AUDIO):
            raise PeerError(f"a client of {peer.revision.version} cannot give its model sound")
        any_structured = peer.revision.has(names.ANY_STRUCTURED)
        return {"messages": list(_dumped(self.messages, serializer, any_structured)), **self._options}

    def read(self, result: Any, serializer: Serializer) -> Sampled:  # noqa: ARG002 - nothing to load
        """Return what the model said."""
        if not isinstance(result, dict):
            raise Unusable("the answer is no object")
        for member, given in (("model", result.get("model")), ("stopReason", result.get("stopReason", ""))):
            if not isinstance(given, str):
                raise Unusable(f"the answer's {member} is no text")
        if result.get("role") not in ("user", "assistant"):
            raise Unusable("the answer has no role")
        content = result.get("content")
        parts: list[Any] = content if isinstance(content, list) else [content]
        for part in parts:
            _check_part(part)
        return Sampled(tuple(parts), result["model"], result["role"], result.get("stopReason"))


def _check_message(message: Any) -> None:
    if not isinstance(message, SamplingMessage):
        raise TypeError(
            f"a model is given texts, PromptMessages, what it said before, and answers to the tools that it used; "
            f"not {type(message).__name__}"
        )
    if isinstance(message, PromptMessage) and not isinstance(message.content, _HEARD):
        raise TypeError(f"a model is given texts, pictures and sounds, not {type(message.content).__name__}")


def _dumped(
    messages: Iterable[SamplingMessage], serializer: Serializer, any_structured: bool
) -> Iterator[dict[str, Any]]:
    """Give the wire form of messages; answers to tools that stand together are one message, as they must be."""
    answers: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, ToolAnswer):
            answers.append(_dumped_answer(message, serializer, any_structured))
            continue
        if answers:
            yield {"role": "user", "content": answers}
            answers = []
        if isinstance(message, Sampled):
            parts = message.parts
            yield {"role": message.role, "content": parts[0] if len(parts) == 1 else list(parts)}
        else:
            yield dump(PromptMessage("user", message) if isinstance(message, str) else message)  # type: ignore[arg-type] # it takes texts, too
    if answers:
        yield {"role": "user", "content": answers}


def _dumped_answer(answer: ToolAnswer, serializer: Serializer, any_structured: bool) -> dict[str, Any]:
    result = answer.result
    structured = None if result.structured is UNSET else serializer.dump(result.structured)
    if not (any_structured or isinstance(structured, dict)):
        structured = None  # the blocks say it, too
    return {
        "type": "tool_result",
        "toolUseId": answer.tool_use_id,
        "content": [dump(block) for block in result.content],
        **_given(structuredContent=structured, isError=result.is_error or None),
    }


def _check_part(part: Any) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    members = _PARTS.get(kind) if isinstance(kind, str) else None
    if members is None:
        raise Unusable("the answer has no content that a model can give")
    for name, needed in members.items():
        if not isinstance(part.get(name), needed):
            raise Unusable(f"the answer's {kind} has no {name}")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
