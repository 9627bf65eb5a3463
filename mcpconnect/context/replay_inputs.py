"""`ReplayInputs`: questions to a client that is asked by ending the call, and answers by calling again.

Rule: an answer counts only for the very question that it was given to: the same name, the same words, and of several
alike the same one. A method that asks something else when it runs again asks the client anew, whatever the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from ..errors import PeerError
from ..protocol.peer import Peer
from ..serialization import Serializer
from .inputs import Asked, Complaint, InputRequired, Questions, call_ended, refuse_on_loop
from .questions import Question, Unusable


class ReplayInputs:
    """The answers that a call was given so far.

    Args:
        answers: The answers to what the call asked before, by `Asked.ident`.
        unasked: Answers that came though the call has not asked, by the name of the question.
        use: Called when the first of `answers` is used; raises what refuses the request.
        thread: The loop's thread, which cannot wait.
    """

    def __init__(
        self,
        answers: Mapping[str, Any],
        unasked: Mapping[str, Any],
        peer: Peer,
        serializer: Serializer,
        *,
        use: Callable[[], None],
        thread: int,
    ) -> None:
        self._answers = dict(answers)
        self._unasked = dict(unasked)
        self._peer = peer
        self._serializer = serializer
        self._use: Callable[[], None] | None = use
        self._thread = thread
        self._times: Counter[str] = Counter()
        self._used: set[str] = set()
        self._signals: list[InputRequired] = []
        self._ended = False

    async def ask(self, questions: Questions) -> dict[str, Any]:
        """Return the answers.

        Raises:
            InputRequired: one is missing, or does not fit.
            MissingCapability: the client cannot answer one of them.
            PeerError: the call has ended.
        """
        return self._ask(questions)

    def ask_blocking(self, questions: Questions) -> dict[str, Any]:
        """Do what `ask` does: nothing is waited for, but a method that may ask so has to be one that could wait."""
        refuse_on_loop(self._thread)
        return self._ask(questions)

    def end(self) -> Iterable[Complaint]:
        """Ask nothing more; say what the method did with its questions that it should not."""
        self._ended = True
        if not self._signals:
            unused = [ident.partition(" ")[0] for ident in self._answers if ident not in self._used]
            if unused:
                yield "questions-changed", f"asked other questions when it ran again; not asked again: {unused}"
        elif not any(signal.delivered for signal in self._signals):
            yield "question-swallowed", "went on after a question, which its client never saw: an `except` caught it"

    def _ask(self, questions: Questions) -> dict[str, Any]:
        if self._ended:
            raise call_ended()
        read: dict[str, Any] = {}
        missing: dict[str, Asked] = {}
        problem = None
        for key, question in questions.items():
            asked = self._asked(key, question)
            try:
                answer = self._answer(key, asked.ident)
                read[key] = question.read(answer, self._serializer)
            except (KeyError, Unusable) as error:
                question.check(self._peer)
                problem = str(error) if isinstance(error, Unusable) else problem
                missing[key] = asked
                self._answers.pop(asked.ident, None)
            else:
                self._answers[asked.ident] = answer
                self._used.add(asked.ident)
        if missing:
            self._signals.append(InputRequired(missing, dict(self._answers), problem))
            raise self._signals[-1]
        return read

    def _answer(self, key: str, ident: str) -> Any:
        if ident not in self._answers:
            return self._unasked.pop(key)
        if self._use is not None:
            self._use()
            self._use = None
        return self._answers[ident]

    def _asked(self, key: str, question: Question[Any]) -> Asked:
        params = question.params(self._peer, self._serializer)
        try:
            words = msgspec.json.encode(params, order="deterministic")
        except (TypeError, ValueError) as error:
            raise PeerError(f"the question {key!r} cannot be sent: {error}") from error
        ident = f"{key} {sha256(words).hexdigest()[:24]}"
        self._times[ident] += 1
        return Asked(question.method, params, f"{ident} {self._times[ident]}")
