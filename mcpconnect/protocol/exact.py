"""JSON that is opened to be looked at and written again: every number keeps all of its digits.

Rule: a number is a float where that writes the same digits again, and a `Decimal` otherwise.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import msgspec

_write: Final = msgspec.json.Encoder().encode


def _number(text: str) -> float | Decimal:
    number = float(text)
    return number if _write(number).decode() == text else Decimal(text)


decode: Final = msgspec.json.Decoder(Any, float_hook=_number).decode
"""Return the value of JSON text."""

encode: Final = msgspec.json.Encoder(decimal_format="number").encode
"""Return the JSON text of a value, whose `Decimal`s are numbers."""
