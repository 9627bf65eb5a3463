"""The official `mcp` client lists and calls every tool of the samples over stdio, and gets the right values."""

import base64
import io
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from PIL import Image

from tests.interop.expected import EXPECTED, MOVED, SHAPE, TICKETS
from tests.interop.servers import command

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def session_with(sample: str) -> AsyncIterator[ClientSession]:
    program, arguments = command(sample)
    parameters = StdioServerParameters(command=program, args=arguments)
    with anyio.fail_after(60):
        async with stdio_client(parameters, errlog=sys.stderr) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield session


def kinds(result: Any) -> list[str]:
    return [block.type for block in result.content]


async def test_tickets() -> None:
    async with session_with("tickets.py") as session:
        listed = {made.name: made for made in (await session.list_tools()).tools}
        assert list(listed) == EXPECTED["tickets.py"]
        assert all(made.description for made in listed.values())
        assert listed["buy_ticket"].input_schema["required"] == ["ticketId"]

        result = await session.call_tool("get_tickets", {})
        assert json.loads(result.content[0].text) == TICKETS
        assert result.structured_content == {"result": TICKETS}

        result = await session.call_tool("seat_map", {})
        assert kinds(result) == ["image"]
        picture = Image.open(io.BytesIO(base64.b64decode(result.content[0].data)))
        assert (picture.format, picture.size) == ("PNG", (250, 110))

        result = await session.call_tool("free_seats", {})
        assert result.content[0].text == "55"
        result = await session.call_tool("opening_hours", {})
        assert result.content[0].text == "Monday to Friday, 9:00 to 17:00"
        result = await session.call_tool("find_ticket", {"title": "work"})
        assert result.structured_content == TICKETS[1]
        result = await session.call_tool("find_ticket", {"title": "yacht"})
        assert result.is_error
        assert "Conference, Workshop, Student" in result.content[0].text

        result = await session.call_tool("buy_ticket", {"ticketId": 2, "quantity": 3})
        assert kinds(result) == ["text", "image", "resource_link"]
        assert result.content[0].text == "Purchase completed: 3 × Workshop, 268.50 €."
        assert str(result.content[2].uri) == "https://tickets.example/receipts/2"
        result = await session.call_tool("buy_ticket", {"ticketId": 0})
        assert result.is_error
        assert "ticketId" in result.content[0].text


async def test_serialization() -> None:
    async with session_with("serialization.py") as session:
        assert [made.name for made in (await session.list_tools()).tools] == EXPECTED["serialization.py"]
        styles = json.loads((await session.call_tool("styles", {})).content[0].text)
        assert styles["CAMEL"] == {"firstName": "Ada", "loyaltyPoints": 12, "tags": ["early"], "id": 7}
        assert styles["SNAKE"] == {"first_name": "Ada", "loyalty_points": 12, "tags": ["early"], "id": 7}
        assert styles["PASCAL"] == {"FirstName": "Ada", "LoyaltyPoints": 12, "Tags": ["early"], "id": 7}
        visible = json.loads((await session.call_tool("visible", {})).content[0].text)
        assert visible["customer"]["segment"] == "gold"
        customer = (await session.call_tool("customer", {})).structured_content
        assert customer == styles["CAMEL"]
        shape = (await session.call_tool("shape", {})).structured_content
        assert shape == SHAPE
        moved = await session.call_tool("move", {"shape": shape, "by": {"X": 10, "Y": 20}})
        assert moved.structured_content == MOVED


async def test_builder() -> None:
    async with session_with("builder.py") as session:
        assert [made.name for made in (await session.list_tools()).tools] == EXPECTED["builder.py"]
        result = await session.call_tool("texts", {})
        assert [block.text for block in result.content] == ["first", "second"]
        result = await session.call_tool("images", {})
        assert kinds(result) == ["image"] * 3
        assert all(base64.b64decode(block.data).startswith(b"\x89PNG") for block in result.content)
        result = await session.call_tool("sound", {})
        assert (result.content[0].type, result.content[0].mime_type) == ("audio", "audio/wav")
        assert base64.b64decode(result.content[0].data).startswith(b"RIFF")
        result = await session.call_tool("files", {})
        assert kinds(result) == ["resource", "resource"]
        assert result.content[1].resource.mime_type == "application/octet-stream"
        assert base64.b64decode(result.content[1].resource.blob) == b"\x00\x01\x02"
        result = await session.call_tool("links", {})
        assert [block.name for block in result.content] == ["7", "Map of the hall"]
        result = await session.call_tool("resource", {})
        assert result.content[0].resource.text == "# Notes\n"
        result = await session.call_tool("anything", {})
        assert kinds(result) == ["text", "text", "image"]
        assert json.loads(result.content[1].text) == {"sensor": "roof", "celsius": 21.5}
        result = await session.call_tool("with_structure", {})
        assert result.structured_content == {"sensor": "roof", "celsius": 21.5}
        assert result.meta["example.org/source"] == "sensors"
        result = await session.call_tool("failure", {"reason": "rain"})
        assert result.is_error
        assert result.content[0].text == "It did not work: rain"
