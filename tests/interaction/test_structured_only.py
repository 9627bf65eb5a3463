"""`structured="only"`: a short text stands for the data, where the revision has a place for the data."""

import json
from dataclasses import dataclass

import pytest

from mcpconnect import Tool, tool
from tests.wire import REVISIONS, connected, serving

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_data_is_never_lost(revision: str) -> None:
    @dataclass
    class Weather:
        city: str

    class Forecast(Tool):
        @tool(structured="only")
        def weather(self) -> Weather:
            return Weather("Bern")

    async with connected(serving(Forecast), revision) as wire:
        result = await wire.call("weather")
        (block,) = result["content"]
        if "structuredContent" in result:
            assert result["structuredContent"] == {"city": "Bern"}
            assert "Bern" not in block["text"]
        else:
            assert revision < "2025-06-18"
            assert json.loads(block["text"]) == {"city": "Bern"}
