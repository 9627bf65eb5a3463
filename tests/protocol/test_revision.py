from __future__ import annotations

import copy
import json

import jsonschema_rs
import msgspec
import pytest

from mcpconnect.protocol import names
from mcpconnect.protocol.revision import EVERY, Revision
from mcpconnect.protocol.revisions import LATEST, LATEST_HANDSHAKE, PER_REQUEST, SUPPORTED, find, negotiate
from tests.schema_check import check_message, check_result

V2607, V2511, V2506, V2503, V2411 = SUPPORTED
ICON = {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}
META = {names.SERVER_INFO: {"name": "s", "version": "1"}}
ANNOTATIONS = {"audience": ["user"], "priority": 0.5, "lastModified": "2025-01-01T00:00:00Z"}


def call_result() -> dict:
    return {
        "resultType": "complete",
        "content": [
            {"type": "text", "text": "hi", "annotations": ANNOTATIONS, "_meta": {"k": 1}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav", "annotations": ANNOTATIONS},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "https://e.x/1", "name": "1", "title": "Receipt", "icons": [ICON]},
            {"type": "resource_link", "uri": "https://e.x/2", "name": "2", "annotations": ANNOTATIONS},
            {"type": "resource", "resource": {"uri": "a:b", "text": "t", "_meta": {}}, "_meta": {"k": 1}},
        ],
        "structuredContent": [1, 2],
        "isError": False,
        "_meta": {**META, "own": 1},
    }


def listing() -> dict:
    return {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "nextCursor": "c",
        "_meta": META,
        "tools": [
            {
                "name": "t",
                "title": "T",
                "description": "d",
                "icons": [ICON],
                "inputSchema": {"type": "object", "properties": {"any": True, "none": False, "x": {"type": "integer"}}},
                "outputSchema": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/Row"},
                    "$defs": {"Row": {"type": "object"}},
                },
                "annotations": {"readOnlyHint": True},
                "_meta": {"k": 1},
            },
            {"name": "u", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {}}},
        ],
    }


def initialize_result() -> dict:
    return {
        "protocolVersion": "x",
        "capabilities": {"tools": {"listChanged": True}, "completions": {}, "extensions": {"a/b": {}}},
        "serverInfo": {
            "name": "s",
            "version": "1",
            "title": "S",
            "description": "d",
            "websiteUrl": "https://example.com",
            "icons": [ICON],
        },
        "instructions": "i",
        "_meta": META,
    }


RESULTS = {names.TOOLS_CALL: call_result, names.TOOLS_LIST: listing, names.INITIALIZE: initialize_result}


OFFERED = [(revision, method) for revision in SUPPORTED for method in RESULTS if revision.has(method)]


@pytest.mark.parametrize(("revision", "method"), OFFERED, ids=str)
def test_every_lowered_result_fits_the_official_schema(revision, method):
    check_result(revision.version, method, revision.lower(method, RESULTS[method]()))


def test_a_discovery_fits_the_official_schema():
    result = {
        "resultType": "complete",
        "supportedVersions": [LATEST.version],
        "capabilities": {},
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": META,
    }
    assert LATEST.lower(names.DISCOVER, result) is result
    check_result(LATEST.version, names.DISCOVER, result)


@pytest.mark.parametrize("revision", SUPPORTED, ids=str)
@pytest.mark.parametrize("method", RESULTS)
def test_lowering_changes_nothing_of_what_it_was_given(revision, method):
    result = RESULTS[method]()
    revision.lower(method, result, wrap=True)
    assert result == RESULTS[method]()


def test_the_newest_shape_is_the_model():
    result = call_result()
    assert LATEST.lower(names.TOOLS_CALL, result) is result


@pytest.mark.parametrize("revision", SUPPORTED[1:], ids=str)
def test_what_only_the_per_request_era_carries_is_dropped(revision):
    result = {"resultType": "complete", "_meta": META, "more": 1}
    assert revision.lower(names.PING, result) == {"more": 1}
    assert revision.lower("later/method", {**result, "_meta": {**META, "own": 1}}) == {"more": 1, "_meta": {"own": 1}}
    listed = revision.lower(names.TOOLS_LIST, listing())
    assert set(listed) == {"tools", "nextCursor"}


