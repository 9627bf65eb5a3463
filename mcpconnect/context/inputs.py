"""How questions travel: the second of the three places where the eras fork.

Rule: where the client can be asked while a call runs, a request goes out and its answer is awaited. Where it cannot,
the call ends with what it needs to know and runs again with the answers; then `ask` either has all of them or raises
`InputRequired`, which no `except Exception` of a method catches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from hashlib import sha256
from threading import Lock, get_ident
from typing import Any, Protocol

import anyio
import msgspec
from anyio.lowlevel import checkpoint

from ..errors import PeerError
from ..protocol import names
from ..protocol.jsonrpc import encode_notification, encode_request
from ..protocol.peer import Peer
from ..serialization import Serializer
from .pending import Pending, Round
from .questions import Question, Unusable

Questions = Mapping[str, Question[Any]]
Given = tuple[str, Any]
"""The fingerprint of a question, and its answer as it came."""


class InputRequired(BaseException):
    """A call needs answers that it does not have: `asked` are their fingerprints, `answers` those that it has."""

    def __init__(self, questions: Questions, asked: Mapping[str, str], answers: Mapping[str, Given]) -> None:
        self.questions = questions
        self.asked = asked
        self.answers = answers
        super().__init__(", ".join(questions))


class Inputs(Protocol):
    """Asks the client."""

    @property
    def unused(self) -> Collection[str]:
        """The keys of answers of earlier rounds that nobody asked for again."""
        ...

    def key(self, question: Question[Any]) -> str:
        """Return the key of a question that has no name of its own."""
        ...

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Return the answers by the questions' keys."""
        ...

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Return the answers; for worker threads."""
        ...

    def end(self) -> None:
        """Ask nothing more: the call has ended."""


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
        self._lock = Lock()
        self._rounds: set[Round] = set()
        self._ended = False

    def key(self, question: Question[Any]) -> str:
        """Return any key: it does not travel."""
        return question.method

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Send all questions, and return their answers.

        Raises:
            MissingCapability: the client cannot answer one of them; nothing was sent.
            PeerError: it answered with an error or something that does not fit, or not in time, or the call has ended.
        """
        if not questions:
            return {}
        asked, seconds = self._open(questions), self._time_for(questions)
        try:
            with anyio.fail_after(seconds):
                await _done(asked.settled)
        except TimeoutError:
            raise _late(seconds) from None
        finally:
            self._close(asked)
        return self._read(questions, asked)

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Do what `ask` does, from a worker thread.

        Raises:
            RuntimeError: this is the loop's thread, which would wait for itself.
        """
        if get_ident() == self._pending.thread:
            raise RuntimeError("context.sync waits, which an async method must not: await the context's own method")
        if not questions:
            return {}
        asked, seconds = self._open(questions), self._time_for(questions)
        try:
            wait([asked.settled], seconds)
        finally:
            self._close(asked)
        if not asked.settled.done():
            raise _late(seconds)
        return self._read(questions, asked)

    def end(self) -> None:
        """Withdraw what is not answered, and ask nothing more: the call has ended."""
        with self._lock:
            self._ended = True
            rounds = list(self._rounds)
        for asked in rounds:
            self._close(asked)
            asked.fail(_ended())

    def _open(self, questions: Questions) -> Round:
        for question in questions.values():
            question.check(self._peer)
        params = {
            key: self._peer.revision.lower(question.method, question.params(self._peer, self._serializer))
            for key, question in questions.items()
        }
        with self._lock:
            if self._ended:
                raise _ended()
            asked = Round(questions, self._pending)
            self._rounds.add(asked)
        for key, question in questions.items():
            self._send(encode_request(asked.ids[key], question.method, params[key]))
        return asked

    def _close(self, asked: Round) -> None:
        with self._lock:
            self._rounds.discard(asked)
        for request_id in asked.ids.values():
            if self._pending.close(request_id):
                self._send(encode_notification(names.CANCELLED, {"requestId": request_id}))

    def _read(self, questions: Questions, asked: Round) -> dict[str, Any]:
        asked.settled.result()
        try:
            return {
                key: question.read(asked.responses[key].result, self._serializer) for key, question in questions.items()
            }
        except Unusable as error:
            raise PeerError(f"the client's answer does not fit the question: {error}") from None

    def _time_for(self, questions: Questions) -> float:
        return min(self._seconds if each.timeout is None else each.timeout for each in questions.values())


class ReplayInputs:
    """Has the answers that came with the request, and asks for the others by ending the call.

    `kept` are answers to what the call asked before, `new` those that the client gives unasked. An answer counts only
    for the very question that it was given to: one that reads otherwise when the call runs again is asked again.
    """

    def __init__(self, kept: Mapping[str, Given], new: Mapping[str, Any], peer: Peer, serializer: Serializer) -> None:
        self._kept = dict(kept)
        self._new = new
        self._peer = peer
        self._serializer = serializer
        self._met: Counter[str] = Counter()
        self._used: set[str] = set()
        self._changed: set[str] = set()
        self._ended = False

    @property
    def unused(self) -> Collection[str]:
        """The answers to questions that were not asked again, or not in these words."""
        # A call that ends for a question may not have come to the others, if its tasks ask beside each other.
        return self._changed if self._ended else [key for key in self._kept if key not in self._used]

    def key(self, question: Question[Any]) -> str:
        """Return a key that is the same when the call runs again, in whatever order its tasks ask."""
        base = f"{question.method.partition('/')[0]}-{self._fingerprint(question)}"
        self._met[base] += 1
        return base if self._met[base] == 1 else f"{base}-{self._met[base]}"

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
            fingerprint = self._fingerprint(question)
            try:
                answer = self._answer(key, fingerprint)
                read[key] = question.read(answer, self._serializer)
                self._kept[key] = (fingerprint, answer)
                self._used.add(key)
            except (KeyError, Unusable):
                question.check(self._peer)
                missing[key] = fingerprint
        if missing:
            self._ended = True
            kept = {key: given for key, given in self._kept.items() if key not in missing}
            raise InputRequired({key: questions[key] for key in missing}, missing, kept)
        return read

    def end(self) -> None:
        """Do nothing: nothing waits."""

    def _answer(self, key: str, fingerprint: str) -> Any:
        if key not in self._kept:
            return self._new[key]
        asked, answer = self._kept[key]
        if asked != fingerprint:
            self._changed.add(key)
            raise KeyError(key)
        return answer

    def _fingerprint(self, question: Question[Any]) -> str:
        params = msgspec.json.encode(question.params(self._peer, self._serializer), order="deterministic")
        return sha256(params).hexdigest()[:16]


class NoInputs:
    """Stands where the client cannot be asked, because nothing can reach it while the call runs."""

    unused: Collection[str] = ()

    def __init__(self, reason: str = "no call runs") -> None:
        self._reason = reason

    def key(self, question: Question[Any]) -> str:
        """Return what the error calls the question."""
        return question.method

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Raise PeerError."""
        return self.ask_blocking(questions)

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Raise PeerError."""
        raise PeerError(f"cannot ask the client ({', '.join(questions)}): {self._reason}")

    def end(self) -> None:
        """Do nothing: nothing waits."""


async def _done(future: Future[None]) -> None:
    event = anyio.Event()
    future.add_done_callback(lambda _: event.set())
    await event.wait()
    await checkpoint()  # a call that was cancelled ends so, and does not see that its questions were withdrawn


def _late(seconds: float) -> PeerError:
    return PeerError(f"the client did not answer within {seconds:g} s (timeout=…, or Limits.answer_seconds)")


def _ended() -> PeerError:
    return PeerError("cannot ask the client: the call has ended")
