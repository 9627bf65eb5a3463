"""URI templates: what they match, what they refuse, and that matching is the inverse of expanding."""

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpconnect import DefinitionError
from mcpconnect.features.uri_template import UriTemplate

NOT_A_MATCH: list[tuple[str, str]] = [
    ("data://v1.0/{id}", "data://v1X0/7"),
    ("docs://{path}", "docs://a/b"),
    ("docs://{path}", "docs://"),
    ("docs://{path}", "other://a"),
    ("docs://{path}", "docs://a#top"),
    ("docs://{path}", "docs://a?x=1"),
    ("docs://{path}", "docs://%zz"),
    ("docs://{path}", "docs://%"),
    ("docs://{path}", "docs://%ff"),
    ("docs://{path}", "docs://a%00b"),
    ("docs://{path}", "docs://\ud800"),
    ("docs://{path*}", "docs://a/%00"),
    ("docs://{path*}", "docs://a/../b"),
    ("docs://{path*}", "docs://a/%2e%2E/b"),
    ("docs://{+path}", "docs://a/..%5cb"),
    ("docs://{+path}", "docs://./a"),
    ("n://x{?a}", "n://x?b=1"),
    ("n://x{?a}", "n://x?a=1&a=2"),
    ("n://x{?a}", "n://x?a=%ff"),
    ("n://x{?a}", "n://y?a=1"),
    ("n://x?kind=a{&b}", "n://x?b=1"),
    ("n://x?kind=a{&b}", "n://x"),
    ("n://x?kind=a{&b}", "n://x?kind=b"),
    ("n://x?kind=a", "n://x?kind=a&kind=a"),
    ("n://x", "n://x?"),
    ("n://a{.x}", "n://a.b.c"),
    ("N://{a}", "n://1"),
]


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("search://{q}", "search://hello%20w%C3%A9", {"q": "hello wé"}),
        ("search://{q}", "search://a+b", {"q": "a+b"}),
        ("search://{q}", "search://a%2Bb", {"q": "a+b"}),
        ("docs://{path*}", "docs://a/b/c", {"path": "a/b/c"}),
        ("docs://{+path}", "docs://a/b/c", {"path": "a/b/c"}),
        ("docs://{+path}.json", "docs://a.json.json", {"path": "a.json"}),
        ("docs://x{/a,b}", "docs://x/1/2", {"a": "1", "b": "2"}),
        ("docs://x{/a*}", "docs://x/1/2", {"a": "1/2"}),
        ("docs://x{.a,b}", "docs://x.1.2", {"a": "1", "b": "2"}),
        ("docs://x{#part}", "docs://x#a/b?c", {"part": "a/b?c"}),
        ("docs://{a,b}", "docs://1,2", {"a": "1", "b": "2"}),
        ("docs://{a}-{b}", "docs://1-2-3", {"a": "1", "b": "2-3"}),
        ("docs://{a}/{b}", "docs://1/2", {"a": "1", "b": "2"}),
        ("n://x{?a,b}", "n://x", {}),
        ("n://x{?a,b}", "n://x?", {}),
        ("n://x{?a,b}", "n://x?b=2&a=1", {"a": "1", "b": "2"}),
        ("n://x{?a,b}", "n://x?a=&b=5", {"a": "", "b": "5"}),
        ("n://x{?a,b}", "n://x?a", {"a": ""}),
        ("n://x{?a}", "n://x?a=../b%2Fc%26d=e", {"a": "../b/c&d=e"}),
        ("n://x{?a*}", "n://x?a=1&a=2", {"a": ["1", "2"]}),
        ("n://x{?a}{&b}", "n://x?b=2", {"b": "2"}),
        ("n://x?kind=a{&b}", "n://x?b=2&kind=a", {"b": "2"}),
        ("n://x?kind=a", "n://x?kind=a", {}),
        ("file:///café/{name}", "file:///caf%c3%A9/a", {"name": "a"}),
        ("file:///caf%C3%A9/{name}", "file:///café/a", {"name": "a"}),
        ("my docs://{name}", "my%20docs://a", {"name": "a"}),
        ("x://%7Euser/{n}", "x://~user/a", {"n": "a"}),
        ("x://a%2Fb/{n}", "x://a%2fb/1", {"n": "1"}),
        ("n://{v}", "n://v1..v2", {"v": "v1..v2"}),
        ("n://{v}", "n://a.tar.gz", {"v": "a.tar.gz"}),
        ("n://{user_id}/{a.b}", "n://1/2", {"user_id": "1", "a.b": "2"}),
        ("n://x{?a*,b}", "n://x?a=1&b=2&a=3", {"a": ["1", "3"], "b": "2"}),
        ("n://literal", "n://literal", {}),
    ],
)
def test_what_a_template_finds(template: str, uri: str, values: dict[str, Any]) -> None:
    assert UriTemplate(template).match(uri) == values


@pytest.mark.parametrize(("template", "uri"), NOT_A_MATCH)
def test_what_a_template_does_not_match(template: str, uri: str) -> None:
    assert UriTemplate(template).match(uri) is None


@pytest.mark.fault(270)
@pytest.mark.parametrize("value", ["..%2F..%2Fetc%2Fpasswd", "%2e%2e/x", "%2E%2E", "..", ".", "a%5Cb", "a\\b", "a%2fb"])
def test_one_segment_cannot_lead_anywhere_else(value: str) -> None:
    assert UriTemplate("file://docs/{name}").match(f"file://docs/{value}") is None


