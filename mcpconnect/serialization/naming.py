"""Names on the wire: eight case styles as pure functions.

Rule: a name that is already in the style stays as it is, so that every style is idempotent and `userID` survives CAMEL.
Any other name is split into words (separators, small-to-capital changes, the end of an acronym; digits stay with the
word before them) and joined again. `LOWER` and `UPPER` only change letters.
"""

from __future__ import annotations

import builtins
import itertools
import keyword
from collections.abc import Callable
from enum import Enum
from functools import lru_cache


class Case(Enum):
    """How Python names become names on the wire."""

    UNCHANGED = "unchanged"
    LOWER = "lower"
    UPPER = "upper"
    PASCAL = "pascal"
    CAMEL = "camel"
    SNAKE = "snake"
    KEBAB = "kebab"
    SCREAMING_SNAKE = "screaming-snake"


CaseStyle = Case | Callable[[str], str]
"""A style, or a function from the Python name (without leading underscores) to the name on the wire."""


def wire_name(name: str, style: CaseStyle, owner: type | None = None) -> str:
    """Return the name on the wire of the member or parameter `name`, declared in `owner`."""
    plain = without_reserved_mark(without_prefix(name, owner))
    return style_name(plain, style) if isinstance(style, Case) else style(plain)


def without_prefix(name: str, owner: type | None = None) -> str:
    """Return `name` without leading underscores and without the class prefix of a private member."""
    for cls in owner.__mro__ if owner is not None else ():
        prefix = f"_{cls.__name__.lstrip('_')}__"
        if name.startswith(prefix) and name != prefix:
            return name[len(prefix) :].lstrip("_") or name
    return name.lstrip("_") or name


def without_reserved_mark(name: str) -> str:
    """Return `from` for `from_`: the underscore stands only because Python reserves the word."""
    bare = name[:-1]
    if name.endswith("_") and (keyword.iskeyword(bare) or keyword.issoftkeyword(bare) or hasattr(builtins, bare)):
        return bare
    return name


@lru_cache(maxsize=4096)
def style_name(name: str, style: Case) -> str:
    """Return `name` in the style; a name that already is in it is returned unchanged."""
    core = name.rstrip("_")
    if style is Case.UNCHANGED or not core or _has_style(core, style):
        return name
    if style is Case.LOWER:
        return name.lower()
    if style is Case.UPPER:
        return name.upper()
    words = split_words(core)
    return _JOIN[style](words) + name[len(core) :] if words else name


def split_words(name: str) -> list[str]:
    """Split a name into words: `XMLHttpRequest2_id` gives `XML`, `Http`, `Request2`, `id`."""
    separated = "".join(letter if letter.isalnum() else " " for letter in name)
    return [word for chunk in separated.split() for word in _split_chunk(chunk)]


def _split_chunk(chunk: str) -> list[str]:
    starts = [0, *(i for i in range(1, len(chunk)) if _starts_word(chunk, i)), len(chunk)]
    return [chunk[a:b] for a, b in itertools.pairwise(starts)]


def _starts_word(chunk: str, i: int) -> bool:
    if not chunk[i].isupper():
        return False
    if not chunk[i - 1].isupper():
        return True
    # Inside capitals a word starts at `Ht` of `XMLHttp`. One small letter alone belongs to the acronym: `IPv4`, `IDs`.
    following = chunk[i + 1 : i + 3]
    return len(following) == 2 and following.islower() and following.isalpha()


def _has_style(name: str, style: Case) -> bool:
    match style:
        case Case.CAMEL:
            return name.isalnum() and name[0].islower()
        case Case.PASCAL:
            return name.isalnum() and name[0].isupper()
        case Case.SNAKE:
            return _consists_of(name, str.islower, "_")
        case Case.KEBAB:
            return _consists_of(name, str.islower, "-")
        case Case.SCREAMING_SNAKE:
            return _consists_of(name, str.isupper, "_")
        case _:
            return False


def _consists_of(name: str, letter: Callable[[str], bool], separator: str) -> bool:
    return all(letter(c) or c.isdigit() or c == separator for c in name)


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:].lower()


def _join_camel(words: list[str]) -> str:
    return words[0].lower() + "".join(map(_capitalised, words[1:]))


_JOIN: dict[Case, Callable[[list[str]], str]] = {
    Case.PASCAL: lambda words: "".join(map(_capitalised, words)),
    Case.CAMEL: _join_camel,
    Case.SNAKE: lambda words: "_".join(words).lower(),
    Case.KEBAB: lambda words: "-".join(words).lower(),
    Case.SCREAMING_SNAKE: lambda words: "_".join(words).upper(),
}
