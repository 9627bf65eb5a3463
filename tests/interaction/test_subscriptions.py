"""Hearing of changes: of resources and of lists, in both eras."""

import threading
from typing import Any

import anyio
import pytest
from anyio import to_thread

from mcpconnect import DefinitionError, Limits, McpServer, Tool, prompt, resource, tool
from tests.wire import HANDSHAKES, NEWEST, K, Wire, connected, serving

pytestmark = pytest.mark.anyio
each_handshake = pytest.mark.parametrize("revision", HANDSHAKES)

UPDATED = "notifications/resources/updated"
SUBSCRIPTION = f"{K}subscriptionId"


class Notes(Tool):
    @resource("n://all")
    def all(self) -> str:
        return "all"

    @resource("n://{note}")
    def note(self, note: str) -> str:
        return note

    @resource("c://{number}")
    def counted(self, number: int) -> str:
        return str(number)

    @prompt
    def ask(self) -> str:
        return "?"

    @tool
    def change(self) -> str:
        return "changed"


def heard(wire: Wire, method: str = UPDATED) -> list[dict[str, Any]]:
    return [message.get("params", {}) for message in wire.messages if message.get("method") == method]


async def settled(wire: Wire) -> None:
    """Let everything arrive that was sent before."""
    await wire.ask("ping" if wire.revision != NEWEST else "tools/list")


@each_handshake
async def test_who_subscribed_hears_once_of_each_change_until_it_unsubscribes(revision: str) -> None:
    server = serving(Notes)
    async with connected(server, revision) as wire, connected(server, revision) as other:
        for uri in ("n://all", "n://1", "n://1", "n://1"):
            assert (await wire.ask("resources/subscribe", {"uri": uri}))["result"] == {}
        server.resource_updated("n://1")
        server.resource_updated("n://all")
        server.resource_updated("n://2")
        await settled(wire)
        assert heard(wire) == [{"uri": "n://1"}, {"uri": "n://all"}]
        assert (await wire.ask("resources/unsubscribe", {"uri": "n://1"}))["result"] == {}
        server.resource_updated("n://1")
        server.resource_updated("n://all")
        await settled(wire)
        assert heard(wire)[2:] == [{"uri": "n://all"}]
        await settled(other)
        assert heard(other) == []


@pytest.mark.fault(184)
@pytest.mark.fault(185)
@each_handshake
async def test_only_what_exists_can_be_subscribed_to(revision: str) -> None:
    async with connected(serving(Notes), revision) as wire:
        declared = (await wire.until(lambda: wire.answer_to("init")))["result"]["capabilities"]
        assert declared["resources"]["subscribe"] is True
        for uri in ("res://nope", "n://a/b", "", "c://seven"):
            error = (await wire.ask("resources/subscribe", {"uri": uri}))["error"]
            assert (error["code"], error["data"]) == (-32002, {"uri": uri})
        for params in ({}, {"uri": 1}):
            assert (await wire.ask("resources/subscribe", params))["error"]["code"] == -32602
            assert (await wire.ask("resources/unsubscribe", params))["error"]["code"] == -32602
        assert (await wire.ask("resources/unsubscribe", {"uri": "res://nope"}))["result"] == {}
    async with connected(McpServer("none"), revision) as wire:
        declared = (await wire.until(lambda: wire.answer_to("init")))["result"]["capabilities"]
        assert "resources" not in declared
        for method in ("resources/subscribe", "resources/unsubscribe"):
            assert (await wire.ask(method, {"uri": "n://all"}))["error"]["code"] == -32601


async def test_the_newest_revision_has_no_subscribing_and_the_others_no_listening() -> None:
    server = serving(Notes)
    async with connected(server, NEWEST) as wire:
        assert (await wire.ask("resources/subscribe", {"uri": "n://all"}))["error"]["code"] == -32601
    async with connected(server) as wire:
        assert (await wire.ask("subscriptions/listen", {"notifications": {}}))["error"]["code"] == -32601


