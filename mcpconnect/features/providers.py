"""Completion providers: functions that are asked for any argument that has no completer of its own.

Rule: they are asked in their order until one answers; None says that it is not this one's affair, and those behind the
first answer are not called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, TypeAlias

from anyio import to_thread

from .completion import CompletionArgument, CompletionContext, Ref

Provider: TypeAlias = Callable[[Ref, CompletionArgument, CompletionContext], Any]


class Providers:
    """The providers of a server."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._entries: tuple[tuple[int, Provider], ...] = ()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Provider]:
        return iter([provider for _, provider in self._entries])

    def add(self, provider: Provider, *, order: int = 0) -> None:
        """Ask `provider(ref, argument, context)` for completions; lower orders first, then the earlier one.

        Raises:
            TypeError: it is not callable.
        """
        if not callable(provider):
            raise TypeError(f"a provider is a function of ref, argument and context, not {provider!r}")
        with self._lock:
            entries = [*self._entries, (order, provider)]
            self._entries = tuple(sorted(entries, key=lambda entry: entry[0]))

    def remove(self, provider: Provider) -> None:
        """Ask it no more.

        Raises:
            KeyError: it is not there.
        """
        with self._lock:
            left = tuple(entry for entry in self._entries if entry[1] is not provider)
            if len(left) == len(self._entries):
                raise KeyError("no such provider")
            self._entries = left


async def ask(providers: Providers, ref: Ref, argument: CompletionArgument, context: CompletionContext) -> Any:
    """Return the first answer, or None. What is not `async` is called in a worker thread."""
    for provider in providers:
        if inspect.iscoroutinefunction(provider):
            answer = await provider(ref, argument, context)
        else:
            answer = await to_thread.run_sync(provider, ref, argument, context, abandon_on_cancel=True)
            if inspect.isawaitable(answer):
                answer = await answer
        if answer is not None:
            return answer
    return None
