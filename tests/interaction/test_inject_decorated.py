"""Providers that do not look like what they are: behind decorators, in callable objects, partials and lambdas."""

import contextlib
import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

import anyio
import pytest

from mcpconnect import Complete, Context, DefinitionError, Inject, McpServer, Tool, prompt, tool
from tests.wire import NEWEST, connected, serving

pytestmark = pytest.mark.anyio
events: list[str] = []


@pytest.fixture(autouse=True)
def forgotten() -> None:
    events.clear()


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        events.append("traced")
        return function(*args, **kwargs)

    return wrapper


def plain() -> str:
    return "value"


async def awaited() -> str:
    await anyio.sleep(0)
    return "value"


def generated() -> Iterator[str]:
    yield "value"
    events.append("left")


async def generated_async() -> AsyncIterator[str]:
    yield "value"
    await anyio.sleep(0)
    events.append("left")


class Object:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function


class CallsPlain(Object):
    def __call__(self) -> str:
        return "value"


class CallsAwaited(Object):
    async def __call__(self) -> str:
        return await awaited()


class CallsGenerated(Object):
    def __call__(self) -> Iterator[str]:
        yield from generated()


class CallsGeneratedAsync(Object):
    async def __call__(self) -> AsyncIterator[str]:
        async for value in generated_async():
            yield value


class CallsDecorated(Object):
    @traced
    async def __call__(self) -> str:
        return await awaited()


class Entered:
    def __init__(self, value: str = "value") -> None:
        self.value = value

    def __enter__(self) -> str:
        return self.value

    def __exit__(self, *error: object) -> None:
        events.append("left")


class EnteredAsync(Entered):
    async def __aenter__(self) -> str:
        return self.value

    async def __aexit__(self, *error: object) -> None:
        events.append("left")


class WithMethods:
    async def awaited(self) -> str:
        return await awaited()

    def generated(self) -> Iterator[str]:
        yield from generated()


PROVIDERS: dict[str, tuple[Any, list[str]]] = {
    "an object": (CallsPlain(plain), []),
    "an object that is awaited": (CallsAwaited(plain), []),
    "an object that yields": (CallsGenerated(plain), ["left"]),
    "an object that yields on the loop": (CallsGeneratedAsync(plain), ["left"]),
    "an object whose call is decorated": (CallsDecorated(plain), ["traced"]),
    "decorated": (traced(plain), ["traced"]),
    "decorated and awaited": (traced(awaited), ["traced"]),
    "decorated and yielding": (traced(generated), ["traced", "left"]),
    "decorated and yielding on the loop": (traced(generated_async), ["traced", "left"]),
    "decorated twice": (traced(traced(generated)), ["traced", "traced", "left"]),
    "a decorated context manager": (traced(contextlib.contextmanager(generated)), ["traced", "left"]),
    "a context manager on the loop": (traced(contextlib.asynccontextmanager(generated_async)), ["traced", "left"]),
    "partial": (functools.partial(awaited), []),
    "partial and yielding": (functools.partial(generated), ["left"]),
    "partial of a class": (functools.partial(Entered, "value"), ["left"]),
    "partial of a class on the loop": (functools.partial(EnteredAsync, value="value"), ["left"]),
    "a decorated class": (traced(Entered), ["traced", "left"]),
    "a method": (WithMethods().awaited, []),
    "a method that yields": (WithMethods().generated, ["left"]),
    "a lambda": (lambda: generated(), ["left"]),
    "a lambda of the context": (lambda ctx: contextlib.contextmanager(generated)(), ["left"]),
}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", PROVIDERS)
async def test_what_a_provider_returns_decides_how_it_is_opened(kind: str, asynchronous: bool) -> None:
    provider, expected = PROVIDERS[kind]

    @tool(name="run")
    def run_in_thread(value: Annotated[str, Inject(provider)]) -> str:
        assert threading.current_thread() is not threading.main_thread()
        return value

    @tool(name="run")
    async def run(value: Annotated[str, Inject(provider)]) -> str:
        return value

    async with connected(serving(run if asynchronous else run_in_thread)) as wire:
        assert await wire.texts("run") == ["value"]
        assert await wire.texts("run") == ["value"]
    assert events == expected * 2


