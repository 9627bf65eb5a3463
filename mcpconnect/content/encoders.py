"""Encoders: how a user says what content the values of a class become.

Rule: a value is offered to the encoders of its class first, then to those of its bases in their order of distance;
among the encoders of one class the latest registered comes first. One that declines (`supports`) passes the value on.
The registry may change while calls run: every change makes a new table, and `version` tells who has cached the old one.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Collection
from typing import Any, Generic, Literal, TypeAlias, TypeVar

Kind: TypeAlias = Literal["tool", "prompt", "resource"]
T = TypeVar("T")

KINDS: frozenset[str] = frozenset({"tool", "prompt", "resource"})


class Encoder(Generic[T]):
    """Turns the values of a class into content; immutable, and shared by all calls.

    `kinds` limits it to results of tools, prompts or resources.
    """

    kinds: Collection[Kind] = ("tool", "prompt", "resource")

    def supports(self, value: T) -> bool:  # noqa: ARG002 - for subclasses
        """Tell whether this encoder takes the value; otherwise the next one is asked."""
        return True

    def encode(self, value: T) -> Any:
        """Return a block, several blocks, a whole result, or any other value, which is then converted in its place."""
        raise NotImplementedError


class _FunctionEncoder(Encoder[Any]):
    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.encode = function  # type: ignore[assignment, method-assign] # the function is the method


Entry: TypeAlias = tuple[type, Encoder[Any], frozenset[str]]


class _Table:
    """One state of the registry: its entries in order of registration, and what was found for a class."""

    __slots__ = ("entries", "found")

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries = entries
        self.found: dict[tuple[type, str], tuple[Encoder[Any], ...]] = {}


class EncoderRegistry:
    """The encoders of a server, in the order in which they were added."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table = _Table(())
        self.version = 0
        """Grows with every change, so that others may cache what they found."""

    def __bool__(self) -> bool:
        return bool(self._table.entries)

    def add(
        self,
        cls: type,
        encoder: Encoder[Any] | type[Encoder[Any]] | Callable[[Any], Any],
        *,
        kinds: Collection[Kind] | None = None,
    ) -> None:
        """Register an encoder, or a function that takes a value and returns content, for a class and its subclasses.

        Raises TypeError for what is neither and for `async def`, ValueError for an unknown kind.
        """
        if not isinstance(cls, type):
            raise TypeError(f"encoders are registered for classes, not for {cls!r}")
        made = _encoder(encoder)
        limited = frozenset(made.kinds if kinds is None else kinds)
        if unknown := limited - KINDS:
            raise ValueError(f"kinds are {', '.join(sorted(KINDS))}, not {', '.join(sorted(unknown))}")
        with self._lock:
            self._replace((*self._table.entries, (cls, made, limited)))

    def remove(self, cls: type) -> None:
        """Take back the latest registration for exactly this class; the one before it holds again.

        Raises KeyError if there is none.
        """
        with self._lock:
            entries = list(self._table.entries)
            for index in range(len(entries) - 1, -1, -1):
                if entries[index][0] is cls:
                    del entries[index]
                    self._replace(tuple(entries))
                    return
        raise KeyError(f"no encoder is registered for {cls.__name__}")

    def find(self, cls: type, kind: Kind) -> tuple[Encoder[Any], ...]:
        """Return the encoders for values of exactly this class, in the order in which they are asked."""
        table = self._table  # one state: a change meanwhile makes another table with a cache of its own
        found = table.found.get((cls, kind))
        if found is None:
            found = table.found[cls, kind] = _sorted(table, cls, kind)
        return found

    def _replace(self, entries: tuple[Entry, ...]) -> None:
        self._table = _Table(entries)
        self.version += 1


def _sorted(table: _Table, cls: type, kind: Kind) -> tuple[Encoder[Any], ...]:
    candidates: list[tuple[int, int, Encoder[Any]]] = []
    for order, (target, encoder, kinds) in enumerate(table.entries):
        distance = _distance(cls, target)
        if distance is not None and kind in kinds:
            candidates.append((distance, -order, encoder))
    return tuple(encoder for _, _, encoder in sorted(candidates, key=lambda candidate: candidate[:2]))


def _distance(cls: type, target: type) -> int | None:
    """Return how many classes lie between; abstract classes without inheritance stand just before `object`."""
    order = cls.__mro__
    if target in order:
        return 2 * order.index(target)
    try:
        return 2 * len(order) - 3 if issubclass(cls, target) else None
    except TypeError:  # such as a protocol with data members
        return None


def _encoder(given: Any) -> Encoder[Any]:
    if isinstance(given, type) and issubclass(given, Encoder):
        given = given()
    if not isinstance(given, Encoder) and not callable(given):
        raise TypeError(f"an encoder is an Encoder or a function of the value, not {given!r}")
    encoder: Encoder[Any] = given if isinstance(given, Encoder) else _FunctionEncoder(given)
    if inspect.iscoroutinefunction(encoder.encode):
        raise TypeError("an encoder is synchronous; await in the tool and return what the encoder needs")
    return encoder
