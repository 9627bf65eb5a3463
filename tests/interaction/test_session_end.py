"""A session ends after the last call that uses it, and no call begins to use one that has ended."""

import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpconnect import Context, Inject, McpServer, Session, tool
from mcpconnect.context import current
from tests.wire import connected, serving

pytestmark = pytest.mark.anyio
PATIENCE = 20.0
events: list[str] = []


@pytest.fixture(autouse=True)
def forgotten() -> None:
    events.clear()


class Kept(Session):
    def close(self) -> None:
        events.append("session closed")


async def until(condition: Any) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.sleep(0.001)


@pytest.mark.parametrize("how", ["plain", "middleware"])
async def test_a_thread_that_uses_a_session_keeps_it_open(how: str) -> None:
    gate, began = threading.Event(), threading.Event()

    @tool
    def use(kept: Kept, context: Context) -> None:
        began.set()
        gate.wait(PATIENCE)
        context.defer(lambda: events.append(f"deferred, cancelled: {context.cancelled}"))
        events.append("used")

    server = serving(use, session=Kept)
    if how == "middleware":

        @server.middleware.add
        async def through(call: Any, next: Any) -> Any:
            return await next(call)

    async with connected(server) as wire:
        wire.start("tools/call", {"name": "use"})
        await until(began.is_set)
        wire.connection.close()
        assert not events
        gate.set()
        await until(lambda: len(events) == 3)
    assert events == ["used", "deferred, cancelled: True", "session closed"]


async def test_a_task_puts_away_what_it_has_before_its_session_closes() -> None:
    began = anyio.Event()

    async def login(kept: Kept) -> AsyncIterator[str]:
        yield "login"
        await checkpoint()
        events.append("logged out")

    @tool
    async def use(login: Annotated[str, Inject(login)], context: Context) -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
            assert isinstance(context.session, Kept)
            events.append("ended")

    async with connected(serving(use, session=Kept)) as wire:
        wire.start("tools/call", {"name": "use"})
        await began.wait()
        wire.connection.close()
        await until(lambda: len(events) >= 2)
    assert events[0] == "ended"
    assert events[-1] == "session closed"


async def test_a_call_that_asks_for_its_session_after_the_end_gets_none() -> None:
    gate, began = threading.Event(), threading.Event()

    @tool
    def use(context: Context) -> None:
        began.set()
        gate.wait(PATIENCE)
        try:
            context.session  # noqa: B018 - it is made when it is asked for
        except Exception as error:
            events.append(str(error))

    async with connected(serving(use, session=Kept)) as wire:
        wire.start("tools/call", {"name": "use"})
        await until(began.is_set)
        wire.connection.close()
        gate.set()
        await until(lambda: events)
    assert events == ["the session has ended"]


async def test_a_rule_of_visibility_that_looks_at_the_session_does_not_keep_it() -> None:
    @tool
    def use() -> str:
        return "used"

    server: McpServer = serving(use, session=Kept)
    server.visible(lambda feature, context: isinstance(context.session, Kept))
    async with connected(server) as wire:
        assert list(await wire.tools()) == ["use"]
        assert await wire.texts("use") == ["used"]
        wire.connection.close()
        await until(lambda: events)
    assert events == ["session closed"]


async def test_what_a_session_was_given_is_closed_when_the_server_ends_at_once() -> None:
    async def login() -> AsyncIterator[str]:
        yield "login"
        await anyio.sleep(0.01)
        events.append("logged out")

    def database() -> Any:
        yield "database"
        events.append("database closed")

    @tool
    async def use(
        kept: Kept, login: Annotated[str, Inject(login, "session")], db: Annotated[str, Inject(database, "server")]
    ) -> str:
        return login

    with anyio.move_on_after(0.1) as around:
        async with connected(serving(use, session=Kept)) as wire:
            assert await wire.texts("use") == ["login"]
            await anyio.sleep_forever()
    assert around.cancelled_caught
    assert events == ["logged out", "session closed", "database closed"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_session_that_needs_itself_is_an_error(asynchronous: bool) -> None:
    class Circular(Session):
        def __init__(self) -> None:
            self.other = current.get().session

    @tool
    def use(circular: Circular) -> None: ...

    @tool(name="use")
    async def use_async(circular: Circular) -> None: ...

    server = serving(use_async if asynchronous else use, session=Circular, errors="message")
    async with connected(server) as wire:
        with anyio.fail_after(PATIENCE / 2):
            assert "Circular needs itself" in (await wire.call("use"))["content"][0]["text"]