@pytest.mark.parametrize("returned", [awaited, generated_async, contextlib.asynccontextmanager(generated_async)])
async def test_what_has_to_be_awaited_where_nobody_could_know_is_an_error_that_names_the_provider(
    returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def hiding() -> Any:
        return returned()

    @tool
    def run(value: Annotated[str, Inject(hiding)]) -> str:
        return value

    async with connected(serving(run, errors="message")) as wire:
        answer = await wire.call("run")
        assert answer["isError"]
        assert "hiding" in answer["content"][0]["text"]
        assert "async def" in answer["content"][0]["text"]


async def test_a_provider_behind_a_decorator_is_provided_for() -> None:
    @traced
    def named(context: Context, value: Annotated[str, Inject(awaited)]) -> Iterator[str]:
        yield f"{context.feature} {value}"

    class Named:
        def __call__(self, value: Annotated[str, Inject(named)]) -> str:
            return f"<{value}>"

    class Made:
        def __init__(self, value: Annotated[str, Inject(Named())]) -> None:
            self.value = value

    @tool
    def run(made: Annotated[Made, Inject(functools.partial(Made))]) -> str:
        return made.value

    async with connected(serving(run)) as wire:
        assert await wire.texts("run") == ["<run value>"]


def suffix() -> str:
    return "!"


def finding(typed: str, context: Context, end: Annotated[str, Inject(suffix)]) -> list[str]:
    assert threading.current_thread() is not threading.main_thread()
    return [f"{typed}{end} {context.feature}"]


async def finding_beside(
    typed: str, end: Annotated[str, Inject(awaited)], chosen: dict[str, str], *, context: Context
) -> list[str]:
    return [f"{typed} {end} {chosen['first']} {context.feature}"]


class Finding:
    def __init__(self) -> None:
        self.found = "found"

    async def __call__(self, typed: str, context: Context) -> list[str]:
        return [f"{typed} {self.found} {context.feature}"]


@pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
async def test_functions_that_complete_are_provided_for_like_methods(revision: str) -> None:
    @prompt
    def ask(
        first: Annotated[str, Complete(finding)],
        second: Annotated[str, Complete(finding_beside)],
        third: Annotated[str, Complete(Finding())],
    ) -> str:
        return first + second + third

    async with connected(serving(ask), revision) as wire:
        found = {}
        for argument in ("first", "second", "third"):
            params = {
                "ref": {"type": "ref/prompt", "name": "ask"},
                "argument": {"name": argument, "value": "a"},
                "context": {"arguments": {"first": "1"}},
            }
            answer = await wire.ask("completion/complete", params)
            found[argument] = answer["result"]["completion"]["values"]
    of_prompt = "ask"
    assert found == {
        "first": [f"a! {of_prompt}"],
        "second": [f"a value 1 {of_prompt}"],
        "third": [f"a found {of_prompt}"],
    }


def takes_nothing(context: Context) -> list[str]:
    return []


def takes_by_place(typed: str, /, context: Context) -> list[str]:
    return []


@pytest.mark.parametrize(("completer", "text"), [(takes_nothing, "takes the text"), (takes_by_place, "need names")])
def test_a_function_that_cannot_complete_is_refused(completer: Any, text: str) -> None:
    @prompt
    def ask(word: Annotated[str, Complete(completer)]) -> str:
        return word

    with pytest.raises(DefinitionError, match=text):
        McpServer("test").register(ask)


class Slotted(Tool):
    __slots__ = ("value",)
    value: Annotated[str, Inject(plain)]

    @tool
    def run(self) -> str:
        return self.value


async def test_a_member_with_a_slot_is_provided() -> None:
    async with connected(serving(Slotted)) as wire:
        assert await wire.texts("run") == ["value"]
