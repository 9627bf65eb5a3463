"""Questions to the client: a form or a page for its user, its roots. What its model says is `sampling`'s.

Rule: a question knows what it asks, what the client must be able to do for it, and how its answer is read; how it
travels is not its affair, so that it is the same in both eras. An answer that does not fit what was asked is never
taken.

Source: the specification's pages *Elicitation* and *Roots*.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from ..errors import LoadError, MissingCapability
from ..protocol import names
from ..protocol.peer import Peer
from ..serialization import Serializer
from .forms import check_content, form_schema

Capability: TypeAlias = tuple[tuple[str, ...], str]
"""The path of a client's capability, and the feature of `protocol.names` without which a revision does not have it."""
T = TypeVar("T")
F = TypeVar("F")


class Unusable(ValueError):  # noqa: N818 - what the answer is
    """An answer that does not fit its question."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[F]):
    """What a user did with a form or a page: it is true only if they accepted; then `content` is the filled-in form.

    `elicitation_id` names a page for `Context.elicitation_complete`.
    """

    action: Literal["accept", "decline", "cancel"]
    content: F | None = None
    elicitation_id: str | None = None

    def __bool__(self) -> bool:
        return self.action == "accept"


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file that the client lets the server see."""

    uri: str
    name: str | None = None


class Question(ABC, Generic[T]):
    """Something to ask the client; `T` is what its answer is read into."""

    method: ClassVar[str]
    capability: ClassVar[tuple[str, ...]]
    timeout: float | None = None
    """How many seconds an answer may take; None for `Limits.answer_seconds`. No limit where the call ends to ask."""

    @property
    def kind(self) -> str:
        """What it is called where it has no name: `elicitation`, `sampling` or `roots`."""
        return self.method.partition("/")[0]

    def needs(self, peer: Peer) -> Iterable[Capability]:  # noqa: ARG002 - some kinds need more of some clients
        """Return what the client must have declared, the most telling first."""
        return ((self.capability, self.method),)

    def check(self, peer: Peer) -> None:
        """See whether the client can answer.

        Raises:
            MissingCapability: it did not say so.
        """
        if not peer.revision.has(self.method):
            raise MissingCapability.of(*self.capability)
        for path, feature in self.needs(peer):
            if not (peer.revision.has(feature) and peer.can(*path)):
                raise MissingCapability.of(*path)

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
    instead, for what a client must not see; `timeout` how many seconds the user has.
    """

    method = names.ELICIT
    capability = ("elicitation",)

    def __init__(
        self,
        message: str,
        form: type[Any] | Mapping[str, Any] | None = None,
        *,
        url: str | None = None,
        timeout: float | None = None,
    ) -> None:
        if (form is None) is (url is None):
            raise TypeError("elicit() takes a form, or url=…")
        self.message = message
        self.form = form
        self.url = url
        self.elicitation_id = None if url is None else secrets.token_urlsafe(12)
        self.timeout = timeout

    def needs(self, peer: Peer) -> Iterable[Capability]:
        """Return that the client shows pages, or forms; an empty capability means forms."""
        if self.url is not None:
            return ((("elicitation", "url"), names.ELICIT_URL),)
        return ((("elicitation", "form") if peer.can("elicitation", "url") else self.capability, self.method),)

    def params(self, peer: Peer, serializer: Serializer) -> dict[str, Any]:
        """Return the message with the form's schema, or the page's URL."""
        if self.url is not None:
            known = {"elicitationId": self.elicitation_id} if peer.revision.has(names.ELICITATION_IDS) else {}
            return {"mode": "url", "message": self.message, "url": self.url, **known}
        return {"mode": "form", "message": self.message, "requestedSchema": form_schema(self.form, serializer)}

    def read(self, result: Any, serializer: Serializer) -> Answer[Any]:
        """Return what the user did; an accepted form is loaded into its dataclass."""
        action = result.get("action") if isinstance(result, dict) else None
        if action not in ("accept", "decline", "cancel"):
            raise Unusable("the answer has no action")
        if action != "accept" or self.url is not None:
            return Answer(action, None, self.elicitation_id)
        content = result.get("content")
        if not isinstance(content, dict):
            raise Unusable("the answer has no content")
        try:
            return Answer("accept", check_content(content, self.form, serializer))
        except LoadError as error:
            raise Unusable(str(error)) from error


class Roots(Question[tuple[Root, ...]]):
    """Asks which folders and files the client lets the server see."""

    method = names.ROOTS
    capability = ("roots",)

    def __init__(self, *, timeout: float | None = None) -> None:
        self.timeout = timeout

    def params(self, peer: Peer, serializer: Serializer) -> dict[str, Any]:  # noqa: ARG002 - there are none
        """Return no parameters."""
        return {}

    def read(self, result: Any, serializer: Serializer) -> tuple[Root, ...]:  # noqa: ARG002 - nothing to load
        """Return the roots."""
        roots = result.get("roots") if isinstance(result, dict) else None
        if not isinstance(roots, list) or not all(isinstance(root, dict) for root in roots):
            raise Unusable("the answer has no roots")
        for root in roots:
            uri, name = root.get("uri"), root.get("name")
            if not isinstance(uri, str) or not uri.startswith("file://"):
                raise Unusable("a root is a file:// URI")
            if not isinstance(name, (str, type(None))):
                raise Unusable("a root's name is no text")
        return tuple(Root(root["uri"], root.get("name")) for root in roots)
