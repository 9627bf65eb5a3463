"""JSON text: the one place where values become bytes and bytes become values.

Rule: msgspec writes; only values that the serializer has checked reach it, because it would write a NaN as null. A lone
surrogate, which UTF-8 cannot hold, is written as U+FFFD: no value can make the text invalid.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from ..errors import SerializationError

encode_exactly: Final = msgspec.json.Encoder().encode
"""The encoder itself: raises `UnicodeEncodeError` for a lone surrogate."""

_LONE: Final = re.compile("[\ud800-\udfff]")


def encode(value: Any, indent: int | None = None) -> bytes:
    """Return the JSON text of a JSON value in UTF-8, compact unless `indent` is given."""
    try:
        text = encode_exactly(value)
    except UnicodeEncodeError:
        text = encode_exactly(without_surrogates(value))
    return text if indent is None else msgspec.json.format(text, indent=indent)


def decode(text: bytes | str) -> Any:
    """Return the JSON value of a text. Integers are exact.

    Raises:
        ValueError: it is no JSON text.
    """
    return msgspec.json.decode(text)


def without_surrogates(value: Any) -> Any:
    """Return the JSON value with every lone surrogate replaced.

    Raises:
        SerializationError: two keys of an object would be the same then.
    """
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, dict):
        replaced = {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
        if len(replaced) != len(value):
            raise SerializationError("two keys are the same once their lone surrogates are replaced")
        return replaced
    if isinstance(value, list):
        return list(map(without_surrogates, value))
    return value
