import keyword
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpconnect.serialization import Case
from mcpconnect.serialization.naming import split_words, style_name, wire_name

# Neon's table with the fixes that its verdicts ask for: snake input is understood, acronyms end where a word begins.
TABLE = [
    # name             camel              pascal             snake                 screaming             kebab
    ("first_name", "firstName", "FirstName", "first_name", "FIRST_NAME", "first-name"),
    ("FirstName", "firstName", "FirstName", "first_name", "FIRST_NAME", "first-name"),
    ("firstName", "firstName", "FirstName", "first_name", "FIRST_NAME", "first-name"),
    ("UserID", "userId", "UserID", "user_id", "USER_ID", "user-id"),
    ("userID", "userID", "UserId", "user_id", "USER_ID", "user-id"),
    ("userIDs", "userIDs", "UserIds", "user_ids", "USER_IDS", "user-ids"),
    ("ServerURL", "serverUrl", "ServerURL", "server_url", "SERVER_URL", "server-url"),
    ("URLServer", "urlServer", "URLServer", "url_server", "URL_SERVER", "url-server"),
    ("HTMLParser", "htmlParser", "HTMLParser", "html_parser", "HTML_PARSER", "html-parser"),
    ("HTTPResponse", "httpResponse", "HTTPResponse", "http_response", "HTTP_RESPONSE", "http-response"),
    ("XMLHttpRequest", "xmlHttpRequest", "XMLHttpRequest", "xml_http_request", "XML_HTTP_REQUEST", "xml-http-request"),
    ("XMLHTTPRequest", "xmlhttpRequest", "XMLHTTPRequest", "xmlhttp_request", "XMLHTTP_REQUEST", "xmlhttp-request"),
    ("MyURLParser", "myUrlParser", "MyURLParser", "my_url_parser", "MY_URL_PARSER", "my-url-parser"),
    ("ID", "id", "ID", "id", "ID", "id"),
    ("PointX", "pointX", "PointX", "point_x", "POINT_X", "point-x"),
    ("x1", "x1", "X1", "x1", "X1", "x1"),
    ("Address1", "address1", "Address1", "address1", "ADDRESS1", "address1"),
    ("Address1Line", "address1Line", "Address1Line", "address1_line", "ADDRESS1_LINE", "address1-line"),
    ("address_line_1", "addressLine1", "AddressLine1", "address_line_1", "ADDRESS_LINE_1", "address-line-1"),
    ("ipv4_addr", "ipv4Addr", "Ipv4Addr", "ipv4_addr", "IPV4_ADDR", "ipv4-addr"),
    ("IPv4Address", "ipv4Address", "IPv4Address", "ipv4_address", "IPV4_ADDRESS", "ipv4-address"),
    ("oauth2_token", "oauth2Token", "Oauth2Token", "oauth2_token", "OAUTH2_TOKEN", "oauth2-token"),
    ("X1Y2", "x1Y2", "X1Y2", "x1_y2", "X1Y2", "x1-y2"),
    ("TotalCOUNT", "totalCount", "TotalCOUNT", "total_count", "TOTAL_COUNT", "total-count"),
    ("COUNTRY", "country", "COUNTRY", "country", "COUNTRY", "country"),
    ("Item_Count", "itemCount", "ItemCount", "item_count", "ITEM_COUNT", "item-count"),
    ("myLongName", "myLongName", "MyLongName", "my_long_name", "MY_LONG_NAME", "my-long-name"),
]
STYLES = [Case.CAMEL, Case.PASCAL, Case.SNAKE, Case.SCREAMING_SNAKE, Case.KEBAB]


@pytest.mark.fault(52)
@pytest.mark.fault(53)
@pytest.mark.fault(54)
@pytest.mark.parametrize(("name", "styled"), [(row[0], row[1:]) for row in TABLE], ids=[row[0] for row in TABLE])
def test_every_style_has_its_fixed_form(name: str, styled: tuple[str, ...]) -> None:
    assert tuple(wire_name(name, style) for style in STYLES) == styled


def test_lower_and_upper_only_change_letters() -> None:
    assert wire_name("First_Name", Case.LOWER) == "first_name"
    assert wire_name("First_Name", Case.UPPER) == "FIRST_NAME"


def test_unchanged_is_unchanged() -> None:
    assert wire_name("First_name", Case.UNCHANGED) == "First_name"


def test_a_callable_is_a_style() -> None:
    assert wire_name("first_name", lambda name: f"x-{name}") == "x-first_name"


@pytest.mark.parametrize("style", list(Case))
@given(name=st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True))
def test_every_style_is_idempotent(style: Case, name: str) -> None:
    once = style_name(name, style)
    assert style_name(once, style) == once


@pytest.mark.fault(57)
@pytest.mark.parametrize("word", [*keyword.kwlist, "type", "id", "list", "match"])
def test_one_trailing_underscore_goes_where_python_reserves_the_word(word: str) -> None:
    if word[0].islower():
        assert wire_name(f"{word}_", Case.CAMEL) == word
    assert wire_name(f"{word}_", Case.UNCHANGED) == word


def test_any_other_trailing_underscore_stays() -> None:
    assert wire_name("value_", Case.CAMEL) == "value_"
    assert wire_name("from__", Case.CAMEL) == "from__"
    assert wire_name("_Age_", Case.SNAKE) == "age_"


def test_hidden_names_lose_their_underscores_and_class_prefix() -> None:
    class Account:
        pass

    class _Hidden:
        pass

    assert wire_name("_secret_key", Case.CAMEL, Account) == "secretKey"
    assert wire_name("_Account__secret_key", Case.CAMEL, Account) == "secretKey"
    assert wire_name("_Hidden__token", Case.SNAKE, _Hidden) == "token"
    assert wire_name("_", Case.CAMEL, Account) == "_"


@pytest.mark.parametrize(
    ("name", "words"),
    [("XMLHttpRequest2_id", ["XML", "Http", "Request2", "id"]), ("a-b c", ["a", "b", "c"]), ("__", [])],
)
def test_words_end_at_separators_case_changes_and_acronyms(name: str, words: list[str]) -> None:
    assert split_words(name) == words


@pytest.mark.parametrize("style", [Case.CAMEL, Case.KEBAB, Case.PASCAL])
def test_a_name_without_words_stays(style: Any) -> None:
    assert style_name("__", style) == "__"
