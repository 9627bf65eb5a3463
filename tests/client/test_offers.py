"""What a client makes of lists, prompts, resources and completions; of good servers and of bad ones."""

from collections.abc import Mapping
from typing import Annotated, Any

import pytest

from mcpconnect import (
    BlobResource,
    ClientError,
    Complete,
    Icon,
    ImageContent,
    PromptMessage,
    PromptRef,
    PromptResult,
    ResourceResult,
    TemplateRef,
    TextContent,
    TextResource,
    Tool,
    prompt,
    resource,
    tool,
)
from mcpconnect.client.offers import Offers
from mcpconnect.testing import TestClient
from tests.wire import HANDSHAKES, NEWEST, REVISIONS, serving

pytestmark = pytest.mark.anyio


class Features(Tool):
    @tool
    def one(self) -> str:
        return "1"

    @tool
    def two(self) -> str:
        return "2"

    @prompt(title="Ask", icons=[Icon("https://example.org/a.png")])
    def ask(self, a: Annotated[str, "The a", Complete(["x", "xy"])], b: str = "") -> list[Any]:
        """Asks."""
        return [f"{a}{b}", PromptMessage.assistant(ImageContent(b"i", "image/png"))]

    @resource("x://fixed", mime_type="text/csv", size=3)
    def fixed(self) -> str:
        return "a,b"

    @resource("x://both")
    def both(self) -> ResourceResult:
        return ResourceResult([TextResource("t"), BlobResource(b"b", "x://b", "b/b")], {"example.org/a": 1})

    @resource("x://of/{name}")
    def of(self, name: Annotated[str, Complete(lambda typed: [typed + "!"])]) -> str:
        return name


@pytest.mark.parametrize("revision", REVISIONS)
async def test_everything_that_a_server_offers_can_be_asked_for(revision: str) -> None:
    server = serving(Features, page_size=1)
    async with TestClient(server, revision=revision) as client:
        assert [each.name for each in await client.list_tools()] == ["one", "two"]
        [listed] = await client.list_prompts()
        assert (listed.name, listed.description) == ("ask", "Asks.")
        assert [(each.name, each.description, each.required) for each in listed.arguments or ()] == [
            ("a", "The a", True),
            ("b", None, False),
        ]
        assert (listed.icons == (Icon("https://example.org/a.png"),)) is (revision >= "2025-11-25")
        fixed, both = await client.list_resources()
        assert (fixed.uri, fixed.mime_type, fixed.size, both.uri) == ("x://fixed", "text/csv", 3, "x://both")
        [template] = await client.list_templates()
        assert template.uri_template == "x://of/{name}"

        got = await client.get_prompt("ask", {"a": "1", "b": "2"})
        assert got.messages == (
            PromptMessage("user", TextContent("12")),
            PromptMessage("assistant", ImageContent(b"i", "image/png")),
        )
        assert got.description == "Asks."
        read = await client.read_resource("x://fixed")
        assert read.contents == (TextResource("a,b", "x://fixed", "text/csv"),)
        read = await client.read_resource("x://both")
        assert read.contents == (TextResource("t", "x://both"), BlobResource(b"b", "x://b", "b/b"))
        assert read.meta is not None
        assert read.meta["example.org/a"] == 1
        assert (await client.read_resource("x://of/7")).contents[0].uri == "x://of/7"

        completion = await client.complete(PromptRef("ask"), "a", "xy", {"b": "1"})
        assert (completion.values, completion.total, completion.has_more) == (("xy",), 1, False)
        assert (await client.complete(TemplateRef("x://of/{name}"), "name", "v")).values == ("v!",)

        with pytest.raises(ClientError) as caught:
            await client.read_resource("x://nope")
        assert caught.value.code == (-32602 if revision == NEWEST else -32002)
        assert caught.value.data == {"uri": "x://nope"}
        with pytest.raises(ClientError, match="ghost"):
            await client.get_prompt("ghost")


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_a_client_subscribes_and_hears(revision: str) -> None:
    server = serving(Features)
    async with TestClient(server, revision=revision) as client:
        await client.subscribe("x://fixed")
        server.resource_updated("x://fixed")
        heard = await client.notified("notifications/resources/updated")
        assert heard.params == {"uri": "x://fixed"}
        await client.unsubscribe("x://fixed")
        server.resource_updated("x://fixed")
        await client.ping()
        assert len([each for each in client.notifications if each.method.endswith("updated")]) == 1


class Answering(Offers):
    """A client whose server gives these answers, one after the other, and the last one for ever."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, Mapping[str, Any] | None]] = []

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        self.asked.append((method, params))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def test_all_pages_are_followed_and_circles_are_told() -> None:
    pages = (
        {"prompts": [{"name": "a"}], "nextCursor": "1"},
        {"prompts": [], "nextCursor": ""},
        {"prompts": [{"name": "b"}]},
    )
    client = Answering(*pages)
    assert [each.name for each in await client.list_prompts()] == ["a", "b"]
    assert [params for _, params in client.asked] == [{}, {"cursor": "1"}, {"cursor": ""}]
    with pytest.raises(ClientError, match="circles"):
        await Answering({"prompts": [], "nextCursor": "1"}).list_prompts()
    with pytest.raises(ClientError, match="circles"):
        await Answering({"resources": [], "nextCursor": 3}).list_resources()


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda client: client.list_prompts(), {}),
        (lambda client: client.list_prompts(), {"prompts": "x"}),
        (lambda client: client.list_prompts(), {"prompts": [3]}),
        (lambda client: client.list_prompts(), {"prompts": [{}]}),
        (lambda client: client.list_resources(), {"resources": [{"uri": "x://y"}]}),
        (lambda client: client.list_templates(), {"resourceTemplates": [{"name": "x"}]}),
        (lambda client: client.get_prompt("x"), {}),
        (lambda client: client.get_prompt("x"), {"messages": "x"}),
        (lambda client: client.get_prompt("x"), {"messages": [{"role": "system", "content": {}}]}),
        (lambda client: client.get_prompt("x"), {"messages": [{"role": "user", "content": "x"}]}),
        (lambda client: client.get_prompt("x"), {"messages": [{"role": "user", "content": {"type": "text"}}]}),
        (lambda client: client.get_prompt("x"), {"messages": [{"role": "user", "content": {"type": "film"}}]}),
        (lambda client: client.read_resource("x"), {}),
        (lambda client: client.read_resource("x"), {"contents": [3]}),
        (lambda client: client.read_resource("x"), {"contents": [{"text": "x"}]}),
        (lambda client: client.read_resource("x"), {"contents": [{"uri": "x://y"}]}),
        (lambda client: client.read_resource("x"), {"contents": [{"uri": "x://y", "blob": "%"}]}),
        (lambda client: client.complete(PromptRef("x"), "a", ""), {}),
        (lambda client: client.complete(PromptRef("x"), "a", ""), {"completion": {}}),
        (lambda client: client.complete(PromptRef("x"), "a", ""), {"completion": {"values": [1]}}),
    ],
)
async def test_malformed_answers_are_errors_of_the_client(ask: Any, answer: dict[str, Any]) -> None:
    with pytest.raises(ClientError):
        await ask(Answering(answer))


async def test_unknown_members_are_ignored() -> None:
    client = Answering({"messages": [{"role": "user", "content": {"type": "text", "text": "x", "new": 1}}], "new": 1})
    assert await client.get_prompt("x") == PromptResult("x")
