from __future__ import annotations

from dataclasses import dataclass

import anyio
import pytest

from mcpconnect import ImageContent, InvalidParams, Limits, McpServer, Tool, ToolError, ToolResultBuilder, tool
from mcpconnect.content import UNSET, EmbeddedResource, ResourceLink, TextContent
from mcpconnect.errors import ClientError
from mcpconnect.protocol.revisions import LATEST, SUPPORTED
from mcpconnect.testing import Sent, TestClient
from tests.schema_check import check_traffic

pytestmark = pytest.mark.anyio
VERSIONS = [revision.version for revision in SUPPORTED]


@dataclass
class Row:
    row_id: int
    name: str


class Tools(Tool):
    """Tools of every kind."""

    @tool(title="Adder", read_only=True, meta={"k": 1})
    def add(self, a: int, b: int) -> int:
        """Add."""
        return a + b

    @tool
    def rows(self) -> list[Row]:
        return [Row(1, "a")]

    @tool
    def row(self) -> Row:
        return Row(1, "a")

    @tool
    async def everything(self):
        return (
            ToolResultBuilder()
            .add_text("text")
            .add_image("image/png", b"\x89PNG\r\n\x1a\n")
            .add_audio("audio/wav", b"RIFF")
            .add_blob("application/pdf", b"%PDF")
            .add_link("text/html", "https://example.com/receipts/1", "Receipt")
            .build()
        )

    @tool
    def picture(self) -> ImageContent:
        return ImageContent(b"\x89PNG\r\n\x1a\n", "image/png")

    @tool
    def broken(self) -> int:
        raise ValueError("boom")

    @tool
    async def broken_async(self) -> int:
        raise LookupError("bang")

    @tool
    def told(self) -> int:
        raise ToolError("repair me")

    @tool
    def refused(self) -> int:
        raise InvalidParams("not like that")

    @tool
    def unserializable(self) -> dict:
        return {"a": object()}

    @tool
    async def slow(self) -> int:
        await anyio.sleep(60)
        return 1


def served() -> McpServer:
    server = McpServer("tested", version="1.2", title="Tested", instructions="Call add.", page_size=3)
    server.register(Tools)
    return server


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_server_is_spoken_to_in_every_revision_and_every_message_fits_its_schema(version):
    async with TestClient(served(), revision=version) as client:
        assert client.revision.version == version
        assert (client.server.name, client.server.version) == ("tested", "1.2")
        tools = {tool.name: tool for tool in await client.list_tools()}
        assert set(tools) >= {"add", "rows", "everything"}
        assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
        for name in ("rows", "row", "everything", "picture", "broken", "told"):
            await client.call_tool(name)
        with pytest.raises(ClientError):
            await client.call_tool("nowhere")
        with pytest.raises(ClientError):
            await client.request("no/such/method")
    assert check_traffic(client.traffic) >= 13


@pytest.mark.parametrize("version", VERSIONS)
async def test_blocks_arrive_as_blocks(version):
    async with TestClient(served(), revision=version) as client:
        blocks = (await client.call_tool("everything")).content
        assert blocks[0] == TextContent("text")
        assert blocks[1] == ImageContent(b"\x89PNG\r\n\x1a\n", "image/png")
        assert isinstance(blocks[3], EmbeddedResource)
        assert isinstance(blocks[4], ResourceLink if version >= "2025-06-18" else TextContent)


@pytest.mark.parametrize("version", VERSIONS)
async def test_structured_content_is_in_the_revision_s_form(version):
    async with TestClient(served(), revision=version) as client:
        rows = (await client.call_tool("rows")).structured
        row = (await client.call_tool("row")).structured
        schema = {tool.name: tool for tool in await client.list_tools()}["rows"].output_schema
    if version < "2025-06-18":
        assert (rows, row, schema) == (UNSET, UNSET, None)
    elif version == LATEST.version:
        assert (rows, row, schema["type"]) == ([{"rowId": 1, "name": "a"}], {"rowId": 1, "name": "a"}, "array")
    else:
        assert (rows, row) == ({"result": [{"rowId": 1, "name": "a"}]}, {"rowId": 1, "name": "a"})
        assert schema["properties"]["result"]["type"] == "array"


