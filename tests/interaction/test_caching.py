"""Cache hints: which one holds, and that only the newest revision sees them."""

from typing import Any

import pytest

from mcpconnect import CacheControl, ResourceResult, TextResource, Tool, prompt, resource, tool
from tests.wire import NEWEST, REVISIONS, connected, serving

pytestmark = pytest.mark.anyio


class Features(Tool):
    @resource("x://plain")
    def plain(self) -> str:
        return "x"

    @resource("x://own", cache=CacheControl(1000, "public"))
    def own(self) -> str:
        return "x"

    @resource("x://stale", cache=CacheControl(0))
    def stale(self) -> str:
        return "x"

    @resource("x://response", cache=CacheControl(1000, "public"))
    def response(self) -> ResourceResult:
        return ResourceResult(TextResource("x"), cache=CacheControl(5))

    @resource("x://of/{a}", cache=CacheControl(7, "public"))
    def template(self, a: str) -> str | list[ResourceResult]:
        return a if a != "many" else [ResourceResult(TextResource("x"), cache=CacheControl(9))]

    @tool
    def tool(self) -> str:
        return "x"

    @prompt
    def prompt(self) -> str:
        return "x"


def hint(result: dict[str, Any]) -> tuple[Any, Any]:
    return result.get("ttlMs"), result.get("cacheScope")


@pytest.mark.parametrize(
    ("server", "default"), [(None, (0, "private")), (CacheControl(60_000, "public"), (60_000, "public"))]
)
async def test_the_most_specific_hint_holds_as_a_whole(server: CacheControl | None, default: tuple[int, str]) -> None:
    async with connected(serving(Features, cache=server), NEWEST) as wire:

        async def read(uri: str) -> tuple[Any, Any]:
            return hint((await wire.ask("resources/read", {"uri": uri}))["result"])

        assert await read("x://plain") == default
        assert await read("x://own") == (1000, "public")
        assert await read("x://stale") == (0, "private")
        assert await read("x://response") == (5, "private")
        assert await read("x://of/1") == (7, "public")
        assert await read("x://of/many") == (9, "private")
        for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"):
            assert hint((await wire.ask(method))["result"]) == default
        for method, params in (
            ("tools/call", {"name": "tool", "arguments": {}}),
            ("prompts/get", {"name": "prompt"}),
        ):
            assert hint((await wire.ask(method, params))["result"]) == (None, None)


@pytest.mark.parametrize("revision", REVISIONS[:-1])
async def test_older_revisions_have_no_hints(revision: str) -> None:
    async with connected(serving(Features, cache=CacheControl(1)), revision) as wire:
        for method, params in (
            ("resources/read", {"uri": "x://response"}),
            ("resources/list", {}),
            ("resources/templates/list", {}),
            ("prompts/list", {}),
            ("tools/list", {}),
        ):
            assert hint((await wire.ask(method, params))["result"]) == (None, None)


@pytest.mark.parametrize(
    ("ttl", "scope"), [(-1, "private"), (1.5, "private"), (True, "private"), (1, "shared"), ("1", "public")]
)
def test_a_hint_that_says_nothing_is_refused(ttl: Any, scope: Any) -> None:
    with pytest.raises(ValueError, match=r"ttl_ms|scope"):
        CacheControl(ttl, scope)
