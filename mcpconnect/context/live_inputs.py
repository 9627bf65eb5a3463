"""`LiveInputs`: questions to a client that can be asked while a call runs: requests go out, answers are awaited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from threading import Lock
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from ..errors import PeerError
from ..protocol import names
from ..protocol.jsonrpc import encode_notification, encode_request
from ..protocol.peer import Peer
from ..serialization import Serializer
from .inputs import Complaint, Questions, call_ended, refuse_on_loop
from .pending import Pending, Round
from .questions import Unusable
from .runtime import Aside


class LiveInputs:
    """Asks while the call runs. `send` writes a message that belongs to it; a thread that waits steps `aside`."""

    def __init__(
        self,
        send: Callable[[bytes], None],
        pending: Pending,
        peer: Peer,
        serializer: Serializer,
        seconds: float,
        aside: Aside,
    ) -> None:
        self._send = send
        self._pending = pending
        self._peer = peer
        self._serializer = serializer
        self._seconds = seconds
        self._aside = aside
        self._lock = Lock()
        self._rounds: set[Round] = set()
        self._ended = False

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
        refuse_on_loop(self._pending.thread)
        if not questions:
            return {}
        asked, seconds = self._open(questions), self._time_for(questions)
        try:
            with self._aside():
                wait([asked.settled], seconds)
        finally:
            self._close(asked)
        if not asked.settled.done():
            raise _late(seconds)
        return self._read(questions, asked)

    def end(self) -> Iterable[Complaint]:
        """Withdraw what is not answered, and ask nothing more: the call has ended."""
        with self._lock:
            self._ended = True
            rounds = list(self._rounds)
        for asked in rounds:
            self._close(asked)
            asked.fail(call_ended())
        return ()

    def _open(self, questions: Questions) -> Round:
        for question in questions.values():
            question.check(self._peer)
        params = {
            key: self._peer.revision.lower(question.method, question.params(self._peer, self._serializer))
            for key, question in questions.items()
        }
        with self._lock:
            if self._ended:
                raise call_ended()
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


async def _done(future: Future[None]) -> None:
    event = anyio.Event()
    future.add_done_callback(lambda _: event.set())
    await event.wait()
    await checkpoint()  # a call that was cancelled ends so, and does not see that its questions were withdrawn


def _late(seconds: float) -> PeerError:
    return PeerError(f"the client did not answer within {seconds:g} s (timeout=…, or Limits.answer_seconds)")
