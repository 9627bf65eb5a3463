"""What completes the arguments of a prompt or the variables of a template, and how it is found.

Rule: an argument has at most one completer of its own: `Complete(…)` beside its type, or a method marked `@complete`.
Providers are asked after it, and only where it is missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from ..errors import DefinitionError
from ..serialization import Serializer
from ..serialization.member import Member
from .collect import Source
from .completion import Complete, CompletionContext, matching

Answer = Callable[[str, CompletionContext], Any]


class Completer:
    """Completes one argument; `answer` may return something to be awaited. `origin` is what was registered."""

    __slots__ = ("answer", "origin", "threaded")

    def __init__(self, answer: Answer, threaded: bool, origin: Any = None) -> None:
        self.answer = answer
        self.origin = origin
        self.threaded = threaded


class Completing:
    """The arguments of a feature by their names on the wire, and what completes them."""

    def __init__(self, wires: Mapping[str, str], completers: Mapping[str, Completer]) -> None:
        self._wires = wires
        self.completers = dict(completers)

    def knows(self, argument: str) -> bool:
        """Say whether there is such an argument."""
        return argument in self._wires.values()

    def check(self, source: Source, argument: str) -> str:
        """Return the name on the wire of the argument that a method shall complete, given by its Python name.

        Raises:
            DefinitionError: there is no such argument, or it has a completer.
        """
        wire = self._wires.get(argument)
        if wire is None:
            known = ", ".join(self._wires) or "none"
            raise DefinitionError(f"{source.where}: @complete names the argument {argument!r}; there are: {known}")
        if wire in self.completers:
            raise DefinitionError(f"{source.where}: the argument {argument!r} has a completer already")
        return wire

    def add(self, source: Source, argument: str) -> None:
        """Let a method complete an argument; raises as `check` does."""
        self.completers[self.check(source, argument)] = of_method(source)

    def remove(self, origin: Any) -> int:
        """Take the completers away that came with what was registered; return how many."""
        completers = self.completers.items()
        gone = [wire for wire, completer in completers if completer.origin is origin and origin is not None]
        for wire in gone:
            del self.completers[wire]
        return len(gone)


def of_method(source: Source) -> Completer:
    """Return the completer that a method is."""
    call = _call(source.reach, source.function, len(source.skip))
    return Completer(call, not source.is_async, source.origin)


def marked_completers(members: Iterable[Member], serializer: Serializer) -> dict[str, Completer]:
    """Return the completers that stand beside the types of parameters, by the names on the wire."""
    found = {}
    for member in members:
        for extra in member.metadata:
            if isinstance(extra, Complete):
                found[member.wire] = _of_source(extra.source, serializer)
    return found


def _of_source(source: Any, serializer: Serializer) -> Completer:
    if isinstance(source, type) and issubclass(source, Enum):
        source = list(source)
    if callable(source):
        return Completer(_call(lambda: source, source, 0), not inspect.iscoroutinefunction(source))
    candidates = list(source)

    def key(value: Any) -> str:
        dumped = serializer.dump(value)
        return dumped if isinstance(dumped, str) else serializer.dumps(value).decode()

    return Completer(lambda typed, _: matching(candidates, typed, key=key), False)


def _call(reach: Callable[[], Any], function: Any, skip: int) -> Answer:
    if _takes_arguments(function, skip):
        return lambda typed, context: reach()(typed, context.arguments)
    return lambda typed, _: reach()(typed)


def _takes_arguments(function: Any, skip: int) -> bool:
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return False
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 or any(each.kind is each.VAR_POSITIONAL for each in parameters)
