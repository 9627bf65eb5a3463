"""The official client answers questions over HTTP, in both eras."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client, types

from tests.interop.serving import serving

NEWEST = "2026-07-28"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint


async def fill_in(context: Any, params: Any) -> types.ElicitResult:
    filled = {"name": "Ada", "color": "green", "username": "ada", "email": "ada@example.org"}
    asked = params.requested_schema["properties"]
    return types.ElicitResult(action="accept", content={name: filled[name] for name in asked})


async def decline(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="decline")


async def sample(context: Any, params: Any) -> types.CreateMessageResult:
    said = params.messages[0].content.text
    return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text=said), model="echo")


async def roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///home/ada")])


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
@pytest.mark.parametrize("mode", ["legacy", NEWEST])
async def test_the_official_client_answers_in_both_eras(mode: str, url: str) -> None:
    logged: list[str] = []

    async def hear(params: Any) -> None:
        logged.append(params.data)

    callbacks: Any = {"sampling_callback": sample, "list_roots_callback": roots, "logging_callback": hear}
    with anyio.fail_after(60):
        async with Client(url, mode=mode, elicitation_callback=fill_in, log_level="info", **callbacks) as client:

            async def text(name: str, arguments: dict[str, Any] | None = None) -> str:
                return str((await client.call_tool(name, arguments or {})).content[0].text)

            assert await text("test_elicitation", {"message": "Who?"}) == (
                "User response: accept, User(username='ada', email='ada@example.org')"
            )
            assert await text("test_sampling", {"prompt": "Say it"}) == "LLM response: Say it"
            assert await text("test_input_required_result_list_roots") == "file:///home/ada"
            assert await text("test_input_required_result_multi_round") == "Name(name='Ada') Color(color='green')"
            several = await text("test_input_required_result_multiple_inputs")
            assert several == "Generate a greeting Name(name='Ada'), 1 roots"
            if mode == "legacy":
                await client.set_logging_level("info")
            await client.call_tool("test_tool_with_logging", {})
            assert len(logged) == 3
        async with Client(url, mode=mode, elicitation_callback=decline, **callbacks) as client:
            refused = await client.call_tool("test_elicitation", {"message": "Who?"})
            assert refused.content[0].text == "User response: decline, None"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", NEWEST])
async def test_a_client_that_cannot_answer_is_told_what_it_lacks(mode: str, url: str) -> None:
    with anyio.fail_after(60):
        async with Client(url, mode=mode) as client:
            with pytest.raises(Exception, match="elicitation") as caught:
                await client.call_tool("test_elicitation", {"message": "Who?"})
            assert caught.value.error.data == {"requiredCapabilities": {"elicitation": {}}}
