"""From what was registered to the decorated callables in it, and to the way a call reaches each.

Rule: classes are walked through their dictionaries, base class first and in the order of definition; attributes of an
instance are never read, because a property may do anything. A method that overrides a decorated one stays a feature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._typing import innermost
from ..errors import DefinitionError
from .declare import Declaration, declarations
from .marks import marked_init

Factory = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Source:
    """One decorated callable.

    `function` has the signature, `skip` names its parameter for the instance or class, `reach()` returns what a call
    calls (`reach_with` after giving the constructor and the instance what they need), and `where` is what errors say.
    """

    declaration: Declaration
    name: str
    function: Callable[..., Any]
    skip: frozenset[str]
    owner: type | None
    reach: Callable[[], Callable[..., Any]]
    where: str
    origin: Any
    factory: Factory | None = None

    def reach_with(self, init: Mapping[str, Any], members: Mapping[str, Any]) -> Callable[..., Any]:
        """Return what a call calls, on a new instance that is given what it needs."""
        assert isinstance(self.origin, type)
        instance = self.factory() if self.factory is not None else self.origin(**init)
        for name, value in members.items():
            setattr(instance, name, value)
        method: Callable[..., Any] = getattr(instance, self.name)
        return method

    @property
    def plain(self) -> Any:
        """The innermost function: for the docstring, and to see whether it is asynchronous."""
        return innermost(self.function)

    @property
    def documented(self) -> Any:
        """What has the docstring: the innermost function, or where it has none the nearest method that it overrides."""
        for base in self.owner.__mro__ if self.owner is not None and not self.plain.__doc__ else ():
            held = vars(base).get(self.name)
            if base is not object and inspect.isroutine(held) and held.__doc__:
                return held
        return self.plain

    @property
    def is_async(self) -> bool:
        """Whether calling it gives a coroutine or an asynchronous generator, as far as one can see beforehand."""
        return inspect.iscoroutinefunction(self.plain) or inspect.isasyncgenfunction(self.plain)


def collect(thing: Any, factory: Factory | None) -> list[Source]:
    """Return the decorated callables of a class, an instance or a function, in order.

    Raises:
        DefinitionError: there is none, or the class cannot be made for each call.
    """
    if isinstance(thing, type):
        found = list(_of_class(thing, _maker(thing, factory), thing, factory))
    elif declarations(thing):
        if factory is not None:
            raise DefinitionError(f"{_place(thing)}: factory= goes with a class")
        found = list(_of_function(thing))
    else:
        if factory is not None:
            raise DefinitionError(f"{_place(type(thing))}: factory= goes with a class, this is an instance")
        found = list(_of_class(type(thing), lambda: thing, thing))
    if not found:
        raise DefinitionError(f"{_place(thing)} has nothing to register: decorate a method with @tool")
    return found


def _of_function(function: Any) -> Iterator[Source]:
    place = _place(function)
    name = getattr(function, "__name__", None) or getattr(getattr(function, "func", None), "__name__", None)
    for declaration in declarations(function):
        if (name is None or name == "<lambda>") and declaration.name is None:
            raise DefinitionError(f"{place} has no name of its own: give one, @tool(name=…)")
        yield Source(declaration, name or "", function, frozenset(), None, lambda: function, place, function)


def _of_class(cls: type, make: Factory, origin: Any, factory: Factory | None = None) -> Iterator[Source]:
    for name in _attribute_names(cls):
        attribute, marks = _declared(cls, name)
        for declaration in marks:
            where = f"{cls.__module__}.{cls.__qualname__}.{name}"
            function = attribute.__func__ if isinstance(attribute, (staticmethod, classmethod)) else attribute
            is_static = isinstance(attribute, staticmethod)
            skip = frozenset(() if is_static else (_first_parameter(function, where),))
            reach = _reaching(make, name, attribute, cls)
            yield Source(declaration, name, function, skip, cls, reach, where, origin, factory)


def _reaching(make: Factory, name: str, attribute: Any, cls: type) -> Callable[[], Callable[..., Any]]:
    if isinstance(attribute, (staticmethod, classmethod)):
        ready: Callable[..., Any] = getattr(cls, name)
        return lambda: ready
    return lambda: getattr(make(), name)


def _attribute_names(cls: type) -> list[str]:
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        names.update(dict.fromkeys(vars(base)))
    return list(names)


def _declared(cls: type, name: str) -> tuple[Any, tuple[Declaration, ...]]:
    """Return the attribute that `cls` has under a name, with the nearest declaration along its bases."""
    held = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
    attribute = held[0]
    if not callable(attribute) and not isinstance(attribute, (staticmethod, classmethod)):
        return attribute, ()
    return attribute, next((marks for value in held if (marks := declarations(value))), ())


def _first_parameter(function: Any, where: str) -> str:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if not parameters or parameters[0].kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise DefinitionError(f"{where} takes no `self`: add it, or make it a @staticmethod")
    return parameters[0].name


def _maker(cls: type, factory: Factory | None) -> Factory:
    if factory is not None:
        if not callable(factory):
            raise DefinitionError(f"{_place(cls)}: factory must be callable, got {type(factory).__name__}")
        return factory
    if inspect.isabstract(cls):
        raise DefinitionError(f"{_place(cls)} is abstract: register a class that implements it")
    try:
        inspect.signature(cls).bind(**dict.fromkeys(marked_init(cls)))
    except TypeError as error:
        raise DefinitionError(
            f"{_place(cls)} cannot be made without arguments ({error}): pass factory=…, or register an instance"
        ) from None
    except ValueError:
        pass  # a constructor written in C shows no signature; the first call will tell
    return cls


def _place(thing: Any) -> str:
    name = getattr(thing, "__qualname__", None)
    if name is None:
        thing = getattr(thing, "func", None) or type(thing)
        name = getattr(thing, "__qualname__", type(thing).__name__)
    return f"{getattr(thing, '__module__', '?')}.{name}"
