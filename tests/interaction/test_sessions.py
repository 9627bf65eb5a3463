"""Typed sessions, made for each connection and closed with it; handles, which take their place."""

import threading
from typing import Annotated, Any

import anyio
import pytest

from mcpconnect import Context, DefinitionError, Handles, Inject, Limits, McpServer, Session, Tool, ToolError, tool
from tests.wire import NEWEST, connected, serving, settled

pytestmark = pytest.mark.anyio
closed: list[str] = []


@pytest.fixture(autouse=True)
def forgotten() -> None:
    closed.clear()


class Shopping(Session):
    def __init__(self) -> None:
        self.cart: list[str] = []

    def close(self) -> None:
        closed.append(f"closed with {len(self.cart)}")


class ShoppingAsync(Session):
    def __init__(self) -> None:
        self.cart: list[str] = []

    async def aclose(self) -> None:
        await anyio.sleep(0.01)
        closed.append(f"closed with {len(self.cart)}")


class Cart(Tool):
    shopping: Session

    @tool
    def add(self, item: str) -> int:
        assert isinstance(self.shopping, (Shopping, ShoppingAsync))
        self.shopping.cart.append(item)
        return len(self.shopping.cart)

    @tool
    async def count(self, session: Session) -> int:
        assert session is self.shopping is self.ctx.session
        return len(session.cart)  # type: ignore[attr-defined] # one of ours


@pytest.mark.parametrize("kind", [Shopping, ShoppingAsync])
async def test_each_connection_has_its_own_and_it_is_closed_with_it(kind: Any) -> None:
    server = serving(Cart, session=kind)
    async with connected(server) as wire, connected(server) as other:
        for n in (1, 2, 3):
            assert await wire.texts("add", {"item": "pear"}) == [str(n)]
        assert await other.texts("count") == ["0"]
        assert await wire.texts("count") == ["3"]
        assert closed == []
    assert sorted(closed) == ["closed with 0", "closed with 3"]


async def test_it_is_made_only_if_somebody_asks_for_it() -> None:
    @tool
    def alone() -> str:
        return "alone"

    async with connected(serving(alone, Cart, session=Shopping)) as wire:
        assert await wire.texts("alone") == ["alone"]
    assert closed == []


async def test_parallel_calls_make_one() -> None:
    made: list[int] = []

    class Slow(Session):
        def __init__(self) -> None:
            made.append(threading.get_ident())
            threading.Event().wait(0.05)

    class Using(Tool):
        session: Slow

        @tool
        def which(self) -> int:
            return id(self.session)

        @tool
        async def which_async(self, slow: Slow) -> int:
            return id(slow)

    async with connected(serving(Using, session=Slow)) as wire:
        ids = [wire.start("tools/call", {"name": name}) for name in ("which", "which_async") * 5]
        answers = [await wire.until(lambda each=each: wire.answer_to(each)) for each in ids]
        assert len({answer["result"]["content"][0]["text"] for answer in answers}) == 1
    assert len(made) == 1


async def test_where_there_are_no_sessions_the_error_says_so() -> None:
    async with connected(serving(Cart, session=Shopping), NEWEST) as wire:
        for name in ("add", "count"):
            text = await wire.ask("tools/call", {"name": name, "arguments": {"item": "x"} if name == "add" else {}})
            assert text["error"]["code"] == -32600
            assert "handles" in text["error"]["message"]
        assert (await wire.ask("server/discover"))["result"]["resultType"] == "complete"


def test_a_session_that_nobody_keeps_is_the_authors_mistake() -> None:
    for server in (McpServer("test"), McpServer("test", session=ShoppingAsync)):

        @tool
        def run(session: Shopping) -> None: ...

        with pytest.raises(DefinitionError, match="session=Shopping"):
            server.register(run)
    with pytest.raises(DefinitionError, match="subclass of Session"):
        McpServer("test", session=dict)  # type: ignore[arg-type] # the mistake


async def test_what_is_provided_for_a_session_lives_as_long() -> None:
    opened: list[str] = []

    class Connected:
        def __enter__(self) -> str:
            opened.append("opened")
            return "database"

        def __exit__(self, *error: object) -> None:
            opened.append("left")

    @tool
    def query(db: Annotated[str, Inject(Connected, scope="session")], context: Context) -> str:
        return db

    async with connected(serving(query)) as wire:
        for _ in range(3):
            assert await wire.texts("query") == ["database"]
        assert opened == ["opened"]
    assert opened == ["opened", "left"]


