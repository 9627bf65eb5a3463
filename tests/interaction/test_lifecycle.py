"""Both eras on one connection: handshake, discovery, what comes before them, batches, unreadable messages."""

import json

import pytest

from mcpconnect import McpServer, Tool, tool
from tests.wire import HANDSHAKES, NEWEST, REVISIONS, K, connected, serving

pytestmark = pytest.mark.anyio


class Simple(Tool):
    @tool
    def add(self, a: int, b: int) -> int:
        """Add."""
        return a + b


def meta(**more: object) -> dict[str, object]:
    return {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}, **more}


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_the_handshake_answers_with_the_requested_revision(revision: str) -> None:
    server = serving(Simple, title="Test", description="For tests", instructions="Add.", website_url="https://e.org")
    async with connected(server, revision) as wire:
        result = wire.messages[0]["result"]
        assert result["protocolVersion"] == revision
        assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}
        assert result["instructions"] == "Add."
        info = result["serverInfo"]
        assert (info["name"], info["version"]) == ("test", "1")
        assert ("title" in info) is (revision >= "2025-06-18")
        assert ("websiteUrl" in info) is (revision >= "2025-11-25")


@pytest.mark.fault(214)
@pytest.mark.parametrize("version", ["2099-01-01", "", "1999-01-01", NEWEST])
async def test_an_unknown_version_gets_the_newest_with_a_handshake(version: str) -> None:
    async with connected(serving(Simple), initialize=False) as wire:
        answer = await wire.ask(
            "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        )
        assert answer["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.fault(214)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"protocolVersion": 123},
        {"protocolVersion": "2025-11-25", "capabilities": []},
        {"protocolVersion": "2025-11-25", "clientInfo": "me"},
    ],
)
async def test_a_malformed_handshake_is_invalid_params_and_may_be_repeated(params: dict[str, object]) -> None:
    async with connected(serving(Simple), initialize=False) as wire:
        assert (await wire.ask("initialize", params))["error"]["code"] == -32602
        good = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert "result" in await wire.ask("initialize", good)
        assert (await wire.ask("initialize", good))["error"]["code"] == -32600


@pytest.mark.fault(281)
async def test_a_server_without_a_version_says_a_neutral_one() -> None:
    async with connected(McpServer("bare")) as wire:
        assert wire.messages[0]["result"]["serverInfo"] == {"name": "bare", "version": "0"}
        assert (await wire.ask("tools/list"))["result"] == {"tools": []}


@pytest.mark.fault(247)
async def test_before_the_handshake_only_ping_is_answered() -> None:
    async with connected(serving(Simple), initialize=False) as wire:
        answer = await wire.ask("tools/list")
        assert answer["error"]["code"] == -32600
        assert "initialize" in answer["error"]["message"]
        assert (await wire.ask("ping"))["result"] == {}
        good = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert "result" in await wire.ask("initialize", good)


@pytest.mark.fault(246)
async def test_requests_right_behind_the_handshake_are_answered() -> None:
    async with connected(serving(Simple), initialize=False) as wire:
        wire.start(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
        )
        assert (await wire.ask("tools/list"))["result"]["tools"]
        assert await wire.texts("add", {"a": 1, "b": 2}) == ["3"]


async def test_discovery_tells_what_is_served_without_a_handshake() -> None:
    async with connected(serving(Simple, instructions="Add."), NEWEST) as wire:
        result = (await wire.ask("server/discover"))["result"]
        assert result["supportedVersions"] == [NEWEST]
        assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}
        assert result["instructions"] == "Add."
        assert result["resultType"] == "complete"
        assert result["_meta"][f"{K}serverInfo"] == {"name": "test", "version": "1"}


async def test_every_result_of_the_newest_revision_names_the_server() -> None:
    async with connected(serving(Simple), NEWEST) as wire:
        for answer in (
            await wire.ask("tools/list"),
            await wire.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
            await wire.ask("tools/call", {"name": "add", "arguments": {"a": "x", "b": 2}}),
        ):
            assert answer["result"]["resultType"] == "complete"
            assert answer["result"]["_meta"][f"{K}serverInfo"] == {"name": "test", "version": "1"}


