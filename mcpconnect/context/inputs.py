"""How questions travel: the second of the three places where the eras fork.

Rule: where the client can be asked while a call runs, a request goes out and its answer is awaited. Where it cannot,
the call ends with what it needs to know and runs again with the answers; then `ask` either has all of them or raises
`InputRequired`, which no `except Exception` of a method catches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Protocol

import anyio

from ..errors import PeerError
from ..protocol import names
from ..protocol.jsonrpc import Response, encode_notification, encode_request
from ..protocol.peer import Peer
from ..protocol.refusal import Id
from ..serialization import Serializer
from .questions import Question, Unusable

Questions = Mapping[str, Question[Any]]


class InputRequired(BaseException):
    """A call needs answers that it does not have; `answers` are those that it used, as they came."""

    def __init__(self, questions: Questions, answers: Mapping[str, Any]) -> None:
        self.questions = questions
        self.answers = answers
        super().__init__(", ".join(questions))


class Inputs(Protocol):
    """Asks the client."""

    @property
    def unused(self) -> Collection[str]:
        """The keys of answers of earlier rounds that nobody asked for again."""
        ...

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Return the answers by the questions' keys."""
        ...

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Return the answers; for worker threads."""
        ...


class Pending:
    """The questions of one connection that are not answered yet. Answers come on the loop's thread."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting: dict[Id, Future[Response]] = {}

    def open(self) -> tuple[str, Future[Response]]:
        """Return an id for a request, and what its answer will be."""
        self._count += 1
        request_id = f"ask-{self._count}"
        future: Future[Response] = Future()
        self._waiting[request_id] = future
        return request_id, future

    def close(self, request_id: str) -> bool:
        """Wait no more for an answer; say whether it was still missing."""
        return self._waiting.pop(request_id, None) is not None

    def take(self, response: Response) -> None:
        """Take an answer; one that nobody waits for is dropped."""
        future = self._waiting.pop(response.id, None) if response.id is not None else None
        if future is not None:
            future.set_result(response)

    def fail(self, reason: str) -> None:
        """Answer everything with an error: the client is gone."""
        for request_id in list(self._waiting):
            future = self._waiting.pop(request_id, None)
            if future is not None:
                future.set_exception(PeerError(reason))


class LiveInputs:
    """Asks while the call runs. `send` writes a message that belongs to it."""

    unused: Collection[str] = ()

    def __init__(
        self, send: Callable[[bytes], None], pending: Pending, peer: Peer, serializer: Serializer, seconds: float
    ) -> None:
        self._send = send
        self._pending = pending
        self._peer = peer
        self._serializer = serializer
        self._seconds = seconds

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Send all questions, and return their answers.

        Raises:
            MissingCapability: the client cannot answer one of them; nothing was sent.
            PeerError: it answered with an error or something that does not fit, or not in time.
        """
        opened = self._open(questions)
        try:
            with anyio.fail_after(self._seconds):
                for _, future in opened.values():
                    await _done(future)
        except TimeoutError:
            raise self._late() from None
        finally:
            self._close(opened)
        return {key: self._read(questions[key], future.result()) for key, (_, future) in opened.items()}

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Do what `ask` does, from a worker thread."""
        opened = self._open(questions)
        try:
            return {
                key: self._read(questions[key], future.result(self._seconds)) for key, (_, future) in opened.items()
            }
        except FutureTimeout:
            raise self._late() from None
        finally:
            self._close(opened)

    def _open(self, questions: Questions) -> dict[str, tuple[str, Future[Response]]]:
        for question in questions.values():
            question.check(self._peer)
        opened = {}
        for key, question in questions.items():
            opened[key] = self._pending.open()
            params = self._peer.revision.lower(question.method, question.params(self._peer, self._serializer))
            self._send(encode_request(opened[key][0], question.method, params))
        return opened

    def _close(self, opened: Mapping[str, tuple[str, Future[Response]]]) -> None:
        for request_id, _ in opened.values():
            if self._pending.close(request_id):
                self._send(encode_notification(names.CANCELLED, {"requestId": request_id}))

    def _read(self, question: Question[Any], response: Response) -> Any:
        if response.error is not None:
            raise PeerError(response.error.message, response.error.code, response.error.data)
        try:
            return question.read(response.result, self._serializer)
        except Unusable as error:
            raise PeerError(f"the client's answer does not fit the question: {error}") from None

    def _late(self) -> PeerError:
        return PeerError(f"the client did not answer within {self._seconds:g} s (Limits.answer_seconds)")


class ReplayInputs:
    """Has the answers that came with the request, and asks for the others by ending the call."""

    def __init__(self, kept: Mapping[str, Any], new: Mapping[str, Any], peer: Peer, serializer: Serializer) -> None:
        self._kept = kept
        self._given = {**kept, **new}
        self._peer = peer
        self._serializer = serializer
        self.used: dict[str, Any] = {}

    @property
    def unused(self) -> Collection[str]:
        """The answers of earlier rounds that nobody asked for again."""
        return [key for key in self._kept if key not in self.used]

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Return the answers.

        Raises:
            InputRequired: one is missing, or does not fit.
            MissingCapability: the client cannot answer one of them.
        """
        return self.ask_blocking(questions)

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Do what `ask` does: nothing is waited for."""
        read, missing = {}, {}
        for key, question in questions.items():
            try:
                read[key] = question.read(self._given[key], self._serializer)
                self.used[key] = self._given[key]
            except (KeyError, Unusable):
                question.check(self._peer)
                missing[key] = question
        if missing:
            raise InputRequired(missing, self.used)
        return read


class NoInputs:
    """Stands where the client cannot be asked, because nothing can reach it while the call runs."""

    unused: Collection[str] = ()

    def __init__(self, reason: str = "no call runs") -> None:
        self._reason = reason

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Raise PeerError."""
        return self.ask_blocking(questions)

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Raise PeerError."""
        raise PeerError(f"cannot ask the client ({', '.join(questions)}): {self._reason}")


async def _done(future: Future[Response]) -> None:
    event = anyio.Event()
    future.add_done_callback(lambda _: event.set())
    await event.wait()
    future.result()
