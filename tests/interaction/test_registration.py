"""What may be registered, how it is called then, and how it goes away again."""

import functools
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pytest

from mcpconnect import Context, DefinitionError, McpServer, Tool, tool
from tests.wire import REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio


class Adder(Tool):
    """Adds."""

    @tool
    def add(self, a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b


@pytest.mark.fault(283)
@pytest.mark.parametrize("thing", [Adder, Adder()])
async def test_the_instance_is_no_argument(thing: object) -> None:
    class Others(Tool):
        @tool
        @classmethod
        def of_class(cls, x: int) -> str:
            return f"{cls.__name__} {x}"

        @classmethod
        @tool
        def of_class_outside(cls, x: int) -> str:
            return f"{cls.__name__} {x}"

        @staticmethod
        @tool
        def static(x: int) -> int:
            return x

        @tool
        def odd(this, x: int) -> int:
            return x

    tools = await described(thing, Others)
    assert set(tools["add"]["inputSchema"]["properties"]) == {"a", "b"}
    for name in ("of_class", "of_class_outside", "static", "odd"):
        assert set(tools[name]["inputSchema"]["properties"]) == {"x"}
    async with connected(serving(thing, Others)) as wire:
        assert await wire.texts("of_class", {"x": 3}) == ["Others 3"]
        assert await wire.texts("of_class_outside", {"x": 3}) == ["Others 3"]
        assert await wire.texts("static", {"x": 3}) == ["3"]
        assert await wire.texts("odd", {"x": 3}) == ["3"]


async def test_a_class_serves_each_call_with_a_new_instance_and_an_instance_is_shared() -> None:
    class Counter(Tool):
        def __init__(self) -> None:
            self.count = 0

        @tool
        def up(self) -> int:
            self.count += 1
            return self.count

    server = serving(Counter)
    server.register(Counter(), prefix="shared")
    async with connected(server) as wire:
        assert [await wire.texts("up") for _ in range(3)] == [["1"], ["1"], ["1"]]
        assert [await wire.texts("shared_up") for _ in range(3)] == [["1"], ["2"], ["3"]]


async def test_a_factory_makes_the_instances() -> None:
    class Greeter(Tool):
        def __init__(self, greeting: str) -> None:
            self.greeting = greeting

        @tool
        def greet(self) -> str:
            return self.greeting

    server = McpServer("test")
    with pytest.raises(DefinitionError, match=r"Greeter.*cannot be made without arguments.*factory"):
        server.register(Greeter)
    server.register(Greeter, factory=lambda: Greeter("hello"))
    async with connected(server) as wire:
        assert await wire.texts("greet") == ["hello"]


@pytest.mark.fault(284)
async def test_asynchronous_functions_are_recognised_behind_anything() -> None:
    async def scaled(factor: int, x: int) -> int:
        """Scale."""
        return factor * x

    class Callable_:
        """Calls."""

        async def __call__(self, x: int) -> int:
            return x + 1

    def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @tool
    @wrapping
    async def wrapped(x: int) -> int:
        return x + 2

    @wrapping
    @tool
    async def wrapped_outside(x: int) -> int:
        return x + 3

    server = serving(
        tool(name="partial")(functools.partial(scaled, 10)),
        tool(name="object")(Callable_()),
        wrapped,
        wrapped_outside,
    )
    async with connected(server) as wire:
        assert {name: list(made["inputSchema"]["properties"]) for name, made in (await wire.tools()).items()} == {
            "partial": ["x"],
            "object": ["x"],
            "wrapped": ["x"],
            "wrapped_outside": ["x"],
        }
        assert await wire.texts("partial", {"x": 2}) == ["20"]
        assert await wire.texts("object", {"x": 2}) == ["3"]
        assert await wire.texts("wrapped", {"x": 2}) == ["4"]
        assert await wire.texts("wrapped_outside", {"x": 2}) == ["5"]


@pytest.mark.fault(285)
def test_a_decorated_method_stays_what_it_was() -> None:
    class Calculator(Tool):
        @tool
        def add(self, a: int, b: int) -> int:
            """Add."""
            return a + b

        @tool(title="Sub", read_only=True)
        def sub(self, a: int, b: int) -> int:
            return a - b

    assert Calculator().add(1, 2) == 3
    assert Calculator().sub(1, b=2) == -1
    assert (Calculator.add.__name__, Calculator.add.__doc__) == ("add", "Add.")

    def plain(x: int) -> int:
        return x

    assert tool(plain) is plain
    assert tool(name="other")(plain) is plain


@pytest.mark.fault(286)
async def test_a_taken_name_is_refused_and_nothing_changes() -> None:
    class One(Tool):
        @tool
        def list(self) -> str:
            return "one"

    class Two(Tool):
        @tool
        def fine(self) -> str:
            return "two"

        @tool(name="list")
        def again(self) -> str:
            return "two"

    server = serving(One)
    with pytest.raises(DefinitionError, match=r"Two\.again.*'list' is there already.*One\.list"):
        server.register(Two)
    server.register(Two, prefix="two")
    async with connected(server) as wire:
        assert list(await wire.tools()) == ["list", "two_fine", "two_list"]
        assert await wire.texts("list") == ["one"]


@pytest.mark.fault(287)
async def test_tools_are_listed_in_the_order_of_definition_base_class_first() -> None:
    class Base(Tool):
        @tool
        def c(self) -> str: ...

        @tool
        def a(self) -> str: ...

    class Derived(Base):
        @tool
        def b(self) -> str: ...

        def c(self) -> str:
            return "overridden"

    tools = await described(Derived)
    assert list(tools) == ["c", "a", "b"]
    async with connected(serving(Derived)) as wire:
        assert await wire.texts("c") == ["overridden"]


@pytest.mark.fault(288)
async def test_two_servers_share_nothing() -> None:
    one, two = serving(Adder), McpServer("two")
    two.register(Adder, prefix="my")
    one.disable("add")
    assert await described() == {}
    async with connected(one) as wire:
        assert await wire.tools() == {}
    async with connected(two) as wire:
        assert list(await wire.tools()) == ["my_add"]


@pytest.mark.fault(290)
async def test_what_is_unregistered_is_gone() -> None:
    class Pair(Tool):
        @tool
        def left(self) -> str:
            return "left"

        @tool
        def right(self) -> str:
            return "right"

    @tool
    def alone() -> str:
        return "alone"

    instance = Pair()
    server = serving(Pair, Adder, alone)
    server.register(instance, prefix="shared")
    async with connected(server) as wire:
        server.unregister("left")
        assert list(await wire.tools()) == ["right", "add", "alone", "shared_left", "shared_right"]
        assert (await wire.ask("tools/call", {"name": "left"}))["error"]["code"] == -32602
        server.unregister(Pair)
        server.unregister(instance)
        server.unregister(alone)
        assert list(await wire.tools()) == ["add"]
        assert await wire.texts("add", {"a": 1}) == ["2"]
        with pytest.raises(DefinitionError, match="not registered"):
            server.unregister(Pair)


@pytest.mark.fault(291)
def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, mcpconnect; "
        "heavy = {'PIL', 'marshmallow', 'starlette', 'uvicorn', 'jsonschema_rs', 'yaml', 'typer', 'rich', 'docstring_parser', 'httpx2', 'pydantic', 'trio'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"


async def test_disabled_tools_are_neither_listed_nor_callable() -> None:
    class Mixed(Tool):
        @tool(tags={"admin"})
        def wipe(self) -> str:
            return "wiped"

        @tool(enabled=False)
        def hidden(self) -> str:
            return "hidden"

        @tool
        def open(self) -> str:
            return "open"

    server = serving(Mixed)
    async with connected(server) as wire:
        assert list(await wire.tools()) == ["wipe", "open"]
        server.disable(tags={"admin"})
        server.enable("hidden")
        assert list(await wire.tools()) == ["hidden", "open"]
        assert (await wire.ask("tools/call", {"name": "wipe"}))["error"]["code"] == -32602
        assert await wire.texts("hidden") == ["hidden"]
        with pytest.raises(DefinitionError, match="nobody"):
            server.enable("nobody")


@pytest.mark.fault(248)
async def test_a_change_is_announced_once_to_those_who_shook_hands() -> None:
    server = serving(Adder)

    class More(Tool):
        @tool
        def one(self) -> str: ...

        @tool
        def two(self) -> str: ...

    def announcements(wire: Any) -> int:
        return sum(message.get("method") == "notifications/tools/list_changed" for message in wire.messages)

    async with connected(server) as wire, connected(server, "2026-07-28") as modern:
        await modern.ask("tools/list")
        server.register(More)
        assert announcements(wire) == 1
        server.unregister(More)
        assert announcements(wire) == 2
        assert announcements(modern) == 0
        assert len(server.hub) == 1
    assert len(server.hub) == 0


async def test_a_failed_registration_changes_nothing_and_says_where() -> None:
    class Broken(Tool):
        @tool
        def fine(self) -> str: ...

        @tool
        def broken(self, *args: int) -> str: ...

    server = McpServer("test")
    with pytest.raises(DefinitionError, match=r"Broken\.broken.*args"):
        server.register(Broken)
    async with connected(server) as wire:
        assert await wire.tools() == {}


@pytest.mark.parametrize(
    ("thing", "match"),
    [
        (object(), "nothing to register"),
        (5, "nothing to register"),
        (type("Empty", (), {}), "nothing to register"),
        (lambda: None, "nothing to register"),
    ],
)
def test_a_thing_without_tools_is_refused(thing: object, match: str) -> None:
    with pytest.raises(DefinitionError, match=match):
        McpServer("test").register(thing)


def test_an_own_schema_that_requires_what_no_parameter_takes_is_refused() -> None:
    schema = {"type": "object", "properties": {"a-b": {}}, "required": ["a-b"]}

    @tool(input_schema=schema)
    def closed(a_b: int = 1) -> None: ...

    @tool(input_schema=schema)
    def open(**arguments: Any) -> None: ...

    with pytest.raises(DefinitionError, match=r"closed: input_schema: it requires 'a-b', which no parameter takes"):
        McpServer("test").register(closed)
    McpServer("test").register(open)


async def test_a_method_that_overrides_another_one_inherits_its_docstring() -> None:
    class Base(Tool):
        @tool
        def add(self, a: int) -> int:
            """Add something.

            Args:
                a: How much.
            """
            return a

    class Derived(Base):
        def add(self, a: int) -> int:
            return a + 1

    listed = (await described(Derived))["add"]
    assert listed["description"] == "Add something."
    assert listed["inputSchema"]["properties"]["a"]["description"] == "How much."


def test_misuse_of_decorators_and_settings_is_refused() -> None:
    for options, match in (
        ({"timeout": 0}, "timeout"),
        ({"structured": "maybe"}, "structured"),
        ({"errors": (5,)}, "exception"),
        ({"tags": "admin"}, "tags"),
    ):
        with pytest.raises(DefinitionError, match=match):
            tool(**options)  # type: ignore[call-overload]
    with pytest.raises(DefinitionError, match="register the class"):
        tool(Adder)
    with pytest.raises(DefinitionError, match="decorates"):
        tool(5)  # type: ignore[call-overload]
    for settings in (
        {"structured": "x"},
        {"errors": "x"},
        {"page_size": 0},
        {"schema_refs": "x"},
        {"extra_arguments": "x"},
    ):
        with pytest.raises(DefinitionError):
            McpServer("test", **settings)  # type: ignore[arg-type]
    with pytest.raises(DefinitionError):
        McpServer("")


async def test_a_plain_class_and_a_function_take_a_context_parameter() -> None:
    class Plain:
        secret: ClassVar[str] = "not read"

        @property
        def trap(self) -> str:
            raise AssertionError("attributes of an instance are not read")

        @tool
        def whoami(self, ctx: Context) -> str:
            return str(ctx.request_id)

    @tool
    async def who(context: "Context | None" = None) -> str:
        assert context is not None
        return str(context.request_id)

    async with connected(serving(Plain(), who)) as wire:
        for name in ("whoami", "who"):
            answer = await wire.ask("tools/call", {"name": name}, id="my id")
            assert answer["result"]["content"][0]["text"] == "my id"


@pytest.mark.fault(109)
async def test_an_injected_parameter_is_in_no_schema_and_cannot_be_sent() -> None:
    class Plain:
        @tool
        def whoami(self, q: str, ctx: Annotated[Context, "who calls"]) -> str:
            return type(ctx).__name__

    async with connected(serving(Plain)) as wire:
        assert list((await wire.tools())["whoami"]["inputSchema"]["properties"]) == ["q"]
        assert await wire.texts("whoami", {"q": "x"}) == ["Context"]
        result = await wire.call("whoami", {"q": "x", "ctx": {"user": "admin"}})
        assert result["isError"] is True
        assert "ctx" in result["content"][0]["text"]


@pytest.mark.fault(60)
@pytest.mark.fault(61)
@pytest.mark.parametrize("name", ["Create Share", "a,b", "größe", "list\n", "", "a/b", "x" * 129])
def test_an_illegal_name_is_refused(name: str) -> None:
    class Named(Tool):
        @tool(name=name or " ")
        def method(self) -> str: ...

    with pytest.raises(DefinitionError, match=r"Named\.method.*not allowed"):
        McpServer("test").register(Named)


@pytest.mark.fault(62)
def test_the_length_of_the_composed_name_counts() -> None:
    class Long(Tool, prefix="p" * 40):
        @tool(name="t" * 40)
        def method(self) -> str: ...

    with pytest.warns(UserWarning, match=r"81 characters.*shorten the prefix"):
        McpServer("test").register(Long)
    with pytest.raises(DefinitionError, match="shorten the prefix"):
        McpServer("test").register(Long, prefix="p" * 100)


@pytest.mark.fault(63)
@pytest.mark.fault(277)
@pytest.mark.parametrize(("name", "match"), [("__important", "starts with _"), ("calendar.read", "dot")])
async def test_a_name_that_hosts_refuse_is_warned_of(name: str, match: str) -> None:
    class Named(Tool):
        @tool(name=name)
        def method(self) -> str:
            return "ok"

    server = McpServer("test")
    with pytest.warns(UserWarning, match=match):
        server.register(Named)
    async with connected(server) as wire:
        assert await wire.texts(name) == ["ok"]


@pytest.mark.fault(279)
async def test_a_property_key_that_hosts_refuse_is_warned_of() -> None:
    from mcpconnect import Param

    class Named(Tool):
        @tool
        def method(self, x: Annotated[int, Param(name="cik A")], größe: int = 3) -> str:
            return f"{x} {größe}"

    server = McpServer("test")
    with pytest.warns(UserWarning) as caught:
        server.register(Named)
    assert ["cik A" in str(caught[0].message), "größe" in str(caught[1].message)] == [True, True]
    async with connected(server) as wire:
        assert await wire.texts("method", {"cik A": 1, "größe": 2}) == ["1 2"]


def test_an_ordinary_class_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        McpServer("test").register(Adder)


async def test_prefixes_are_inherited_and_replaced() -> None:
    class Auth(Tool, prefix="auth"):
        @tool
        def login(self) -> str: ...

    class Special(Auth):
        pass

    server = serving(Auth)
    server.register(Special, prefix="special")
    server.register(Special(), prefix="")
    assert [feature.name for feature in server.tools] == ["auth_login", "special_login", "login"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_definition_says_what_was_declared(revision: str) -> None:
    from mcpconnect import Icon

    @dataclass
    class Row:
        x: int

    class Declared(Tool):
        @tool(
            name="full",
            title="The full one",
            description="Does it all",
            read_only=True,
            idempotent=True,
            open_world=False,
            destructive=False,
            icons=[Icon("https://example.org/i.png", mime_type="image/png")],
            meta={"example.org/x": 1},
        )
        def method(self) -> Row:
            return Row(1)

        @tool
        def bare(self) -> str: ...

    tools = await described(Declared, revision=revision)
    full = tools["full"]
    assert full["description"] == "Does it all"
    assert ("title" in full) is (revision >= "2025-06-18")
    assert ("_meta" in full) is (revision >= "2025-06-18")
    assert ("outputSchema" in full) is (revision >= "2025-06-18")
    assert ("icons" in full) is (revision >= "2025-11-25")
    assert ("annotations" in full) is (revision >= "2025-03-26")
    if "annotations" in full:
        hints = {key: value for key, value in full["annotations"].items() if key != "title"}
        assert hints == {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False, "destructiveHint": False}
    assert set(tools["bare"]) == {"name", "inputSchema"}


@pytest.mark.fault(89)
@pytest.mark.fault(90)
async def test_listing_is_repeatable_and_free_of_nulls() -> None:
    server, other = serving(Adder), serving(Adder)
    texts = []
    for one in (server, server, other):
        async with connected(one) as wire:
            for _ in range(2):
                await wire.ask("tools/list", id="list")
                texts.append(next(data for sender, data in reversed(wire.traffic) if sender == "server"))
    assert len(set(texts)) == 1
    assert b"null" not in texts[0]


@pytest.mark.fault(183)
async def test_long_lists_come_in_pages() -> None:
    server = McpServer("test", page_size=4)
    for number in range(10):

        def numbered(number: int = number) -> int:
            return number

        server.register(tool(name=f"t{number}")(numbered))
    async with connected(server) as wire:
        names, cursor = [], None
        for size in (4, 4, 2):
            params = {} if cursor is None else {"cursor": cursor}
            result = (await wire.ask("tools/list", params))["result"]
            assert len(result["tools"]) == size
            names += [made["name"] for made in result["tools"]]
            cursor = result.get("nextCursor")
        assert cursor is None
        assert names == [f"t{number}" for number in range(10)]
        for bad in ("garbage", 5, ["x"]):
            assert (await wire.ask("tools/list", {"cursor": bad}))["error"]["code"] == -32602
