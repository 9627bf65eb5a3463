"""Log messages to the client: which levels it hears, in both eras."""

import pytest

from mcpconnect import Tool, tool
from tests.wire import HANDSHAKES, NEWEST, K, connected, serving

pytestmark = pytest.mark.anyio


class Talking(Tool):
    @tool
    async def talk(self) -> str:
        """Say something on several levels."""
        await self.ctx.log("debug", "detail")
        await self.ctx.log("info", "news", logger="db")
        await self.ctx.log("warning", {"disk": "full", "left": 3})
        await self.ctx.log("emergency", ["help"])
        return "said"

    @tool
    def talk_in_thread(self) -> str:
        """Say something from a worker thread."""
        self.ctx.sync.log("error", "from a thread")
        return "said"


def heard(messages: list[dict]) -> list[tuple[str, object]]:
    logs = [message["params"] for message in messages if message.get("method") == "notifications/message"]
    return [(log["level"], log["data"]) for log in logs]


ALL = [("debug", "detail"), ("info", "news"), ("warning", {"disk": "full", "left": 3}), ("emergency", ["help"])]


@pytest.mark.fault(249)
@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_a_client_hears_from_the_level_that_it_set(revision: str) -> None:
    async with connected(serving(Talking), revision) as wire:
        assert wire.messages[0]["result"]["capabilities"]["logging"] == {}
        await wire.call("talk")
        assert heard(wire.messages) == ALL[1:], "from info on, before it says anything"
        for level, expected in (("warning", ALL[2:]), ("debug", ALL), ("emergency", ALL[3:])):
            assert (await wire.ask("logging/setLevel", {"level": level}))["result"] == {}
            before = len(wire.messages)
            await wire.call("talk")
            assert heard(wire.messages[before:]) == expected
        await wire.call("talk_in_thread")


@pytest.mark.fault(249)
@pytest.mark.parametrize("level", ["loud", "", None, 3, "WARNING"])
async def test_an_unknown_level_is_invalid_params(level: object) -> None:
    async with connected(serving(Talking)) as wire:
        assert (await wire.ask("logging/setLevel", {"level": level}))["error"]["code"] == -32602
    if level is not None:
        async with connected(serving(Talking), NEWEST) as wire:
            answer = await wire.ask("tools/call", {"name": "talk", "_meta": {f"{K}logLevel": level}})
            assert answer["error"]["code"] == -32602


async def test_in_the_per_request_era_only_the_request_itself_asks() -> None:
    async with connected(serving(Talking), NEWEST) as wire:
        await wire.call("talk")
        assert heard(wire.messages) == []
        await wire.ask("tools/call", {"name": "talk", "_meta": {f"{K}logLevel": "warning"}})
        assert heard(wire.messages) == ALL[2:]
        assert (await wire.ask("logging/setLevel", {"level": "debug"}))["error"]["code"] == -32601


async def test_log_messages_come_before_the_answer_and_name_their_logger() -> None:
    async with connected(serving(Talking)) as wire:
        await wire.call("talk")
        kinds = [message.get("method", "answer") for message in wire.messages[-4:]]
        assert kinds == ["notifications/message"] * 3 + ["answer"]
        assert wire.messages[-4]["params"]["logger"] == "db"
        assert "logger" not in wire.messages[-3]["params"]


async def test_what_cannot_be_written_is_told_as_its_text_and_fails_no_call() -> None:
    class Odd:
        def __str__(self) -> str:
            return "an odd thing"

    class Logs(Tool):
        @tool
        async def log_object(self) -> str:
            await self.ctx.log("info", [Odd()])
            await self.ctx.log("info", Odd())
            return "said"

    async with connected(serving(Logs)) as wire:
        assert (await wire.call("log_object"))["content"][0]["text"] == "said"
        told = [m["params"]["data"] for m in wire.messages if m.get("method") == "notifications/message"]
        assert told[1] == "an odd thing"
        assert "Odd" in told[0]
