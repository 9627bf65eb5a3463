"""What the server provides: to parameters, members and constructors; opened once, left in reverse order."""

import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
import pytest

from mcpconnect import Context, DefinitionError, Inject, McpServer, Tool, prompt, resource, tool
from tests.wire import connected, described, serving

pytestmark = pytest.mark.anyio
events: list[str] = []


@pytest.fixture(autouse=True)
def forgotten() -> None:
    events.clear()


class Db:
    def __init__(self, name: str) -> None:
        self.name = name


def get_plain() -> Db:
    events.append("made")
    return Db("plain")


async def get_awaited() -> Db:
    await anyio.sleep(0)
    return Db("awaited")


def get_generated(plain: Annotated[Db, Inject(get_plain)]) -> Iterator[Db]:
    events.append("opened")
    try:
        yield Db(f"generated from {plain.name}")
    except ValueError as error:
        events.append(f"failed: {error}")
        raise
    finally:
        events.append("closed")


async def get_generated_async(context: Context) -> AsyncIterator[Db]:
    events.append("opened async")
    try:
        yield Db(f"for {context.feature}")
    finally:
        await anyio.sleep(0)
        events.append("closed async")


@contextlib.contextmanager
def managed() -> Iterator[Db]:
    yield Db("managed")
    events.append("left")


@contextlib.asynccontextmanager
async def managed_async() -> AsyncIterator[Db]:
    yield Db("managed async")
    events.append("left async")


class Entered:
    async def __aenter__(self) -> Db:
        return Db("entered")

    async def __aexit__(self, *error: object) -> None:
        events.append("exited")


EVERY = [
    (get_plain, "plain"),
    (get_awaited, "awaited"),
    (get_generated, "generated from plain"),
    (get_generated_async, "for run"),
    (managed, "managed"),
    (managed_async, "managed async"),
    (Entered, "entered"),
]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(("provider", "name"), EVERY)
async def test_every_kind_of_provider_at_every_place(provider: Any, name: str, asynchronous: bool) -> None:
    class Places(Tool):
        member: Annotated[Db, Inject(provider)]

        def __init__(self, made: Annotated[Db, Inject(provider)]) -> None:
            self.made = made

        if asynchronous:

            @tool
            async def run(self, word: str, db: Annotated[Db, Inject(provider)]) -> list[str]:
                assert db is self.member is self.made
                return [word, db.name]
        else:

            @tool
            def run(self, word: str, db: Annotated[Db, Inject(provider)]) -> list[str]:
                assert threading.current_thread() is not threading.main_thread()
                assert db is self.member is self.made
                return [word, db.name]

    async with connected(serving(Places)) as wire:
        assert await wire.texts("run", {"word": "a"}) == ["a", name]
    assert list((await described(Places))["run"]["inputSchema"]["properties"]) == ["word"]