def test_blocks_turn_into_what_the_older_revision_has():
    def blocks(revision: Revision) -> list[dict]:
        return revision.lower(names.TOOLS_CALL, call_result())["content"]

    assert blocks(V2511) == call_result()["content"]
    assert "icons" not in blocks(V2506)[4]
    assert blocks(V2506)[4]["title"] == "Receipt"

    text, image, audio, silent, link, other, resource = blocks(V2503)
    plain = {"audience": ["user"], "priority": 0.5}
    assert text == {"type": "text", "text": "hi", "annotations": plain}
    assert image == {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert audio == {"type": "audio", "data": "AAAA", "mimeType": "audio/wav", "annotations": plain}
    assert link == {"type": "text", "text": "Receipt: https://e.x/1"}
    assert other == {"type": "text", "text": "2: https://e.x/2", "annotations": plain}
    assert resource == {"type": "resource", "resource": {"uri": "a:b", "text": "t"}}

    _, _, audio, silent, *_ = blocks(V2411)
    assert audio["resource"].pop("uri") != silent["resource"].pop("uri")
    embedded = {"mimeType": "audio/wav", "blob": "AAAA"}
    assert audio == {"type": "resource", "resource": embedded, "annotations": plain}
    assert silent == {"type": "resource", "resource": embedded}


def test_a_tool_is_described_with_what_the_older_revision_has():
    def tool(revision: Revision) -> dict:
        return revision.lower(names.TOOLS_LIST, listing())["tools"][0]

    assert set(tool(V2511)) == set(listing()["tools"][0])
    assert set(tool(V2506)) == set(listing()["tools"][0]) - {"icons"}
    assert set(tool(V2503)) == {"name", "description", "inputSchema", "annotations"}
    assert tool(V2503)["annotations"] == {"title": "T", "readOnlyHint": True}
    assert set(tool(V2411)) == {"name", "description", "inputSchema"}


def test_a_tool_s_own_title_hint_wins_over_its_title():
    tool = {"name": "t", "title": "T", "inputSchema": {"type": "object"}, "annotations": {"title": "hint"}}
    assert V2503.lower(names.TOOLS_LIST, {"tools": [tool]})["tools"][0]["annotations"] == {"title": "hint"}


def test_an_implementation_says_what_the_older_revision_has():
    def info(revision: Revision) -> set[str]:
        return set(revision.lower(names.INITIALIZE, initialize_result())["serverInfo"])

    assert info(V2511) == {"name", "version", "title", "description", "websiteUrl", "icons"}
    assert info(V2506) == {"name", "version", "title"}
    assert info(V2503) == info(V2411) == {"name", "version"}


def test_capabilities_are_those_of_the_revision():
    def capabilities(revision: Revision) -> set[str]:
        return set(revision.lower(names.INITIALIZE, initialize_result())["capabilities"])

    assert capabilities(V2511) == capabilities(V2503) == {"tools", "completions"}
    assert capabilities(V2411) == {"tools"}


@pytest.mark.parametrize("value", [[1], "x", 1, True, None, msgspec.Raw(b"[1]"), msgspec.Raw(b' "x"')])
def test_structured_content_that_is_no_object_is_wrapped_below_the_newest(value):
    result = {"content": [], "structuredContent": value}
    assert V2607.lower(names.TOOLS_CALL, result) == result
    for revision in (V2511, V2506):
        assert revision.lower(names.TOOLS_CALL, result)["structuredContent"] == {"result": value}
    assert "structuredContent" not in V2503.lower(names.TOOLS_CALL, result)


@pytest.mark.parametrize("value", [{"a": 1}, {}, msgspec.Raw(b'{"a":1}'), msgspec.Raw(b'\n {"a":1}')])
def test_an_object_is_wrapped_only_where_the_declared_schema_asks_for_it(value):
    result = {"content": [], "structuredContent": value}
    for revision in (V2511, V2506):
        assert revision.lower(names.TOOLS_CALL, result)["structuredContent"] is value
        assert revision.lower(names.TOOLS_CALL, result, wrap=True)["structuredContent"] == {"result": value}
    assert V2607.lower(names.TOOLS_CALL, result, wrap=True)["structuredContent"] is value


@pytest.mark.parametrize("value", [{"result": [1]}, msgspec.Raw(b'{"result":[1]}')])
def test_structured_content_without_any_text_becomes_one_where_it_is_not_known(value):
    result = {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}], "structuredContent": value}
    for revision in (V2503, V2411):
        content = revision.lower(names.TOOLS_CALL, result)["content"]
        assert content == [*result["content"], {"type": "text", "text": '{"result":[1]}'}]
    assert len(result["content"]) == 1


def test_wrapping_adds_nothing_to_a_result_without_structured_content():
    result = {"content": [], "isError": True}
    assert V2511.lower(names.TOOLS_CALL, result, wrap=True) == result


def wrapped(schema: dict) -> dict:
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    return V2511.lower(names.TOOLS_LIST, {"tools": [tool]})["tools"][0]["outputSchema"]


