from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpconnect.transports.stdio.lines import TOO_LONG, Lines

LIMIT = 10


def fed(pieces: list[bytes], limit: int = LIMIT) -> list:
    lines = Lines(limit)
    return [line for piece in pieces for line in lines.feed(piece)] + lines.end()


@pytest.mark.fault(197)
@given(st.lists(st.binary(max_size=14).map(lambda line: line.replace(b"\n", b"")), max_size=6), st.data())
def test_the_lines_do_not_depend_on_how_the_stream_is_cut(lines, data):
    stream = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    expected = []
    for line in (line.removesuffix(b"\r") for line in lines):
        if len(line) > LIMIT:
            expected.append(TOO_LONG)
        elif line.strip():
            expected.append(line)
    assert fed(pieces) == expected


@pytest.mark.fault(192)
def test_carriage_returns_at_the_end_are_dropped_wherever_they_are_cut():
    assert fed([b"a\r\nb\r", b"\nc\n\r\n", b"d\r"]) == [b"a", b"b", b"c", b"d"]


@pytest.mark.fault(198)
def test_only_a_line_feed_ends_a_line():
    text = "a\u2028\u0085\x0b\x0c\x1c\rb".encode()
    assert fed([text + b"\n"], limit=100) == [text]


def test_a_line_of_exactly_the_limit_is_whole_also_with_a_carriage_return():
    assert fed([b"x" * 10 + b"\r", b"\n"]) == [b"x" * 10]
    assert fed([b"x" * 10 + b"\r\n"]) == [b"x" * 10]
    assert fed([b"x" * 11]) == [TOO_LONG]
    assert fed([b"x" * 10 + b"\r"]) == [b"x" * 10]


def test_a_line_that_is_too_long_is_reported_once_and_not_kept():
    lines = Lines(LIMIT)
    assert lines.feed(b"x" * 8) == []
    assert lines.feed(b"x" * 8) == [TOO_LONG]
    for _ in range(100):
        assert lines.feed(b"x" * 8) == []
    assert lines._begun == []
    assert lines.feed(b"x\nnext\n") == [b"next"]
    assert lines.end() == []


def test_a_line_that_is_too_long_within_one_piece_does_not_hide_the_next():
    assert fed([b"x" * 20 + b"\nnext\n" + b"y" * 20 + b"\nlast"]) == [TOO_LONG, b"next", TOO_LONG, b"last"]