async def test_failures_are_results():
    async with TestClient(served()) as client:
        result = await client.call_tool("told")
        assert (result.is_error, result.text) == (True, "repair me")
        assert "ValueError" in (await client.call_tool("broken")).text


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("broken", ValueError, "boom"),
        ("broken_async", LookupError, "bang"),
        ("told", ToolError, "repair me"),
        ("refused", InvalidParams, "not like that"),
    ],
)
async def test_failures_can_be_raised_as_they_were(name, error, message):
    async with TestClient(served(), raise_exceptions=True) as client:
        with pytest.raises(error, match=message):
            await client.call_tool(name)
        assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
        with pytest.raises(ClientError):
            await client.call_tool("nowhere")


async def test_a_value_that_cannot_be_sent_is_raised_too():
    async with TestClient(served(), raise_exceptions=True) as client:
        with pytest.raises(Exception, match="object"):
            await client.call_tool("unserializable")


async def test_a_failing_test_fails_as_itself():
    with pytest.raises(AssertionError, match="mine"):
        async with TestClient(served()):
            raise AssertionError("mine")


async def test_the_traffic_is_what_was_on_the_wire():
    async with TestClient(served()) as client:
        await client.ping()
    assert [sent.sender for sent in client.traffic] == ["client", "server", "client", "client", "server"]
    assert client.traffic[-1] == Sent("server", b'{"jsonrpc":"2.0","id":2,"result":{}}')
    assert client.traffic[-1].json == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_notifications_can_be_waited_for():
    server = served()

    @tool
    def later() -> int:
        return 1

    async with TestClient(server) as client:
        server.register(later)
        assert (await client.notified("notifications/tools/list_changed")).params == {}
        await client.notified("notifications/tools/list_changed")  # it has come already
        with pytest.raises(TimeoutError):
            await client.notified("notifications/other", timeout=0.01)
        assert [notification.method for notification in client.notifications] == ["notifications/tools/list_changed"]
        assert len([tool for tool in await client.list_tools() if tool.name == "later"]) == 1
    check_traffic(client.traffic)


async def test_leaving_cancels_what_still_runs():
    with anyio.fail_after(10):
        async with TestClient(served()) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "slow")
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()


async def test_a_request_has_a_time_limit():
    async with TestClient(served(), timeout=0.05) as client:
        with pytest.raises(ClientError, match="within"):
            await client.call_tool("slow")


@pytest.mark.fault(288)
async def test_two_servers_in_one_process_share_nothing():
    @tool
    def only_here() -> str:
        return "here"

    one, two = McpServer("one"), McpServer("two", limits=Limits(threads=1))
    one.register(Tools)
    two.register(Tools)
    two.register(only_here)
    async with TestClient(one) as first, TestClient(two) as second:
        names = {tool.name for tool in await second.list_tools()} - {tool.name for tool in await first.list_tools()}
        assert names == {"only_here"}
        two.unregister(Tools)
        await second.notified("notifications/tools/list_changed")
        assert [tool.name for tool in await second.list_tools()] == ["only_here"]
        assert (await first.call_tool("add", {"a": 1, "b": 1})).text == "2"
        assert first.notifications == []
        assert (first.server.name, second.server.name) == ("one", "two")


async def test_a_client_outside_its_block_says_so_at_once() -> None:
    server = McpServer("tested")
    server.register(Tools)
    client = TestClient(server)
    with anyio.fail_after(2), pytest.raises(ClientError, match="use it inside `async with`"):
        await client.call_tool("add", {"a": 1, "b": 2})
    async with client:
        await client.ping()
    with anyio.fail_after(2), pytest.raises(ClientError, match="the client is closed"):
        await client.list_tools()
    with pytest.raises(ClientError, match="the client is closed"):
        await client.notify("notifications/initialized")
