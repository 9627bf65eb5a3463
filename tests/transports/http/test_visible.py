"""Rules of visibility that look at what a client can do, and at the headers of its request."""

from typing import Any

import pytest

from mcpconnect import Context, prompt, resource, tool
from tests.transports.http.caller import calling
from tests.wire import K, serving

pytestmark = pytest.mark.anyio


@prompt
def for_samplers() -> str:
    return "Sample this"


@tool(tags={"internal"})
def for_insiders() -> str:
    return "inside"


@resource("test://internal", tags={"internal"})
def internal() -> str:
    return "the resource"


@resource("test://{name}")
def anything(name: str) -> str:
    return f"the template for {name}"


@pytest.mark.parametrize("era", ["session", "modern"])
async def test_97_a_rule_sees_capabilities_and_headers_and_what_it_hides_falls_back_to_a_template(era: str) -> None:
    server = serving(for_samplers, for_insiders, internal, anything)

    @server.visible
    def rule(feature: Any, context: Context) -> bool:
        if feature.name == "for_samplers":
            return context.client.can("sampling")
        return "internal" not in feature.tags or context.headers.get("x-inside") == "yes"

    async with calling(server) as caller:
        sessions = {can: await caller.session(capabilities={"sampling": {}} if can else {}) for can in (True, False)}

        async def ask(method: str, params: dict[str, Any], *, samples: bool = False, inside: str = "no") -> Any:
            headers = {"x-inside": inside}
            if era == "session":
                answer = await sessions[samples].request(method, params, headers=headers).done()
            else:
                meta = {f"{K}clientCapabilities": {"sampling": {}} if samples else {}}
                answer = await caller.modern(method, params, headers=headers, meta=meta).done()
            return answer.messages[-1]

        async def names(method: str, member: str, **who: Any) -> list[str]:
            return [each["name"] for each in (await ask(method, {}, **who))["result"][member]]

        assert await names("prompts/list", "prompts", samples=True) == ["for_samplers"]
        assert await names("prompts/list", "prompts") == []
        assert "error" in await ask("prompts/get", {"name": "for_samplers"})
        assert "result" in await ask("prompts/get", {"name": "for_samplers"}, samples=True)
        assert await names("tools/list", "tools", inside="yes") == ["for_insiders"]
        assert await names("tools/list", "tools") == []
        assert "error" in await ask("tools/call", {"name": "for_insiders"})
        assert "result" in await ask("tools/call", {"name": "for_insiders"}, inside="yes")
        for inside, expected in (("yes", "the resource"), ("no", "the template for internal")):
            read = await ask("resources/read", {"uri": "test://internal"}, inside=inside)
            assert read["result"]["contents"][0]["text"] == expected
