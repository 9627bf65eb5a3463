"""What middleware is given: the operation that a client asked for, and the rest of the way to its result.

Rule: a middleware is `async def mw(call, next)`. It may look at the call, replace its parameters, answer itself, raise,
or look at and replace the result of `await next(call)`, which is the JSON object that the client would get.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from ..errors import DefinitionError
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
            DefinitionError: it cannot be called.
        """
        if not callable(middleware):
            raise DefinitionError(f"a middleware is async def (call, next), got {type(middleware).__name__}")
        self._layers.append(middleware)
        return middleware

    def __iter__(self) -> Iterator[Middleware]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)
