"""Scalars on their way out: the complete conversion of each kind, with every check.

Rule: a writer takes whatever stands in the member, returns a JSON scalar or raises. It accepts what is of the declared
class and its subclasses, and numbers of other libraries for numbers; a wrong class would break the published schema.
Generated code calls a writer only for values that are not plainly right.
"""

from __future__ import annotations

import base64
import binascii
import numbers
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

import msgspec

from ..errors import SerializationError
from .config import ISO, UNIX, SerializerConfig
from .moments import iso_duration, rfc3339
from .plan import ScalarNode

Writer = Callable[[Any], Any]
SAFE_INTEGER: Final = 2**53 - 1
_MOST_DIGITS: Final = 400  # a short decimal may stand for an integer of any length


def scalar_writer(node: ScalarNode, config: SerializerConfig, *, as_value: bool) -> Writer:
    """Return the function that writes values of the scalar; ready JSON text passes through it.

    `as_value` is for `dump`, whose numbers are Python's; a text may have digits that no float holds.
    """
    if node.kind == "decimal" and node.form == "number":
        convert = _decimal_number(config, as_value=as_value)
    else:
        convert = _PLAIN[node.kind] if node.kind in _PLAIN else _STYLED[node.kind](node.form, config)

    def write(value: Any) -> Any:
        return value if type(value) is msgspec.Raw else convert(value)

    return write


def wrong_class(expected: str, value: Any) -> SerializationError:
    """Return the error for a value that is not of the declared class."""
    return SerializationError(f"expected {expected}, got {type(value).__name__}")


# -- kinds that no setting changes ------------------------------------------------------------------------------------


def _none(value: Any) -> None:
    if value is not None:
        raise wrong_class("None", value)


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise wrong_class("bool", value)


def _str(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    raise wrong_class("str", value)


def _uuid(value: Any) -> str:
    if isinstance(value, UUID):
        return str(value)
    raise wrong_class("UUID", value)


def _path(value: Any) -> str:
    if isinstance(value, PurePath):
        return value.as_posix()
    raise wrong_class("Path", value)


_PLAIN: Final[dict[str, Writer]] = {"none": _none, "bool": _bool, "str": _str, "uuid": _uuid, "path": _path}


# -- kinds with a setting or a format: functions that return the writer -----------------------------------------------


def _int(_: str, config: SerializerConfig) -> Writer:
    as_text = config.big_ints == "string"

    def write(value: Any) -> int | str:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise wrong_class("int", value)
        exact = int(value)
        return str(exact) if as_text and not -SAFE_INTEGER <= exact <= SAFE_INTEGER else exact

    return write


def _float(form: str, config: SerializerConfig) -> Writer:
    null = config.non_finite == "null"
    whole = _int(form, config)

    def write(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise wrong_class("float", value)
        return whole(value) if isinstance(value, numbers.Integral) else finite(float(value), null)

    return write


def finite(value: float, null: bool) -> float | None:
    """Return a float that JSON can hold; NaN and the infinities become null or an error."""
    if value - value == 0:
        return value
    if null:
        return None
    raise SerializationError(f"{value} is no JSON number")


def _decimal(_: str, config: SerializerConfig) -> Writer:
    null = config.non_finite == "null"

    def write(value: Any) -> Any:
        exact = _exact(value)
        return str(exact) if exact.is_finite() else _non_finite(exact, null)

    return write


def _decimal_number(config: SerializerConfig, *, as_value: bool) -> Writer:
    null = config.non_finite == "null"

    def write(value: Any) -> Any:
        exact = _exact(value)
        if not exact.is_finite():
            return _non_finite(exact, null)
        if exact.adjusted() < _MOST_DIGITS and exact == exact.to_integral_value():
            return int(exact)
        number = finite(float(exact), null)
        if as_value or number is None or Decimal(repr(number)) == exact:
            return number
        return msgspec.Raw(str(exact).encode())

    return write


def _exact(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (Decimal, int)):
        raise wrong_class("Decimal", value)
    return Decimal(value)


def _non_finite(value: Decimal, null: bool) -> None:
    finite(float("nan") if value.is_nan() else float(value), null)


def _bytes(form: str, _: SerializerConfig) -> Writer:
    encode = _BYTES[form]

    def write(value: Any) -> Any:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return encode(bytes(value))
        raise wrong_class("bytes", value)

    return write


def base64_text(data: bytes) -> str:
    """Return standard base64 without line breaks."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


_BYTES: Final[dict[str, Callable[[bytes], Any]]] = {
    "base64": base64_text,
    "base64url": lambda data: base64.urlsafe_b64encode(data).decode("ascii"),
    "hex": bytes.hex,
    "native": list,
}


def _datetime(form: str, config: SerializerConfig) -> Writer:
    convert = {ISO: rfc3339, UNIX: lambda moment: _number(moment.timestamp())}.get(form) or _strftime(form)

    def write(value: Any) -> Any:
        if not isinstance(value, datetime):
            raise wrong_class("datetime", value)
        try:
            moment = value.replace(tzinfo=UTC) if value.utcoffset() is None else value
            return convert(moment.astimezone(UTC) if config.use_utc else moment)
        except OverflowError:
            raise SerializationError("the moment lies outside the years 1 to 9999 in UTC") from None

    return write


def _date(form: str, _: SerializerConfig) -> Writer:
    convert = date.isoformat if form == ISO else _strftime(form)

    def write(value: Any) -> str:
        if isinstance(value, date) and not isinstance(value, datetime):
            return convert(value)
        raise wrong_class("date", value)

    return write


def _time(form: str, _: SerializerConfig) -> Writer:
    convert = _iso_time if form == ISO else _strftime(form)

    def write(value: Any) -> str:
        if isinstance(value, time):
            return convert(value)
        raise wrong_class("time", value)

    return write


def _iso_time(value: time) -> str:
    return value.isoformat().replace("+00:00", "Z")


def _strftime(pattern: str) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        return str(value.strftime(pattern))

    return write


def _timedelta(form: str, _: SerializerConfig) -> Writer:
    convert = iso_duration if form == ISO else lambda span: _number(span.total_seconds())

    def write(value: Any) -> Any:
        if isinstance(value, timedelta):
            return convert(value)
        raise wrong_class("timedelta", value)

    return write


def _number(seconds: float) -> float:
    return int(seconds) if seconds.is_integer() else seconds


_STYLED: Final[dict[str, Callable[[str, SerializerConfig], Writer]]] = {
    "int": _int,
    "float": _float,
    "decimal": _decimal,
    "bytes": _bytes,
    "datetime": _datetime,
    "date": _date,
    "time": _time,
    "timedelta": _timedelta,
}
