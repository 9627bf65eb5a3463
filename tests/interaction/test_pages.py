"""Pages that a client's user is asked to open."""

from typing import Any

import pytest

from mcpconnect import Context, UrlElicitationRequired, tool
from tests.interaction.test_asking import CAPABLE, conversed, text
from tests.wire import NEWEST, K, connected, serving

pytestmark = pytest.mark.anyio


@tool
async def connect(ctx: Context) -> str:
    answer = await ctx.elicit("Connect", url="https://example.org/connect")
    assert answer.elicitation_id is not None
    await ctx.elicitation_complete(answer.elicitation_id)
    return answer.action


@tool
async def two(ctx: Context) -> str:
    error = UrlElicitationRequired("Log in", "https://a.example", ("And there", "https://b.example"))
    assert error.ids[0] == error.id
    raise error


async def test_the_id_of_a_page_is_known_when_the_user_is_done() -> None:
    async with connected(serving(connect), "2025-11-25", capabilities=CAPABLE) as wire:
        assert text(await conversed(wire, "connect", lambda *_: {"action": "accept"})) == "accept"
        asked = next(m for m in wire.messages if m.get("method") == "elicitation/create")
        done = next(m for m in wire.messages if m.get("method") == "notifications/elicitation/complete")
        assert done["params"] == {"elicitationId": asked["params"]["elicitationId"]}
    async with connected(serving(connect), NEWEST) as wire:
        assert text(await conversed(wire, "connect", lambda *_: {"action": "accept"})) == "accept"
        assert not any(m.get("method") == "notifications/elicitation/complete" for m in wire.messages)


@pytest.mark.parametrize(
    ("revision", "capabilities", "code", "data"),
    [
        ("2025-06-18", CAPABLE, -32600, None),
        ("2025-11-25", {"elicitation": {}}, -32600, {"requiredCapabilities": {"elicitation": {"url": {}}}}),
        (NEWEST, CAPABLE, -32600, None),
    ],
)
async def test_a_client_that_opens_no_pages_is_not_sent_any(
    revision: str, capabilities: Any, code: int, data: Any
) -> None:
    async with connected(serving(two), revision, capabilities=capabilities) as wire:
        meta = {f"{K}clientCapabilities": capabilities}
        error = (await wire.ask("tools/call", {"name": "two", "_meta": meta}))["error"]
        assert (error["code"], error.get("data")) == (code, data)


async def test_several_pages_have_to_be_opened_first() -> None:
    async with connected(serving(two), "2025-11-25", capabilities=CAPABLE) as wire:
        error = (await wire.ask("tools/call", {"name": "two"}))["error"]
        pages = error["data"]["elicitations"]
        assert error["code"] == -32042
        assert [(page["mode"], page["url"], page["message"]) for page in pages] == [
            ("url", "https://a.example", "Log in"),
            ("url", "https://b.example", "And there"),
        ]
        assert pages[0]["elicitationId"] != pages[1]["elicitationId"]
