"""What headers say, and whether they agree with a body."""

import base64
from typing import Any

import pytest

from mcpconnect.errors import HeaderMismatch
from mcpconnect.transports.http.headers import accepts, check_parameters, is_json, read_headers, unwrap


def test_headers_are_read_by_their_small_names_without_the_white_space_around_them() -> None:
    assert read_headers([(b"Mcp-Name", b" \tadd \t"), (b"accept", b"")]) == {"mcp-name": "add", "accept": ""}
    assert read_headers([(b"x", b"\xa0a\xa0")]) == {"x": "\xa0a\xa0"}, "only spaces and tabs are white space here"


def test_a_header_that_stands_twice_has_both_values() -> None:
    assert read_headers([(b"host", b"localhost"), (b"host", b"evil.example")]) == {"host": "localhost, evil.example"}


@pytest.mark.fault(216)
@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("application/json", True),
        ("APPLICATION/JSON", True),
        ("application/json; charset=utf-8", True),
        ("application/json;charset=utf-8;x=y", True),
        (" application/json ", True),
        ("text/plain", False),
        ("application/jsonp", False),
        ("application/json-patch+json", False),
        ("text/plain; application/json", False),
        ("", False),
        (None, False),
    ],
)
def test_json_is_recognised_by_its_media_type_alone(content_type: str | None, expected: bool) -> None:
    assert is_json(content_type) is expected


@pytest.mark.parametrize(
    ("accept", "json", "events"),
    [
        (None, True, True),
        ("", True, True),
        ("*/*", True, True),
        ("application/*, text/*", True, True),
        ("application/json", True, False),
        ("text/event-stream", False, True),
        ("Text/Event-Stream , APPLICATION/JSON", True, True),
        ("application/json;q=0.9, text/event-stream;q=0.1", True, True),
        ("application/json;q=0, text/event-stream", False, True),
        ("application/json; q=0.000, */*", False, True),
        ("*/*;q=0", False, False),
        ("text/html", False, False),
        ("application/jsonx, text/event-streams", False, False),
        (",;,", False, False),
    ],
)
def test_an_accept_header_admits_what_its_most_specific_range_says(
    accept: str | None, json: bool, events: bool
) -> None:
    assert accepts(accept, "application/json") is json
    assert accepts(accept, "text/event-stream") is events


def wrapped(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize("text", ["", "a", "ab", "abc", "日本 ü", " edges ", "=?base64?eA==?=", "a\nb"])
def test_a_wrapped_value_stands_for_its_text(text: str) -> None:
    assert unwrap(wrapped(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "plain", "=?base64?", "?=", "=?base64?=", "=?base64?eA==", "eA==?=", "=?BASE64?eA==?=", "=?base64?eA==?= "],
)
def test_what_lacks_the_exact_marks_is_itself(text: str) -> None:
    assert unwrap(text) == text


@pytest.mark.parametrize(
    "inner", ["eA", "eA=", "e A==", "eA==\n", "eA==x", "=", "e*==", "eB==", "ü", "/w==", "eA==?=?=", "-_8="]
)
def test_a_wrapped_value_that_is_no_base64_of_utf8_is_refused(inner: str) -> None:
    with pytest.raises(HeaderMismatch, match="malformed"):
        unwrap(f"=?base64?{inner}?=")


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("eu", "eu"),
        (wrapped("日本"), "日本"),
        (wrapped("Hello"), "Hello"),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("42", 42),
        ("42.0", 42),
        ("42", 42.0),
        ("-7", -7),
        ("0", 0),
        ("-0", 0),
        ("9007199254740991", 2**53 - 1),
        ("true", True),
        ("false", False),
        ("42", "42"),
    ],
)
def test_a_header_repeats_its_argument(header: str, value: Any) -> None:
    check_parameters({"mcp-param-region": header}, {"region": "Region"}, {"region": value})


@pytest.mark.parametrize(
    ("header", "value"),
    [
        (None, "eu"),
        ("EU", "eu"),
        ("eu, us", "eu"),
        ("41", 42),
        ("42.5", 42),
        ("4_2", 42),
        ("٤٢", 42),
        (" 42", 42),
        ("", 0),
        ("nan", 42),
        ("1e1", 10),
        ("9007199254740993", 9007199254740992),
        ("True", True),
        ("1", True),
        ("true", 1),
        ("true", "True"),
        ("=?base64?eA?=", "x"),
        ("x", ["x"]),
        ("x", {}),
    ],
)
def test_a_header_that_says_something_else_is_refused(header: str | None, value: Any) -> None:
    headers = {} if header is None else {"mcp-param-region": header}
    with pytest.raises(HeaderMismatch):
        check_parameters(headers, {"region": "Region"}, {"region": value})


@pytest.mark.parametrize("arguments", [None, {}, {"region": None}, [], "x"])
def test_an_argument_that_is_not_there_needs_no_header(arguments: Any) -> None:
    check_parameters({}, {"region": "Region"}, arguments)
