"""Reading single values: what each kind takes, strictly and leniently, with the words for what it does not."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntFlag
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest

from mcpconnect.errors import LoadError
from mcpconnect.serialization import Format, Raw, Serializer, SerializerConfig


class Rights(Flag):
    READ = 1
    WRITE = 4


class Open(IntFlag):
    A = 1
    B = 2


class Mixed(Enum):
    TEXT = "1"
    NUMBER = 2
    TRUTH = True


def load(annotation: Any, data: Any, *, strict: bool, **config: Any) -> Any:
    return Serializer(SerializerConfig(**config)).load(annotation, data, strict=strict)


def refusal(annotation: Any, data: Any, *, strict: bool = False, **config: Any) -> str:
    with pytest.raises(LoadError) as caught:
        load(annotation, data, strict=strict, **config)
    return str(caught.value)


TAKEN: list[tuple[Any, Any, Any]] = [
    (bool, True, True),
    (int, 3, 3),
    (int, 3.0, 3),
    (int, 1e22, 10**22),
    (float, 3, 3.0),
    (float, -0.0, -0.0),
    (Decimal, "1.10", Decimal("1.10")),
    (Decimal, "-1E+2", Decimal("-1E+2")),
    (Decimal, "007", Decimal(7)),
    (str, "", ""),
    (bytes, "", b""),
    (bytes, "+/8=", b"\xfb\xff"),
    (bytes, "data:;base64,QQ==", b"A"),
    (bytearray, "QQ==", bytearray(b"A")),
    (date, "2000-02-29", date(2000, 2, 29)),
    (time, "12:30", time(12, 30)),
    (time, "12:30:01.5Z", time(12, 30, 1, 500_000, UTC)),
    (time, "12:30:01+02:00", time(12, 30, 1, tzinfo=timezone(timedelta(hours=2)))),
    (datetime, "2000-01-01T00:00:00Z", datetime(2000, 1, 1, tzinfo=UTC)),
    (datetime, "2000-01-01t00:00:00.1234567z", datetime(2000, 1, 1, 0, 0, 0, 123_456, UTC)),
    (datetime, "2000-01-01T00:00:00-00:00", datetime(2000, 1, 1, tzinfo=UTC)),
    (datetime, "1998-12-31T23:59:60Z", datetime(1999, 1, 1, tzinfo=UTC)),
    (datetime, "1999-01-01T00:59:60.5+01:00", datetime(1999, 1, 1, 0, 0, 0, 500_000, UTC)),
    (timedelta, "P1W", timedelta(weeks=1)),
    (timedelta, "-P1DT1H1M1.5S", -timedelta(days=1, hours=1, minutes=1, seconds=1.5)),
    (timedelta, "PT0.0000019S", timedelta(microseconds=1)),
    (UUID, "00000000-0000-0000-0000-00000000000A", UUID(int=10)),
    (Path, "a/b", Path("a/b")),
    (PurePosixPath, "a/b", PurePosixPath("a/b")),
    (None, None, None),
    (Rights, 5, Rights.READ | Rights.WRITE),
    (Rights, 0, Rights(0)),
    (Open, 3.0, Open.A | Open.B),
    (Mixed, "1", Mixed.TEXT),
    (Mixed, 2, Mixed.NUMBER),
    (Mixed, True, Mixed.TRUTH),
    (Literal[1, "1", True, None], True, True),
    (Literal[1, "1", True, None], 1.0, 1),
    (Literal[1, "1", True, None], None, None),
    (Literal[Mixed.TEXT], "1", Mixed.TEXT),
    (Literal[b"A"], "QQ==", b"A"),
    (Any, {"a": [1]}, {"a": [1]}),
    (object, None, None),
    (Annotated[bytes, Raw], {"a": 1}, b'{"a":1}'),
    (Annotated[str, Raw], None, "null"),
    (Annotated[bytes, Format("hex")], "00fF", b"\x00\xff"),
    (Annotated[bytes, Format("native")], [0, 255], b"\x00\xff"),
    (Annotated[bytes, Format("native")], [1.0], b"\x01"),
    (Annotated[datetime, Format("unix")], 1.5, datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)),
    (Annotated[datetime, Format("unix")], -1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    (Annotated[timedelta, Format("seconds")], 90, timedelta(seconds=90)),
    (Annotated[Decimal, Format("number")], 1.1, Decimal("1.1")),
    (Annotated[Decimal, Format("number")], 2**70, Decimal(2**70)),
]  # fmt: skip


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("annotation", "data", "value"), TAKEN)
def test_what_is_taken_in_both_modes(annotation: Any, data: Any, value: Any, strict: bool) -> None:
    loaded = load(annotation, data, strict=strict)
    assert loaded == value
    assert type(loaded) is type(value)


REFUSED: list[tuple[Any, list[Any]]] = [
    (bool, [0, 1, None, 1.0, [], "2"]),
    (int, [None, True, 1.5, float("inf"), [], "x", "1" * 5000]),
    (float, [None, True, [], "x", float("nan"), 10**400, "1" * 5000]),
    (Decimal, ["NaN", "Infinity", "1_0", " 1", "1.", ".5", "١", "1e9999999999", True, None, []]),
    (str, [1, True, None, [], {}]),
    (bytes, ["QQ", "Q Q==", "QQ==\n", "_-8=", "é", "data:text/plain,x", 1, None]),
    (date, ["2000-02-30", "20000201", "2000-2-1", "2000-01-01T00:00:00Z", "2000-01-01\n", "٢٠٠٠-01-01", 1]),
    (time, ["24:00", "12:60", "1:00", "12:00:00+25:00", "12", 1]),
    (datetime, ["2000-01-01", "2000-01-01 00:00:00Z", "2000-01-01T00:00:00", "2000-01-01T24:00:00Z", "2000-01-01T00:00Z",
                "2000-13-01T00:00:00Z", "2000-01-01T00:00:00+24:00", "2000-01-01T12:00:60Z", "9999-12-31T23:59:60Z", "now", 1]),
    (timedelta, ["P", "PT", "P1Y", "P1M", "1D", "P1D2H", "PT1.5H", "P1W2D", "+P1D", "", 5]),
    (UUID, ["0" * 32, "{00000000-0000-0000-0000-000000000000}", "urn:uuid:" + str(UUID(int=0)), "", 0]),
    (Path, [1, None]),
    (None, [0, "", "null"]),
    (Rights, [2, 8, -1, 1.5, True, "x", None]),
    (Mixed, ["2.5", False, 1, None, [], {}]),
    (Literal["a"], ["b", 1, None, ["a"]]),
    (Annotated[bytes, Format("hex")], ["0", "zz", 1]),
    (Annotated[bytes, Format("native")], [[256], [True], "QQ==", [1.5]]),
    (Annotated[datetime, Format("unix")], ["x", None, 1e300, True]),
    (Annotated[datetime, Format("%Y")], ["x", 2000]),
    (Annotated[timedelta, Format("seconds")], [1e300, None, "x"]),
]  # fmt: skip


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("annotation", "data"), [(a, d) for a, values in REFUSED for d in values])
def test_what_is_refused_in_both_modes(annotation: Any, data: Any, strict: bool) -> None:
    told = refusal(annotation, data, strict=strict)
    assert told.startswith("expected ")
    assert len(told) < 250


LENIENT: list[tuple[Any, Any, Any]] = [
    (bool, "TRUE", True), (bool, "0", False), (int, "-10", -10), (int, "1e2", 100), (int, "2.0", 2), (int, "0e99999", 0),
    (float, "1.5", 1.5), (float, "1e400000", None), (Decimal, 1.1, Decimal("1.1")), (Decimal, 5, Decimal(5)),
    (Rights, "5", Rights.READ | Rights.WRITE), (Mixed, "2", Mixed.NUMBER), (Literal[1, 2], "2", 2),
    (Annotated[datetime, Format("unix")], "1.5", datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)),
    (Annotated[timedelta, Format("seconds")], "90", timedelta(seconds=90)),
    (Annotated[Decimal, Format("number")], "1.10", Decimal("1.10")),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "data", "value"), LENIENT)
def test_what_only_lenient_loading_takes(annotation: Any, data: Any, value: Any) -> None:
    assert refusal(annotation, data, strict=True).startswith("expected ")
    if value is None:
        assert refusal(annotation, data).startswith("expected ")
    else:
        assert load(annotation, data, strict=False) == value


@pytest.mark.parametrize(
    ("annotation", "data", "told"),
    [
        (int, "ten", 'expected an integer, got text "ten"'),
        (int, None, "expected an integer, got null"),
        (float, True, "expected a number, got true"),
        (bool, 1, "expected true or false, got the number 1"),
        (str, {}, "expected text, got an object"),
        (str, [1], "expected text, got a list"),
        (str, b"", "expected text, got a value of class bytes"),
        (Decimal, "x", 'expected a decimal number as text, such as "1.50", got text "x"'),
        (list[int], 5, "expected a list, got the number 5"),
        (tuple[int, str], [1], "expected a list of 2 items, got 1"),
        (dict[str, int], "x", 'expected an object, got text "x"'),
        (int | str, [], "expected an integer or text, got a list"),
        (int | None, "x", 'expected an integer, got text "x"'),
        (int | None, [], "expected an integer or null, got a list"),
        (Literal["a", 1], "b", 'expected one of "a", 1, got text "b"'),
        (Literal["a"], "b", 'expected "a", got text "b"'),
        (Rights, 2, "expected an integer made of the flags 1, 4, got the number 2"),
        (Annotated[datetime, Format("%Y")], "x", 'expected text in the form %Y, got text "x"'),
        (Annotated[timedelta, Format("seconds")], "x", 'expected a number of seconds, got text "x"'),
        (Annotated[bytes, Format("native")], "x", 'expected a list of numbers from 0 to 255, got text "x"'),
        (Annotated[Decimal, Format("number")], "x", 'expected a number, got text "x"'),
    ],
)
def test_the_words_for_what_was_expected_and_what_came(annotation: Any, data: Any, told: str) -> None:
    assert refusal(annotation, data) == told


def test_big_integers_come_back_from_text() -> None:
    for number in (2**53, -(2**60), 10**30):
        assert load(int, str(number), strict=True, big_ints="string") == number
    for text in ("123", "9007199254740991x", "1" * 5000):
        assert refusal(int, text, strict=True, big_ints="string")


def test_subclasses_of_scalars_are_made_from_their_base() -> None:
    class UserId(int):
        pass

    class Code(str):
        __slots__ = ()

        def __new__(cls, text: str) -> "Code":
            if not text.isupper():
                raise ValueError("a code is upper case")
            return super().__new__(cls, text)

    class Moment(datetime):
        pass

    class Span(timedelta):
        pass

    class Key(UUID):
        pass

    class Ratio(float):
        pass

    for annotation, data, value in (
        (UserId, 3, UserId(3)), (Code, "AB", Code("AB")), (Moment, "2000-01-01T00:00:00Z", Moment(2000, 1, 1, tzinfo=UTC)),
        (Span, "PT1.5S", Span(seconds=1.5)), (Key, str(UUID(int=1)), Key(int=1)), (Ratio, 0.5, Ratio(0.5)),
    ):  # fmt: skip
        loaded = load(annotation, data, strict=True)
        assert (loaded, type(loaded)) == (value, annotation)
    assert refusal(Code, "ab") == "a code is upper case"