@pytest.mark.parametrize("method", ["initialize", "ping", "notifications/initialized"])
async def test_methods_of_the_handshake_era_do_not_exist_in_the_newest(method: str) -> None:
    async with connected(serving(Simple), NEWEST) as wire:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert (await wire.ask(method, params))["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({f"{K}protocolVersion": NEWEST}, -32602),
        ({f"{K}protocolVersion": 5, f"{K}clientCapabilities": {}}, -32602),
        ({f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": []}, -32602),
        ({f"{K}protocolVersion": "v999.0.0", f"{K}clientCapabilities": {}}, -32022),
        ({f"{K}protocolVersion": "2025-11-25", f"{K}clientCapabilities": {}}, -32022),
    ],
)
async def test_bad_request_metadata_is_told_apart(given: dict[str, object], code: int) -> None:
    async with connected(serving(Simple), initialize=False) as wire:
        error = (await wire.ask("tools/list", {"_meta": given}))["error"]
        assert error["code"] == code
        if code == -32022:
            assert error["data"] == {"supported": [NEWEST], "requested": given[f"{K}protocolVersion"]}


async def test_discovery_without_metadata_is_invalid_params() -> None:
    async with connected(serving(Simple), initialize=False) as wire:
        assert (await wire.ask("server/discover"))["error"]["code"] == -32602
    async with connected(serving(Simple)) as wire:
        assert (await wire.ask("server/discover"))["error"]["code"] == -32602


async def test_both_eras_live_on_one_connection() -> None:
    async with connected(serving(Simple), "2025-03-26") as wire:
        old = await wire.ask("tools/list")
        new = await wire.ask("tools/list", {"_meta": meta()})
        again = await wire.ask("tools/list")
        assert "resultType" not in old["result"]
        assert new["result"]["resultType"] == "complete"
        assert again["result"] == old["result"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_metadata_of_the_wrong_type_is_invalid_params(revision: str) -> None:
    async with connected(serving(Simple), "2025-11-25" if revision == NEWEST else revision) as wire:
        answer = await wire.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": 5})
        assert answer["error"]["code"] == -32602


async def test_a_batch_is_answered_in_one_array() -> None:
    async with connected(serving(Simple), "2025-03-26") as wire:
        call = {"name": "add", "arguments": {"a": 1, "b": 2}}
        wire.send(
            [
                {"jsonrpc": "2.0", "id": "one", "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/unknown"},
                {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": call},
                {"jsonrpc": "2.0", "id": "three", "method": "bogus"},
                {"jsonrpc": "2.0", "id": None, "method": "ping"},
            ]
        )
        await wire.until(lambda: wire.answer_to("two"))
        batch = next(data for sender, data in wire.traffic if sender == "server" and data.startswith(b"["))
        assert batch.count(b'"jsonrpc"') == 4
        assert wire.answer_to("one") is not None
        assert wire.answer_to("three")["error"]["code"] == -32601  # type: ignore[index]


async def test_a_batch_with_one_answer_is_answered_by_an_array() -> None:
    async with connected(serving(Simple), "2025-03-26") as wire:
        wire.send(
            [
                {"jsonrpc": "2.0", "id": "one", "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/unknown"},
            ]
        )
        await wire.until(lambda: wire.answer_to("one"))
        answer = json.loads(wire.traffic[-1][1])
        assert answer == [{"jsonrpc": "2.0", "id": "one", "result": {}}]


async def test_a_batch_of_notifications_is_not_answered_and_an_empty_one_is_refused() -> None:
    async with connected(serving(Simple), "2025-03-26") as wire:
        before = len(wire.messages)
        wire.send([{"jsonrpc": "2.0", "method": "notifications/a"}, {"jsonrpc": "2.0", "method": "notifications/b"}])
        assert len(wire.messages) == before
        wire.send([])
        assert wire.messages[-1]["error"]["code"] == -32600


async def test_a_cancelled_part_of_a_batch_does_not_hold_up_the_rest() -> None:
    import anyio

    class Slow(Tool):
        @tool
        async def sleep(self) -> str:
            await anyio.sleep(60)
            return "late"

    async with connected(serving(Slow), "2025-03-26") as wire:
        wire.send(
            [
                {"jsonrpc": "2.0", "id": "ping", "method": "ping"},
                {"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "sleep"}},
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}},
            ]
        )
        await wire.until(lambda: wire.answer_to("ping"))
        assert wire.answer_to("slow") is None


@pytest.mark.fault(151)
@pytest.mark.parametrize("revision", [revision for revision in HANDSHAKES if revision != "2025-03-26"])
async def test_elsewhere_a_batch_is_refused_and_the_session_goes_on(revision: str) -> None:
    async with connected(serving(Simple), revision) as wire:
        wire.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
        answer = wire.messages[-1]
        assert answer["error"]["code"] == -32600
        assert ("id" in answer) is (revision < "2025-11-25")
        assert (await wire.ask("ping"))["result"] == {}


@pytest.mark.fault(143)
@pytest.mark.fault(148)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_unreadable_message_is_answered_without_an_invented_id(revision: str) -> None:
    async with connected(serving(Simple), revision) as wire:
        await wire.ask("tools/list")
        wire.send(b"NOT JSON")
        answer = wire.messages[-1]
        assert answer["error"]["code"] == -32700
        assert answer.get("id", "absent") == ("absent" if revision >= "2025-11-25" else None)
        assert (await wire.ask("tools/list"))["result"]["tools"]


async def test_before_anything_is_known_an_unreadable_message_gets_a_null_id() -> None:
    async with connected(serving(Simple), "2024-11-05", initialize=False) as wire:
        wire.send(b"{")
        assert wire.messages[-1]["id"] is None
        wire.traffic.clear()  # the schemas of no revision know this message


@pytest.mark.fault(144)
@pytest.mark.parametrize(
    "message",
    [
        [],
        "x",
        5,
        None,
        {"id": 1},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": [1]},
        {"jsonrpc": "2.0", "id": 2, "method": "ping", "params": None},
        {"jsonrpc": "1.0", "id": 3, "method": "ping"},
        {"jsonrpc": "2.0", "id": 4, "method": 5},
    ],
)
async def test_json_of_the_wrong_shape_is_an_invalid_request(message: object) -> None:
    async with connected(serving(Simple)) as wire:
        wire.send(message)
        answer = wire.messages[-1]
        assert answer["error"]["code"] == -32600
        known = isinstance(message, dict)
        assert ("id" in answer) is known
        if known:
            assert answer["id"] == message["id"]
        assert (await wire.ask("ping", id="after"))["result"] == {}


@pytest.mark.fault(145)
@pytest.mark.parametrize("opening", ["[", '{"a":'])
async def test_deep_nesting_is_refused_and_survived(opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    nested = opening * 100_000 + "1" + closing * 100_000
    async with connected(serving(Simple)) as wire:
        wire.send(f'{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"x":{nested}}}}}'.encode())
        assert wire.messages[-1]["error"]["code"] == -32600
        assert (await wire.ask("ping"))["result"] == {}


@pytest.mark.fault(146)
@pytest.mark.parametrize("method", ["notifications/foo", "foo", "tools/call", "initialize"])
async def test_notifications_are_never_answered(method: str) -> None:
    async with connected(serving(Simple)) as wire:
        before = len(wire.messages)
        wire.send({"jsonrpc": "2.0", "method": method})
        wire.send({"jsonrpc": "2.0", "method": method, "params": {"name": "add"}})
        assert len(wire.messages) == before
        assert (await wire.ask("ping"))["result"] == {}


@pytest.mark.fault(147)
@pytest.mark.parametrize("request_id", [0, "1", 1, "", 2**53 - 1, -5, "ü 🎉", "x" * 1000])
async def test_ids_are_echoed_exactly(request_id: object) -> None:
    async with connected(serving(Simple)) as wire:
        answer = await wire.ask("ping", id=request_id)
        assert answer["id"] == request_id
        assert type(answer["id"]) is type(request_id)
        called = await wire.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, id=f"{request_id}!")
        assert called["id"] == f"{request_id}!"


@pytest.mark.fault(147)
@pytest.mark.parametrize("request_id", [None, True, 1.5, [], {}])
async def test_illegal_ids_are_refused(request_id: object) -> None:
    async with connected(serving(Simple)) as wire:
        wire.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
        assert wire.messages[-1]["error"]["code"] == -32600
        assert "id" not in wire.messages[-1]


async def test_stray_responses_are_ignored() -> None:
    async with connected(serving(Simple)) as wire:
        before = len(wire.messages)
        wire.send({"jsonrpc": "2.0", "id": 5, "result": {}})
        wire.send({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}})
        assert len(wire.messages) == before


@pytest.mark.fault(149)
async def test_error_codes_are_those_of_the_protocol() -> None:
    async with connected(serving(Simple)) as wire:
        wire.send(b"x")
        wire.send({"jsonrpc": "2.0", "id": 1})
        await wire.ask("bogus")
        await wire.ask("tools/call", {"name": "nope"})
        await wire.ask("tools/list", {"cursor": "x"})
        codes = [message["error"]["code"] for message in wire.messages if "error" in message]
        assert codes == [-32700, -32600, -32601, -32602, -32602]
