"""Resource templates as a client reads them."""

import enum
import time
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from mcpconnect import (
    Case,
    Context,
    DefinitionError,
    Param,
    ProtocolError,
    SerializerConfig,
    Tool,
    prompt,
    resource,
)
from tests.wire import NEWEST, REVISIONS, Wire, connected, serving

pytestmark = pytest.mark.anyio
each_revision = pytest.mark.parametrize("revision", REVISIONS)


class Size(enum.Enum):
    SMALL = "s"


async def answer(wire: Wire, uri: str) -> str | int:
    """Return the text that is read, or the code of the error."""
    found = await wire.ask("resources/read", {"uri": uri})
    if "error" in found:
        code: int = found["error"]["code"]
        assert code != -32603
        return code
    [part] = found["result"]["contents"]
    assert part["uri"] == uri
    text: str = part["text"]
    return text


def echo(uri: str, **parameters: Any) -> Any:
    """Return a template whose method says which variables it got, as Python writes them."""
    source = ", ".join(
        f"{name}: types[{name!r}]{'=None' if default is None else ''}" for name, (_, default) in parameters.items()
    )
    names = ", ".join(f"{name!r}: {name}" for name in parameters)
    scope: dict[str, Any] = {"types": {name: kind for name, (kind, _) in parameters.items()}}
    exec(f"def asked({source}): return repr({{{names}}})", scope)
    return resource(uri)(scope["asked"])


NEEDED = (str, ...)
OPTIONAL = (str | None, None)


@pytest.mark.fault(165)
async def test_values_are_decoded_and_a_plus_is_a_plus() -> None:
    async with connected(serving(echo("search://{q}", q=NEEDED))) as wire:
        assert await answer(wire, "search://hello%20w%C3%A9") == "{'q': 'hello wé'}"
        assert await answer(wire, "search://a+b") == "{'q': 'a+b'}"


@pytest.mark.fault(166)
async def test_only_a_tail_holds_slashes() -> None:
    things = [
        echo("docs://{path*}", path=NEEDED),
        echo("one://{path}", path=NEEDED),
        echo("res://{+path}", path=NEEDED),
    ]
    async with connected(serving(*things)) as wire:
        assert await answer(wire, "docs://a/b/c") == "{'path': 'a/b/c'}"
        assert await answer(wire, "res://a/b/c") == "{'path': 'a/b/c'}"
        assert await answer(wire, "one://a/b/c") == -32002


@pytest.mark.fault(167)
async def test_literal_characters_are_no_pattern() -> None:
    async with connected(serving(echo("data://v1.0/{id}", id=NEEDED), echo("x://(a|b)+*/{id}", id=NEEDED))) as wire:
        assert await answer(wire, "data://v1.0/7") == "{'id': '7'}"
        assert await answer(wire, "data://v1X0/7") == -32002
        assert await answer(wire, "x://a/7") == -32002


@pytest.mark.fault(168)
async def test_a_variable_swallows_neither_query_nor_fragment() -> None:
    async with connected(serving(echo("api://{id}", id=NEEDED))) as wire:
        for uri in ("api://foo?x=1", "api://foo#x", "api://foo?", "api://"):
            assert await answer(wire, uri) == -32002


@pytest.mark.fault(169)
@pytest.mark.fault(170)
@each_revision
async def test_variables_of_the_query_are_optional_unordered_and_may_be_blank(revision: str) -> None:
    @resource("notes://recent{?limit,tag}")
    def recent(limit: int = 10, tag: str | None = None) -> str:
        return repr((limit, tag))

    missing = -32602 if revision == NEWEST else -32002
    async with connected(serving(recent), revision) as wire:
        assert await answer(wire, "notes://recent") == "(10, None)"
        assert await answer(wire, "notes://recent?tag=&limit=5") == "(5, '')"
        assert await answer(wire, "notes://recent?limit=5") == "(5, None)"
        assert await answer(wire, "notes://recent?limit=") == "(10, None)"
        for wrong in ("limit=5&limit=6", "limit=five", "other=1", "limit=5&other"):
            assert await answer(wire, f"notes://recent?{wrong}") == missing


@pytest.mark.fault(171)
async def test_a_dot_is_an_underscore_in_python_and_what_is_no_variable_or_a_twin_is_refused() -> None:
    async with connected(serving(echo("u://{user_id}/{a.b}", user_id=(int, ...), a_b=NEEDED))) as wire:
        [listed] = (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]
        assert listed["uriTemplate"] == "u://{user_id}/{a.b}"
        assert await answer(wire, "u://7/x") == "{'user_id': 7, 'a_b': 'x'}"
    with pytest.raises(DefinitionError, match=r"'u://\{user-id\}'.*'user-id' is no name of a variable"):
        serving(echo("u://{user-id}", user_id=NEEDED))
    with pytest.raises(DefinitionError, match="two variables stand for the parameter 'a_b'"):
        serving(echo("u://{a.b}/{a_b}", a_b=NEEDED))


