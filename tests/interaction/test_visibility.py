"""What is hidden from a client does not exist for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from mcpconnect import Context, DefinitionError, McpServer, Session, Tool, prompt, resource, tool
from tests.wire import NEWEST, K, Wire, connected, serving

pytestmark = pytest.mark.anyio
REVISIONS = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])


class Mixed(Tool):
    @tool
    def alpha(self) -> str:
        return "alpha"

    @tool(tags={"secret"})
    def omega(self) -> str:
        return "omega"

    @prompt(tags={"secret"})
    def ask(self, topic: str) -> str:
        return topic

    @prompt
    def ask_openly(self, topic: str) -> str:
        return topic

    @resource("test://x", tags={"secret"})
    def read(self) -> str:
        return "secret"

    @resource("test://{name}")
    def read_one(self, name: str) -> str:
        return f"template {name}"


def hiding() -> McpServer:
    server = serving(Mixed)

    @server.visible
    def unless_secret(feature: Any, context: Context) -> bool:
        return "secret" not in feature.tags or context.client.name == "insider"

    return server


async def names(wire: Wire, method: str, member: str, **params: Any) -> list[str]:
    return [entry["name"] for entry in (await wire.ask(method, params))["result"][member]]


@REVISIONS
async def test_what_is_hidden_is_neither_listed_nor_callable(revision: str) -> None:
    async with connected(hiding(), revision) as wire:
        assert await names(wire, "tools/list", "tools") == ["alpha"]
        assert (await wire.ask("tools/call", {"name": "omega"}))["error"]["message"] == "Unknown tool: omega"
        assert await wire.texts("alpha") == ["alpha"]
        assert await names(wire, "prompts/list", "prompts") == ["ask_openly"]
        hidden = await wire.ask("prompts/get", {"name": "ask", "arguments": {"topic": "a"}})
        assert hidden["error"]["code"] == -32602
        assert await names(wire, "resources/list", "resources") == []
        read = await wire.ask("resources/read", {"uri": "test://x"})
        assert read["result"]["contents"][0]["text"] == "template x"


async def test_who_may_see_it_does() -> None:
    async with connected(hiding(), NEWEST) as wire:
        meta = {f"{K}clientInfo": {"name": "insider", "version": "1"}}
        assert await names(wire, "tools/list", "tools", _meta=meta) == ["alpha", "omega"]
        assert (await wire.ask("tools/call", {"name": "omega", "_meta": meta}))["result"]["content"][0][
            "text"
        ] == "omega"
        assert await names(wire, "tools/list", "tools") == ["alpha"]


async def test_all_rules_must_agree_and_one_that_fails_hides() -> None:
    server = hiding()

    @server.visible
    def broken(feature: Any, context: Context) -> bool:
        if feature.name == "alpha":
            raise ValueError("no")
        return True

    async with connected(server) as wire:
        assert await names(wire, "tools/list", "tools") == []
        assert (await wire.ask("tools/call", {"name": "alpha"}))["error"]["code"] == -32602
        assert await names(wire, "prompts/list", "prompts") == ["ask_openly"]


async def test_pages_are_of_what_is_seen() -> None:
    server = McpServer("test", page_size=2)
    for number in range(7):
        tags = {"secret"} if number % 2 else set()
        server.register(tool(name=f"t{number}", tags=tags)(lambda: None))
    server.visible(lambda feature, _: "secret" not in feature.tags)
    async with connected(server) as wire:
        first = (await wire.ask("tools/list"))["result"]
        second = (await wire.ask("tools/list", {"cursor": first["nextCursor"]}))["result"]
        assert [each["name"] for each in (*first["tools"], *second["tools"])] == ["t0", "t2", "t4", "t6"]
        assert "nextCursor" not in second


@REVISIONS
async def test_a_change_is_told_to_those_who_can_see_it(revision: str) -> None:
    server = hiding()

    def changes(wire: Wire) -> list[str]:
        return [each["method"] for each in wire.messages if each.get("method", "").endswith("changed")]

    async with connected(server, revision) as wire:
        if revision == NEWEST:
            wire.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            await wire.until(lambda: any("acknowledged" in each.get("method", "") for each in wire.messages))
        server.disable("omega")
        server.enable("omega")
        await wire.ask("tools/list")
        assert changes(wire) == []
        server.disable("alpha")
        await wire.until(lambda: changes(wire) == ["notifications/tools/list_changed"])


async def test_a_hidden_resource_cannot_be_subscribed_to_or_completed() -> None:
    class Hidden(Tool):
        @resource("hidden://{name}", tags={"secret"})
        def read(self, name: "str | None" = None) -> str:
            return "x"

        @resource("hidden://one", tags={"secret"})
        def one(self) -> str:
            return "x"

        @prompt(tags={"secret"})
        def ask(self, topic: str) -> str:
            return topic

    server = hiding()
    server.register(Hidden, prefix="hidden")
    server.completions.add(lambda ref, argument, context: ["a"])
    async with connected(server, "2025-11-25") as wire:
        assert (await wire.ask("resources/subscribe", {"uri": "hidden://one"}))["error"]["code"] == -32002
        for ref in ({"type": "ref/prompt", "name": "hidden_ask"}, {"type": "ref/resource", "uri": "hidden://{name}"}):
            argument = {"name": "topic" if "name" in ref else "name", "value": ""}
            assert (await wire.ask("completion/complete", {"ref": ref, "argument": argument}))["error"][
                "code"
            ] == -32602


async def test_a_rule_sees_the_state_of_the_lifespan() -> None:
    @asynccontextmanager
    async def lifespan(server: McpServer) -> AsyncIterator[dict[str, bool]]:
        yield {"open": True}

    @tool
    def door() -> str:
        return "open"

    server = serving(door, lifespan=lifespan)
    server.visible(lambda feature, context: context.state["open"])
    async with connected(server) as wire:
        assert list(await wire.tools()) == ["door"]
        assert await wire.texts("door") == ["open"]


def told(wire: Wire) -> list[str]:
    return [
        message["method"].removeprefix("notifications/")
        for message in wire.messages
        if message.get("method", "").endswith(("changed", "updated"))
    ]


async def listening(wire: Wire, *uris: str) -> None:
    """Hear of the tools, and of resources."""
    if wire.revision == NEWEST:
        wishes = {"toolsListChanged": True, "resourceSubscriptions": list(uris)}
        wire.start("subscriptions/listen", {"notifications": wishes})
        await wire.until(lambda: any("acknowledged" in each.get("method", "") for each in wire.messages))
    else:
        for uri in uris:
            assert (await wire.ask("resources/subscribe", {"uri": uri}))["result"] == {}


@REVISIONS
async def test_the_first_rule_may_come_when_clients_are_there(revision: str) -> None:
    server = serving(Mixed)
    async with connected(server, revision) as wire:
        await listening(wire, "test://x", "test://y")
        server.visible(lambda feature, _: "secret" not in feature.tags)
        server.resource_updated("test://x")  # which is now what the template gives, and that may be seen
        server.disable("alpha")
        await wire.until(lambda: told(wire) == ["resources/updated", "tools/list_changed"])
        server.disable("omega")
        server.enable("omega")
        server.enable("alpha")
        await wire.until(lambda: len(told(wire)) == 3)
        await wire.ask("tools/list")
        assert told(wire)[2:] == ["tools/list_changed"]


@REVISIONS
async def test_an_update_of_what_is_hidden_meanwhile_is_not_told(revision: str) -> None:
    server = serving(Mixed)
    server.unregister("read_one")
    hidden: list[str] = []
    server.visible(lambda feature, _: feature.name not in hidden)
    async with connected(server, revision) as wire:
        await listening(wire, "test://x")
        server.resource_updated("test://x")
        await wire.until(lambda: told(wire) == ["resources/updated"])
        hidden.append("read")
        server.resource_updated("test://x")
        hidden.clear()
        server.resource_updated("test://x")
        await wire.until(lambda: len(told(wire)) == 2)
        await wire.ask("tools/list")
        assert len(told(wire)) == 2


class Login(Session):
    def __init__(self) -> None:
        self.insider = False


class Private(Tool):
    @tool
    def log_in(self, session: Login) -> None:
        session.insider = True

    @tool(tags={"secret"})
    def omega(self) -> None: ...


async def test_a_change_is_one_against_what_the_client_listed_last() -> None:
    server = serving(Private, session=Login)

    @server.visible
    def for_insiders(feature: Any, context: Context) -> bool:
        session = context.session
        assert isinstance(session, Login)
        return "secret" not in feature.tags or session.insider

    async with connected(server) as wire:
        server.disable("omega")
        server.enable("omega")
        await wire.call("log_in")
        assert await names(wire, "tools/list", "tools") == ["log_in", "omega"]
        assert told(wire) == []
        server.disable("omega")
        await wire.until(lambda: told(wire) == ["tools/list_changed"])


class Judge:
    def __call__(self, feature: Any, context: Context) -> bool:
        return "secret" not in feature.tags

    async def later(self, feature: Any, context: Context) -> bool:
        return True

    def doubtful(self, feature: Any, context: Context) -> Any:
        yield True

    def alone(self, feature: Any) -> bool:
        return True


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (None, "got NoneType"),
        (3, "got int"),
        (Judge, r"give an instance, Judge\(\)"),
        (Judge().later, "is async, or yields"),
        (partial(Judge().later), "is async, or yields"),
        (Judge().doubtful, "is async, or yields"),
        (Judge().alone, r"does not take \(feature, context\)"),
    ],
)
def test_what_would_show_everything_is_no_rule(rule: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        serving(Mixed).visible(rule)


@pytest.mark.parametrize("rule", [lambda feature, context: Judge().later(feature, context), Judge()])
async def test_what_a_rule_returns_has_to_be_an_answer(rule: Any) -> None:
    server = serving(Mixed)
    server.visible(rule)
    async with connected(server) as wire:
        assert "omega" not in await names(wire, "tools/list", "tools")


@REVISIONS
async def test_what_refuses_a_hidden_tool_refuses_one_that_is_not_there(revision: str) -> None:
    async with connected(hiding(), revision) as wire:
        for params in ({"_meta": {f"{K}logLevel": "loud"}}, {"requestState": "forged"}, {"arguments": {"more": 1}}):
            hidden = await wire.ask("tools/call", {"name": "omega", **params}, id=1)
            missing = await wire.ask("tools/call", {"name": "never", **params}, id=2)
            assert str(hidden["error"]).replace("omega", "never") == str(missing["error"])
