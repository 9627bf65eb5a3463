"""Questions to the client: a form or a page for its user, a completion by its model, its roots.

Rule: a question knows what it asks, what the client must be able to do for it, and how its answer is read; how it
travels is not its affair, so that it is the same in both eras. An answer that does not fit what was asked is never
taken.

Source: the specification's pages *Elicitation*, *Sampling* and *Roots*.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from ..content import PromptMessage
from ..errors import LoadError, MissingCapability
from ..protocol import names
from ..protocol.peer import Peer
from ..protocol.wire import dump
from ..serialization import Serializer
from .forms import check_content, form_schema

T = TypeVar("T")
F = TypeVar("F")


class Unusable(ValueError):  # noqa: N818 - what the answer is
    """An answer that does not fit its question."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[F]):
    """What a user did with a form or a page: it is true only if they accepted; then `content` is the filled-in form."""

    action: Literal["accept", "decline", "cancel"]
    content: F | None = None

    def __bool__(self) -> bool:
        return self.action == "accept"


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


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file that the client lets the server see."""

    uri: str
    name: str | None = None


class Question(ABC, Generic[T]):
    """Something to ask the client; `T` is what its answer is read into."""

    method: ClassVar[str]
    capability: ClassVar[tuple[str, ...]]

    def check(self, peer: Peer) -> None:
        """See whether the client can answer.

        Raises:
            MissingCapability: it did not say so.
        """
        if not (peer.revision.has(self.method) and peer.can(*self.capability)):
            raise _missing(self.capability)

    @abstractmethod
    def params(self, peer: Peer, serializer: Serializer) -> dict[str, Any]:
        """Return the parameters of the request in the newest shape."""

    @abstractmethod
    def read(self, result: Any, serializer: Serializer) -> T:
        """Return the answer.

        Raises:
            Unusable: it does not fit the question.
        """


class Elicit(Question[Answer[Any]]):
    """Asks the user to fill in a form, or to open a page.

    `form` is a dataclass with flat members, or a JSON Schema of an object with flat properties; `url` a page to open
    instead, for what a client must not see.
    """

    method = names.ELICIT
    capability = ("elicitation",)

    def __init__(
        self, message: str, form: type[Any] | Mapping[str, Any] | None = None, *, url: str | None = None
    ) -> None:
        if (form is None) is (url is None):
            raise TypeError("elicit() takes a form, or url=…")
        self.message = message
        self.form = form
        self.url = url

    def check(self, peer: Peer) -> None:
        """See whether the client shows forms, or pages; an empty capability means forms."""
        super().check(peer)
        if self.url is not None:
            if not (peer.revision.has(names.ELICIT_URL) and peer.can("elicitation", "url")):
                raise _missing(("elicitation", "url"))
        elif peer.can("elicitation", "url") and not peer.can("elicitation", "form"):
            raise _missing(("elicitation", "form"))

    def params(self, peer: Peer, serializer: Serializer) -> dict[str, Any]:
        """Return the message with the form's schema, or the page's URL."""
        if self.url is not None:
            known = {"elicitationId": secrets.token_urlsafe(12)} if peer.revision.has(names.ELICITATION_IDS) else {}
            return {"mode": "url", "message": self.message, "url": self.url, **known}
        return {"mode": "form", "message": self.message, "requestedSchema": form_schema(self.form, serializer)}

    def read(self, result: Any, serializer: Serializer) -> Answer[Any]:
        """Return what the user did; an accepted form is loaded into its dataclass."""
        action = result.get("action") if isinstance(result, dict) else None
        if action not in ("accept", "decline", "cancel"):
            raise Unusable("the answer has no action")
        if action != "accept" or self.url is not None:
            return Answer(action)
        content = result.get("content")
        if not isinstance(content, dict):
            raise Unusable("the answer has no content")
        try:
            return Answer("accept", check_content(content, self.form, serializer))
        except LoadError as error:
            raise Unusable(str(error)) from error


class Sample(Question[Sampled]):
    """Asks the client's model to go on from some messages; texts are what the user said."""

    method = names.SAMPLE
    capability = ("sampling",)

    def __init__(
        self,
        messages: str | PromptMessage | Iterable[str | PromptMessage],
        *,
        max_tokens: int = 1000,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Iterable[str] = (),
        tools: Iterable[Mapping[str, Any]] = (),
        tool_choice: Literal["auto", "required", "none"] | None = None,
    ) -> None:
        given = [messages] if isinstance(messages, (str, PromptMessage)) else list(messages)
        self.messages = [PromptMessage("user", each) if isinstance(each, str) else each for each in given]  # type: ignore[arg-type] # it takes texts, too
        self.tools = list(tools)
        self._options = {
            "maxTokens": max_tokens,
            "systemPrompt": system_prompt,
            "temperature": temperature,
            "stopSequences": list(stop_sequences) or None,
            "tools": self.tools or None,
            "toolChoice": None if tool_choice is None else {"mode": tool_choice},
        }

    def check(self, peer: Peer) -> None:
        """See whether the client's model can be asked, with tools if there are any."""
        super().check(peer)
        if self.tools and not peer.can("sampling", "tools"):
            raise _missing(("sampling", "tools"))

    def params(self, peer: Peer, serializer: Serializer) -> dict[str, Any]:  # noqa: ARG002 - the same for all
        """Return the messages and the options that were given."""
        options = {name: value for name, value in self._options.items() if value is not None}
        return {"messages": [dump(message) for message in self.messages], **options}

    def read(self, result: Any, serializer: Serializer) -> Sampled:  # noqa: ARG002 - nothing to load
        """Return what the model said."""
        content = result.get("content") if isinstance(result, dict) else None
        parts: list[Any] = content if isinstance(content, list) else [content]
        if not all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts):
            raise Unusable("the answer has no content")
        return Sampled(tuple(parts), str(result.get("model", "")), str(result.get("role")), result.get("stopReason"))


class Roots(Question[tuple[Root, ...]]):
    """Asks which folders and files the client lets the server see."""

    method = names.ROOTS
    capability = ("roots",)

    def params(self, peer: Peer, serializer: Serializer) -> dict[str, Any]:  # noqa: ARG002 - there are none
        """Return no parameters."""
        return {}

    def read(self, result: Any, serializer: Serializer) -> tuple[Root, ...]:  # noqa: ARG002 - nothing to load
        """Return the roots."""
        roots = result.get("roots") if isinstance(result, dict) else None
        if not isinstance(roots, list) or not all(isinstance(r, dict) and isinstance(r.get("uri"), str) for r in roots):
            raise Unusable("the answer has no roots")
        return tuple(Root(root["uri"], root.get("name")) for root in roots)


def _missing(path: tuple[str, ...]) -> MissingCapability:
    required: dict[str, Any] = {}
    for step in reversed(path):
        required = {step: required}
    return MissingCapability(f"the client cannot do {'.'.join(path)}", data={"requiredCapabilities": required})
