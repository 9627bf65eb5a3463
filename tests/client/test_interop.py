"""Our client speaks to a server of the official SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from mcpconnect.client import Client, StdioTransport
from mcpconnect.content import ImageContent
from mcpconnect.errors import ClientError
from mcpconnect.protocol.revisions import SUPPORTED

pytestmark = pytest.mark.anyio
SERVER = str(Path(__file__).with_name("official_server.py"))


@pytest.mark.parametrize("version", [revision.version for revision in SUPPORTED])
async def test_the_official_server_is_understood(version):
    transport = StdioTransport([sys.executable, SERVER], stderr=subprocess.DEVNULL)
    reports = []
    with anyio.fail_after(60):
        async with Client(transport, revision=version, timeout=30) as client:
            assert client.revision.version == version
            assert client.server.name == "official"
            assert client.instructions == "Be kind."
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert set(tools["add"].input_schema["properties"]) == {"a", "b"}
            assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
            assert (await client.call_tool("picture")).content == (ImageContent(b"\x89PNG\r\n\x1a\n", "image/png"),)
            assert (await client.call_tool("slow", progress=reports.append)).text == "done"
            assert (await client.call_tool("broken")).is_error
            with pytest.raises(ClientError):
                await client.request("no/such/method")
    assert [(report.progress, report.total) for report in reports] == [(1, 2)]
    assert transport.exit_code == 0