def test_an_object_schema_stays_as_it_is():
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    assert wrapped(schema) is schema


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, 1, "x"),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, None, 1),
        (
            {"type": "array", "items": {"$ref": "#/$defs/Row"}, "$defs": {"Row": {"properties": {"a": {"type": "integer"}}}}},
            [{"a": 1}],
            [{"a": "x"}],
        ),
        ({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}}, [1, [2, []]], [1, ["x"]]),
        ({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/anyOf/0"}}]}, [1], ["x"]),
        ({"type": "array", "items": {"$ref": "#/definitions/A"}, "definitions": {"A": {"const": {"$ref": "#"}}}}, [{"$ref": "#"}], [1]),
        ({"type": ["object", "null"], "properties": {"$ref": {"$ref": "#"}, "enum": {"$ref": "#"}}}, {"$ref": None}, {"enum": 1}),
        ({"$defs": {"A": {"$anchor": "a", "type": "integer"}}, "$ref": "#a"}, 1, "x"),
        ({"$id": "https://e.x/s", "type": "array", "items": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}, [[None]], [1]),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
                "$ref": "#/$defs/Tree",
            },
            [[], [[]]],
            [1],
        ),
    ],
)  # fmt: skip
def test_a_wrapped_schema_accepts_exactly_the_wrapped_values(schema, good, bad):
    before = copy.deepcopy(schema)
    lowered = wrapped(schema)
    assert schema == before
    assert lowered["type"] == "object"
    assert set(lowered) <= {"type", "properties", "required", "$defs", "$schema"}
    validator = jsonschema_rs.validator_for(lowered)
    assert validator.is_valid({"result": good})
    assert not validator.is_valid({"result": bad})
    assert not validator.is_valid({})


def test_properties_given_as_true_or_false_are_spelled_out():
    schema = V2511.lower(names.TOOLS_LIST, listing())["tools"][0]["inputSchema"]
    assert schema["properties"] == {"any": {}, "none": {"not": {}}, "x": {"type": "integer"}}


def test_codes_follow_the_revision():
    def codes(kind: str) -> list[int]:
        return [revision.code(kind) for revision in SUPPORTED]

    assert codes("resource-not-found") == [-32602, -32002, -32002, -32002, -32002]
    assert codes("unsupported-version") == [-32022, -32602, -32602, -32602, -32602]
    assert codes("missing-capability") == [-32021, -32600, -32600, -32600, -32600]
    assert codes("parse-error") == [-32700] * 5


@pytest.mark.fault(149)
def test_every_kind_of_error_has_a_code_of_json_rpc_in_every_revision():
    from mcpconnect import errors

    kinds = [error.kind for error in vars(errors).values() if isinstance(error, type) and getattr(error, "kind", None)]
    assert len(kinds) == 10
    for revision in SUPPORTED:
        for kind in kinds:
            code = revision.code(kind)
            assert code in {-32700, -32600, -32601, -32602, -32603, -32002, -32020, -32021, -32022, -32042}
            check_message(
                revision.version,
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "error": {
                        "code": code,
                        "message": "m",
                        "data": {"requested": "x", "supported": [], "requiredCapabilities": {}, "elicitations": []},
                    },
                },
            )


def test_features_follow_the_revision():
    def having(feature: str) -> list[bool]:
        return [revision.has(feature) for revision in SUPPORTED]

    assert having(names.DISCOVER) == [True, False, False, False, False]
    assert having(names.INITIALIZE) == having(names.PING) == [False, True, True, True, True]
    assert having(names.TOOLS_CALL) == [True] * 5
    assert having(names.STRUCTURED) == [True, True, True, False, False]
    assert having("no/such") == [False] * 5
    assert [revision.batching for revision in SUPPORTED] == [False, False, False, True, False]
    assert [revision.anonymous_errors for revision in SUPPORTED] == [True, True, False, False, False]
    assert [revision.handshake for revision in SUPPORTED] == [False, True, True, True, True]


def test_versions_are_found_and_negotiated():
    assert [revision.version for revision in SUPPORTED] == sorted((r.version for r in SUPPORTED), reverse=True)
    assert (LATEST, LATEST_HANDSHAKE, PER_REQUEST) == (V2607, V2511, (V2607,))
    for revision in SUPPORTED:
        assert find(revision.version) is revision
    assert find("1999-01-01") is None
    assert negotiate(V2411.version) is V2411
    assert negotiate("1999-01-01") is V2511
    assert negotiate(V2607.version) is V2511  # it has no handshake
    assert repr(V2411) == "<Revision 2024-11-05>"


def test_steps_are_composed_from_the_newest_to_the_oldest():
    def note(text: str):
        return lambda shape: {**shape, "log": [*shape.get("log", ()), text]}

    newest = Revision.newest("c", handshake=False, features=(), codes={})
    middle = newest.before("b", handshake=True, lower={EVERY: note("b*"), "m": note("b"), "n": note("bn")})
    oldest = middle.before("a", lower={EVERY: note("a*"), "m": note("a")})
    assert oldest.lower("m", {})["log"] == ["b*", "b", "a*", "a"]
    assert oldest.lower("n", {})["log"] == ["b*", "bn", "a*"]
    assert oldest.lower("other", {})["log"] == ["b*", "a*"]
    assert newest.lower("m", {}) == {}
    assert oldest.handshake


def test_a_lowered_result_can_be_encoded():
    for revision in SUPPORTED:
        json.dumps(revision.lower(names.TOOLS_CALL, call_result()))