@pytest.mark.parametrize("form", ["{name*}", "{+name}", "{#name}", "{/name*}"])
@pytest.mark.parametrize("value", ["../x", "a/../b", "%2e%2e/x", "a/%2e%2e", "a%2f..%2fb", "a%5c..%5Cb", "./a", "a%00"])
def test_a_tail_cannot_lead_upwards(form: str, value: str) -> None:
    lead = "#" if "#" in form else "/" if "/" in form else ""
    assert UriTemplate(f"file://docs{form}").match(f"file://docs{lead}{value}") is None


@pytest.mark.fault(174)
@pytest.mark.parametrize(
    "template",
    [
        "x://{a",
        "x://a}",
        "x://{a}}",
        "x://{{a}}",
        "x://{}",
        "x://{a,}",
        "x://{a b}",
        "x://{ä}",
        "x://{a:3}",
        "x://{a*,b}",
        "x://{;a}",
        "x://{a-b}",
        "x://{a**}",
        "x://{|a}",
        "x://{a}{b}",
        "x://{a}{+b}",
        "x://{a}/{a}",
        "x://{a}{?a}",
        "x://%zz/{a}",
        "x://{?a}/b",
        "x://x{?a}{?b}",
        "x://x{&a}",
        "x://x?a={a}",
        "x://x?a=1#b{&c}",
        "x://x?a=1{?b}",
    ],
)
def test_a_template_that_could_not_be_matched_is_refused_by_name(template: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(repr(template))):
        UriTemplate(template)


def test_more_literal_characters_rank_first_then_fewer_variables() -> None:
    texts = ["x://{a}/{b}", "x://a/{b}", "x://{a}.{b}", "x://longer/{b}", "x://{+a}"]
    ranked = sorted(texts, key=lambda text: UriTemplate(text).rank)
    assert ranked == ["x://longer/{b}", "x://a/{b}", "x://{a}/{b}", "x://{a}.{b}", "x://{+a}"]
    assert UriTemplate("x://é{a}").rank == UriTemplate("x://%C3%A9{a}").rank == (-6, 1)


def test_a_query_variable_without_value_is_left_out() -> None:
    template = UriTemplate("n://{a}{?b}{&c,d}")
    assert template.variables == ("a", "b", "c", "d")
    assert template.query_variables == {"b", "c", "d"}
    assert template.expand({"a": "1"}) == "n://1"
    assert template.expand({"a": "1", "d": "x y"}) == "n://1?d=x%20y"
    assert template.expand({"a": "1", "b": "2", "c": "&"}) == "n://1?b=2&c=%26"


segments = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text not in (".", "..")
)
tails = st.lists(segments, min_size=1, max_size=3).map("/".join)
anything = st.text(st.characters(exclude_categories=["Cs"]))
no_query = segments.filter(lambda text: not set(text) & set("?#,/"))


@settings(deadline=None)
@given(st.data())
@pytest.mark.parametrize(
    ("template", "kinds"),
    [
        ("x://{a}", {"a": segments}),
        ("x://{a}/{b}-end", {"a": segments, "b": segments.filter(lambda text: "-end" not in text)}),
        ("x://{a,b}", {"a": segments, "b": segments}),
        ("x://f{/a,b}", {"a": segments, "b": segments}),
        ("x://f{.a,b}", {name: segments.filter(lambda text: "." not in text) for name in "ab"}),
        ("x://f/{a*}", {"a": tails}),
        ("x://f{/a*}", {"a": tails}),
        ("x://{+a}", {"a": no_query}),
        ("x://f{#a}", {"a": tails}),
        ("x://f{?a,b}", {"a": anything, "b": anything}),
        ("x://f{?a}{&b}", {"a": anything, "b": anything}),
        ("x://f?k=v{&a*}", {"a": st.lists(anything, min_size=1)}),
        ("x://é f/{a}{?b*}", {"a": segments, "b": st.lists(anything, min_size=1)}),
    ],
)
def test_matching_is_the_inverse_of_expanding(template: str, kinds: dict[str, Any], data: st.DataObject) -> None:
    values = {name: data.draw(kind) for name, kind in kinds.items()}
    uri = UriTemplate(template).expand(values)
    assert UriTemplate(template).match(uri) == values
    assert uri.isascii()
    assert " " not in uri


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("x://{a}-{b}-{c}-{d}!", "x://" + "-" * 200_000),
        ("x://{+a}aa{b}aa{c}aa", "x://" + "a" * 200_000 + "b"),
        ("x://{a*}/{b}/{c}", "x://" + "a/" * 100_000),
        ("x://{a}", "x://" + "%41" * 66_000),
        ("x://{a}", "x://" + "%" * 200_000),
        ("x://y{?a*}", "x://y?" + "a=&" * 66_000 + "a=1"),
        ("x://y{?a}", "x://y?" + "&" * 200_000),
        ("x://y?k=1&k=2{&a*}", "x://y?" + "k=1&" * 50_000),
        ("x://{a}", "x://" + "ä" * 200_000),
        ("x://{a}", "x://" + "a" * 2_000_000),
    ],
)
def test_a_long_uri_takes_time_in_proportion(template: str, uri: str) -> None:
    made = UriTemplate(template)
    begin = time.perf_counter()
    made.match(uri)
    assert time.perf_counter() - begin < 2
