"""Scalars on their way in: what each kind takes, strictly and leniently.

Rule: a strict reader takes exactly what the published schema says. A lenient one also takes text that is exactly a JSON
number for numbers, and `true false 1 0` as text for booleans. Neither takes a bool for a number, a number for a bool,
or anything but text for text. A reader returns the value or raises `Mismatch`. The patterns are the published ones.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from .config import ISO, UNIX
from .moments import DURATION, TIME, from_duration, from_rfc3339, full_match
from .plan import ScalarNode
from .words import Mismatch, mismatch

Reader = Callable[[Any], Any]

DECIMAL: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,9})?$"
BIG_INTEGER: Final = r"^-?[1-9][0-9]{15,}$"
HEX: Final = r"^([0-9a-fA-F]{2})*$"

_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DATA_URL: Final = re.compile(r"data:[^,]*;base64,")
_MOST_DIGITS: Final = 4000


def scalar_reader(node: ScalarNode, *, strict: bool, big_text: bool = False) -> Reader:
    """Return the reader of a scalar. `big_text`: integers beyond ±(2^53-1) come as text (`big_ints="string"`)."""
    read = _READERS[node.kind](node, strict or node.kind == "str", big_text)
    base = _BASES.get(node.kind)
    if base is None or node.cls is base:
        return read
    return lambda value: _as_subclass(node, read(value))


_BASES: Final[dict[str, type]] = {
    "int": int, "float": float, "decimal": Decimal, "str": str, "bytes": bytes,
    "datetime": datetime, "date": date, "time": time, "timedelta": timedelta, "uuid": UUID,
}  # fmt: skip


def _as_subclass(node: ScalarNode, value: Any) -> Any:
    convert: Callable[[Any], Any] = node.cls
    if node.kind in ("datetime", "date", "time"):
        value, convert = value.isoformat(), node.cls.fromisoformat  # type: ignore[attr-defined]
    elif node.kind == "timedelta":
        return node.cls(microseconds=value // timedelta(microseconds=1))
    elif node.kind == "uuid":
        value = str(value)
    try:
        return convert(value)
    except (ValueError, TypeError) as error:
        raise Mismatch(str(error) or "is not valid") from None


# -- numbers ----------------------------------------------------------------------------------------------------------


def number_from_text(value: Any) -> Any:
    """Return the number that a text is, if it is exactly a JSON number; anything else unchanged."""
    if not isinstance(value, str) or len(value) > _MOST_DIGITS or not _JSON_NUMBER.fullmatch(value):
        return value
    exact = Decimal(value)
    # An exponent may stand for more digits than any machine can hold.
    if exact == 0 or (exact.adjusted() <= _MOST_DIGITS and exact == exact.to_integral_value()):
        return int(exact)
    return float(exact)


def _int(node: ScalarNode, strict: bool, big_text: bool) -> Reader:
    big = re.compile(BIG_INTEGER[:-1])

    def read(value: Any) -> int:
        number = value
        if isinstance(value, str) and (not strict or (big_text and big.fullmatch(value) and len(value) < _MOST_DIGITS)):
            number = number_from_text(value)
        if type(number) is int:
            return number
        if type(number) is float and number.is_integer():
            return int(number)
        raise mismatch(node, value)

    return read


def _float(node: ScalarNode, strict: bool, _: bool) -> Reader:
    def read(value: Any) -> float:
        number = value if strict else number_from_text(value)
        if type(number) not in (int, float):
            raise mismatch(node, value)
        try:
            finite = float(number)
        except OverflowError:
            raise mismatch(node, value) from None
        if finite - finite != 0:
            raise mismatch(node, value)
        return finite

    return read


def _decimal(node: ScalarNode, strict: bool, _: bool) -> Reader:
    pattern = re.compile(DECIMAL[:-1])
    numbers = not strict or node.form == "number"
    texts = not strict or node.form != "number"

    def read(value: Any) -> Decimal:
        if texts and isinstance(value, str) and pattern.fullmatch(value):
            return Decimal(value)
        if numbers and type(value) in (int, float) and value - value == 0:
            return Decimal(repr(value) if type(value) is float else value)
        raise mismatch(node, value)

    return read


def _bool(node: ScalarNode, strict: bool, _: bool) -> Reader:
    def read(value: Any) -> bool:
        if type(value) is bool:
            return value
        if not strict and isinstance(value, str) and value.lower() in _BOOLEANS:
            return _BOOLEANS[value.lower()]
        raise mismatch(node, value)

    return read


_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


def _none(node: ScalarNode, _strict: bool, _: bool) -> Reader:
    def read(value: Any) -> None:
        if value is not None:
            raise mismatch(node, value)

    return read


# -- text -------------------------------------------------------------------------------------------------------------


def _of_text(node: ScalarNode, convert: Callable[[str], Any]) -> Reader:
    """Return a reader of texts; `convert` raises `ValueError` or `OverflowError` for those of the wrong form."""

    def read(value: Any) -> Any:
        if type(value) is not str:
            raise mismatch(node, value)
        try:
            return convert(value)
        except (ValueError, OverflowError, ArithmeticError):
            raise mismatch(node, value) from None

    return read


def _str(node: ScalarNode, _strict: bool, _: bool) -> Reader:
    return _of_text(node, lambda value: value)


def _path(node: ScalarNode, _strict: bool, _: bool) -> Reader:
    return _of_text(node, node.cls)


def _uuid(node: ScalarNode, _strict: bool, _: bool) -> Reader:
    return _of_text(node, lambda text: UUID(full_match(_UUID, text)[0]))


def _date(node: ScalarNode, _strict: bool, _: bool) -> Reader:
    if node.form != ISO:
        return _of_text(node, lambda text: datetime.strptime(text, node.form).date())
    return _of_text(node, lambda text: date.fromisoformat(full_match(_DATE, text)[0]))


def _time(node: ScalarNode, _strict: bool, _: bool) -> Reader:
    if node.form != ISO:
        return _of_text(node, lambda text: datetime.strptime(text, node.form).timetz())
    pattern = re.compile(TIME[:-1])
    return _of_text(node, lambda text: time.fromisoformat(full_match(pattern, text)[0].upper()))


def _datetime(node: ScalarNode, strict: bool, _: bool) -> Reader:
    if node.form == ISO:
        return _of_text(node, from_rfc3339)
    if node.form != UNIX:
        return _of_text(node, lambda text: datetime.strptime(text, node.form))
    seconds = _float(node, strict, False)

    def read(value: Any) -> datetime:
        try:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=round(seconds(value) * 1_000_000))
        except OverflowError:
            raise mismatch(node, value) from None

    return read


def _timedelta(node: ScalarNode, strict: bool, _: bool) -> Reader:
    if node.form == ISO:
        pattern = re.compile(DURATION[:-1])
        return _of_text(node, lambda text: from_duration(full_match(pattern, text)[0]))
    seconds = _float(node, strict, False)

    def read(value: Any) -> timedelta:
        try:
            return timedelta(seconds=seconds(value))
        except OverflowError:
            raise mismatch(node, value) from None

    return read


def _bytes(node: ScalarNode, _strict: bool, _: bool) -> Reader:
    if node.form == "native":
        return lambda value: _from_numbers(node, value)
    return _of_text(node, _FROM_TEXT[node.form])


def _from_numbers(node: ScalarNode, value: Any) -> bytes:
    if not isinstance(value, list) or not all(type(n) in (int, float) and 0 <= n <= 255 and n % 1 == 0 for n in value):
        raise mismatch(node, value)
    return bytes(map(int, value))


def from_base64(text: str) -> bytes:
    """Return the bytes of standard base64 or of a `data:` URL.

    Raises:
        ValueError: it is neither.
    """
    if text.startswith("data:"):
        text = text[len(_data_prefix(text)) :]
    return binascii.a2b_base64(text.encode("ascii"), strict_mode=True)


def _data_prefix(text: str) -> str:
    match = _DATA_URL.match(text)
    if match is None:
        raise ValueError("a data: URL must be base64")
    return match[0]


def _from_base64url(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)


def _from_hex(text: str) -> bytes:
    return binascii.unhexlify(text.encode("ascii"))


_FROM_TEXT: Final[dict[str, Callable[[str], bytes]]] = {
    "base64": from_base64,
    "base64url": _from_base64url,
    "hex": _from_hex,
}

_READERS: Final[dict[str, Callable[[ScalarNode, bool, bool], Reader]]] = {
    "none": _none,
    "bool": _bool,
    "int": _int,
    "float": _float,
    "decimal": _decimal,
    "str": _str,
    "bytes": _bytes,
    "datetime": _datetime,
    "date": _date,
    "time": _time,
    "timedelta": _timedelta,
    "uuid": _uuid,
    "path": _path,
}
