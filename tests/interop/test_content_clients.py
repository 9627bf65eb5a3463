"""The official client and fastmcp's read, subscribe to, complete and list everything in the samples of content.

Over stdio and HTTP, in both eras.
"""

import base64
import os
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import pytest
from mcp import Client as OfficialClient
from mcp import MCPError, StdioServerParameters
from mcp.client.subscriptions import listen
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.interop.servers import SAMPLES, command
from tests.interop.serving import serving

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what its own imports warn of is not ours
    from fastmcp import Client as FastClient
    from fastmcp.client.transports import StdioTransport
    from mcp_types import PromptReference, ResourceTemplateReference

pytestmark = pytest.mark.anyio

NEWEST = "2026-07-28"
every_way = pytest.mark.parametrize("era", ["legacy", "auto"])
SAMPLE_NAMES = ("prompts.py", "resources.py", "encoders.py")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    with serving_all() as found:
        yield found


@contextmanager
def serving_all() -> Iterator[dict[str, str]]:
    prompts, resources, encoders = (serving(SAMPLES / name) for name in SAMPLE_NAMES)
    with prompts as first, resources as second, encoders as third:
        yield dict(zip(SAMPLE_NAMES, (first, second, third), strict=True))


class Asked:
    """One way of asking, whichever client it is; `heard` holds the notifications."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.client: Any = None

    async def note(self, message: Any) -> None:
        self.heard.append(getattr(message, "root", message))

    async def lists(self) -> dict[str, list[Any]]:
        offered = self.client.server_capabilities
        found: dict[str, list[Any]] = {"prompts": [], "resources": [], "resource_templates": []}
        for kind in found:
            if offered.prompts if kind == "prompts" else offered.resources:
                listed = await getattr(self.client, f"list_{kind}")()
                found[kind] = list(getattr(listed, kind, listed))
        return found

    async def read(self, uri: str) -> Any:
        result = await self.client.read_resource(uri)
        [part] = getattr(result, "contents", result)
        data = part.text if hasattr(part, "text") else base64.b64decode(part.blob)
        return data, part.mime_type

    async def messages(self, name: str, arguments: dict[str, str]) -> list[Any]:
        result = await self.client.get_prompt(name, arguments)
        return list(result.messages)

    async def complete(self, ref: Any, name: str, value: str, chosen: dict[str, str] | None = None) -> list[str]:
        result = await self.client.complete(ref, {"name": name, "value": value}, chosen)
        return list(getattr(result, "completion", result).values)


@asynccontextmanager
async def official(sample: str, era: str, url: str | None) -> AsyncIterator[Asked]:
    asked = Asked()
    program, arguments = command(sample)
    server = url or StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    with anyio.fail_after(60):
        async with OfficialClient(server, mode=era, message_handler=asked.note) as asked.client:
            assert (asked.client.protocol_version == NEWEST) is (era == "auto")
            yield asked


@asynccontextmanager
async def fast(sample: str, era: str, url: str | None) -> AsyncIterator[Asked]:
    asked = Asked()
    program, arguments = command(sample)
    transport = url or StdioTransport(program, arguments, env=dict(os.environ), keep_alive=False)
    with anyio.fail_after(60):
        async with FastClient(transport, mode=era, message_handler=asked.note) as asked.client:
            assert (asked.client.protocol_version == NEWEST) is (era == "auto")
            yield asked


each_client = pytest.mark.parametrize("connect", [official, fast])
each_transport = pytest.mark.parametrize("transport", ["stdio", "http"])


@each_client
@each_transport
@every_way
async def test_prompts(connect: Any, transport: str, era: str, urls: dict[str, str]) -> None:
    async with connect("prompts.py", era, urls["prompts.py"] if transport == "http" else None) as asked:
        listed = await asked.lists()
        assert [each.name for each in listed["prompts"]] == ["review_code", "review_color", "greeting"]
        code = listed["prompts"][0]
        assert (code.title, code.description) == ("Code review", "Review some code.")
        assert [(each.name, bool(each.required)) for each in code.arguments] == [
            ("code", True),
            ("language", False),
            ("maxFindings", False),
        ]
        found = await asked.messages("review_code", {"code": "x = 1", "language": "rust", "maxFindings": "3"})
        assert [message.role for message in found] == ["user", "user", "assistant"]
        assert found[0].content.text == "Review this rust code. Name at most 3 findings."
        found = await asked.messages("review_color", {"name": "red"})
        assert [message.content.type for message in found] == ["text", "image"]
        assert base64.b64decode(found[1].content.data).startswith(b"\x89PNG")
        found = await asked.messages("greeting", {"country": "Italy", "city": "Rome"})
        assert found[0].content.text == "Write a greeting for somebody from Rome, Italy."
        with pytest.raises(MCPError, match="country"):
            await asked.client.get_prompt("greeting", {})
        with pytest.raises(MCPError, match="ghost"):
            await asked.client.get_prompt("ghost", {})

        def prompt(name: str) -> PromptReference:
            return PromptReference(type="ref/prompt", name=name)

        assert await asked.complete(prompt("review_code"), "language", "ty") == ["typescript"]
        assert await asked.complete(prompt("review_code"), "code", "") == []
        assert await asked.complete(prompt("review_color"), "name", "") == ["red", "green", "blue"]
        assert await asked.complete(prompt("greeting"), "country", "f") == ["France"]
        assert await asked.complete(prompt("greeting"), "city", "", {"country": "Italy"}) == ["Milan", "Naples", "Rome"]
        with pytest.raises(MCPError):
            await asked.complete(prompt("ghost"), "city", "")


@each_client
@each_transport
@every_way
async def test_resources(connect: Any, transport: str, era: str, urls: dict[str, str]) -> None:
    async with connect("resources.py", era, urls["resources.py"] if transport == "http" else None) as asked:
        listed = await asked.lists()
        uris = [str(each.uri) for each in listed["resources"]]
        assert uris[:4] == ["notes://all", "notes://readme", "notes://seal", "source://resources.py"]
        assert "samples://tickets.py" in uris
        assert [each.uri_template for each in listed["resource_templates"]] == [
            "notes://{note_id}{?field}",
            "notes://{note_id}/cover",
        ]
        assert listed["prompts"] == []
        for uri in uris:
            await asked.read(uri)
        assert (await asked.read("notes://all"))[1] == "application/json"
        assert await asked.read("notes://readme") == ("# Notes\n\nYou read notes://readme.\n", "text/markdown")
        assert await asked.read("notes://seal") == (b"\x00\x01\xfe\xff", "application/octet-stream")
        source = (SAMPLES / "resources.py").read_text("utf-8")
        assert (await asked.read("source://resources.py"))[0] == source
        assert (await asked.read("samples://resources.py"))[0] == source
        assert (await asked.read("notes://2?field=title"))[0] == "Ideas"
        cover, mime = await asked.read("notes://1/cover")
        assert (cover[:4], mime) == (b"\x89PNG", "image/png")
        for missing in ("notes://9", "notes://ghost", "samples://../pyproject.toml", "x://y"):
            with pytest.raises(MCPError):
                await asked.read(missing)
        template = ResourceTemplateReference(type="ref/resource", uri="notes://{note_id}{?field}")
        assert await asked.complete(template, "field", "ti") == ["title"]
        assert await asked.complete(template, "note_id", "") == []
        await hear_of_a_change(asked, era)


async def hear_of_a_change(asked: Asked, era: str) -> None:
    """Subscribe to a note, change it, and hear of it."""
    session = asked.client.session
    change = {"noteId": 1, "text": "Milk, bread, jam"}
    if era == "auto":
        async with listen(session, resource_subscriptions=["notes://1"]) as subscription:
            await asked.client.call_tool("change_note", change)
            async for event in subscription:
                assert str(event.uri) == "notes://1"
                break
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)  # that the newest revision has it no more is known
        await session.subscribe_resource("notes://1")
    await asked.client.call_tool("change_note", change)
    while not (updates := [each for each in asked.heard if each.method == "notifications/resources/updated"]):
        await anyio.lowlevel.checkpoint()
    assert str(updates[0].params.uri) == "notes://1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await session.unsubscribe_resource("notes://1")


@each_client
@each_transport
@every_way
async def test_encoders(connect: Any, transport: str, era: str, urls: dict[str, str]) -> None:
    async with connect("encoders.py", era, urls["encoders.py"] if transport == "http" else None) as asked:
        listed = await asked.lists()
        assert [each.name for each in listed["prompts"]] == ["explain"]
        assert [str(each.uri) for each in listed["resources"]] == ["weather://now"]
        first, second = await asked.messages("explain", {})
        assert (first.role, first.content.text) == ("user", "Is this warm?")
        assert (second.role, second.content.text) == ("assistant", "It has 21.5 °C.")
        assert await asked.read("weather://now") == ("21.46", "text/x-celsius")

        async def called(name: str) -> Any:
            [block] = (await asked.client.call_tool(name, {})).content
            return block

        assert (await called("temperature")).text == "21.5 °C"
        assert (await called("as_yaml")).text == "- station: Bern\n  celsius: 14.5\n- station: Rome\n  celsius: 23.0"
        assert (await called("as_csv")).text.split() == ["station,celsius", "Bern,14.5", "Rome,23.0"]
        sky = await called("sky")
        assert sky.mime_type == "image/webp"
        assert base64.b64decode(sky.data)[8:12] == b"WEBP"
