"""Parts of the context and of a session, injected like anything else: by a lambda, at every place."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
import pytest

from mcpconnect import DefinitionError, Inject, Limits, McpServer, Session, Tool, tool
from tests.wire import NEWEST, connected, serving

pytestmark = pytest.mark.anyio


@dataclass
class App:
    greeting: str


@asynccontextmanager
async def lifespan(server: McpServer) -> AsyncIterator[App]:
    yield App("hello")


class Shopping(Session):
    def __init__(self) -> None:
        self.cart: list[str] = []


Greeting = Annotated[str, Inject(lambda ctx: ctx.state.greeting)]
Cart = Annotated[list[str], Inject(lambda ctx: ctx.session.cart)]


async def said(wire: Any, name: str, arguments: Any = None) -> str:
    answer = await wire.ask("tools/call", {"name": name, "arguments": arguments or {}})
    return str(answer["result"]["content"][0]["text"])


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_parts_come_as_parameters_members_and_to_constructors(asynchronous: bool) -> None:
    class Parts(Tool):
        greeting: Greeting
        cart: Cart

        def __init__(self, client: Annotated[str, Inject(lambda ctx: ctx.client.name)]) -> None:
            self.client = client

        if asynchronous:

            @tool
            async def add(self, item: str, version: Annotated[str, Inject(lambda ctx: ctx.revision)]) -> str:
                self.cart.append(item)
                return f"{self.greeting} {self.client} of {version}: {len(self.cart)}"

        else:

            @tool
            def add(self, item: str, version: Annotated[str, Inject(lambda ctx: ctx.revision)]) -> str:
                self.cart.append(item)
                return f"{self.greeting} {self.client} of {version}: {len(self.cart)}"

    server = serving(Parts, lifespan=lifespan, session=Shopping)
    async with connected(server, "2025-11-25") as wire:
        for count in (1, 2):
            assert await said(wire, "add", {"item": "tea"}) == f"hello tests of 2025-11-25: {count}"


async def test_a_part_that_is_not_there_in_this_era_says_so() -> None:
    @tool
    def count(cart: Cart) -> int:
        return len(cart)

    async with connected(serving(count, session=Shopping), NEWEST) as wire:
        error = (await wire.ask("tools/call", {"name": "count"}))["error"]
        assert "handles replace it" in error["message"]


def test_what_outlives_calls_cannot_be_part_of_one() -> None:
    @tool
    def count(name: Annotated[str, Inject(lambda ctx: ctx.client.name, "server")]) -> str:
        return name

    with pytest.raises(DefinitionError, match="cannot need what belongs to a call"):
        serving(count)


def test_a_lambda_of_several_parameters_is_the_authors_mistake() -> None:
    @tool
    def count(name: Annotated[str, Inject(lambda ctx, other: ctx)]) -> str:
        return name

    with pytest.raises(DefinitionError, match="for which nothing is provided"):
        serving(count)


async def test_a_method_whose_provider_waits_keeps_its_place_among_the_threads() -> None:
    running: list[int] = []
    most: list[int] = []

    async def waiting() -> int:
        await anyio.sleep(0)
        return 1

    @tool
    def work(one: Annotated[int, Inject(waiting)]) -> str:
        running.append(one)
        most.append(len(running))
        threading.Event().wait(0.01)
        running.pop()
        return threading.current_thread().name

    async with connected(serving(work, limits=Limits(threads=2)), NEWEST) as wire:
        ids = [wire.start("tools/call", {"name": "work"}) for _ in range(8)]
        for request_id in ids:
            answer = await wire.until(lambda id=request_id: wire.answer_to(id))
            assert answer["result"]["content"][0]["text"] == "mcpconnect worker"
    assert max(most) <= 2