async def test_handles_outlive_a_call_and_expire() -> None:
    carts: Handles[list[str]] = Handles(seconds=0.2, limit=2, what="cart")

    class Shop(Tool):
        @tool
        def open_cart(self) -> str:
            return carts.open([])

        @tool
        def add(self, cart: str, item: str) -> int:
            carts.get(cart).append(item)
            return len(carts.get(cart))

        @tool
        def pay(self, cart: str) -> str:
            return ", ".join(carts.close(cart))

    async with connected(serving(Shop), NEWEST) as wire:
        (cart,) = await wire.texts("open_cart")
        for n, item in enumerate(("pear", "plum"), 1):
            assert await wire.texts("add", {"cart": cart, "item": item}) == [str(n)]
        assert await wire.texts("pay", {"cart": cart}) == ["pear, plum"]
        for gone in (cart, "guessed"):
            failed = await wire.call("add", {"cart": gone, "item": "x"})
            assert failed["isError"]
            assert failed["content"][0]["text"].startswith(f"no cart {gone!r}")
        (first,), _, (third,) = [await wire.texts("open_cart") for _ in range(3)]
        assert len(carts) == 2
        assert (await wire.call("pay", {"cart": first}))["isError"]
        await anyio.sleep(0.25)
        assert (await wire.call("pay", {"cart": third}))["isError"]
        assert len(carts) == 0


def test_a_handle_lives_on_when_it_is_used() -> None:
    handles: Handles[int] = Handles(seconds=0.2)
    handle = handles.open(1)
    for _ in range(4):
        threading.Event().wait(0.1)
        assert handles.get(handle) == 1
    with pytest.raises(ToolError):
        handles.get("nothing")


async def test_handlers_hear_of_the_client_and_may_ask_it() -> None:
    heard: list[str] = []
    server = serving(Cart, session=Shopping, limits=Limits(answer_seconds=1))

    @server.on.initialized
    def hello(context: Context) -> None:
        heard.append(f"hello {context.client.name} {context.revision}")
        raise ValueError("which stops nobody")

    @server.on.initialized
    async def hello_again(context: Context) -> None:
        heard.append("hello again")

    @server.on.roots_changed
    async def look(context: Context) -> None:
        heard.extend(root.uri for root in await context.roots())

    async with connected(server, "2025-11-25", capabilities={"roots": {"listChanged": True}}) as wire:
        await settled(lambda: len(heard) == 2)
        assert heard[0].endswith("2025-11-25")
        wire.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        asked = await wire.until(lambda: next((m for m in wire.messages if m.get("method") == "roots/list"), None))
        wire.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": "file:///a"}]}})
        await settled(lambda: "file:///a" in heard)
        assert await wire.texts("count") == ["0"]


async def test_an_optional_session_is_none_where_there_are_none() -> None:
    class Optional(Tool):
        member: Shopping | None

        @tool
        def kind(self, session: Shopping | None, db: Annotated[str, Inject(kind_of)]) -> str:
            assert session is self.member
            return f"{type(session).__name__} {db}"

        @tool
        async def kind_async(self, session: Shopping | None = None) -> str:
            assert session is self.member
            return type(session).__name__

    for revision, name in (("2025-11-25", "Shopping"), (NEWEST, "NoneType")):
        async with connected(serving(Optional, session=Shopping), revision) as wire:
            assert await wire.texts("kind") == [f"{name} {name}"]
            assert await wire.texts("kind_async") == [name]
    async with connected(serving(Optional)) as wire:
        assert await wire.texts("kind") == ["NoneType NoneType"]
    with pytest.raises(DefinitionError, match="session=Shopping"):
        serving(Optional, session=ShoppingAsync)


def kind_of(session: Shopping | None) -> str:
    return type(session).__name__


async def test_one_session_is_made_and_closed_also_for_parallel_calls_that_only_ask_the_context() -> None:
    made: list[int] = []

    class Slow(Session):
        def __init__(self) -> None:
            made.append(1)
            threading.Event().wait(0.05)

        def close(self) -> None:
            closed.append("closed")

    @tool
    def which(ctx: Context) -> int:
        return id(ctx.session)

    async with connected(serving(which, session=Slow)) as wire:
        ids = [wire.start("tools/call", {"name": "which"}) for _ in range(5)]
        answers = [await wire.until(lambda each=each: wire.answer_to(each)) for each in ids]
        assert len({answer["result"]["content"][0]["text"] for answer in answers}) == 1
        assert closed == []
    assert made == [1]
    assert closed == ["closed"]
