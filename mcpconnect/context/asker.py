"""`Asker`: how a call asks its client: the part of `Context` that is the same in both eras."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar, overload

from .inputs import Inputs
from .questions import Answer, Elicit, Question, Root, Roots
from .sampling import Sample, Sampled

F = TypeVar("F")


class Asker(ABC):
    """Asks the client's user, its model, or for its roots."""

    __slots__ = ()

    @property
    @abstractmethod
    def _inputs(self) -> Inputs:
        """How questions travel."""

    @overload
    async def elicit(self, message: str, form: type[F], /, *, timeout: float | None = None) -> Answer[F]: ...

    @overload
    async def elicit(
        self, message: str, form: Mapping[str, Any], /, *, timeout: float | None = None
    ) -> Answer[dict[str, Any]]: ...

    @overload
    async def elicit(self, message: str, /, *, url: str, timeout: float | None = None) -> Answer[None]: ...

    async def elicit(
        self, message: str, form: Any = None, /, *, url: str | None = None, timeout: float | None = None
    ) -> Answer[Any]:
        """Ask the client's user to fill in a form (a dataclass, or a flat JSON Schema), or to open a page.

        The answer is true if the user accepted; its `content` is then the form. In the newest revision the call ends
        here and runs again with the answer: code before a question runs again, so side effects belong after the last
        one. `timeout` is in seconds, and `Limits.answer_seconds` without it; it holds where the call waits.
        Source: the specification's page *Elicitation*.

        Raises:
            MissingCapability: the client cannot do it.
            PeerError: it answered with an error, with something that does not fit, or not in time.
        """
        answer: Answer[Any] = await self._ask_one(Elicit(message, form, url=url, timeout=timeout))
        return answer

    async def sample(self, messages: Any, **options: Any) -> Sampled:
        """Ask the client's model to go on from messages; the options are those of `Sample`. Raises as `elicit` does."""
        answer: Sampled = await self._ask_one(Sample(messages, **options))
        return answer

    async def roots(self, *, timeout: float | None = None) -> tuple[Root, ...]:
        """Ask which folders and files the client lets the server see. Raises as `elicit` does."""
        answer: tuple[Root, ...] = await self._ask_one(Roots(timeout=timeout))
        return answer

    async def ask(self, **questions: Question[Any]) -> dict[str, Any]:
        """Ask several questions at once, such as `ask(name=Elicit(…), roots=Roots())`. Raises as `elicit` does."""
        return await self._inputs.ask(questions)

    async def _ask_one(self, question: Question[Any]) -> Any:
        kind = question.kind
        return (await self._inputs.ask({kind: question}))[kind]
