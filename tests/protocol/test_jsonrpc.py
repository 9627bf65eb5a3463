from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpconnect.limits import Limits
from mcpconnect.protocol.jsonrpc import (
    Batch,
    Notification,
    Request,
    Response,
    decode,
    encode_batch,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)
from mcpconnect.protocol.refusal import NO_ID, Refused

LIMITS = Limits()


def refusal(data: bytes, limits: Limits = LIMITS) -> Refused:
    with pytest.raises(Refused) as caught:
        decode(data, limits)
    return caught.value


def test_the_three_kinds_of_message_are_told_apart():
    assert decode(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', LIMITS) == Request(1, "ping", {})
    assert decode(b'{"jsonrpc":"2.0","method":"n","params":{"a":[1]}}', LIMITS) == Notification("n", {"a": [1]})
    assert decode(b'{"jsonrpc":"2.0","id":"a","result":{"b":2}}', LIMITS) == Response("a", result={"b": 2})
    error = decode(b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}', LIMITS)
    assert isinstance(error, Response)
    assert (error.id, error.error.code, error.error.message, error.error.data) == (None, -1, "no", None)


@pytest.mark.fault(147)
@pytest.mark.parametrize("id", [0, "1", 1, "", 2**53 - 1, -7, "ü", 2**70])
def test_ids_are_echoed_with_their_type(id):
    message = decode(json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}).encode(), LIMITS)
    assert message.id == id
    assert type(message.id) is type(id)
    assert json.loads(encode_result(message.id, {}))["id"] == id
    assert json.loads(encode_error(message.id, -1, "no"))["id"] == id


@pytest.mark.fault(147)
@pytest.mark.parametrize("id", ["null", "true", "false", "1.5", "1.0", "1e3", "1e999", "[1]", "{}"])
def test_illegal_ids_are_refused_and_not_echoed(id):
    refused = refusal(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id.encode())
    assert refused.error.kind == "invalid-request"
    assert refused.id is NO_ID
    assert "`id`" in refused.error.message


@pytest.mark.fault(143)
@pytest.mark.parametrize("data", [b"NOT JSON", b"", b"  ", b"{", b'{"jsonrpc":"2.0"}x', b"[", b'{"a":NaN}', b'"\x01"'])
def test_what_is_no_json_is_a_parse_error(data):
    refused = refusal(data)
    assert (refused.error.kind, refused.id) == ("parse-error", NO_ID)


@pytest.mark.fault(193)
def test_bytes_that_are_not_utf8_are_a_parse_error():
    refused = refusal(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xff"}}')
    assert (refused.error.kind, refused.id) == ("parse-error", NO_ID)


@pytest.mark.fault(144)
@pytest.mark.parametrize(
    ("data", "id"),
    [
        (b'"x"', NO_ID),
        (b"5", NO_ID),
        (b"[]", NO_ID),
        (b"{}", NO_ID),
        (b'{"id":1}', 1),
        (b'{"jsonrpc":"2.0","id":1}', 1),
        (b'{"jsonrpc":"1.0","id":1,"method":"m"}', 1),
        (b'{"jsonrpc":2.0,"id":1,"method":"m"}', 1),
        (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":[1]}', 2),
        (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":null}', 2),
        (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":"x"}', 2),
        (b'{"jsonrpc":"2.0","id":"2","method":5}', "2"),
        (b'{"jsonrpc":"2.0","id":2,"method":"m","result":{}}', NO_ID),
    ],
)
def test_json_of_the_wrong_shape_is_an_invalid_request_with_its_id(data, id):
    refused = refusal(data)
    assert (refused.error.kind, refused.id) == ("invalid-request", id)


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","id":1,"result":5}',
        b'{"jsonrpc":"2.0","id":1,"result":null}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}',
        b'{"jsonrpc":"2.0","id":1,"error":"boom"}',
        b'{"jsonrpc":"2.0","id":1,"error":null}',
    ],
)
def test_a_broken_response_is_a_failure_for_whoever_asked(data):
    response = decode(data, LIMITS)
    assert (response.id, response.result, response.error.code) == (1, None, -32600)
    assert response.error.message.startswith("Invalid response: ")


def test_a_broken_response_without_an_id_is_refused():
    assert refusal(b'{"jsonrpc":"2.0","result":{}}').id is NO_ID


@pytest.mark.fault(146)
@pytest.mark.parametrize("params", [b"[1]", b"null", b"5", b'{"a":"\\ud800"}', b'{"a":1e999}'])
def test_a_notification_is_never_answered_whatever_is_wrong_with_it(params):
    assert decode(b'{"jsonrpc":"2.0","method":"n","params":%s}' % params, LIMITS) == Notification("n", {})


@pytest.mark.fault(145)
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_deep_nesting_is_refused_with_the_id_whatever_is_around(opening):
    closing = opening[::-1].translate(bytes.maketrans(b"[{", b"]}"), b'":a')
    deep = opening * 100_000 + b"1" + closing * 100_000
    for data in (
        b'{"jsonrpc":"2.0","id":7,"method":"m","params":' + deep + b"}",
        b'{"jsonrpc":"2.0","method":"m","params":{"x":"\\"}]","y":' + deep + b'},"id":7}',
    ):
        refused = refusal(data)
        assert (refused.error.kind, refused.id) == ("invalid-request", 7)
        assert "128 levels" in refused.error.message


@pytest.mark.fault(145)
@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b'{"a":' * 100_000, b'{"jsonrpc":"2.0","id":1,"params":' + b"[" * 5000]
)
def test_deep_nesting_that_never_closes_is_a_parse_error(data):
    assert refusal(data).error.kind == "parse-error"


