"""`SyncContext`: the calls of a `Context` that reach the client, for methods that are not asynchronous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .levels import Level
from .questions import Answer, Elicit, Question, Root, Roots
from .sampling import Sample, Sampled

if TYPE_CHECKING:
    from .context import Context


@dataclass(frozen=True, slots=True)
class SyncContext:
    """The blocking forms of `Context`'s coroutines."""

    _context: Context

    def progress(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the call is; see `Context.progress`."""
        self._context._progress(value, total, message)

    def elicit(
        self, message: str, form: Any = None, /, *, url: str | None = None, timeout: float | None = None
    ) -> Answer[Any]:
        """Ask the client's user; see `Context.elicit`."""
        answer: Answer[Any] = self._ask_one(Elicit(message, form, url=url, timeout=timeout))
        return answer

    def sample(self, messages: Any, **options: Any) -> Sampled:
        """Ask the client's model; see `Context.sample`."""
        answer: Sampled = self._ask_one(Sample(messages, **options))
        return answer

    def roots(self, *, timeout: float | None = None) -> tuple[Root, ...]:
        """Ask for the client's roots; see `Context.roots`."""
        answer: tuple[Root, ...] = self._ask_one(Roots(timeout=timeout))
        return answer

    def ask(self, **questions: Question[Any]) -> dict[str, Any]:
        """Ask several questions at once; see `Context.ask`."""
        return self._context._inputs.ask_blocking(questions)

    def _ask_one(self, question: Question[Any]) -> Any:
        kind = question.kind
        return self._context._inputs.ask_blocking({kind: question})[kind]

    def end_stream(self, retry_ms: int | None = None) -> None:
        """End the stream early; see `Context.end_stream`."""
        self._context._channel.end_stream(retry_ms)

    def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Write `data` to the server's log; see `Context.log`."""
        self._context._log(level, data, logger)
