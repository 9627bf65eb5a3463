"""Rows of Quarkus' tests about who a server is, what it can do, and who guards its tools."""

from typing import Any

import pytest

from mcpconnect import DefinitionError, Icon, prompt, resource, tool
from tests.wire import HANDSHAKES, NEWEST, K, connected, serving

pytestmark = pytest.mark.anyio

ICON = Icon("https://example.org/i.png", mime_type="image/png", sizes=["48x48"])
IDENTITY: dict[str, Any] = {
    "title": "Weather",
    "description": "Forecasts and warnings",
    "website_url": "https://example.org",
    "icons": [ICON],
    "instructions": "Ask for the forecast first.\nThen for warnings.",
}


@tool
def forecast() -> str:
    return "sun"


@prompt
def summary() -> str:
    return "Summarise"


@resource("test://map")
def weather_map() -> str:
    return "map"


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_107_108_who_the_server_is_as_far_as_the_revision_can_say_it(revision: str) -> None:
    async with connected(serving(forecast, **IDENTITY), revision) as wire:
        answer = wire.messages[0]["result"]
    info = {"name": "test", "version": "1"}
    if revision >= "2025-06-18":
        info["title"] = "Weather"
    if revision >= "2025-11-25":
        shown = {"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48"]}
        info |= {"description": "Forecasts and warnings", "websiteUrl": "https://example.org", "icons": [shown]}
    assert answer["serverInfo"] == info
    assert answer["instructions"] == IDENTITY["instructions"]


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_107_capabilities_say_what_is_there(revision: str) -> None:
    async with connected(serving(forecast), revision) as wire:
        bare = wire.messages[0]["result"]["capabilities"]
        assert "instructions" not in wire.messages[0]["result"]
    assert bare["tools"] == {"listChanged": True}
    assert bare["logging"] == {}
    assert "prompts" not in bare
    assert "completions" not in bare
    async with connected(serving(forecast, summary, weather_map), revision) as wire:
        full = wire.messages[0]["result"]["capabilities"]
    assert full["prompts"] == {"listChanged": True}
    assert full["resources"] == {"subscribe": True, "listChanged": True}


async def test_109_110_the_settings_of_the_server_stand_in_every_result_of_the_newest_revision() -> None:
    async with connected(serving(forecast, **IDENTITY), NEWEST) as wire:
        for method, params in (("server/discover", {}), ("tools/list", {}), ("tools/call", {"name": "forecast"})):
            info = (await wire.ask(method, params))["result"]["_meta"][f"{K}serverInfo"]
            assert info["title"] == "Weather"
            assert info["websiteUrl"] == "https://example.org"
            assert info["icons"][0]["src"] == "https://example.org/i.png"
        discovered = (await wire.ask("server/discover"))["result"]
        assert discovered["instructions"] == IDENTITY["instructions"]


@pytest.mark.parametrize("guard", [3, "guard", None])
def test_59_60_what_cannot_be_called_is_no_guard(guard: Any) -> None:
    with pytest.raises(DefinitionError, match="guard"):
        tool(guards=[guard])


async def test_59_60_a_guard_sees_missing_arguments_as_none_at_all() -> None:
    seen: list[Any] = []

    async def looking(call: Any, next: Any) -> Any:
        seen.append(dict(call.arguments))
        return await next(call)

    @tool(guards=[looking])
    def guarded(word: str = "none") -> str:
        return word

    async with connected(serving(guarded)) as wire:
        for given in ({}, {"arguments": None}, {"arguments": {}}):
            answer = await wire.ask("tools/call", {"name": "guarded", **given})
            assert answer["result"]["content"][0]["text"] == "none"
    assert seen == [{}] * 3
