from __future__ import annotations

import pytest

from mcpconnect.client.results import read_call_result, read_implementation, read_tool
from mcpconnect.content import (
    UNSET,
    Annotations,
    AudioContent,
    BlobResource,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResource,
)
from mcpconnect.errors import ClientError


def block(**members):
    (read,) = read_call_result({"content": [members]}).content
    return read


def test_every_block_is_read():
    about = {"annotations": {"audience": ["user"], "priority": 1, "lastModified": "x", "later": 1}, "_meta": {"k": 1}}
    common = {"annotations": Annotations(["user"], 1, "x"), "meta": {"k": 1}}
    assert block(type="text", text="t", **about) == TextContent("t", **common)
    assert block(type="image", data="AAE=", mimeType="image/png") == ImageContent(b"\x00\x01", "image/png")
    assert block(type="audio", data="AAE=", mimeType="audio/wav", **about) == AudioContent(
        b"\0\1", "audio/wav", **common
    )
    link = block(type="resource_link", uri="a:b", name="n", title="t", description="d", mimeType="text/plain", size=3,
                 icons=[{"src": "https://e.x/i", "sizes": ["any"]}], **about)  # fmt: skip
    assert link == ResourceLink(
        "a:b",
        "n",
        title="t",
        description="d",
        mime_type="text/plain",
        size=3,
        icons=(Icon("https://e.x/i", sizes=["any"]),),
        **common,
    )
    text = block(type="resource", resource={"uri": "a:b", "text": "t", "mimeType": "text/plain", "_meta": {}})
    assert text == EmbeddedResource(TextResource("t", "a:b", "text/plain", {}))
    blob = block(type="resource", resource={"uri": "a:b", "blob": "AAE=", "mimeType": "image/png"}, **about)
    assert blob == EmbeddedResource(BlobResource(b"\0\1", "a:b", "image/png"), **common)


def test_a_block_of_a_type_from_the_future_stays_as_it_is():
    assert block(type="hologram", beam=1) == {"type": "hologram", "beam": 1}


def test_a_result_carries_its_flags():
    result = read_call_result({"content": [], "structuredContent": None, "isError": True, "_meta": {"k": 1}})
    assert (result.structured, result.is_error, result.meta) == (None, True, {"k": 1})
    plain = read_call_result({"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"type": "text", "text": "b"}]})
    assert (plain.structured, plain.is_error, plain.meta, plain.text) == (UNSET, False, None, "a\nb")


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"content": {}},
        {"content": [5]},
        {"content": [{}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 5}]},
        {"content": [{"type": "image", "data": "!!", "mimeType": "image/png"}]},
        {"content": [{"type": "image", "data": "AAE="}]},
        {"content": [{"type": "resource"}]},
        {"content": [{"type": "resource", "resource": 5}]},
        {"content": [{"type": "resource", "resource": {"uri": "a:b"}}]},
        {"content": [{"type": "text", "text": "t", "annotations": {"priority": "x"}}]},
    ],
)
def test_what_the_specification_requires_must_be_there(result):
    with pytest.raises(ClientError):
        read_call_result(result)


def test_a_tool_is_read_with_what_is_known_of_it():
    tool = read_tool(
        {
            "name": "t",
            "title": "T",
            "description": "d",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True, "later": 1},
            "icons": [{"src": "https://e.x/i"}],
            "_meta": {"k": 1},
            "later": 1,
        }
    )
    assert (tool.name, tool.title, tool.description, tool.meta) == ("t", "T", "d", {"k": 1})
    assert tool.input_schema == tool.output_schema == {"type": "object"}
    assert tool.annotations.read_only_hint is True
    assert tool.annotations.destructive_hint is None
    assert tool.icons == (Icon("https://e.x/i"),)


def test_what_a_server_calls_itself_may_be_missing():
    assert read_implementation(None) is None
    assert read_implementation({"version": "1"}) is None
    assert read_implementation({"name": "s", "websiteUrl": "https://e.x"}).website_url == "https://e.x"
