"""How long a result may be, where the server says so."""

import pytest
from PIL import Image

from mcpconnect import Limits, Tool, prompt, resource, tool
from tests.wire import REVISIONS, connected, serving

pytestmark = [pytest.mark.anyio, pytest.mark.fault(276)]


class Long(Tool):
    @tool
    def picture(self, side: int) -> Image.Image:
        return Image.effect_noise((side, side), 200)

    @tool
    async def text(self, length: int) -> str:
        return "ä" * length

    @prompt
    def ask(self, length: int) -> str:
        return "a" * length

    @resource("long://{length}")
    def read(self, length: int) -> str:
        return "a" * length


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_result_that_is_too_long_is_an_error_that_says_so(revision: str) -> None:
    async with connected(serving(Long, limits=Limits(result_bytes=100_000)), revision) as wire:
        assert not (await wire.call("picture", {"side": 20})).get("isError")
        assert await wire.texts("text", {"length": 40_000}) == ["ä" * 40_000]
        for name, arguments in (("picture", {"side": 1000}), ("text", {"length": 60_000})):
            failed = await wire.call(name, arguments)
            assert failed["isError"]
            assert "(Limits.result_bytes)" in failed["content"][0]["text"]
            assert len(failed["content"]) == 1
        for method, params in (
            ("prompts/get", {"name": "ask", "arguments": {"length": "200000"}}),
            ("resources/read", {"uri": "long://200000"}),
        ):
            error = (await wire.ask(method, params))["error"]
            assert error["code"] == -32603
            assert "(Limits.result_bytes)" in error["message"]
        assert (await wire.ask("prompts/get", {"name": "ask", "arguments": {"length": "2"}}))["result"]


async def test_without_a_limit_nothing_is_cut() -> None:
    async with connected(serving(Long)) as wire:
        assert await wire.texts("text", {"length": 3_000_000}) == ["ä" * 3_000_000]
