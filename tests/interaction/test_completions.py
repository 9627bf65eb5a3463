"""Completions as a client gets them: three sources, their order, and what becomes of answers."""

import enum
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Annotated, Any

import anyio
import pytest
from anyio import to_thread

from mcpconnect import (
    Case,
    Complete,
    CompletionResult,
    Context,
    DefinitionError,
    McpServer,
    PromptRef,
    ProtocolError,
    SerializerConfig,
    TemplateRef,
    Tool,
    complete,
    matching,
    prompt,
    resource,
)
from mcpconnect.features.completion import CompletionArgument, CompletionContext
from tests.wire import NEWEST, REVISIONS, Wire, connected, serving

pytestmark = pytest.mark.anyio
each_revision = pytest.mark.parametrize("revision", REVISIONS)
both_eras = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])


class Language(enum.Enum):
    PYTHON = "python"
    RUST = "rust"


def params(ref: dict[str, Any], argument: str, value: str, chosen: dict[str, str] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
    return found if chosen is None else {**found, "context": {"arguments": chosen}}


def of_prompt(name: str) -> dict[str, Any]:
    return {"type": "ref/prompt", "name": name}


def of_template(uri: str) -> dict[str, Any]:
    return {"type": "ref/resource", "uri": uri}


async def completion(wire: Wire, ref: dict[str, Any], argument: str, value: str = "", **more: Any) -> Any:
    """Return the completion, or the code of the error."""
    answer = await wire.ask("completion/complete", params(ref, argument, value, **more))
    return answer["error"]["code"] if "error" in answer else answer["result"]["completion"]


def asking(completer: Any) -> McpServer:
    """Return a server whose prompt `ask` has an argument that is completed so."""

    def ask(a: str, b: str = "") -> str:
        return a + b

    ask.__annotations__["a"] = Annotated[str, Complete(completer)]
    return serving(prompt(ask))


@each_revision
async def test_values_enums_and_functions_complete(revision: str) -> None:
    def after(typed: str) -> list[str]:
        return [typed + "!"]

    async def dependent(typed: str, chosen: Mapping[str, str]) -> str:
        return f"{typed} {dict(chosen)}"

    for source, typed, expected in (
        (["Paris", "Pau", "Lyon"], "Pa", {"values": ["Paris", "Pau"], "total": 2, "hasMore": False}),
        ((1, 12, 2), "1", {"values": ["1", "12"], "total": 2, "hasMore": False}),
        (Language, "p", {"values": ["python"], "total": 1, "hasMore": False}),
        (after, "a", {"values": ["a!"]}),
        (dependent, "a", {"values": ["a {'b': 'x'}"]}),
    ):
        async with connected(asking(source), revision) as wire:
            assert await completion(wire, of_prompt("ask"), "a", typed, chosen={"b": "x"}) == expected


class Travel(Tool, prefix="my"):
    @prompt
    def greet(self, country: str, home_city: str) -> str:
        return country + home_city

    @complete("greet", "country")
    def countries(self, typed: str) -> CompletionResult:
        return matching(["France", "Italy"], typed, casefold=True)

    @complete("greet", "home_city")
    async def cities(self, typed: str, chosen: Mapping[str, str]) -> list[str]:
        known = {"France": ["Paris"], "Italy": ["Rome", "Milan"]}
        return [city for city in known.get(chosen.get("country", ""), ["Anywhere"]) if city.startswith(typed)]

    @resource("repo://{owner}/{name}")
    def repo(self, owner: str, name: str) -> str:
        return owner + name

    @complete("repo://{owner}/{name}", "name")
    def repos(self, typed: str, chosen: Mapping[str, str]) -> str:
        return f"{chosen.get('owner', 'nobody')}:{typed}"


@both_eras
async def test_methods_complete_the_prompt_of_their_class_also_depending_on_others(revision: str) -> None:
    async with connected(serving(Travel), revision) as wire:
        ref = of_prompt("my_greet")
        assert (await completion(wire, ref, "country", "fr"))["values"] == ["France"]
        assert await completion(wire, ref, "homeCity", "R", chosen={"country": "Italy"}) == {"values": ["Rome"]}
        assert await completion(wire, ref, "homeCity") == {"values": ["Anywhere"]}
        nothing = await wire.ask("completion/complete", {**params(ref, "homeCity", ""), "context": None})
        assert nothing["result"]["completion"] == {"values": ["Anywhere"]}
        nothing = await wire.ask("completion/complete", {**params(ref, "homeCity", ""), "context": {}})
        assert nothing["result"]["completion"] == {"values": ["Anywhere"]}


@pytest.mark.fault(161)
@each_revision
async def test_variables_of_a_template_are_completed_by_the_templates_uri(revision: str) -> None:
    async with connected(serving(Travel), revision) as wire:
        ref = of_template("repo://{owner}/{name}")
        assert await completion(wire, ref, "name", "m", chosen={"owner": "x"}) == {"values": ["x:m"]}
        assert await completion(wire, ref, "name", "m") == {"values": ["nobody:m"]}
        assert await completion(wire, ref, "owner") == {"values": []}
        assert await completion(wire, of_template("repo://x/y"), "name") == -32602
        assert await completion(wire, of_prompt("repo"), "name") == -32602


@pytest.mark.fault(162)
@each_revision
async def test_unknown_references_and_arguments_are_invalid_and_nobodys_argument_is_empty(revision: str) -> None:
    async with connected(serving(Travel), revision) as wire:
        assert await completion(wire, of_prompt("ghost"), "a") == -32602
        assert await completion(wire, of_prompt("greet"), "country") == -32602
        assert await completion(wire, of_prompt("my_greet"), "ghost") == -32602
        assert await completion(wire, of_prompt("my_greet"), "home_city") == -32602  # the list shows homeCity
        assert await completion(wire, of_template("x://{a}"), "a") == -32602
        assert await completion(wire, of_template("repo://{owner}/{name}"), "owner") == {"values": []}


@pytest.mark.parametrize(
    "bad",
    [
        {"ref": None},
        {"ref": "ref/prompt"},
        {"ref": {}},
        {"ref": {"name": "ask"}},
        {"ref": {"type": "ref/bogus", "name": "ask"}},
        {"ref": {"type": "ref/prompt"}},
        {"ref": {"type": "ref/prompt", "name": ""}},
        {"ref": {"type": "ref/prompt", "uri": "x://{a}"}},
        {"ref": {"type": "ref/resource"}},
        {"ref": {"type": "ref/resource", "uri": ""}},
        {"argument": None},
        {"argument": "a"},
        {"argument": {"value": "x"}},
        {"argument": {"name": "", "value": "x"}},
        {"argument": {"name": "a"}},
        {"argument": {"name": "a", "value": 3}},
        {"argument": {"name": "a", "value": True}},
        {"context": "x"},
        {"context": {"arguments": "x"}},
        {"context": {"arguments": {"b": 3}}},
    ],
)
async def test_malformed_requests_are_invalid_and_ask_nobody(bad: dict[str, Any]) -> None:
    asked = []
    async with connected(asking(lambda typed: asked.append(typed) or ["x"])) as wire:
        answer = await wire.ask("completion/complete", {**params(of_prompt("ask"), "a", ""), **bad})
        assert answer["error"]["code"] == -32602
        assert asked == []


@pytest.mark.fault(159)
@each_revision
async def test_a_long_answer_is_cut_and_counted(revision: str) -> None:
    numbers = [f"v{number}" for number in range(250)]
    async with connected(asking(lambda _: numbers), revision) as wire:
        found = await completion(wire, of_prompt("ask"), "a")
        assert found == {"values": numbers[:100], "total": 250, "hasMore": True}
    async with connected(asking(lambda _: CompletionResult(numbers, has_more=False)), revision) as wire:
        assert await completion(wire, of_prompt("ask"), "a") == {"values": numbers[:100], "hasMore": True}


@pytest.mark.fault(160)
@both_eras
async def test_the_capability_is_there_only_with_a_completer(revision: str) -> None:
    @prompt
    def plain(a: str) -> str:
        return a

    with_provider = serving(plain)
    with_provider.completions.add(lambda *_: None)
    hidden = asking(["x"])
    hidden.disable("ask")
    servers = ((asking(["x"]), True), (serving(Travel), True), (with_provider, True), (serving(plain), False))
    for server, there in (*servers, (hidden, False)):
        async with connected(server, revision) as wire:
            if revision == NEWEST:
                found = (await wire.ask("server/discover"))["result"]["capabilities"]
            else:
                found = (await wire.until(lambda w=wire: w.answer_to("init")))["result"]["capabilities"]
            assert found.get("completions") == ({} if there else None)
            if not there:
                assert await completion(wire, of_prompt("plain"), "a") == -32601


@pytest.mark.fault(163)
@both_eras
async def test_answers_of_any_kind_become_texts(revision: str) -> None:
    def generator(_: str) -> Iterator[str]:
        yield from "ab"

    async def async_generator(_: str) -> AsyncIterator[str]:
        yield "a"
        yield "b"

    async def languages(_: str) -> type[Language]:
        return Language

    cases: list[tuple[Any, Any]] = [
        (lambda _: ("a", "b"), {"values": ["a", "b"]}),
        (generator, {"values": ["a", "b"]}),
        (async_generator, {"values": ["a", "b"]}),
        (lambda _: Language, {"values": ["python", "rust"]}),
        (languages, {"values": ["python", "rust"]}),
        (lambda _: [Language.RUST, 1, True], {"values": ["rust", "1", "true"]}),
        (lambda _: {"a": 1}.keys(), {"values": ["a"]}),
        (lambda _: "one", {"values": ["one"]}),
        (lambda _: [], {"values": []}),
        (lambda _: CompletionResult(), {"values": []}),
        (lambda _: CompletionResult(["a"], 42, True), {"values": ["a"], "total": 42, "hasMore": True}),
        (lambda _: None, -32603),
        (lambda _: ["a", None], -32603),
        (lambda _: [["a"]], -32603),
        (lambda _: CompletionResult(["a"], -1), -32603),
    ]
    for completer, expected in cases:
        async with connected(asking(completer), revision) as wire:
            assert await completion(wire, of_prompt("ask"), "a") == expected


async def test_an_exception_is_an_internal_error_and_a_protocol_error_keeps_its_code() -> None:
    def fails(_: str) -> str:
        raise RuntimeError("secret")

    def refuses(_: str) -> str:
        raise ProtocolError("no", code=-5)

    async with connected(asking(fails)) as wire:
        error = (await wire.ask("completion/complete", params(of_prompt("ask"), "a", "")))["error"]
        assert error["code"] == -32603
        assert "secret" not in error["message"]
    async with connected(asking(refuses)) as wire:
        assert await completion(wire, of_prompt("ask"), "a") == -5


async def test_providers_are_asked_in_their_order_until_one_answers() -> None:
    asked: list[tuple[str, Any]] = []

    def provider(name: str, answer: Any) -> Any:
        def provide(ref: Any, argument: CompletionArgument, context: CompletionContext) -> Any:
            asked.append((name, (ref, argument.name, argument.value, dict(context.arguments))))
            return answer

        return provide

    async def later(ref: Any, argument: Any, context: Any) -> None:
        asked.append(("later", None))

    server = serving(Travel)
    server.completions.add(provider("third", ["3"]))
    server.completions.add(provider("first", None), order=-1)
    server.completions.add(later)
    server.completions.add(provider("last", ["4"]), order=9)
    async with connected(server) as wire:
        found = await completion(wire, of_template("repo://{owner}/{name}"), "owner", "o", chosen={"name": "n"})
        assert found == {"values": ["3"]}
        assert [name for name, _ in asked] == ["first", "third"]
        assert asked[0][1] == (TemplateRef("repo://{owner}/{name}"), "owner", "o", {"name": "n"})
        asked.clear()
        assert await completion(wire, of_template("repo://{owner}/{name}"), "name") == {"values": ["nobody:"]}
        assert asked == []  # it has a completer of its own


async def test_where_no_provider_answers_the_completion_is_empty_and_ends_are_asked_no_more() -> None:
    async def nothing(ref: Any, argument: Any, context: CompletionContext) -> list[str] | None:
        assert ref == PromptRef("plain")
        assert dict(context.arguments) == {}
        return ["found"] if argument.value else None

    @prompt
    def plain(a: str) -> str:
        return a

    server = serving(plain)
    server.completions.add(nothing)
    async with connected(server) as wire:
        assert await completion(wire, of_prompt("plain"), "a") == {"values": []}
        assert await completion(wire, of_prompt("plain"), "a", "x") == {"values": ["found"]}
        server.completions.remove(nothing)
        assert await completion(wire, of_prompt("plain"), "a", "x") == -32601
    with pytest.raises(KeyError):
        server.completions.remove(nothing)
    with pytest.raises(TypeError):
        server.completions.add(3)  # type: ignore[arg-type]


async def test_completers_that_wait_hold_nobody_up() -> None:
    release = threading.Event()
    entered = threading.Event()

    def waits(*_: Any) -> list[str]:
        entered.set()
        assert release.wait(20)
        return ["late"]

    @prompt
    def plain(a: Annotated[str, Complete(waits)], b: str) -> str:
        return a

    server = serving(plain)
    server.completions.add(waits)
    for argument in ("a", "b"):
        release.clear()
        entered.clear()
        async with connected(server) as wire:
            slow = wire.start("completion/complete", params(of_prompt("plain"), argument, ""))
            await to_thread.run_sync(entered.wait, 20)
            assert "result" in await wire.ask("prompts/list")
            release.set()
            answer = await wire.until(lambda w=wire, s=slow: w.answer_to(s))
            assert answer["result"]["completion"] == {"values": ["late"]}


async def test_a_new_instance_answers_each_time_and_knows_its_call() -> None:
    class Prompts(Tool):
        def __init__(self) -> None:
            self.calls = 0

        @prompt
        def ask(self, a: str) -> str:
            return a

        @complete("ask", "a")
        async def answers(self, typed: str) -> list[str]:
            self.calls += 1
            return [str(self.calls), self.ctx.feature, self.ctx.revision]

    async with connected(serving(Prompts)) as wire:
        for _ in range(2):
            assert (await completion(wire, of_prompt("ask"), "a"))["values"] == ["1", "ask", "2025-11-25"]


async def test_names_on_the_wire_are_those_of_the_list() -> None:
    class Prompts(Tool):
        @prompt(name="Shown")
        def ask(self, home_city: Annotated[str, Complete(["Rome"])]) -> str:
            return home_city

    async with connected(serving(Prompts, serializer=SerializerConfig(case=Case.KEBAB))) as wire:
        assert (await completion(wire, of_prompt("Shown"), "home-city"))["values"] == ["Rome"]


@pytest.mark.parametrize(
    ("target", "argument", "reason"),
    [
        ("ghost", "a", "names no prompt and no template"),
        ("ask", "ghost", "there are: a, b"),
        ("ask", "b", "has a completer already"),
        ("x://{v}", "ghost", "there are: v"),
        ("x://1", "v", "names no prompt and no template"),
    ],
)
def test_a_completer_for_nothing_or_a_second_one_is_refused(target: str, argument: str, reason: str) -> None:
    class Prompts(Tool):
        @prompt
        def ask(self, a: str, b: Annotated[str, Complete(["x"])]) -> str:
            return a + b

        @resource("x://{v}")
        def read(self, v: str) -> str:
            return v

        @complete(target, argument)
        def answers(self, typed: str) -> list[str]:
            return [typed]

    server = McpServer("refuses")
    with pytest.raises(DefinitionError, match=reason):
        server.register(Prompts)
    assert len(server.prompts) == len(server.templates) == 0


async def test_a_refused_registration_leaves_no_completer_behind_and_unregistering_takes_them_away() -> None:
    @prompt
    def ask(a: str, b: str) -> str:
        return a + b

    class Twice(Tool):
        @complete("ask", "a")
        def one(self, typed: str) -> str:
            return "one"

        @complete("ask", "a")
        def two(self, typed: str) -> str:
            return "two"

    class Once(Tool):
        @complete("ask", "a")
        def one(self, typed: str) -> str:
            return "once"

    server = serving(ask)
    with pytest.raises(DefinitionError, match="has a completer already"):
        server.register(Twice)
    async with connected(server) as wire:
        assert await completion(wire, of_prompt("ask"), "a") == -32601
        server.register(Once)
        assert await completion(wire, of_prompt("ask"), "a") == {"values": ["once"]}
        server.unregister(Once)
        assert await completion(wire, of_prompt("ask"), "a") == -32601
        with pytest.raises(DefinitionError, match="not registered"):
            server.unregister(Once)


async def test_the_context_is_injected_wherever_it_stands() -> None:
    class Prompts(Tool):
        @prompt
        def ask(self, a: str, b: str, c: str) -> str:
            return a + b + c

        @complete("ask", "a")
        def first(self, ctx: Context, typed: str) -> str:
            return f"{typed} {ctx.feature}"

        @complete("ask", "b")
        async def second(self, typed: str, ctx: Context, chosen: Mapping[str, str]) -> str:
            return f"{typed} {ctx.feature} {dict(chosen)}"

        @complete("ask", "c")
        @staticmethod
        def third(typed: str, *, ctx: Context) -> str:
            return f"{typed} {ctx.feature}"

    async with connected(serving(Prompts)) as wire:
        assert await completion(wire, of_prompt("ask"), "a", "x") == {"values": ["x ask"]}
        assert await completion(wire, of_prompt("ask"), "b", "x", chosen={"a": "1"}) == {"values": ["x ask {'a': '1'}"]}
        assert await completion(wire, of_prompt("ask"), "c", "x") == {"values": ["x ask"]}

    class Wrong(Tool):
        @prompt
        def ask(self, a: str) -> str:
            return a

        @complete("ask", "a")
        def nothing(self) -> str:
            return ""

    with pytest.raises(DefinitionError, match=r"nothing: a completer takes the text"):
        serving(Wrong)


async def test_a_cancelled_completion_is_not_answered() -> None:
    entered = anyio.Event()
    ended = anyio.Event()

    async def waits(_: str) -> str:
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with connected(asking(waits)) as wire:
        slow = wire.start("completion/complete", params(of_prompt("ask"), "a", ""))
        with anyio.fail_after(20):
            await entered.wait()
            wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
            await ended.wait()
        assert "result" in await wire.ask("prompts/list")
        assert wire.answer_to(slow) is None