def test_deep_messages_of_other_shapes_are_refused_too():
    deep = b"[" * 200 + b"]" * 200
    assert refusal(deep).id is NO_ID
    assert refusal(b'{"id":1,"x":%s,"method":"}]"}' % deep).id is NO_ID
    assert refusal(b'{"id":%s,"x":%s}' % (b"9" * 5000, deep)).id is NO_ID


@pytest.mark.fault(199)
@pytest.mark.parametrize("value", [b'"\\ud800"', b'"a\\uDFFFb"', b'{"\\ud800x":1}', b'["\\ud83dx"]'])
def test_lone_surrogates_are_an_invalid_request_with_the_id(value):
    refused = refusal(b'{"jsonrpc":"2.0","id":"s","method":"m","params":{"a":%s}}' % value)
    assert (refused.error.kind, refused.id) == ("invalid-request", "s")
    assert "surrogate" in refused.error.message


@pytest.mark.parametrize("number", [b"1e999", b"9" * 5000])
def test_numbers_out_of_range_are_an_invalid_request_with_the_id(number):
    refused = refusal(b'{"jsonrpc":"2.0","id":3,"method":"m","params":{"a":%s}}' % number)
    assert (refused.error.kind, refused.id) == ("invalid-request", 3)


@pytest.mark.fault(198)
def test_line_separators_inside_strings_are_kept():
    text = "a\u2028b\u0085c\u000bd\u2029"
    raw = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"raw":"a\u2028b\u0085c","escaped":"\\u2028\\u0085\\u000b"}}'
    assert decode(raw.encode(), LIMITS).params == {"raw": "a\u2028b\u0085c", "escaped": "\u2028\u0085\u000b"}
    assert json.loads(encode_result(1, {"text": text}))["result"]["text"] == text


@pytest.mark.fault(151)
def test_a_batch_keeps_order_and_its_unreadable_items():
    batch = decode(
        b' [{"jsonrpc":"2.0","id":1,"method":"ping"}, 5, {"jsonrpc":"2.0","id":2}, [1],'
        b'{"jsonrpc":"2.0","method":"n","params":3}]',
        LIMITS,
    )
    assert isinstance(batch, Batch)
    request, number, incomplete, nested, notification = batch.items
    assert request == Request(1, "ping", {})
    assert isinstance(number, Refused)
    assert isinstance(incomplete, Refused)
    assert isinstance(nested, Refused)
    assert [number.id, incomplete.id, nested.id] == [NO_ID, 2, NO_ID]
    assert notification == Notification("n", {})


def test_a_batch_has_a_bound_and_cannot_be_empty():
    item = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert len(decode(encode_batch([item] * 3), Limits(batch=3)).items) == 3
    assert "at most 3" in refusal(encode_batch([item] * 4), Limits(batch=3)).error.message
    assert refusal(b"[ ]").error.kind == "invalid-request"
    assert refusal(b"[1,").error.kind == "parse-error"
    assert refusal(b'[{"jsonrpc":"2.0","id":1,"method":"\\ud800"}]').error.kind == "invalid-request"


def test_a_batch_item_with_a_lone_surrogate_does_not_hide_what_is_wrong():
    assert "surrogate" in str(refusal(b'["\\ud800"]'))


def outcome(data: bytes) -> str:
    try:
        return type(decode(data, LIMITS)).__name__
    except Refused as refused:
        return refused.error.kind


@given(st.binary(max_size=200))
def test_any_bytes_give_a_message_or_a_refusal(data):
    messages = {"Request", "Notification", "Response", "Batch"}
    assert outcome(data) in messages | {"parse-error", "invalid-request"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.integers() | st.text(), st.text(), st.dictionaries(st.text(), JSON, max_size=3))
def test_what_is_encoded_decodes_to_the_same(id, method, params):
    assert decode(encode_request(id, method, params), LIMITS) == Request(id, method, params)
    assert decode(encode_notification(method, params), LIMITS) == Notification(method, params)
    assert decode(encode_result(id, params), LIMITS) == Response(id, result=params)


@given(JSON)
def test_any_json_is_a_message_or_an_invalid_request(value):
    assert outcome(json.dumps(value).encode()) in ("invalid-request", "Batch")


@pytest.mark.fault(148)
def test_an_error_can_have_no_id_or_null():
    assert json.loads(encode_error(NO_ID, -32700, "m")) == {"jsonrpc": "2.0", "error": {"code": -32700, "message": "m"}}
    assert json.loads(encode_error(None, -32700, "m", {"a": 1})) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "m", "data": {"a": 1}},
    }


def test_absent_params_are_absent():
    assert json.loads(encode_request(1, "m")) == {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert json.loads(encode_notification("m")) == {"jsonrpc": "2.0", "method": "m"}


def test_surrogates_in_an_answer_cannot_kill_it():
    result = {"a\ud800": ["\ud83d\ude00", "\udfff", 1, None, ("x",)], "raw": "plain"}
    assert json.loads(encode_result(1, result))["result"] == {
        "a\ufffd": ["😀", "\ufffd", 1, None, ["x"]],
        "raw": "plain",
    }
    assert json.loads(encode_error(1, -1, "bad \ud800"))["error"]["message"] == "bad \ufffd"
    assert json.loads(encode_notification("m", {"a": "\ud800"}))["params"] == {"a": "\ufffd"}


def test_encoded_parts_pass_through():
    assert encode_result(1, {"a": msgspec.Raw(b'{"b": 1}')}) == b'{"jsonrpc":"2.0","id":1,"result":{"a":{"b": 1}}}'
