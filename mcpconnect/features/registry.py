"""What a server offers of one kind: by name, in the order of registration, a page at a time.

Rule: a registration is all or nothing, from any thread. Readers never lock: they see the dictionary before a change or
after it, and a cursor stays right while features come and go, because it names a place in the order of registration.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, Protocol, TypeVar

from ..errors import DefinitionError, InvalidParams

_CURSOR: Final = b"after:"


class Feature(Protocol):
    """What a registry holds."""

    @property
    def key(self) -> str:
        """What clients ask for it by: a name or a URI."""
        ...

    @property
    def where(self) -> str:
        """The place in the user's code, for errors."""
        ...

    enabled: bool


T = TypeVar("T", bound=Feature)
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list, and the cursor of the next one (None at the end)."""

    items: tuple[T, ...]
    next_cursor: str | None


class Registry(Generic[T]):
    """Features of one kind. `changed` is called after each change, outside the lock."""

    def __init__(self, kind: str, changed: Callable[[], None]) -> None:
        self._kind = kind
        self._changed = changed
        self._lock = Lock()
        self._entries: dict[str, tuple[int, T]] = {}
        self._count = 0
        self._kept: dict[Hashable, Any] = {}

    def __iter__(self) -> Iterator[T]:
        return iter([feature for _, feature in self._entries.values()])

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, name: str) -> T | None:
        """Return the enabled feature of that name."""
        entry = self._entries.get(name)
        return entry[1] if entry is not None and entry[1].enabled else None

    def check(self, features: Iterable[T]) -> None:
        """See whether the features could be added.

        Raises:
            DefinitionError: a name is taken.
        """
        self._with(features)

    def add(self, features: Iterable[T]) -> None:
        """Add all of them, or none.

        Raises:
            DefinitionError: a name is taken.
        """
        with self._lock:
            self._entries, self._count = self._with(features)
            self._kept = {}
        self._changed()

    def _with(self, features: Iterable[T]) -> tuple[dict[str, tuple[int, T]], int]:
        entries = dict(self._entries)
        count = self._count
        for feature in features:
            count += 1
            if (taken := entries.get(feature.key)) is not None:
                raise DefinitionError(
                    f"{feature.where}: the {self._kind} {feature.key!r} is there already, "
                    f"from {taken[1].where}; rename one, or register it with a prefix"
                )
            entries[feature.key] = (count, feature)
        return entries, count

    def remove(self, chosen: Callable[[T], bool]) -> int:
        """Remove the features that `chosen` picks; return how many."""
        with self._lock:
            entries = {name: entry for name, entry in self._entries.items() if not chosen(entry[1])}
            removed = len(self._entries) - len(entries)
            self._entries, self._kept = entries, {}
        if removed:
            self._changed()
        return removed

    def enable(self, chosen: Callable[[T], bool], enabled: bool) -> int:
        """Enable or disable the features that `chosen` picks; return how many it picks."""
        with self._lock:
            picked = [feature for feature in self if chosen(feature)]
            switched = [feature for feature in picked if feature.enabled is not enabled]
            for feature in switched:
                feature.enabled = enabled
            self._kept = {}
        if switched:
            self._changed()
        return len(picked)

    def page(self, cursor: str | None, size: int, shown: Callable[[T], bool] | None = None) -> Page[T]:
        """Return the enabled features behind `cursor`, at most `size`; where `shown` is given, those that it picks.

        Raises:
            InvalidParams: the cursor is none of ours.
        """
        after = 0 if cursor is None else _opened(cursor, self._count)
        left = [entry for entry in self._entries.values() if entry[0] > after and entry[1].enabled]
        if shown is not None:
            left = [entry for entry in left if shown(entry[1])]
        part = left[:size]
        more = len(left) > size
        return Page(tuple(feature for _, feature in part), _sealed(part[-1][0]) if more else None)

    def kept(self, key: Hashable, make: Callable[[], K]) -> K:
        """Return what `make` gives, kept under `key` until anything changes, for answers that follow from the list."""
        kept = self._kept
        if key not in kept:
            kept[key] = make()
        value: K = kept[key]
        return value


def _sealed(place: int) -> str:
    return urlsafe_b64encode(_CURSOR + str(place).encode()).decode()


def _opened(cursor: str, last: int) -> int:
    try:
        text = urlsafe_b64decode(cursor.encode())
        place = int(text.removeprefix(_CURSOR))
    except (ValueError, binascii.Error):
        place = 0
    if not 0 < place <= last or _sealed(place) != cursor:
        raise InvalidParams(f"unknown cursor {cursor[:40]!r}: pass the nextCursor of the page before")
    return place
