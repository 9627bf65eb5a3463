"""A client that answers what a server asks, in both eras."""

from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from mcpconnect import ClientError, Context, Elicit, McpServer, PeerError, Roots, Sample, tool
from mcpconnect.client import Client, StdioTransport
from mcpconnect.testing import TestClient
from tests.interop.servers import command

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])


@dataclass
class Party:
    guests: int


@tool
async def book(ctx: Context) -> str:
    answer = await ctx.elicit("For how many?", Party)
    return f"booked for {answer.content.guests}" if answer.content else answer.action


@tool(errors=(PeerError,))
def everything(ctx: Context) -> str:
    answers = ctx.sync.ask(party=Elicit("For how many?", Party), dish=Sample("A dish?"), roots=Roots())
    return f"{answers['party'].content.guests} {answers['dish'].text} {answers['roots'][0].uri}"


@tool(errors=(PeerError,))
async def endless(ctx: Context) -> str:
    return "".join([(await ctx.elicit(f"{number}?", Party)).action for number in range(1000)])


def user(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "elicitation/create":
        return {"action": "accept", "content": {"guests": 2}}
    if method == "roots/list":
        return {"roots": [{"uri": "file:///home"}]}
    return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "trout"}}


async def slow_user(method: str, params: dict[str, Any]) -> dict[str, Any]:
    await anyio.lowlevel.checkpoint()
    return user(method, params)


def server() -> McpServer:
    made = McpServer("asks")
    for each in (book, everything, endless):
        made.register(each)
    return made


@ERAS
@pytest.mark.parametrize("answers", [user, slow_user])
async def test_questions_are_answered(revision: str, answers: Any) -> None:
    async with TestClient(server(), revision=revision, on_question=answers) as client:
        assert (await client.call_tool("book")).text == "booked for 2"
        assert (await client.call_tool("everything")).text == "2 trout file:///home"


@ERAS
async def test_a_client_without_answers_says_so(revision: str) -> None:
    capabilities = {"elicitation": {}}
    async with TestClient(server(), revision=revision, capabilities=capabilities) as client:
        if revision == "2026-07-28":
            with pytest.raises(ClientError, match="on_question"):
                await client.call_tool("book")
        else:
            assert (await client.call_tool("book")).is_error


async def test_a_question_is_refused_with_a_code() -> None:
    def refuse(method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise ClientError("no", -1, {"why": "busy"})

    async with TestClient(server(), revision="2025-11-25", on_question=refuse) as client:
        assert (await client.call_tool("everything")).text == "no"
    async with TestClient(server(), revision="2026-07-28", on_question=refuse) as client:
        with pytest.raises(ClientError, match="no") as caught:
            await client.call_tool("everything")
        assert (caught.value.code, caught.value.data) == (-1, {"why": "busy"})


@ERAS
async def test_an_answer_that_is_no_object_is_the_testers_mistake(revision: str) -> None:
    async with TestClient(server(), revision=revision, on_question=lambda *_: "yes") as client:
        if revision == "2026-07-28":
            with pytest.raises(TypeError, match="a JSON object, not str"):
                await client.call_tool("everything")
        else:
            assert "a JSON object, not str" in (await client.call_tool("everything")).text


async def test_a_server_that_asks_on_and_on_is_left() -> None:
    async with TestClient(server(), revision="2026-07-28", on_question=user) as client:
        with pytest.raises(ClientError, match=r"Limits\.rounds"):
            await client.call_tool("endless")


@ERAS
async def test_a_real_server_is_answered(revision: str) -> None:
    program, arguments = command("interactive.py")
    transport = StdioTransport([program, *arguments])

    def guests(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": {"guests": 3}}

    capabilities = {"elicitation": {}}
    async with Client(transport, revision=revision, capabilities=capabilities, on_question=guests) as client:
        said = (await client.call_tool("book_table", {"day": "Friday"})).text
        assert said == "Booked for Friday: 3 guests, vegan, inside."
