"""A server whose tools ask the client, from tasks and from threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from enum import Enum
from typing import Any

import anyio

from mcpconnect import Answer, Elicit, McpServer, PeerError, Question, Roots, Sample, Tool, tool


class Meal(Enum):
    FISH = "fish"
    VEGAN = "vegan"


@dataclass
class Seats:
    count: int
    meal: Meal = Meal.FISH


@dataclass
class Name:
    name: str


def booked(answer: Answer[Seats]) -> str:
    if answer.content is None:
        return f"not booked: {answer.action}"
    return f"booked {answer.content.count} {answer.content.meal.value}"


def three() -> dict[str, Question[Any]]:
    return {"who": Elicit("Who?", Name), "words": Sample("hello"), "where": Roots()}


class Tasks(Tool):
    @tool(errors=(PeerError,))
    async def book_in_task(self) -> str:
        return booked(await self.ctx.elicit("How many?", Seats))

    @tool
    async def say_in_task(self) -> str:
        return (await self.ctx.sample("hello")).text

    @tool
    async def roots_in_task(self) -> str:
        return ", ".join(f"{root.uri} {root.name}" for root in await self.ctx.roots())

    @tool
    async def together_in_task(self) -> str:
        answers = await self.ctx.ask(**three())
        return f"{answers['who'].content.name} {answers['words'].text} {len(answers['where'])}"

    @tool
    async def chain_in_task(self) -> str:
        who = await self.ctx.elicit("Who?", Name)
        assert who.content is not None
        words = await self.ctx.sample(who.content.name)
        return f"{who.content.name} {words.text} {len(await self.ctx.roots())}"

    @tool
    async def page_in_task(self) -> str:
        return (await self.ctx.elicit("Log in", url="https://example.org/login")).action

    @tool(errors=(PeerError,))
    async def beside_in_task(self) -> str:
        names: dict[str, str] = {}

        async def ask(which: str) -> None:
            answer = await self.ctx.elicit(which, Name)
            names[which] = answer.content.name if answer.content else answer.action

        async with anyio.create_task_group() as tasks:
            for which in ("first", "second", "third"):
                tasks.start_soon(ask, which)
        return " ".join(names[which] for which in ("first", "second", "third"))


class Threads(Tool):
    @tool(errors=(PeerError,))
    def book_in_thread(self) -> str:
        return booked(self.ctx.sync.elicit("How many?", Seats))

    @tool
    def say_in_thread(self) -> str:
        return self.ctx.sync.sample("hello").text

    @tool
    def roots_in_thread(self) -> str:
        return ", ".join(f"{root.uri} {root.name}" for root in self.ctx.sync.roots())

    @tool
    def together_in_thread(self) -> str:
        answers = self.ctx.sync.ask(**three())
        return f"{answers['who'].content.name} {answers['words'].text} {len(answers['where'])}"

    @tool
    def chain_in_thread(self) -> str:
        who = self.ctx.sync.elicit("Who?", Name)
        assert who.content is not None
        words = self.ctx.sync.sample(who.content.name)
        return f"{who.content.name} {words.text} {len(self.ctx.sync.roots())}"

    @tool
    def page_in_thread(self) -> str:
        return self.ctx.sync.elicit("Log in", url="https://example.org/login").action

    @tool(errors=(PeerError,))
    def beside_in_thread(self) -> str:
        with ThreadPoolExecutor(3) as threads:
            asking = [
                threads.submit(copy_context().run, self.ctx.sync.elicit, which, Name)
                for which in ("first", "second", "third")
            ]
            answers = [each.result() for each in asking]
        return " ".join(answer.content.name if answer.content else answer.action for answer in answers)


server = McpServer("asking", "1")
server.register(Tasks)
server.register(Threads)

if __name__ == "__main__":
    server.run(backend="trio" if "trio" in sys.argv else "asyncio")
