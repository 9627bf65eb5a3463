"""JSON that is opened and written again keeps every digit."""

from decimal import Decimal

import pytest

from mcpconnect.protocol import exact


@pytest.mark.parametrize(
    "text",
    ["0.12345678901234567890123", "1.10", "0.1", "-0.0", "1e-7", "1E+30", "1E-400", "9" * 40, "0.30", "[1.5,{}]"],
)
def test_a_number_is_written_as_it_was_read(text: str) -> None:
    assert exact.encode(exact.decode(text)) == text.encode()


@pytest.mark.parametrize("text", ["1e5", "100.000e2", "1e400"])
def test_one_in_another_spelling_keeps_its_value(text: str) -> None:
    assert Decimal(exact.encode(exact.decode(text)).decode()) == Decimal(text)


def test_what_a_float_holds_is_a_float() -> None:
    assert [type(each) for each in exact.decode("[0.1,1.5,3,0.10]")] == [float, float, int, Decimal]
