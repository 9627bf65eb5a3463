"""What is marked is provided or refused when it is registered; nothing of it is ever left to the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import pytest

from mcpconnect import Context, DefinitionError, Inject, McpServer, Session, Tool, prompt, resource, tool
from tests.wire import connected, serving

if TYPE_CHECKING:
    from decimal import Decimal as Database

    import mcpconnect as later


def get() -> str:
    return "provided"


Alias: TypeAlias = Annotated[str, Inject(get)]


class Member(Tool):
    db: Annotated[Database, Inject(get)]

    @tool
    def run(self) -> None: ...


class MemberOfLater(Tool):
    def __init__(self) -> None:
        self.calls = 0

    context: later.Context | None

    @tool
    def run(self) -> None: ...


class MemberInUnion(Tool):
    value: Annotated[str, Inject(get)] | None

    @tool
    def run(self) -> None: ...


class Built(Tool):
    def __init__(self, db: Annotated[Database | None, Inject(get)] = None) -> None:
        self.db = db

    @tool
    def run(self) -> None: ...


def needy(db: Annotated[Database, Inject(get)]) -> str:
    return "never"


def needy_of_unknown(db: Database) -> str:
    return "never"


def needy_by_place(context: Context, /) -> str:
    return "never"


class Needy:
    def __init__(self, db: Database) -> None: ...


@tool
def through_needy(value: Annotated[str, Inject(needy)]) -> None: ...


@tool
def through_unknown(value: Annotated[str, Inject(needy_of_unknown)]) -> None: ...


@tool
def through_place(value: Annotated[str, Inject(needy_by_place)]) -> None: ...


@tool
def through_class(value: Annotated[Needy, Inject(Needy)]) -> None: ...


@tool
def through_lambda(value: Annotated[str, Inject(lambda ctx, /: "")]) -> None: ...


@tool
def in_union(value: Annotated[str, Inject(get)] | None = None) -> None: ...


@tool
def in_union_by_alias(value: Alias | None = None) -> None: ...


@tool
def in_list(value: list[Annotated[str, Inject(get)]]) -> None: ...


@tool
def not_called(value: Annotated[str, Inject]) -> None: ...


@tool
def not_called_inside(value: Annotated[str, Inject] | None = None) -> None: ...


@tool
def by_place(value: Annotated[str, Inject(get)], /) -> None: ...


@tool
def by_place_context(context: Context, /, word: str) -> None: ...


@tool
def any_number(*value: Annotated[str, Inject(get)]) -> None: ...


@tool
def any_names(**value: Annotated[str, Inject(get)]) -> None: ...


@tool
def unresolved(value: Annotated[Database | None, Inject(get)] = None) -> None: ...


@prompt
def prompt_in_union(value: Annotated[str, Inject(get)] | None = None) -> str:
    return "never"


@resource("test://{value}")
def template_in_union(value: Annotated[str, Inject(get)] | None = None) -> str:
    return "never"


MISTAKES: list[tuple[Any, str]] = [
    (Member, "Member: the member 'db' .*'Database' is unknown"),
    (MemberOfLater, "MemberOfLater: the member 'context' .*'later' is unknown"),
    (MemberInUnion, "MemberInUnion: the member 'value' .*and that alone"),
    (Built, "Built.__init__: the parameter 'db' .*'Database' is unknown"),
    (through_needy, "needy: the parameter 'db' .*'Database' is unknown"),
    (through_unknown, "needy_of_unknown has the parameter 'db', .*'Database' is unknown"),
    (through_place, "needy_by_place: the parameter 'context' is positional-only"),
    (through_class, "Needy has the parameter 'db', .*'Database' is unknown"),
    (through_lambda, "lambda> has the parameter 'ctx', for which nothing is provided"),
    (in_union, "in_union: the parameter 'value' .*and that alone"),
    (in_union_by_alias, "in_union_by_alias: the parameter 'value' .*and that alone"),
    (in_list, "in_list: the parameter 'value' .*and that alone"),
    (not_called, "not_called: the parameter 'value' .*and that alone"),
    (not_called_inside, "not_called_inside: the parameter 'value' .*and that alone"),
    (by_place, "by_place: the parameter 'value' is positional-only"),
    (by_place_context, "by_place_context: the parameter 'context' is positional-only"),
    (any_number, r"any_number: the parameter 'value' is given one value; remove the \*"),
    (any_names, r"any_names: the parameter 'value' is given one value; remove the \*\*"),
    (unresolved, "unresolved: the parameter 'value' .*'Database' is unknown"),
    (prompt_in_union, "prompt_in_union: the parameter 'value' .*and that alone"),
    (template_in_union, "template_in_union: the parameter 'value' .*and that alone"),
]


@pytest.mark.parametrize(("thing", "text"), MISTAKES)
def test_a_mark_that_cannot_be_obeyed_is_refused(thing: Any, text: str) -> None:
    server = McpServer("test")
    with pytest.raises(DefinitionError, match=text):
        server.register(thing)
    assert len(server.tools) == len(server.prompts) == 0


class Untouched(Tool):
    later: Database  # of no interest here, and nobody asks for it

    def __init__(self) -> None:
        self.later = None  # type: ignore[assignment] # the class is for type checkers only

    @tool
    def run(self, value: Alias) -> str:
        return f"{value} {self.later}"


@pytest.mark.anyio
async def test_a_member_that_has_no_mark_need_not_resolve() -> None:
    async with connected(serving(Untouched)) as wire:
        assert await wire.texts("run") == ["provided None"]
        assert (await wire.call("run", {"value": "mine"}))["isError"]


class NeedsArguments(Session):
    def __init__(self, name: str) -> None: ...


def test_a_session_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"NeedsArguments.*without arguments.*'name'"):
        McpServer("test", session=NeedsArguments)
