"""What middleware is given: the operation that a client asked for, and the rest of the way to its result.

Rule: a middleware is `async def mw(call, next)`. It may look at the call, replace its parameters, answer itself, raise,
or look at and replace the result of `await next(call)`, which is the JSON object that the client would get.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from ..errors import DefinitionError
from .callables import check_callable, is_async, named
from .context import Context


@dataclass(frozen=True, slots=True)
class Operation:
    """One request of a client: its method, such as `tools/call`, its parameters, and the context of its call."""

    method: str
    params: Mapping[str, Any]
    context: Context

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of a tool or a prompt, as the client sent them."""
        arguments = self.params.get("arguments")
        return arguments if isinstance(arguments, Mapping) else {}

    def with_params(self, **params: Any) -> Operation:
        """Return the same operation with some parameters replaced."""
        return replace(self, params={**self.params, **params})

    def with_arguments(self, **arguments: Any) -> Operation:
        """Return the same operation with some arguments replaced."""
        return self.with_params(arguments={**self.arguments, **arguments})


class Next(Protocol):
    """The rest of the way: returns the result, or raises the error that the client would get."""

    async def __call__(self, call: Operation, /) -> dict[str, Any]:
        """Go on with an operation."""
        ...


class Middleware(Protocol):
    """Something around operations: `async def mw(call, next)`."""

    async def __call__(self, call: Operation, next: Next, /) -> dict[str, Any]:
        """Return the result, usually that of `await next(call)`."""
        ...


M = TypeVar("M", bound=Middleware)


class MiddlewareStack:
    """The middleware of a server, outermost first."""

    def __init__(self) -> None:
        self._layers: list[Middleware] = []

    def add(self, middleware: M) -> M:
        """Put a middleware inside those that are there; return it, so that `@server.middleware.add` works.

        Raises:
            DefinitionError: it is a class, not asynchronous, or does not take a call and what is next.
        """
        check_middleware(middleware, "a middleware")
        self._layers.append(middleware)
        return middleware

    def __iter__(self) -> Iterator[Middleware]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)


def check_middleware(middleware: Any, what: str) -> None:
    """See whether something can stand around operations; `what` it is, for the error.

    Raises:
        DefinitionError: it is a class, not asynchronous, or does not take a call and what is next.
    """
    form = f"{what} is async def (call, next)"
    check_callable(middleware, form, "call", "next")
    if not (is_async(middleware) or is_async(inspect.unwrap(middleware))):
        raise DefinitionError(f"{form}, but {named(middleware)} is not async: write `async def`")