async def test_what_was_opened_is_left_in_reverse_order_after_the_last_one_used_it() -> None:
    @tool
    async def run(
        first: Annotated[Db, Inject(get_generated)], second: Annotated[Db, Inject(get_generated_async)]
    ) -> str:
        events.append("ran")
        return "done"

    async with connected(serving(run)) as wire:
        assert await wire.texts("run") == ["done"]
    assert events == ["made", "opened", "opened async", "ran", "closed async", "closed"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_is_left_is_told_of_a_failure(asynchronous: bool) -> None:
    @tool(errors=(ValueError,))
    def run(db: Annotated[Db, Inject(get_generated)]) -> str:
        raise ValueError("no")

    @tool(name="run", errors=(ValueError,))
    async def run_async(db: Annotated[Db, Inject(get_generated)]) -> str:
        raise ValueError("no")

    async with connected(serving(run_async if asynchronous else run)) as wire:
        assert await wire.texts("run") == ["no"]
    assert events == ["made", "opened", "failed: no", "closed"]


async def test_a_call_that_is_cancelled_leaves_nothing_open() -> None:
    started = anyio.Event()

    @tool
    async def run(db: Annotated[Db, Inject(get_generated_async)]) -> str:
        started.set()
        await anyio.sleep(60)
        return "late"

    async with connected(serving(run)) as wire:
        request_id = wire.start("tools/call", {"name": "run"})
        await started.wait()
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
        await wire.ask("ping")
        with anyio.fail_after(2):
            while "closed async" not in events:
                await anyio.sleep(0.01)
        assert events == ["opened async", "closed async"]


async def test_a_provider_that_fails_fails_the_call_and_closes_what_was_open() -> None:
    def broken(db: Annotated[Db, Inject(get_generated)]) -> Db:
        raise ValueError("no connection")

    @tool(errors=(ValueError,))
    def run(db: Annotated[Db, Inject(broken)]) -> str:
        return "never"

    async with connected(serving(run)) as wire:
        assert await wire.texts("run") == ["no connection"]
        assert events == ["made", "opened", "failed: no connection", "closed"]
        assert (await wire.ask("ping"))["result"] == {}


@pytest.mark.parametrize("provider", [get_plain, get_awaited, managed, managed_async, Entered])
async def test_one_for_the_server_is_made_once_and_left_at_the_end(provider: Any) -> None:
    seen: list[Db] = []

    @tool
    async def run(db: Annotated[Db, Inject(provider, scope="server")]) -> None:
        seen.append(db)

    @tool
    def run_in_thread(db: Annotated[Db, Inject(provider, scope="server")]) -> None:
        seen.append(db)

    async with connected(serving(run, run_in_thread)) as wire:
        for name in ("run", "run_in_thread") * 3:
            await wire.texts(name)
        ids = [wire.start("tools/call", {"name": name}) for name in ("run", "run_in_thread") * 5]
        await wire.until(lambda: all(wire.answer_to(each) for each in ids))
        assert len(seen) == 16
        assert len(set(map(id, seen))) == 1
        assert not any("left" in event or "exited" in event for event in events)
    leaving = {managed: ["left"], managed_async: ["left async"], Entered: ["exited"]}
    assert events == ([*leaving.get(provider, [])] if provider is not get_plain else ["made"])


async def test_prompts_and_resources_are_provided_for_too() -> None:
    class Reading(Tool):
        db: Annotated[Db, Inject(managed_async)]

        @prompt
        def ask(self, topic: str, db: Annotated[Db, Inject(get_plain)]) -> str:
            return f"{topic} {db.name} {self.db.name}"

        @resource("test://x")
        def read(self, db: Annotated[Db, Inject(get_awaited)]) -> str:
            return f"{db.name} {self.db.name}"

        @resource("test://{x}")
        async def read_one(self, x: str, context: Context) -> str:
            return f"{x} {self.db.name} {context.uri}"

    async with connected(serving(Reading)) as wire:
        got = await wire.ask("prompts/get", {"name": "ask", "arguments": {"topic": "a"}})
        assert got["result"]["messages"][0]["content"]["text"] == "a plain managed async"
        read = await wire.ask("resources/read", {"uri": "test://x"})
        assert read["result"]["contents"][0]["text"] == "awaited managed async"
        read = await wire.ask("resources/read", {"uri": "test://7"})
        assert read["result"]["contents"][0]["text"] == "7 managed async test://7"
        listed = (await wire.ask("prompts/list"))["result"]["prompts"][0]
        assert [argument["name"] for argument in listed["arguments"]] == ["topic"]


async def test_the_context_is_provided_to_members_and_constructors() -> None:
    @dataclass
    class Recording:
        context: Context

        @tool
        def feature(self) -> str:
            return self.context.feature

    class Annotating:
        context: Context

        @tool
        async def other(self) -> str:
            return self.context.feature

    async with connected(serving(Recording, Annotating)) as wire:
        assert await wire.texts("feature") == ["feature"]
        assert await wire.texts("other") == ["other"]


async def test_a_test_puts_something_in_a_providers_place() -> None:
    class Using(Tool):
        db: Annotated[Db, Inject(get_plain)]

        @tool
        def names(self, db: Annotated[Db, Inject(get_generated)]) -> list[str]:
            return [self.db.name, db.name]

    async def fake() -> Db:
        return Db("fake")

    server = serving(Using)
    async with connected(server) as wire:
        with server.providers.override(get_plain, fake):
            assert await wire.texts("names") == ["fake", "generated from fake"]
        assert await wire.texts("names") == ["plain", "generated from plain"]


async def test_parallel_calls_share_nothing() -> None:
    class Counting(Tool):
        db: Annotated[Db, Inject(get_awaited)]

        @tool
        async def mark(self, name: str) -> str:
            self.db.name = name
            await anyio.sleep(0.01)
            return self.db.name

    async with connected(serving(Counting)) as wire:
        ids = {name: wire.start("tools/call", {"name": "mark", "arguments": {"name": name}}) for name in "abcdefgh"}
        for name, request_id in ids.items():
            answer = await wire.until(lambda request_id=request_id: wire.answer_to(request_id))
            assert answer["result"]["content"][0]["text"] == name


def test_mistakes_are_found_at_registration() -> None:
    def needy(what: str) -> Db:
        return Db(what)

    def short_lived(context: Context) -> Db:
        return Db(context.feature)

    class Member(Tool):
        db: Annotated[Db, Inject(get_plain)]

        @tool
        def run(self) -> str:
            return self.db.name

    @tool
    def asks_too_much(db: Annotated[Db, Inject(needy)]) -> None: ...

    @tool
    def outlives(db: Annotated[Db, Inject(short_lived, scope="server")]) -> None: ...

    @tool
    def wrong(db: Annotated[Db, Inject("get_plain")]) -> None: ...  # type: ignore[arg-type] # the mistake

    for thing, text in (
        (asks_too_much, "parameter 'what'"),
        (outlives, "belongs to a call"),
        (wrong, "takes a function or a class"),
        (Member(), "register the class"),
    ):
        server = McpServer("test")
        with pytest.raises(DefinitionError, match=text):
            server.register(thing)
        assert len(server.tools) == 0


async def test_a_client_cannot_fill_in_what_the_server_provides() -> None:
    @tool
    def run(db: Annotated[Db, Inject(get_plain)]) -> str:
        return db.name

    async with connected(serving(run)) as wire:
        assert (await wire.call("run", {"db": {"name": "mine"}}))["isError"]
