"""The levels of log messages, and who hears which.

Rule: the eight levels of RFC 5424 are the protocol's; on `logging` they are five.

Source: the specification's page *Logging*.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, Literal

from ..errors import InvalidParams

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

_NUMBERS: Final[Mapping[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}
_RANKS: Final[Mapping[str, int]] = {level: rank for rank, level in enumerate(_NUMBERS)}

SILENT: Final = len(_RANKS)
"""The rank above all levels: nothing is heard."""

UNASKED: Final = _RANKS["info"]
"""The rank from which a client that shook hands hears without having asked."""


def rank_of(level: Any) -> int:
    """Return the rank of a level that a client names.

    Raises:
        InvalidParams: there is no such level.
    """
    rank = _RANKS.get(level) if isinstance(level, str) else None
    if rank is None:
        raise InvalidParams(f"the level must be one of {', '.join(_RANKS)}")
    return rank


def ranked(level: str) -> tuple[int, int]:
    """Return the rank of a level, and its number in `logging`.

    Raises:
        ValueError: there is no such level.
    """
    if level not in _RANKS:
        raise ValueError(f"unknown log level {level!r}; one of {', '.join(_RANKS)}")
    return _RANKS[level], _NUMBERS[level]
