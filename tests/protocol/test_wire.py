from __future__ import annotations

import pytest

from mcpconnect.content import Icon, ImageContent, ResourceLink, TextContent
from mcpconnect.protocol import names
from mcpconnect.protocol.model import (
    Cancelled,
    DiscoverResult,
    Implementation,
    InitializeResult,
    ListCapability,
    ListToolsResult,
    Progress,
    ServerCapabilities,
    ToolAnnotations,
    ToolDefinition,
)
from mcpconnect.protocol.revisions import SUPPORTED
from mcpconnect.protocol.wire import dump
from tests.schema_check import check, check_result

ICON = Icon("https://example.com/i.png", "image/png", "48x48")
INFO = Implementation(name="s", version="1", title="S", website_url="https://example.com", icons=(ICON,))


def test_names_are_camel_case_and_nothing_is_written_for_none():
    capabilities = ServerCapabilities(tools=ListCapability(list_changed=True))
    result = InitializeResult(protocol_version="x", capabilities=capabilities, server_info=INFO)
    assert dump(result) == {
        "resultType": "complete",
        "protocolVersion": "x",
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {
            "name": "s",
            "version": "1",
            "title": "S",
            "websiteUrl": "https://example.com",
            "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
        },
    }


def test_names_of_the_user_s_own_are_data():
    schema = {"type": "object", "properties": {"snake_case": {"default": None}}, "x": None}
    definition = ToolDefinition(name="t", input_schema=schema, meta={"my_key": None})
    assert dump(definition) == {"name": "t", "inputSchema": schema, "_meta": {"my_key": None}}


def test_blocks_are_written_in_the_protocol_s_form():
    assert dump(TextContent("t", meta={"k": 1})) == {"type": "text", "text": "t", "_meta": {"k": 1}}
    assert dump(ImageContent(b"\x00\x01", "image/png")) == {"type": "image", "data": "AAE=", "mimeType": "image/png"}
    link = dump(ResourceLink("a:b", "n", mime_type="text/plain"))
    assert link == {"type": "resource_link", "uri": "a:b", "name": "n", "mimeType": "text/plain"}


@pytest.mark.parametrize("revision", SUPPORTED, ids=str)
def test_the_models_fit_the_official_schema_once_lowered(revision):
    tools = ListToolsResult(
        tools=(
            ToolDefinition(
                name="t",
                title="T",
                description="d",
                input_schema={"type": "object"},
                output_schema={"type": "array"},
                annotations=ToolAnnotations(title="T", read_only_hint=True, open_world_hint=False),
                icons=(ICON,),
            ),
        ),
        next_cursor="c",
    )
    check_result(revision.version, names.TOOLS_LIST, revision.lower(names.TOOLS_LIST, dump(tools)))
    capabilities = ServerCapabilities(tools=ListCapability(), experimental={"x": {}}, extensions={"a/b": {}})
    if revision.handshake:
        result = InitializeResult(protocol_version=revision.version, capabilities=capabilities, server_info=INFO)
        check_result(revision.version, names.INITIALIZE, revision.lower(names.INITIALIZE, dump(result)))
    else:
        discovered = DiscoverResult(supported_versions=(revision.version,), capabilities=capabilities)
        check_result(revision.version, names.DISCOVER, revision.lower(names.DISCOVER, dump(discovered)))
    for method, params in (
        (names.CANCELLED, Cancelled(request_id=1)),
        (names.PROGRESS, Progress(progress_token="p", progress=1)),
    ):
        definition = {names.CANCELLED: "CancelledNotification", names.PROGRESS: "ProgressNotification"}[method]
        check(revision.version, definition, {"jsonrpc": "2.0", "method": method, "params": dump(params)})
