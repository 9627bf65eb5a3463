from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from mcpconnect.protocol.nesting import nested_deeper, structure

TRICKY = st.text(alphabet='[]{}"\\ a')
VALUES = st.recursive(
    st.none() | TRICKY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=30,
)


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@given(VALUES, st.integers(0, 6))
def test_the_depth_is_that_of_the_decoded_value(value, limit):
    for data in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert nested_deeper(data.encode(), limit) == (depth(value) > limit)


def test_brackets_inside_strings_do_not_count():
    assert structure(rb'{"a[":"\\","b\"]":["}"], "":{"\\\"[":1}}') == b"[[][]]"
    assert not nested_deeper(json.dumps(["[" * 1000, "\\", "{" * 1000]).encode(), 1)


def test_brackets_that_hide_behind_strings_are_counted():
    hidden = b'["]",' * 50 + b"1" + b',"["]' * 50
    assert nested_deeper(hidden, 49)
    assert not nested_deeper(hidden, 50)


def test_text_that_never_closes_is_deep_too():
    assert nested_deeper(b"[" * 10, 9)
    assert not nested_deeper(b"[" * 10, 10)
