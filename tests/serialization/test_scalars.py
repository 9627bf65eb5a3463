"""Writing single values: moments, spans and their formats."""

from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Annotated, Any

import pytest

from mcpconnect.errors import SerializationError
from mcpconnect.serialization import UNIX, Format, Serializer, SerializerConfig
from mcpconnect.serialization.text import encode

EAST = timezone(timedelta(hours=2))


def both(value: Any, annotation: Any = Any, **config: Any) -> Any:
    serializer = Serializer(SerializerConfig(**config))
    dumped = serializer.dump(value, annotation)
    assert serializer.dumps(value, annotation) == encode(dumped)
    return dumped


@pytest.mark.fault(14)
def test_a_naive_moment_is_taken_as_utc() -> None:
    moment = datetime(2025, 10, 22, 15, 50, 22)
    for annotation in (datetime, Any):
        assert both(moment, annotation) == both(moment, annotation, use_utc=True) == "2025-10-22T15:50:22Z"


@pytest.mark.fault(15)
def test_a_moment_keeps_its_offset_unless_utc_is_asked_for() -> None:
    moment = datetime(2025, 1, 1, 12, tzinfo=EAST)
    assert both(moment, datetime) == "2025-01-01T12:00:00+02:00"
    assert both(moment, datetime, use_utc=True) == "2025-01-01T10:00:00Z"


def test_an_offset_that_rfc_3339_cannot_hold_is_written_in_utc() -> None:
    odd = timezone(timedelta(hours=1, seconds=7))
    assert both(datetime(2000, 1, 1, 1, 0, 7, tzinfo=odd), datetime) == "2000-01-01T00:00:00Z"


def test_a_zone_without_offset_is_like_none() -> None:
    class Nowhere(tzinfo):
        def utcoffset(self, moment: datetime | None) -> None:
            return None

    assert both(datetime(2000, 1, 1, tzinfo=Nowhere()), datetime) == "2000-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "moment", [datetime.min.replace(tzinfo=EAST), datetime.max.replace(tzinfo=timezone(-timedelta(hours=2)))]
)
def test_a_moment_outside_the_years_is_an_error(moment: datetime) -> None:
    serializer = Serializer(SerializerConfig(use_utc=True))
    with pytest.raises(SerializationError, match=r"^\$\[0\]: the moment lies outside the years 1 to 9999 in UTC$"):
        serializer.dump([moment])


def test_the_format_of_moments_may_be_set_for_all() -> None:
    moment = datetime(2000, 1, 2, 3, 4, 5, 500_000, tzinfo=UTC)
    assert both(moment, datetime, datetime_format=UNIX) == 946782245.5
    assert both(moment.replace(microsecond=0), datetime, datetime_format=UNIX) == 946782245
    assert both(moment, datetime, datetime_format="%d.%m.%Y %H:%M") == "02.01.2000 03:04"
    assert both(moment, Annotated[datetime, Format("iso")], datetime_format=UNIX) == "2000-01-02T03:04:05.500000Z"


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(days=-1, seconds=5, microseconds=7), "-PT86394.999993S"),
        (timedelta(0), "P0D"),
        (timedelta(days=2), "P2D"),
        (timedelta(days=3, seconds=5), "P3DT5S"),
        (timedelta(milliseconds=1500), "PT1.5S"),
        (timedelta.max, "P999999999DT86399.999999S"),
        (timedelta.min, "-P999999999D"),
    ],
)
def test_spans_are_exact_iso_durations(span: timedelta, text: str) -> None:
    assert both(span, timedelta) == both(span) == text
    assert Serializer().load(timedelta, text, strict=True) == span


def test_times_and_dates() -> None:
    assert both(time(0), time) == "00:00:00"
    assert both(time(1, 2, 3, 4, UTC), time) == "01:02:03.000004Z"
    assert both(time(1, tzinfo=EAST), time) == "01:00:00+02:00"
    assert both(date(5, 1, 2), date) == "0005-01-02"


@pytest.mark.fault(47)
@pytest.mark.fault(48)
def test_bytes_are_standard_base64_without_line_breaks() -> None:
    for data in (b"\xfb\xff\xfe" * 5, bytes(range(256))):
        text = both(data, bytes)
        assert not set(text) & set("\r\n -_")
        assert Serializer().load(bytes, text) == data
    assert both(b"\xfb\xff\xfe") == "+//+"


@pytest.mark.parametrize(("annotation", "wrong"), [(time, 1), (timedelta, 1), (date, "x"), (Decimal, True)])
def test_values_of_another_class_are_refused(annotation: Any, wrong: Any) -> None:
    with pytest.raises(SerializationError, match=f"expected {annotation.__name__}, got {type(wrong).__name__}"):
        Serializer().dump(wrong, annotation)


def test_a_decimal_too_large_for_a_number_is_an_error() -> None:
    with pytest.raises(SerializationError, match="is no JSON number"):
        Serializer(SerializerConfig(decimal_as="number")).dump(Decimal("1.5E+400000"))
