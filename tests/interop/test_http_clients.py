"""Clients of other makes speak to the server over a real HTTP server on the loopback interface."""

import json
import os
import subprocess
import warnings
from collections.abc import Iterator

import anyio
import pytest
from mcp import Client as OfficialClient
from mcp import MCPError

from tests.interop.serving import HERE, node, serving

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what its own imports warn of is not ours
    from fastmcp import Client as FastClient

NEWEST = "2026-07-28"
TEXT = "This is a simple text response for testing."


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto", NEWEST])
async def test_the_official_client_in_both_eras(mode: str, url: str) -> None:
    progress: list[float] = []

    async def note(value: float, total: float | None, message: str | None) -> None:
        progress.append(value)

    with anyio.fail_after(60):
        async with OfficialClient(url, mode=mode) as client:
            listed = await client.list_tools()
            assert listed.tools[0].name == "test_simple_text"
            assert (await client.call_tool("test_simple_text", {})).content[0].text == TEXT
            done = await client.call_tool("test_tool_with_progress", {}, progress_callback=note)
            assert done.content[0].text == "Done."
            assert progress == [0, 50, 100]
            failed = await client.call_tool("test_error_handling", {})
            assert failed.is_error
            with pytest.raises(MCPError):
                await client.call_tool("no_such_tool", {})


@pytest.mark.anyio
async def test_the_client_of_fastmcp(url: str) -> None:
    with anyio.fail_after(60):
        async with FastClient(url) as client:
            assert (await client.list_tools())[0].name == "test_simple_text"
            assert (await client.call_tool("test_simple_text", {})).content[0].text == TEXT
            picture = await client.call_tool("test_image_content", {})
            assert picture.content[0].mime_type == "image/png"


@pytest.mark.parametrize(("era", "version"), [("legacy", "2025-11-25"), (NEWEST, NEWEST)])
def test_the_typescript_client_in_both_eras(era: str, version: str, url: str) -> None:
    run = subprocess.run(
        [node(), "client.mjs", url, era], capture_output=True, text=True, timeout=60, cwd=HERE, check=False
    )
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert seen["version"] == version
    assert (seen["session"] is None) is (era == NEWEST)
    assert seen["tools"][0] == "test_simple_text"
    assert (seen["text"], seen["done"], seen["failed"]) == (TEXT, "Done.", True)
    assert seen["progress"] == [0, 50, 100]


def test_the_typescript_sdk_of_the_handshake_era(url: str) -> None:
    run = subprocess.run(
        [node(), "sdk.mjs", url, "2"], input="go\n", capture_output=True, text=True, timeout=60, cwd=HERE, check=False
    )
    assert run.returncode == 0, run.stderr
    ready, answers = map(json.loads, run.stdout.splitlines())
    assert ready["ready"] == 2
    assert answers["answers"] == [TEXT, TEXT]


def test_the_inspectors_command_line(url: str) -> None:
    launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    command = [node(), launcher, "--cli", url, "--transport", "http", "--method"]
    environment = {**os.environ, "PATH": f"{HERE}/node_modules/node/bin:{os.environ['PATH']}"}

    def inspected(*arguments: str) -> dict[str, object]:
        run = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, timeout=60, cwd=HERE, env=environment, check=False
        )
        assert run.returncode == 0, run.stderr
        answer: dict[str, object] = json.loads(run.stdout)
        return answer

    listed = inspected("tools/list")
    assert listed["tools"][0]["name"] == "test_simple_text"  # type: ignore[index]
    called = inspected("tools/call", "--tool-name", "test_simple_text")
    assert called["content"] == [{"type": "text", "text": TEXT}]
