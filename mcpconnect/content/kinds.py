"""What a value is to the conversion table, told by its class alone.

Rule: asked once per class, never per call; the order of the questions is the table's: texts, then media, then data.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence, ValuesView
from decimal import Decimal
from enum import Enum, auto
from pathlib import PurePath
from typing import Any
from uuid import UUID

from .data import is_stream
from .pictures import is_picture


class Kind(Enum):
    """The rows of the table that a class can tell apart."""

    NOTHING = auto()
    TEXT = auto()
    BYTES = auto()
    STREAM = auto()
    PICTURE = auto()
    LIST = auto()
    DATA = auto()


MEDIA = frozenset({Kind.BYTES, Kind.STREAM, Kind.PICTURE})

_SCALARS = (int, float, Decimal, Enum, datetime.date, datetime.time, datetime.timedelta, UUID, PurePath)


def is_scalar_class(cls: type) -> bool:
    """Tell whether the values of a class are always written as one JSON scalar."""
    return issubclass(cls, _SCALARS)


def kind_of(value: Any) -> Kind:
    """Return the row of a value. An enum is data even if its members are texts, a named tuple is a record."""
    if value is None:
        return Kind.NOTHING
    if isinstance(value, Enum):
        return Kind.DATA
    if isinstance(value, str):
        return Kind.TEXT
    if isinstance(value, bytes | bytearray | memoryview):
        return Kind.BYTES
    if is_picture(value):
        return Kind.PICTURE
    if is_stream(value):
        return Kind.STREAM
    if isinstance(value, Sequence | ValuesView) and not hasattr(value, "_fields"):
        return Kind.LIST
    return Kind.DATA