@pytest.mark.fault(186)
async def test_who_leaves_leaves_nothing_behind() -> None:
    server = serving(Notes)
    for revision in (*HANDSHAKES, NEWEST):
        async with connected(server, revision) as wire:
            if revision == NEWEST:
                wire.start("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["n://1"]}})
                await wire.until(lambda w=wire: heard(w, "notifications/subscriptions/acknowledged"))
            else:
                await wire.ask("resources/subscribe", {"uri": "n://1"})
            assert len(server.hub) == 1
        with anyio.fail_after(20):
            while len(server.hub):
                await anyio.lowlevel.checkpoint()
        server.resource_updated("n://1")


async def test_subscriptions_of_one_connection_are_bounded() -> None:
    async with connected(serving(Notes, limits=Limits(subscriptions=2))) as wire:
        for uri in ("n://1", "n://2", "n://1"):
            assert "result" in await wire.ask("resources/subscribe", {"uri": uri})
        assert (await wire.ask("resources/subscribe", {"uri": "n://3"}))["error"]["code"] == -32602
        await wire.ask("resources/unsubscribe", {"uri": "n://1"})
        assert "result" in await wire.ask("resources/subscribe", {"uri": "n://3"})


async def test_every_spelling_of_a_uri_is_the_same_resource() -> None:
    @resource("x://my docs")
    def docs() -> str:
        return "docs"

    server = serving(docs)
    async with connected(server) as wire:
        await wire.ask("resources/subscribe", {"uri": "x://my%20docs"})
        server.resource_updated("x://my docs")
        server.resource_updated("x://m%79%20docs")
        await settled(wire)
        assert heard(wire) == [{"uri": "x://my%20docs"}] * 2
        await wire.ask("resources/unsubscribe", {"uri": "x://my docs"})
        server.resource_updated("x://my docs")
        await settled(wire)
        assert len(heard(wire)) == 2
    async with connected(server, NEWEST) as wire:
        wire.start("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["x://m%79%20docs"]}})
        await wire.until(lambda: heard(wire, "notifications/subscriptions/acknowledged"))
        server.resource_updated("x://my docs")
        await wire.until(lambda: heard(wire))


@pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
async def test_updates_come_from_any_thread_and_none_is_lost(revision: str) -> None:
    server = serving(Notes)
    threads = [
        threading.Thread(target=lambda: [server.resource_updated("n://1") for _ in range(100)]) for _ in range(8)
    ]
    async with connected(server, revision) as wire:
        if revision == NEWEST:
            wire.start("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["n://1", "n://1"]}})
            await wire.until(lambda: heard(wire, "notifications/subscriptions/acknowledged"))
        else:
            await wire.ask("resources/subscribe", {"uri": "n://1"})
        for thread in threads:
            thread.start()
        for thread in threads:
            await to_thread.run_sync(thread.join, 20)
        await wire.until(lambda: len(heard(wire)) == 800)


async def test_a_subscription_of_the_newest_revision_names_itself_and_hears_only_what_it_asked_for() -> None:
    server = serving(Notes)
    async with connected(server, NEWEST) as wire:
        wishes = {"resourceSubscriptions": ["n://1"], "promptsListChanged": True, "toolsListChanged": False}
        wire.start("subscriptions/listen", {"notifications": wishes}, id="mine")
        [acknowledged] = await wire.until(lambda: heard(wire, "notifications/subscriptions/acknowledged"))
        assert acknowledged["notifications"] == {"resourceSubscriptions": ["n://1"], "promptsListChanged": True}
        assert acknowledged["_meta"][SUBSCRIPTION] == "mine"
        server.resource_updated("n://2")
        server.resource_updated("n://1")
        server.disable("change")
        server.disable("n://all")
        server.disable("ask")
        await wire.until(lambda: heard(wire, "notifications/prompts/list_changed"))
        assert heard(wire) == [{"_meta": {SUBSCRIPTION: "mine"}, "uri": "n://1"}]
        assert heard(wire, "notifications/tools/list_changed") == []
        assert heard(wire, "notifications/resources/list_changed") == []


@pytest.mark.parametrize("wishes", [None, "all", {"resourceSubscriptions": "n://1"}, {"resourceSubscriptions": [1]}])
async def test_malformed_wishes_are_refused(wishes: Any) -> None:
    async with connected(serving(Notes), NEWEST) as wire:
        answer = await wire.ask("subscriptions/listen", {"notifications": wishes})
        assert answer["error"]["code"] == -32602


@each_handshake
async def test_changes_of_the_lists_are_told_to_those_who_shook_hands(revision: str) -> None:
    server = serving(Notes)

    @resource("n://v/{a}")
    def value(a: str) -> str:
        return a

    prompts, resources = "notifications/prompts/list_changed", "notifications/resources/list_changed"

    def counts(wire: Wire) -> tuple[int, int]:
        return len(heard(wire, prompts)), len(heard(wire, resources))

    async with connected(server, revision) as wire:
        await settled(wire)
        assert counts(wire) == (0, 0)
        more = prompt(name="more")(lambda: "x")
        server.register(more)
        await settled(wire)
        assert counts(wire) == (1, 0)
        server.register(resource("n://fixed/x", name="x")(lambda: "x"))
        server.register(value)
        await settled(wire)
        assert counts(wire) == (1, 2)
        server.disable("more", "n://fixed/x")
        await settled(wire)
        assert counts(wire) == (2, 3)
        server.disable("more", "n://fixed/x")
        await settled(wire)
        assert counts(wire) == (2, 3)
        server.enable("more")
        server.unregister("n://v/{a}")
        server.unregister(more)
        await settled(wire)
        assert counts(wire) == (4, 4)


@pytest.mark.parametrize("member", ["promptsListChanged", "resourcesListChanged"])
async def test_changes_of_the_lists_are_told_to_those_who_listen(member: str) -> None:
    server = serving(Notes)
    kind = member.removesuffix("ListChanged")
    async with connected(server, NEWEST) as wire:
        wire.start("subscriptions/listen", {"notifications": {member: True}})
        await wire.until(lambda: heard(wire, "notifications/subscriptions/acknowledged"))
        server.register(prompt(name="more")(lambda: "x"))
        server.register(resource("n://fixed/x", name="x")(lambda: "x"))
        found = await wire.until(lambda: heard(wire, f"notifications/{kind}/list_changed"))
        assert len(found) == 1
        assert len([message for message in wire.messages if "list_changed" in message.get("method", "")]) == 1


async def test_registering_while_calls_run_is_whole_in_every_list() -> None:
    server = McpServer("busy")
    server.register(Notes)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        class Extra(Tool, prefix=f"e{number}"):
            @tool
            def one(self) -> str:
                return "one"

            @prompt
            def two(self) -> str:
                return "two"

            @resource(f"e://{number}")
            def three(self) -> str:
                return "three"

            @resource(f"e://{number}/{{a}}")
            def four(self, a: str) -> str:
                return a

        class Broken(Extra, prefix=f"b{number}"):
            """Its resources are there already, so that nothing of it may be."""

        try:
            for _ in range(10):
                server.register(Extra)
                with pytest.raises(DefinitionError, match="is there already"):
                    server.register(Broken)
                server.unregister(Extra)
            server.register(Extra)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    async with connected(server, NEWEST) as wire:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            answer = await wire.ask("resources/read", {"uri": "n://1"})
            assert answer["result"]["contents"][0]["text"] == "1"
            for kind in ("prompts", "tools"):
                listed = (await wire.ask(f"{kind}/list"))["result"][kind]
                assert not [each["name"] for each in listed if each["name"].startswith("b")]
        assert failures == []
        names = {each["name"] for each in (await wire.ask("prompts/list"))["result"]["prompts"]}
        assert names == {"ask", *(f"e{number}_two" for number in range(8))}
        assert len((await wire.ask("resources/list"))["result"]["resources"]) == 9
        assert len((await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]) == 10
        assert len((await wire.ask("tools/list"))["result"]["tools"]) == 9
