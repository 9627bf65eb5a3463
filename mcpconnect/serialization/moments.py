"""Moments and durations as text: RFC 3339 and ISO 8601, both ways.

Rule: what is written can be read, to the microsecond. A published pattern is tested without its final `$`, because
Python's also matches before a line feed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

TIME: Final = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$"
_CLOCK: Final = r"T(?:[0-9]{1,9}H(?:[0-9]{1,9}M)?(?:S)?|[0-9]{1,9}M(?:S)?|S)".replace("S", r"[0-9]{1,14}(?:\.[0-9]+)?S")
DURATION: Final = rf"^-?P(?:[0-9]{{1,8}}W|[0-9]{{1,9}}D(?:{_CLOCK})?|{_CLOCK})$"
_RFC3339: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:(?P<seconds>\d\d)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_DURATION_PARTS: Final = re.compile(
    r"(-)?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?", re.ASCII
)
_MINUTE: Final = timedelta(minutes=1)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY_MICROSECONDS: Final = 86_400_000_000


def rfc3339(moment: datetime) -> str:
    """Return an aware datetime as RFC 3339 text; an offset with seconds, which it cannot hold, is written in UTC."""
    offset = moment.utcoffset()
    assert offset is not None
    if offset % _MINUTE:
        moment = moment.astimezone(UTC)
    text = moment.isoformat()
    return text[:-6] + "Z" if text.endswith("+00:00") else text


def from_rfc3339(text: str) -> datetime:
    """Return the moment that an RFC 3339 text names.

    Raises:
        ValueError, OverflowError: it names none.
    """
    match = full_match(_RFC3339, text)
    if match["seconds"] != "60":
        return datetime.fromisoformat(text.upper())
    # A leap second is the last of a day in UTC. Python has none, so it is read as the moment after it.
    start, end = match.span("seconds")
    moment = datetime.fromisoformat(f"{text[:start]}59{text[end:]}".upper())
    if (moment.astimezone(UTC).hour, moment.astimezone(UTC).minute) != (23, 59):
        raise ValueError(text)
    return moment + timedelta(seconds=1)


def iso_duration(span: timedelta) -> str:
    """Return an ISO 8601 duration in days and seconds, `-PT86394.999993S` for minus one day plus a little."""
    total = span // _MICROSECOND
    days, rest = divmod(abs(total), _DAY_MICROSECONDS)
    seconds, fraction = divmod(rest, 1_000_000)
    text = f"{days}D" if days else ""
    if rest:
        text += f"T{seconds}" + (f".{fraction:06}".rstrip("0") if fraction else "") + "S"
    return ("-" if total < 0 else "") + "P" + (text or "0D")


def from_duration(text: str) -> timedelta:
    """Return the span that an ISO 8601 duration in weeks, days and smaller units names.

    Raises:
        ValueError, OverflowError: it names none.
    """
    sign, weeks, days, hours, minutes, seconds, fraction = full_match(_DURATION_PARTS, text).groups()
    whole = (int(weeks or 0) * 7 + int(days or 0)) * 86_400 + int(hours or 0) * 3600 + int(minutes or 0) * 60
    micro = (whole + int(seconds or 0)) * 1_000_000 + int((fraction or "0")[:6].ljust(6, "0"))
    return timedelta(microseconds=-micro if sign else micro)


def full_match(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    """Return the match of a whole text.

    Raises:
        ValueError: there is none.
    """
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return match