@pytest.mark.fault(172)
async def test_literals_beyond_ascii_are_read_in_every_spelling() -> None:
    things = [echo("file:///docs/café/{name}", name=NEEDED), echo("my docs://{name}", name=NEEDED)]
    async with connected(serving(*things)) as wire:
        listed = (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]
        assert [each["uriTemplate"] for each in listed] == ["file:///docs/caf%C3%A9/{name}", "my%20docs://{name}"]
        for uri in ("file:///docs/café/ä", "file:///docs/caf%c3%a9/%C3%A4", "file:///docs/caf%C3%A9/ä"):
            result = (await wire.ask("resources/read", {"uri": uri}))["result"]
            assert result["contents"][0]["text"] == "{'name': 'ä'}"
        wire.traffic.clear()


@pytest.mark.fault(174)
@pytest.mark.parametrize("uri", ["x://{a", "x://a}", "x://{a}{b}", "x://{a}/{a}", "x://{}", "x://{a:3}"])
def test_a_malformed_template_is_refused_with_the_template_and_the_method(uri: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        serving(echo(uri, a=NEEDED, b=NEEDED))
    assert repr(uri) in str(caught.value)
    assert "asked" in str(caught.value)


@pytest.mark.fault(175)
def test_variables_and_parameters_are_compared_when_registered() -> None:
    with pytest.raises(DefinitionError, match=r"asked.*variable \{id\} has no parameter 'id'"):
        serving(echo("u://{id}", name=NEEDED))
    with pytest.raises(DefinitionError, match=r"asked.*parameter 'name' stands in no variable"):
        serving(echo("u://{id}", id=NEEDED, name=NEEDED))
    with pytest.raises(DefinitionError, match=r"asked.*query variable 'id'.*default"):
        serving(echo("u://x{?id}", id=NEEDED))
    serving(echo("u://{id}", id=NEEDED, name=OPTIONAL))


@pytest.mark.fault(270)
@pytest.mark.parametrize(
    "value", ["..%2F..%2Fetc%2Fpasswd", "%2e%2e/x", "..", "%2E", "a%00b", "a%5c..%5cb", "%ff", "%zz"]
)
async def test_a_value_that_leads_elsewhere_is_refused_before_the_method_runs(value: str) -> None:
    ran = []

    class Docs(Tool):
        @resource("file://docs/{name}")
        def one(self, name: str) -> str:
            ran.append(name)
            return name

        @resource("file://tree/{path*}")
        def tail(self, path: str) -> str:
            ran.append(path)
            return path

    async with connected(serving(Docs)) as wire:
        assert await answer(wire, f"file://docs/{value}") == -32002
        assert await answer(wire, f"file://tree/a/{value}") == -32002
        assert ran == []
        for fine in ("v1..v2", "a.tar.gz", "..."):
            assert await answer(wire, f"file://docs/{fine}") == fine
            assert await answer(wire, f"file://tree/{fine}/{fine}") == f"{fine}/{fine}"


async def test_variables_have_types_and_what_does_not_load_names_no_resource() -> None:
    @dataclass
    class Point:
        x: int

    @resource("x://{n}/{size}/{flag}{?ids*,point}")
    def asked(
        n: int, size: Size, flag: bool, ids: list[int] | None = None, point: Annotated[Point | None, "P"] = None
    ) -> str:
        return repr((n, size.value, flag, ids, point and point.x))

    @resource("y://{n}")
    def named(n: Annotated[int, Param(name="number")]) -> str:
        return repr(n)

    async with connected(serving(asked, named, strict_arguments=True)) as wire:
        assert await answer(wire, "x://3/s/true") == "(3, 's', True, None, None)"
        assert await answer(wire, "x://3/s/false?ids=1&ids=2") == "(3, 's', False, [1, 2], None)"
        assert await answer(wire, "x://3/s/0?point=%7B%22x%22:1%7D") == "(3, 's', False, None, 1)"
        assert await answer(wire, "y://7") == "7"
        for wrong in ("x://3.5/s/true", "x://3/m/true", "x://3/s/maybe", "x://3/s/true?ids=a", "y://seven"):
            assert await answer(wire, wrong) == -32002
        error = (await wire.ask("resources/read", {"uri": "y://seven"}))["error"]
        assert error["data"] == {"uri": "y://seven"}
        assert "number" in error["message"]


async def test_the_names_of_variables_follow_no_style() -> None:
    template = echo("x://{user_id}{?page_size}", user_id=NEEDED, page_size=OPTIONAL)
    for case in (Case.CAMEL, Case.PASCAL, Case.KEBAB, Case.SNAKE):
        async with connected(serving(template, serializer=SerializerConfig(case=case))) as wire:
            assert await answer(wire, "x://1?page_size=2") == "{'user_id': '1', 'page_size': '2'}"
            assert await answer(wire, "x://1?pageSize=2") == -32002


@pytest.mark.parametrize("reverse", [False, True])
async def test_the_most_specific_one_wins_whatever_the_order_and_nobody_else_is_asked(reverse: bool) -> None:
    def named(uri: str, name: str, given: str | None = None) -> Any:
        scope: dict[str, Any] = {}
        exec(f"def {name}({given or 'a'}: str, b: str = ''): return {name!r}", scope)
        return resource(uri)(scope[name])

    @resource("x://none/{a}")
    def none(a: str) -> None:
        return None

    things = [
        named("x://{a}", "simple"),
        named("x://{a*}", "tail"),
        named("x://pre-{a}", "literal"),
        named("x://{a}/{b}", "pair"),
        resource("x://exact", name="exact")(lambda: "exact"),
        none,
    ]
    async with connected(serving(*(reversed(things) if reverse else things))) as wire:
        assert await answer(wire, "x://exact") == "exact"
        assert await answer(wire, "x://ex%61ct") == "exact"
        assert await answer(wire, "x://pre-x") == "literal"
        assert await answer(wire, "x://1/2") == "pair"
        assert await answer(wire, "x://1/2/3") == "tail"
        assert await answer(wire, "x://none/1") == -32002  # the winner says no: no other is asked


async def test_the_first_of_equals_wins_and_disabled_ones_do_not_count() -> None:
    server = serving(echo("x://{a}", a=NEEDED), echo("x://{b}", b=NEEDED))
    async with connected(server) as wire:
        assert await answer(wire, "x://1") == "{'a': '1'}"
        server.disable("x://{a}")
        assert await answer(wire, "x://1") == "{'b': '1'}"
        server.enable("x://{a}")
        server.unregister("x://{b}")
        assert await answer(wire, "x://1") == "{'a': '1'}"


@each_revision
async def test_the_result_carries_the_requested_uri_and_none_is_not_found(revision: str) -> None:
    @resource("x://{a}")
    async def asked(a: str, ctx: Context) -> str | None:
        return None if a == "none" else f"{a} at {ctx.uri}"

    missing = -32602 if revision == NEWEST else -32002
    async with connected(serving(asked), revision) as wire:
        assert await answer(wire, "x://%61b") == "ab at x://%61b"
        error = (await wire.ask("resources/read", {"uri": "x://none"}))["error"]
        assert (error["code"], error["data"]) == (missing, {"uri": "x://none"})
        [listed] = (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]
        assert listed == {"uriTemplate": "x://{a}", "name": "asked"}
        assert (await wire.ask("resources/list"))["result"]["resources"] == []


async def test_an_error_of_the_method_keeps_its_code() -> None:
    @resource("x://{a}")
    def asked(a: str) -> str:
        raise ProtocolError("no", code=-5)

    async with connected(serving(asked)) as wire:
        assert (await wire.ask("resources/read", {"uri": "x://1"}))["error"] == {"code": -5, "message": "no"}


async def test_templates_are_listed_page_by_page() -> None:
    things = [echo(f"x{number}://{{a}}", a=NEEDED) for number in range(7)]
    async with connected(serving(*things, page_size=3), NEWEST) as wire:
        found: list[str] = []
        params: dict[str, Any] = {}
        for expected in (3, 3, 1):
            result = (await wire.ask("resources/templates/list", params))["result"]
            assert len(result["resourceTemplates"]) == expected
            found += [each["uriTemplate"] for each in result["resourceTemplates"]]
            params = {"cursor": result.get("nextCursor")}
        assert params == {"cursor": None}
        assert found == [f"x{number}://{{a}}" for number in range(7)]
        assert (await wire.ask("resources/templates/list", {"cursor": "x"}))["error"]["code"] == -32602


async def test_a_very_long_uri_holds_nobody_up() -> None:
    things = [echo(f"x://{{a}}-{number}/{{b*}}", a=NEEDED, b=NEEDED) for number in range(5)]
    async with connected(serving(*things)) as wire:
        begin = time.perf_counter()
        assert await answer(wire, "x://" + "-" * 200_000) == -32002
        assert time.perf_counter() - begin < 5


async def test_a_prefix_stands_before_prompts_and_never_before_uris() -> None:
    class Mixed(Tool, prefix="my"):
        @resource("x://{a}")
        def read(self, a: str) -> str:
            return a

        @prompt
        def ask(self) -> str:
            return "?"

    async with connected(serving(Mixed)) as wire:
        assert await answer(wire, "x://1") == "1"
        assert (await wire.ask("prompts/list"))["result"]["prompts"][0]["name"] == "my_ask"
