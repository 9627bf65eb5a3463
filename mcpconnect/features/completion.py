"""Completions: what a completer is asked, what it may answer, and what becomes of the answer.

Rule: every answer is normalised once, here. Values keep their order and their duplicates; at most a hundred go out, and
who cuts says so; a total is kept as given and counted only for a bare iterable that is cut.

Source: the specification's page *Completion*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from ..errors import DefinitionError, InternalError, SerializationError
from ..protocol.model import Completion
from ..serialization import Serializer

MOST: Final = 100
"""Values of one answer, by the specification."""

_COUNTED: Final = 100_000  # values of a bare iterable that are counted for its total; an endless one ends here

Values: TypeAlias = Iterable[Any]


@dataclass(frozen=True, slots=True)
class PromptRef:
    """The prompt whose argument is completed."""

    name: str


@dataclass(frozen=True, slots=True)
class TemplateRef:
    """The template whose variable is completed, by its text."""

    uri: str


Ref: TypeAlias = PromptRef | TemplateRef


@dataclass(frozen=True, slots=True)
class CompletionArgument:
    """The argument that is completed, and the text typed so far."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """What else is known: the arguments that were chosen already, a mapping that is never None."""

    arguments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """An answer put together by hand: the values, how many there are in all, and whether there are more."""

    values: Values | None = None
    total: int | None = None
    has_more: bool | None = None


@dataclass(frozen=True, slots=True)
class Complete:
    """In `Annotated`: what completes an argument: a collection of values, an enum, or a function as for `@complete`."""

    source: Values | type[Enum] | Callable[..., Any]

    def __post_init__(self) -> None:
        if isinstance(self.source, (str, bytes)) or not (callable(self.source) or isinstance(self.source, Iterable)):
            raise DefinitionError(f"Complete({self.source!r}): a collection of values, an enum, or a function")


def matching(
    candidates: Iterable[Any],
    prefix: str,
    *,
    limit: int = MOST,
    key: Callable[[Any], str] = str,
    casefold: bool = False,
) -> CompletionResult:
    """Return the candidates that begin with `prefix`, at most `limit`, in order, and how many there are in all."""
    wanted = prefix.casefold() if casefold else prefix
    texts = map(key, candidates)
    found = [text for text in texts if (text.casefold() if casefold else text).startswith(wanted)]
    return CompletionResult(found[:limit], len(found), len(found) > limit)


def normalized(answer: Any, serializer: Serializer) -> Completion:
    """Return what is sent for a completer's answer.

    Raises:
        InternalError: the answer is None, holds None or something that is no scalar, or its total is negative.
    """
    if answer is None:
        raise InternalError("the completer returned None")
    if isinstance(answer, CompletionResult):
        return _of_result(answer, serializer)
    values = _texts(_listed(answer), serializer)
    if len(values) <= MOST:
        return Completion(values=values)
    total = len(values) if isinstance(answer, Sized) or len(values) <= _COUNTED else None
    return Completion(values=values[:MOST], total=total, has_more=True)


def _of_result(answer: CompletionResult, serializer: Serializer) -> Completion:
    values = _texts([] if answer.values is None else _listed(answer.values), serializer)
    total, has_more = answer.total, answer.has_more
    if total is not None and (isinstance(total, bool) or not isinstance(total, int) or total < 0):
        raise InternalError(f"the completer's total is {total!r}, not a number of values")
    if not isinstance(has_more, bool | None):
        raise InternalError(f"the completer's has_more is {has_more!r}, neither True nor False")
    return Completion(values=values[:MOST], total=total, has_more=True if len(values) > MOST else has_more)


def _listed(answer: Any) -> Iterable[Any]:
    if isinstance(answer, (str, bytes)) or not isinstance(answer, Iterable):
        return [answer]
    return answer if isinstance(answer, Sized) else islice(answer, _COUNTED + 1)


def _texts(values: Iterable[Any], serializer: Serializer) -> tuple[str, ...]:
    texts = []
    for value in values:
        if value is None:
            raise InternalError("the completer's values hold None")
        texts.append(value if type(value) is str else _scalar_text(value, serializer))
    return tuple(texts)


def _scalar_text(value: Any, serializer: Serializer) -> str:
    try:
        dumped = serializer.dump(value)
    except SerializationError as error:
        raise InternalError(f"a completer's value cannot be written: {error}") from error
    if isinstance(dumped, str):
        return dumped
    if isinstance(dumped, (dict, list)):
        raise InternalError(f"a completer's values are scalars, not {type(value).__name__}")
    return serializer.dumps(value).decode()
