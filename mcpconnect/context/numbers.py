"""Numbers as reports of progress carry them."""

from __future__ import annotations

from math import isfinite
from typing import Any


def finite(value: Any) -> int | float | None:
    """Return a number of any class (`Decimal`, NumPy's) as one that JSON has, or None where JSON has none.

    Raises:
        TypeError: it is no number.
    """
    if isinstance(value, (bool, str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"progress is told in numbers, not in {type(value).__name__}")
    try:
        plain = int(value) if hasattr(value, "__index__") else float(value)
        return plain if isfinite(plain) else None
    except OverflowError:
        return None
