"""JSON text: the one place where values become bytes and bytes become values.

Rule: msgspec writes; only values that the serializer has checked reach it, because it would write a NaN as null. A lone
surrogate, which UTF-8 cannot hold, is written as U+FFFD: no value can make the text invalid. What msgspec refuses is
looked at again here, and never made again from the user's value, whose iterators are used up by then.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import SerializationError
from .runtime import step

encode_exactly: Final = msgspec.json.Encoder().encode
"""The encoder itself: raises `UnicodeEncodeError` for a lone surrogate."""

_LONE: Final = re.compile("[\ud800-\udfff]")


def encode(value: Any, indent: int | None = None) -> bytes:
    """Return the JSON text of a JSON value in UTF-8, compact unless `indent` is given.

    Raises:
        SerializationError: the value has no JSON text.
    """
    if value is UNSET:
        raise SerializationError("nothing is left to write: only a member, item or entry can be left out with OMIT")
    try:
        text = encode_exactly(value)
    except UnicodeEncodeError:
        text = encode(without_surrogates(value))
    except ValueError as error:
        raise _too_long(value) or error from None
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
    if isinstance(value, msgspec.Struct):
        return without_surrogates(_members(value))
    if isinstance(value, dict):
        replaced = {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
        if len(replaced) != len(value):
            raise SerializationError("two keys are the same once their lone surrogates are replaced")
        return replaced
    if isinstance(value, (list, tuple)):
        return list(map(without_surrogates, value))
    return value


def _members(struct: msgspec.Struct) -> dict[str, Any]:
    names = zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True)
    return {wire: item for wire, name in names if (item := getattr(struct, name)) is not UNSET}


def _too_long(value: Any) -> SerializationError | None:
    """Return the error for the first integer with more digits than the interpreter writes."""
    if isinstance(value, int):
        try:
            str(value)
        except ValueError:
            return SerializationError("the integer has too many digits (sys.set_int_max_str_digits)")
        return None
    if isinstance(value, msgspec.Struct):
        value = _members(value)
    if isinstance(value, dict):
        below = [(step(key), item) for key, item in value.items()]
    else:
        below = [(f"[{i}]", item) for i, item in enumerate(value)] if isinstance(value, (list, tuple)) else []
    return next((error.within(step) for step, item in below if (error := _too_long(item)) is not None), None)
