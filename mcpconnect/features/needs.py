"""What the server provides to a method, to the instance that it belongs to, and to that one's constructor.

Rule: all of it is found out when a feature is registered. Only `Context` as a parameter of a method is not here: it
costs nothing to provide, and stands in `binding`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from .._typing import Unresolved, innermost, resolve_hints
from ..context import Inject, Need, Provider, Providers, Session, prepare, provide, running
from ..errors import DefinitionError, InvalidRequest
from .collect import Source
from .marks import SessionIfAny, marked, marked_init, marked_members, running_context

_Marks = Mapping[str, Inject]
_Values = Mapping[str, Any]
Prepare = Callable[[], Awaitable[None]]
_Plan = tuple[Mapping[str, Need], Mapping[str, Need], Mapping[str, Need]]
"""The needs of a method's parameters, of the instance's members, and of the constructor's parameters."""


class Needs:
    """What one method needs, and how it is called with that."""

    def __init__(self, source: Source, providers: Providers) -> None:
        self._source = source
        self._providers = providers
        self._marks = _marks(source)
        self._plan = self._planned({})
        self._prepare: dict[bool, Prepare | None] = {}

    @property
    def empty(self) -> bool:
        """Whether nothing has to be provided."""
        return not any(self._marks)

    def preparing(self, threaded: bool) -> Prepare | None:
        """Return what has to be awaited before `call`, if there is something; `threaded` says where that runs."""
        if self._providers.replaced:
            return self._preparing(threaded)
        if threaded not in self._prepare:
            self._prepare[threaded] = self._preparing(threaded)
        return self._prepare[threaded]

    def call(self, arguments: _Values) -> Any:
        """Provide what is needed and call the method."""
        context = running("an injected value")
        ready = [{name: provide(need, context) for name, need in needs.items()} for needs in self._current()]
        return self._method(arguments, *ready)()

    def _current(self) -> _Plan:
        replaced = self._providers.replaced
        return self._planned(replaced) if replaced else self._plan

    def _preparing(self, threaded: bool) -> Prepare | None:
        needs = [need for each in self._current() for need in each.values()]
        if any(need.waits or (need.lasts and not threaded) for need in needs):
            return lambda: prepare(needs, running("an injected value"), on_loop=not threaded)
        return None

    def _method(self, arguments: _Values, parameters: _Values, members: _Values, init: _Values) -> partial[Any]:
        if init or members:
            return partial(self._source.reach_with(init, members), **arguments, **parameters)
        return partial(self._source.reach(), **arguments, **parameters)

    def _session(self, wanted: type[Session], optional: bool) -> Provider:
        kept = self._providers.session
        if kept is None and optional:
            return _no_session
        if kept is None or not issubclass(kept, wanted):
            raise DefinitionError(f"{self._source.where}: there is no session: McpServer(session={wanted.__name__})")
        return _running_session_if_any if optional else _running_session

    def _planned(self, replaced: Mapping[Provider, Provider]) -> _Plan:
        def planned(marks: _Marks, path: tuple[Provider, ...] = ()) -> dict[str, Need]:
            needs = {}
            for name, mark in marks.items():
                provider = replaced.get(mark.provider, mark.provider)
                if isinstance(provider, type) and issubclass(provider, Session):
                    provider = self._session(provider, isinstance(mark, SessionIfAny))
                if provider in path:
                    raise DefinitionError(f"{where}: the provider {_name(provider)} needs itself")
                inner = planned(_needed_by(provider, where), (*path, provider))
                needs[name] = Need.of(Inject(provider, mark.scope), inner, where)
            return needs

        where = self._source.where
        parameters, members, init = self._marks
        return planned(parameters), planned(members), planned(init)


def _marks(source: Source) -> tuple[_Marks, _Marks, _Marks]:
    parameters = {
        name: mark
        for name, mark in marked(source.function, source.owner).items()
        if mark.provider is not running_context
    }
    if source.owner is None:
        return parameters, {}, {}
    members = marked_members(source.owner)
    if not isinstance(source.origin, type):
        if members:
            raise DefinitionError(
                f"{source.where}: {next(iter(members))} is provided for each call: register the class, not an instance"
            )
        return parameters, {}, {}
    init = {} if source.factory is not None else marked_init(source.owner)
    return parameters, {name: mark for name, mark in members.items() if name not in init}, init


def _running_session() -> Session:
    return running("an injected session").session


def _running_session_if_any() -> Session | None:
    try:
        scope = running("an injected session").session_scope
    except InvalidRequest:  # its revision, or this way of serving, has no sessions
        return None
    return scope.get()


def _no_session() -> None:
    return None


def _needed_by(provider: Provider, where: str) -> dict[str, Inject]:
    """Return what a provider needs.

    Raises:
        DefinitionError: it has a parameter that nothing is provided for.
    """
    if not callable(provider):
        raise DefinitionError(f"{where}: Inject takes a function or a class, got {type(provider).__name__}")
    function: Any = innermost(provider)
    found = marked_init(function) if isinstance(function, type) else marked(provider, None)
    try:
        parameters = list(inspect.signature(provider).parameters.values())
    except (TypeError, ValueError):
        return found
    if getattr(function, "__name__", "") == "<lambda>" and len(parameters) == 1 and not found:
        (only,) = parameters  # a lambda cannot say by an annotation that it takes the context
        if only.kind is only.POSITIONAL_OR_KEYWORD:
            return {only.name: Inject(running_context)}
    for each in parameters:
        optional = each.default is not each.empty or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        if each.name not in found and not optional:
            raise DefinitionError(_unprovided(provider, function, each.name, where))
    return found


def _unprovided(provider: Provider, function: Any, parameter: str, where: str) -> str:
    signed = inspect.getattr_static(function, "__init__") if isinstance(function, type) else provider
    hint = resolve_hints(signed, function if isinstance(function, type) else None).get(parameter)
    mend = hint.reason if isinstance(hint, Unresolved) else "annotate it with Inject(…), or give it a default"
    what = f"the provider {_name(provider)} has the parameter {parameter!r}"
    return f"{where}: {what}, for which nothing is provided: {mend}"


def _name(provider: Any) -> str:
    return str(getattr(provider, "__qualname__", type(provider).__name__))
