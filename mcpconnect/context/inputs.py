"""How questions travel: the second of the three places where the eras fork.

Rule: where the client can be asked while a call runs, a request goes out and its answer is awaited (`live_inputs`).
Where it cannot, the call ends with what it needs to know and runs again with the answers (`replay_inputs`); then `ask`
either has all of them or raises `InputRequired`, which no `except Exception` of a method catches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import get_ident
from typing import Any, Protocol, TypeAlias

from ..errors import PeerError
from .questions import Question

Questions: TypeAlias = Mapping[str, Question[Any]]
Complaint: TypeAlias = tuple[str, str]
"""The event and the text of a warning about how a method asked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it goes to the client; `ident` tells it from every other one of its call."""

    method: str
    params: Mapping[str, Any]
    ident: str


class InputRequired(BaseException):
    """A call needs answers that it does not have: what it asks, the answers that it has, why one of them was no good.

    `delivered` is set by whoever tells the client; a method that catches this keeps the question from it.
    """

    def __init__(self, asked: Mapping[str, Asked], answers: Mapping[str, Any], problem: str | None) -> None:
        self.asked = asked
        self.answers = answers
        self.problem = problem
        self.delivered = False
        super().__init__(", ".join(asked))


class Inputs(Protocol):
    """Asks the client."""

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Return the answers by the questions' keys."""
        ...

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Return the answers; for worker threads."""
        ...

    def end(self) -> Iterable[Complaint]:
        """Ask nothing more: the call has ended. Return what is to be said of how it asked."""
        ...


class NoInputs:
    """Stands where the client cannot be asked, because nothing can reach it while the call runs."""

    def __init__(self, reason: str = "no call runs") -> None:
        self._reason = reason

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Raise PeerError."""
        return self.ask_blocking(questions)

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Raise PeerError."""
        raise PeerError(f"cannot ask the client ({', '.join(questions)}): {self._reason}")

    def end(self) -> Iterable[Complaint]:
        """Do nothing: nothing waits."""
        return ()


def call_ended() -> PeerError:
    """Return the error of a question that comes too late."""
    return PeerError("cannot ask the client: the call has ended")


def refuse_on_loop(thread: int) -> None:
    """See that the calling thread may wait; `thread` is the loop's.

    Raises:
        RuntimeError: it is the loop's thread, which would wait for itself.
    """
    if get_ident() == thread:
        raise RuntimeError("context.sync waits, which an async method must not: await the context's own method")
