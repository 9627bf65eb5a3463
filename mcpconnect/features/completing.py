"""What completes the arguments of a prompt or the variables of a template, and how it is found.

Rule: an argument has at most one completer of its own: `Complete(…)` beside its type, or a method marked `@complete`.
Providers are asked after it, and only where it is missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from typing import Any

from ..context import Providers, running
from ..errors import DefinitionError
from ..serialization.member import Member
from .binding import context_parameters
from .collect import Source
from .completion import Complete, CompletionContext, matching
from .declare_completions import CompletionDeclaration
from .marks import marked
from .needs import Needs, Prepare
from .settings import FeatureSettings

Answer = Callable[[str, CompletionContext], Any]


class Completer:
    """Completes one argument; `answer` may return something to be awaited. `origin` is what was registered."""

    __slots__ = ("_needs", "answer", "origin", "threaded")

    def __init__(self, answer: Answer, threaded: bool, origin: Any = None, needs: Needs | None = None) -> None:
        self.answer = answer
        self.origin = origin
        self.threaded = threaded
        self._needs = needs

    @property
    def prepare(self) -> Prepare | None:
        """What has to be awaited before `answer`, if there is something."""
        return None if self._needs is None else self._needs.preparing(self.threaded)


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

    def add(self, wire: str, completer: Completer) -> None:
        """Let something complete the argument of this name on the wire, which `check` gave."""
        self.completers[wire] = completer

    def remove(self, origin: Any) -> int:
        """Take the completers away that came with what was registered; return how many."""
        completers = self.completers.items()
        gone = [wire for wire, completer in completers if completer.origin is origin and origin is not None]
        for wire in gone:
            del self.completers[wire]
        return len(gone)


def of_method(source: Source, providers: Providers) -> Completer:
    """Return the completer that a method is; what the server provides is filled in.

    Raises:
        DefinitionError: it takes no text.
    """
    injected = context_parameters(source)
    taken = _positional(source.function, source.skip | marked(source.function, source.owner).keys())
    needs = Needs(source, providers)
    if not taken:
        raise DefinitionError(f"{source.where}: a completer takes the text typed so far: add a parameter")
    if not injected and needs.empty:
        return Completer(_call(source.reach, taken), not source.is_async, source.origin)
    signature = inspect.signature(source.function).parameters
    if any(signature[name].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD for name in taken):
        raise DefinitionError(f"{source.where}: beside what the server provides, parameters need names: remove * and /")

    def answer(typed: str, context: CompletionContext) -> Any:
        given: dict[str, Any] = dict(zip(taken, (typed, context.arguments), strict=False))
        given.update(dict.fromkeys(injected, running(source.where)))
        return needs.call(given)

    return Completer(answer, not source.is_async, source.origin, needs)


def marked_completers(members: Iterable[Member], settings: FeatureSettings, where: str) -> dict[str, Completer]:
    """Return the completers that stand beside the types of parameters, by the names on the wire.

    Raises:
        DefinitionError: one of them is a function that takes no text.
    """
    found = {}
    for member in members:
        for extra in member.metadata:
            if isinstance(extra, Complete):
                found[member.wire] = _of_source(extra.source, member.name, settings, where)
    return found


def _of_source(source: Any, argument: str, settings: FeatureSettings, where: str) -> Completer:
    if isinstance(source, type) and issubclass(source, Enum):
        source = list(source)
    if callable(source):
        declaration = CompletionDeclaration(target="", argument=argument)
        where = f"{where}: the completer of {argument!r}"
        function = Source(declaration, argument, source, frozenset(), None, lambda: source, where, None)
        return of_method(function, settings.providers)
    candidates, serializer = list(source), settings.serializer

    def key(value: Any) -> str:
        dumped = serializer.dump(value)
        return dumped if isinstance(dumped, str) else serializer.dumps(value).decode()

    return Completer(lambda typed, _: matching(candidates, typed, key=key), False)


def _call(reach: Callable[[], Any], taken: list[str]) -> Answer:
    if len(taken) > 1:
        return lambda typed, context: reach()(typed, context.arguments)
    return lambda typed, _: reach()(typed)


def _positional(function: Any, skip: Collection[str]) -> list[str]:
    """Return the names of the parameters that can be given by position, one where nobody knows."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["typed"]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in parameters if each.kind in kinds and each.name not in skip]
    star = [each.name for each in parameters if each.kind is inspect.Parameter.VAR_POSITIONAL]
    return names + star * 2
