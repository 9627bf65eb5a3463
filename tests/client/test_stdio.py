from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import anyio
import pytest

from mcpconnect.client import Client, StdioTransport
from mcpconnect.errors import ClientError

pytestmark = pytest.mark.anyio
SERVER = str(Path(__file__).with_name("raw_server.py"))


def launched(mode: str, **settings) -> StdioTransport:
    return StdioTransport([sys.executable, SERVER, mode], **settings)


async def test_a_server_is_launched_spoken_to_and_ended():
    transport = launched("plain")
    with anyio.fail_after(20):
        async with Client(transport) as client:
            await client.ping()
            text = "Łódź\u2028" + "x" * 3_000_000
            assert (await client.call_tool("echo", {"text": text})).text == text
    assert transport.exit_code == 0


async def test_concurrent_calls_do_not_mix_their_messages():
    texts = [f"{number}" * 100_000 for number in range(8)]
    answers: dict[str, str] = {}
    with anyio.fail_after(20):
        async with Client(launched("plain")) as client, anyio.create_task_group() as tasks:

            async def call(text: str) -> None:
                answers[text] = (await client.call_tool("echo", {"text": text})).text

            for text in texts:
                tasks.start_soon(call, text)
    assert answers == {text: text for text in texts}


async def test_a_command_that_cannot_be_started_is_named():
    with pytest.raises(ClientError, match="no-such-command"):
        async with Client(StdioTransport(["no-such-command-anywhere"])):
            pass


async def test_a_server_that_dies_is_told_with_its_exit_code():
    with anyio.fail_after(20), pytest.raises(ClientError, match="exit code 3"):
        async with Client(launched("dies")):
            pass


async def test_a_server_that_dies_later_fails_what_waits_and_what_comes():
    with anyio.fail_after(20):
        async with Client(launched("dies-later")) as client:
            with pytest.raises(ClientError, match="exit code 4"):
                await client.ping()
            with pytest.raises(ClientError, match="exit code 4"):
                await client.ping()


async def test_a_line_that_is_no_message_is_shown():
    with anyio.fail_after(20), pytest.raises(ClientError, match=r"no JSON-RPC message.*Welcome to my server!"):
        async with Client(launched("chatty")):
            pass


@pytest.mark.parametrize(
    ("mode", "by"), [("deaf", signal.SIGTERM), ("stubborn", signal.SIGKILL)], ids=["terminated", "killed"]
)
async def test_a_server_that_does_not_end_by_itself_is_ended(mode, by):
    transport = launched(mode, patience=0.3)
    before = time.monotonic()
    with anyio.fail_after(20):
        async with Client(transport):
            pass
    assert transport.exit_code == -by
    assert time.monotonic() - before < 10


async def test_a_message_that_is_too_long_is_an_error():
    with anyio.fail_after(20):
        async with Client(launched("plain", message_bytes=1000)) as client:
            with pytest.raises(ClientError, match="too long"):
                await client.call_tool("echo", {"text": "x" * 2000})


async def test_leaving_early_ends_the_server_too():
    transport = launched("plain")
    with anyio.fail_after(20), pytest.raises(KeyError, match="mine"):
        async with Client(transport):
            raise KeyError("mine")
    assert transport.exit_code == 0


async def test_stdio_is_the_short_way_to_a_client():
    with anyio.fail_after(20):
        async with Client.stdio([sys.executable, SERVER, "plain"], revision="2025-03-26", timeout=5) as client:
            assert client.revision.version == "2024-11-05"  # what the server answered
            assert client.server.name == "raw"
