"""What users hand over to be called later: what can be wrong with it is found out at once.

Rule: a callable is any: a function, a method, a `functools.partial`, an object with `__call__`. A class is not taken
for one, since calling it makes an instance, which is never what was meant.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from ..errors import DefinitionError


def is_async(function: Any) -> bool:
    """Say whether calling something gives a coroutine."""
    while isinstance(function, partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def is_generator(function: Any) -> bool:
    """Say whether calling something gives a generator, of either kind."""
    while isinstance(function, partial):
        function = function.func
    candidates = (function, type(function).__call__)
    return any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in candidates)


def check_callable(thing: Any, form: str, *arguments: str) -> None:
    """See whether something can be called with these arguments.

    Raises:
        DefinitionError: it cannot; the text begins with `form`, what it should be.
    """
    if isinstance(thing, type):
        raise DefinitionError(f"{form}, got the class {thing.__name__}: give an instance, {thing.__name__}()")
    if not callable(thing):
        raise DefinitionError(f"{form}, got {type(thing).__name__}")
    try:
        inspect.signature(thing).bind(*arguments)
    except ValueError:  # it is built in and does not tell
        return
    except TypeError:
        raise DefinitionError(f"{form}, but {named(thing)} does not take ({', '.join(arguments)})") from None


def named(thing: Any) -> str:
    """Return what to call a callable in an error."""
    return str(getattr(thing, "__qualname__", type(thing).__name__))
