"""Input schemas: what a client reads there is what it may send, and a standard validator agrees with the server."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from types import FunctionType
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import jsonschema
import jsonschema_rs
import pytest
from annotated_types import Ge, Len
from marshmallow import validate
from pydantic import Field

from mcpconnect import DefinitionError, McpServer, Param, SerializerConfig, Tool, tool
from mcpconnect.serialization import EnumNames
from tests.interaction import postponed
from tests.interaction.seen import bare, seen
from tests.wire import NEWEST, REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)
structured_revisions = pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", NEWEST])
MISSING = object()


def offered(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of a function as the tool `t`, so that the function can be offered again."""
    copy = FunctionType(method.__code__, method.__globals__, "t", method.__defaults__, method.__closure__)
    copy.__kwdefaults__ = method.__kwdefaults__
    copy.__annotations__ = dict(method.__annotations__)
    copy.__doc__ = method.__doc__
    return tool(name="t")(copy)


async def input_schema(method: Callable[..., Any], **settings: Any) -> dict[str, Any]:
    """Return the input schema of a function; two independent validators can compile it."""
    made = await described(offered(method), **settings)
    schema: dict[str, Any] = made["t"]["inputSchema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert isinstance(schema.get("required", []), list)
    assert not {"anyOf", "oneOf", "allOf", "$ref", "not"} & set(schema)
    return schema


async def accepted(method: Callable[..., Any], *attempts: Any, **settings: Any) -> list[bool]:
    """Call a function with each of the arguments and return which the server takes; its schema says the same."""
    server = serving(offered(method), **settings)
    async with connected(server) as wire:
        schema = (await wire.tools())["t"]["inputSchema"]
        taken = [not (await wire.call("t", arguments)).get("isError", False) for arguments in attempts]
    if settings.get("strict_arguments"):
        validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        assert [validator.is_valid(arguments) for arguments in attempts] == taken
    return taken


@pytest.mark.fault(64)
@every_revision
async def test_a_tool_without_mandatory_parameters_requires_nothing(revision: str) -> None:
    def none() -> str: ...

    def defaults(a: int = 1, *, b: str | None = None) -> str: ...

    for method in (none, defaults):
        schema = await input_schema(method, revision=revision)
        assert schema.get("required", []) == []


@pytest.mark.fault(65)
@pytest.mark.fault(278)
@pytest.mark.parametrize("strict", [False, True])
async def test_an_optional_scalar_keeps_its_plain_type_and_takes_null(strict: bool) -> None:
    def t(
        a: bool | None = None,
        n: Optional[int] = None,  # noqa: UP045
        s: Union[str, None] = None,  # noqa: UP007
        d: Annotated[date | None, "when"] = None,
        must: int | None = 3,
    ) -> str:
        return f"{a!r} {n!r} {s!r} {d!r} {must!r}"

    schema = await input_schema(t)
    types = {name: made.get("type") for name, made in schema["properties"].items()}
    assert {**types, "must": None} == {"a": "boolean", "n": "integer", "s": "string", "d": "string", "must": None}
    assert schema.get("required", []) == []
    async with connected(serving(offered(t), strict_arguments=strict)) as wire:
        assert await wire.texts("t") == ["None None None None 3"]
        nothing = dict.fromkeys("ansd")
        assert await wire.texts("t", {**nothing, "must": None}) == ["None None None None None"]
        given = {"a": False, "n": 0, "s": "", "d": "2025-01-02", "must": 0}
        assert await wire.texts("t", given) == ["False 0 '' datetime.date(2025, 1, 2) 0"]
        as_text = await wire.call("t", {"n": "5", "a": "true"})
        assert as_text.get("isError", False) is strict


@pytest.mark.fault(66)
async def test_falsy_defaults_are_shown() -> None:
    def t(flag: bool = False, n: int = 0, s: str = "", x: float = 0.0, items: Sequence[int] = ()) -> str: ...

    schema = await input_schema(t)
    assert {name: made["default"] for name, made in schema["properties"].items()} == {
        "flag": False,
        "n": 0,
        "s": "",
        "x": 0.0,
        "items": [],
    }
    assert "required" not in schema


@pytest.mark.fault(67)
async def test_a_default_without_json_form_is_left_out_and_used() -> None:
    class Strange:
        def __repr__(self) -> str:
            return "strange"

    strange = Strange()

    def t(when: date = date(2025, 1, 1), x: Any = strange, y: int = strange) -> str:  # type: ignore[assignment]
        return f"{when} {x is strange} {y is strange}"

    properties = (await input_schema(t))["properties"]
    assert properties["when"]["default"] == "2025-01-01"
    assert "default" not in properties["x"]
    assert "default" not in properties["y"]
    async with connected(serving(offered(t))) as wire:
        assert await wire.texts("t") == ["2025-01-01 True True"]


@pytest.mark.fault(68)
async def test_keyword_only_defaults_survive_postponed_annotations() -> None:
    async with connected(serving(postponed.Postponed)) as wire:
        schema = (await wire.tools())["limited"]["inputSchema"]
        assert schema["properties"]["limit"] == {"type": "integer", "default": 5}
        assert schema["properties"]["title"] == {"type": "string", "title": "T", "default": "x"}
        assert "required" not in schema
        assert await wire.texts("limited") == ["5"]
        assert await wire.texts("limited", {"limit": 6}) == ["6"]


@pytest.mark.fault(69)
@pytest.mark.fault(70)
def test_parameters_that_no_name_reaches_are_refused_by_name() -> None:
    def positional(item_id: int, /) -> str: ...

    def several(*items: int) -> str: ...

    def keywords(**options: int) -> str: ...

    def both(first: int, *rest: Any, **more: Any) -> str: ...

    for method, parameter in ((positional, "item_id"), (several, "items"), (keywords, "options"), (both, "rest")):
        with pytest.raises(DefinitionError, match=rf"{method.__name__}: .*{parameter}"):
            McpServer("test").register(tool(method))


@pytest.mark.fault(71)
async def test_postponed_annotations_are_read_where_they_stand() -> None:
    async with connected(serving(postponed.Postponed)) as wire:
        schema = (await wire.tools())["choose"]["inputSchema"]
        assert schema["properties"] == {"q": {"type": "string", "enum": ["a", "b"], "description": "mode"}}
        assert schema["required"] == ["q"]
        assert await wire.texts("choose", {"q": "b"}) == ["b Context"]
        assert (await wire.call("choose", {"q": "c"}))["isError"] is True


@pytest.mark.fault(72)
async def test_a_type_that_only_checkers_see_is_an_error_for_a_parameter_and_none_for_a_result() -> None:
    with pytest.raises(DefinitionError, match=r"NeedsChecker\.method.*'x'.*Decimal"):
        McpServer("test").register(postponed.NeedsChecker)
    async with connected(serving(postponed.Postponed)) as wire:
        assert "outputSchema" not in (await wire.tools())["only_for_checkers"]
        assert await wire.texts("only_for_checkers") == ["5"]


@pytest.mark.fault(73)
async def test_later_and_local_classes_are_found() -> None:
    @dataclass
    class Local:
        local_id: int

    @tool
    def local(item: Local, items: Annotated[list[Local], "more"] = ()) -> Local:  # type: ignore[assignment]
        return item

    async with connected(serving(postponed.Postponed, local)) as wire:
        tools = await wire.tools()
        assert tools["later"]["outputSchema"]["properties"]["laterId"] == {"type": "integer"}
        assert (await wire.call("later", {"later": {"laterId": 2}}))["structuredContent"]["laterId"] == 2
        assert tools["local"]["inputSchema"]["required"] == ["item"]
        result = await wire.call("local", {"item": {"localId": 3}, "items": [{"localId": 4}]})
        assert result["structuredContent"] == {"localId": 3}


@pytest.mark.fault(73)
def test_a_local_class_that_a_text_names_is_found_or_its_parameter_is_told() -> None:
    with pytest.raises(DefinitionError, match=r"\blocal\b.*'item'.*'Local'.*unknown there"):
        McpServer("test").register(postponed.make_local_tool())


# -- nested types -----------------------------------------------------------------------------------------------------


class Kind(Enum):
    GOOD = "good"
    BAD = "bad"


@dataclass
class Item:
    kind: Kind
    item_id: int


@dataclass
class Order:
    items: list[Item]
    extra: Item | None = None


@dataclass
class Node:
    name: str
    children: list["Node"] = field(default_factory=list)


@pytest.mark.fault(74)
@every_revision
@pytest.mark.parametrize("refs", ["defs", "inline"])
async def test_every_reference_resolves_inside_the_schema(refs: str, revision: str) -> None:
    def t(order: Order, orders: dict[str, Order] | None = None, node: Node | None = None) -> str: ...

    schema = await input_schema(t, revision=revision, schema_refs=refs)
    order = {"items": [{"kind": "good", "itemId": 1}], "extra": {"kind": "bad", "itemId": 2}}
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate({"order": order, "orders": {"a": order}, "node": {"name": "a", "children": [{"name": "b"}]}})
    for wrong in (
        {"order": {"items": [{"kind": "ugly", "itemId": 1}]}},
        {"order": {"items": [{"kind": "good"}]}},
        {"order": order, "orders": {"a": {"items": 5}}},
    ):
        assert not validator.is_valid(wrong)
    assert '"$defs":' not in json.dumps(schema["properties"]), "definitions stand at the root"


@pytest.mark.fault(282)
async def test_definitions_may_be_inlined_with_the_same_meaning() -> None:
    def t(order: Order, other: Order | None = None) -> str: ...

    with_defs, inline = await input_schema(t), await input_schema(t, schema_refs="inline")
    assert "$ref" in json.dumps(with_defs)
    assert "$ref" not in json.dumps(inline)
    one_use = await input_schema(lambda_taking(Item))
    assert "$ref" not in json.dumps(one_use)
    item = {"kind": "good", "itemId": 1}
    for arguments in (
        {"order": {"items": [item]}},
        {"order": {"items": [5]}},
        {"order": {"items": [{**item, "x": 1}]}},
    ):
        assert jsonschema_rs.is_valid(with_defs, arguments) is jsonschema_rs.is_valid(inline, arguments)


def lambda_taking(annotation: Any) -> Callable[..., Any]:
    """Return a function with one parameter `x` of that type, which shows what it was given."""

    def takes(x: Any) -> str:
        return repr(x)

    takes.__annotations__["x"] = annotation
    return takes


@pytest.mark.fault(75)
@structured_revisions
async def test_references_of_a_wrapped_result_still_resolve(revision: str) -> None:
    @dataclass
    class User:
        node: Node
        other: Node

    user = User(Node("a", [Node("b")]), Node("c"))
    for value in (user, "text"):
        outcome = await seen(value, User | str, revision=revision)
        jsonschema.Draft202012Validator(outcome.schema).validate(outcome.structured)
        data = bare(outcome.structured, revision)
        assert data == value if isinstance(value, str) else data["node"]["children"][0]["name"] == "b"
    outcome = await seen([user], list[User], revision=revision)
    jsonschema.Draft202012Validator(outcome.schema).validate(outcome.structured)


@pytest.mark.fault(76)
@pytest.mark.fault(77)
@structured_revisions
@pytest.mark.parametrize("refs", ["defs", "inline"])
async def test_a_type_that_contains_itself_is_an_object_and_is_not_wrapped(refs: str, revision: str) -> None:
    outcome = await seen(Node("a", [Node("b")]), Node, revision=revision, server={"schema_refs": refs})
    assert outcome.schema["type"] == "object"
    assert "properties" in outcome.schema
    expected = {"name": "a", "children": [{"name": "b", "children": []}]}
    assert outcome.structured == outcome.data == expected
    jsonschema.Draft202012Validator(outcome.schema).validate(expected)


@dataclass
class Circle:
    r: float
    kind: Literal["circle"] = "circle"


@dataclass
class Square:
    r: float
    kind: Literal["square"] = "square"


@pytest.mark.fault(78)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("union", [Circle | Square, Square | Circle], ids=["circle-first", "square-first"])
async def test_tags_tell_the_members_of_a_union_apart(union: Any, strict: bool) -> None:
    method = lambda_taking(union)
    schema = await input_schema(method)
    assert "x" in schema["required"]
    for shape in schema["properties"]["x"]["anyOf"]:
        assert "kind" in shape["required"]
        assert shape["properties"]["kind"]["const"] in ("circle", "square")
    async with connected(serving(offered(method), strict_arguments=strict)) as wire:
        for kind, cls in (("circle", Circle), ("square", Square)):
            assert await wire.texts("t", {"x": {"r": 1.5, "kind": kind}}) == [repr(cls(1.5))]
    attempts = [{"x": {"r": 1.5}}, {"x": {"r": 1.5, "kind": "cube"}}, {"x": {"r": "a", "kind": "circle"}}, {"x": 5}]
    assert await accepted(method, *attempts, strict_arguments=strict) == [False] * 4


# -- names of parameters ----------------------------------------------------------------------------------------------

ODD_NAMES = [
    "title",
    "type",
    "items",
    "properties",
    "required",
    "default",
    "enum",
    "description",
    "additionalProperties",
]
ODD_NAMES += ["copy", "json", "dict", "schema", "validate", "load", "dump", "fields", "context", "opts", "ref", "anyOf"]
ODD_NAMES += [
    "name",
    "arguments",
    "params",
    "kwargs",
    "args",
    "cls",
    "data",
    "many",
    "partial",
    "model_config",
    "format",
]


@pytest.mark.fault(79)
@pytest.mark.fault(80)
@pytest.mark.fault(81)
@pytest.mark.parametrize("name", ODD_NAMES)
async def test_any_name_is_a_parameter(name: str) -> None:
    scope: dict[str, Any] = {"Annotated": Annotated, "Param": Param}
    code = f"def t({name}: Annotated[str, Param(title='T')], more: int = 1) -> str:\n    return {name}"
    exec(code, scope)
    wire_name = {"model_config": "modelConfig"}.get(name, name)
    schema = await input_schema(scope["t"])
    assert schema["properties"][wire_name] == {"type": "string", "title": "T"}
    assert schema["required"] == [wire_name]
    async with connected(serving(offered(scope["t"]))) as wire:
        assert await wire.texts("t", {wire_name: "text"}) == ["text"]
        assert wire_name in (await wire.texts("t", {}))[0]


@pytest.mark.fault(80)
@pytest.mark.fault(81)
async def test_any_name_is_a_member_also_one_with_a_dollar() -> None:
    @dataclass
    class Odd:
        ref: Annotated[str, Param(name="$ref")]
        type: str
        properties: dict[str, int]
        fields: list[str]
        dump: int = 0
        load: int = 0
        Meta: int = 0

    class Echo(Tool):
        @tool
        def echo(self, odd: Odd) -> Odd:
            return odd

        @tool
        def several(self, copy: float, json: dict, dict: list, schema: str, validate: bool) -> str:  # type: ignore[type-arg]
            return f"{copy} {json} {dict} {schema} {validate}"

    odd = {
        "$ref": "#/$defs/X",
        "type": "object",
        "properties": {"a": 1},
        "fields": ["x"],
        "dump": 1,
        "load": 2,
        "meta": 3,
    }
    async with connected(serving(Echo)) as wire:
        made = await wire.tools()
        assert list(made["echo"]["inputSchema"]["properties"]["odd"]["properties"]) == list(odd)
        assert (await wire.call("echo", {"odd": odd}))["structuredContent"] == odd
        arguments = {"copy": 1.5, "json": {"a": 1}, "dict": [1], "schema": "s", "validate": True}
        assert list(made["several"]["inputSchema"]["properties"]) == list(arguments)
        assert await wire.texts("several", arguments) == ["1.5 {'a': 1} [1] s True"]


@pytest.mark.fault(82)
async def test_a_leading_underscore_goes_or_is_told() -> None:
    def t(_limit: int = 3, __secret: int = 4) -> str:
        return f"{_limit} {__secret}"

    async with connected(serving(offered(t))) as wire:
        names = list((await wire.tools())["t"]["inputSchema"]["properties"])
        assert names == ["limit", "secret"]
        assert await wire.texts("t", {"limit": 5}) == ["5 4"]


# -- descriptions and constraints -------------------------------------------------------------------------------------


@pytest.mark.fault(83)
@pytest.mark.parametrize("strict", [False, True])
async def test_each_listed_value_of_an_enum_is_accepted_and_nothing_else(strict: bool) -> None:
    @EnumNames("stop", "go")
    class Light(Enum):
        RED = 1
        GREEN = 2

    class Mixed(Enum):
        TEXT = "t"
        NUMBER = 3
        NONE = None

    for annotation, config in (
        (Light, SerializerConfig()),
        (Kind, SerializerConfig()),
        (Kind, SerializerConfig(enum_as="name")),
        (Mixed, SerializerConfig()),
        (Literal["a", 1, None], SerializerConfig()),
    ):
        method = lambda_taking(annotation)
        values = (await input_schema(method, serializer=config))["properties"]["x"]["enum"]
        members = [repr(member) for member in annotation] if isinstance(annotation, type) else ["'a'", "1", "None"]
        server = serving(offered(method), serializer=config, strict_arguments=strict)
        async with connected(server) as wire:
            assert [(await wire.texts("t", {"x": value}))[0] for value in values] == members
            for wrong in ("nonsense", 99, [], {}, 1.5, True):
                assert (await wire.call("t", {"x": wrong}))["isError"] is True


@pytest.mark.fault(84)
async def test_a_bare_text_in_annotated_is_the_description() -> None:
    def t(
        n: Annotated[int, "how many"],
        nested: list[Annotated[int, "one of them"]],
        best: Annotated[Annotated[int, "inner"], "outer"] = 1,
        optional: Annotated[int | None, "maybe"] = None,
        said: Annotated[int, Param(description="said")] = 1,
        foreign: Annotated[int, Field(description="foreign")] = 1,
    ) -> str: ...

    properties = (await input_schema(t))["properties"]
    texts = {name: made.get("description") for name, made in properties.items()}
    assert texts == {
        "n": "how many",
        "nested": None,
        "best": "outer",
        "optional": "maybe",
        "said": "said",
        "foreign": "foreign",
    }
    assert properties["nested"]["items"]["description"] == "one of them"


GOOGLE = """Find rows.

    Args:
        first: The first one,
            and its second line.
        second (int): The other.
    """
NUMPY = """Find rows.

    Parameters
    ----------
    first : str
        The first one,
        and its second line.
    second : int
        The other.
    """
REST = """Find rows.

    :param first: The first one,
        and its second line.
    :param int second: The other.
    """


@pytest.mark.fault(85)
@every_revision
@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
async def test_texts_of_a_docstring_reach_their_parameters_once(docstring: str, revision: str) -> None:
    def t(first: str, second: int, third: Annotated[int, "explicit"] = 1) -> str: ...

    t.__doc__ = docstring + ("    third: From the docstring.\n" if docstring is GOOGLE else "")
    made = (await described(offered(t), revision=revision))["t"]
    properties = made["inputSchema"]["properties"]
    assert made["description"] == "Find rows."
    assert properties["first"]["description"].split() == ["The", "first", "one,", "and", "its", "second", "line."]
    assert "    " not in properties["first"]["description"]
    assert properties["second"]["description"] == "The other."
    assert properties["third"]["description"] == "explicit"


@pytest.mark.fault(86)
@pytest.mark.parametrize(
    "constraint",
    [validate.Length(min=1), validate.Regexp("a"), Len(1), Field(min_length=1), Field(pattern="a"), validate.Email()],
    ids=lambda constraint: type(constraint).__name__,
)
def test_a_constraint_that_does_not_fit_is_refused(constraint: Any) -> None:
    def t(n: int) -> str: ...

    t.__annotations__["n"] = Annotated[int, constraint]
    with pytest.raises(DefinitionError, match=r"'n'"):
        McpServer("test").register(offered(t))
    t.__annotations__["n"] = list[Annotated[int | None, constraint]]
    with pytest.raises(DefinitionError, match=r"'n'"):
        McpServer("test").register(offered(t))


@pytest.mark.fault(86)
@pytest.mark.parametrize("strict", [False, True])
async def test_a_constraint_that_fits_is_published_and_tested(strict: bool) -> None:
    def t(
        n: Annotated[int, validate.Range(min=1, max=5)] = 1,
        s: Annotated[str, validate.Length(min=2)] = "ab",
        p: Annotated[str, validate.Regexp("^a+$")] = "a",
        o: Annotated[int, Ge(3)] = 3,
        items: Annotated[list[int], Len(1, 2)] = (1,),  # type: ignore[assignment]
        maybe: Annotated[int | None, validate.Range(min=1)] = None,
        one: Annotated[str, validate.OneOf(["x", "y"])] = "x",
    ) -> str:
        return "fine"

    right = [{"n": 5}, {"s": "ab"}, {"p": "aa"}, {"o": 3}, {"items": [1, 2]}, {"maybe": 1}, {"one": "y"}]
    wrong = [{"n": 6}, {"s": "a"}, {"p": "b"}, {"o": 2}, {"items": []}, {"maybe": 0}, {"one": "z"}]
    taken = await accepted(t, *right, *wrong, strict_arguments=strict)
    assert taken == [True] * len(right) + [False] * len(wrong)
    properties = (await input_schema(t))["properties"]
    assert (properties["n"]["minimum"], properties["n"]["maximum"]) == (1, 5)
    assert properties["s"]["minLength"] == 2


@pytest.mark.fault(87)
async def test_an_optional_list_keeps_the_type_of_its_items() -> None:
    def t(tags: list[str] | None = None, more: list[str] | None = (), one: dict[str, list[int]] | None = None) -> str:  # type: ignore[assignment]
        return repr(tags)

    properties = (await input_schema(t))["properties"]
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["more"]["anyOf"] == [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
    assert properties["one"]["additionalProperties"] == {"type": "array", "items": {"type": "integer"}}
    async with connected(serving(offered(t))) as wire:
        assert await wire.texts("t", {"tags": None}) == ["None"]
        assert await wire.texts("t", {"tags": ["a"]}) == ["['a']"]
        assert (await wire.call("t", {"tags": [1]}))["isError"] is True


@pytest.mark.fault(88)
@every_revision
async def test_the_schema_says_whether_other_arguments_are_refused(revision: str) -> None:
    class Record(TypedDict):
        x: int

    def t(record: Record | None = None) -> str: ...

    for extra, closed in (("refuse", True), ("ignore", False)):
        schema = await input_schema(t, revision=revision, extra_arguments=extra)
        assert (schema.get("additionalProperties") is False) is closed
        attempts = [{}, {"unknown": 1}, {"record": {"x": 1}}, {"record": {"x": 1, "unknown": 1}}]
        taken = await accepted(t, *attempts, extra_arguments=extra, strict_arguments=True)
        assert taken == [True, not closed, True, not closed]


LISTING = """
import sys
from tests.interaction.test_schemas import Order, Node, Circle, Square, Kind
from mcpconnect import McpServer, tool
server = McpServer("list")
@server.register
@tool
def t(order: Order, node: Node | None = None, shape: Circle | Square | None = None, kinds: set[Kind] = frozenset()) -> Order: ...
server.run()
"""


@pytest.mark.fault(89)
async def test_lists_are_the_same_bytes_each_time_for_each_server_and_in_each_process() -> None:
    class Shared(Tool):
        @tool
        def one(self, order: Order, node: Node | None = None) -> Order: ...

        @tool
        def two(self, order: Order) -> Node: ...

    lists = set()
    for _ in range(2):
        async with connected(serving(Shared)) as wire:
            for _ in range(3):
                await wire.ask("tools/list", id="list")
                lists.add([data for sender, data in wire.traffic if sender == "server"][-1])
    assert len(lists) == 1


@pytest.mark.fault(89)
def test_lists_do_not_depend_on_the_process() -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", LISTING],
            input="".join(json.dumps(line) + "\n" for line in lines),
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert '"tools":[{' in outputs.pop()


@pytest.mark.fault(90)
@every_revision
async def test_what_is_not_set_is_absent(revision: str) -> None:
    def t(n: int = 1, s: str | None = None) -> str: ...

    server = serving(offered(t))
    async with connected(server, revision) as wire:
        answer = await wire.ask("tools/list")
        assert "nextCursor" not in answer["result"]
        assert set(answer["result"]["tools"][0]) == {"name", "inputSchema"}
        for sender, data in wire.traffic:
            assert sender == "client" or b"null" not in data


@pytest.mark.fault(91)
async def test_binary_parameters_are_base64() -> None:
    def t(data: bytes, more: list[bytes] | None = None) -> str:
        return data.hex() + ("" if more is None else more[0].hex())

    properties = (await input_schema(t))["properties"]
    assert properties["data"] == {"type": "string", "contentEncoding": "base64"}
    assert properties["more"]["items"] == {"type": "string", "contentEncoding": "base64"}
    async with connected(serving(offered(t))) as wire:
        assert await wire.texts("t", {"data": "+/8=", "more": ["AA=="]}) == ["fbff00"]
        assert await wire.texts("t", {"data": "data:text/plain;base64,+/8="}) == ["fbff"]
        for bad in ("not base64!", "A", "AA=", "+/8", 5, None, ["AA=="]):
            result = await wire.call("t", {"data": bad})
            assert result["isError"] is True
            assert result["content"][0]["text"].startswith("data: ")


@pytest.mark.fault(274)
def test_references_that_lead_outside_are_refused_at_registration() -> None:
    outside = {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/x"}}}
    file = {"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}}
    for schema in (outside, file):
        for options in ({"input_schema": schema}, {"output_schema": schema}):

            @tool(**options)
            def t(x: Any = None) -> dict[str, Any]: ...

            with pytest.raises(DefinitionError, match=r"does not compile.*outside"):
                McpServer("test").register(t)


@pytest.mark.fault(280)
async def test_a_union_never_reaches_the_root() -> None:
    for annotation in (int | str, Circle | Square, Circle | Square | None, list[int] | dict[str, int], Any):
        schema = await input_schema(lambda_taking(annotation))
        assert list(schema["properties"]) == ["x"]


async def test_a_mapping_parameter_is_an_object_of_its_values() -> None:
    def t(rows: Mapping[str, Circle]) -> str:
        return repr(rows)

    circle = {"r": 1, "kind": "circle"}
    taken = await accepted(t, {"rows": {"a": circle}}, {"rows": {"a": 1}}, {"rows": []}, strict_arguments=True)
    assert taken == [True, False, False]
