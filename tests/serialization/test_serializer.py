"""The serializer as a whole: its methods, what it imports and when, many threads."""

import dataclasses
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

import pytest
from marshmallow import validate

from mcpconnect.errors import DefinitionError, LoadError, SerializationError
from mcpconnect.serialization import Case, CustomSerializer, Include, Rule, Serializer, SerializerConfig, Visibility
from mcpconnect.serialization.plan import NoteNode, RecordNode, UnionNode, bare


@dataclass
class Item:
    item_id: int
    names: list[str] = field(default_factory=list)


def fresh_python(code: str) -> str:
    """Run code in a new interpreter and return what it prints."""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_dump_and_load_of_values_and_texts() -> None:
    serializer = Serializer()
    item = Item(1, ["a"])
    assert serializer.dump(item) == {"itemId": 1, "names": ["a"]}
    assert serializer.dumps(item) == serializer.writer(Item)(item) == b'{"itemId":1,"names":["a"]}'
    assert serializer.load(Item, {"itemId": 1, "names": ["a"]}) == item
    assert (
        serializer.loads(Item, '{"itemId":1,"names":["a"]}')
        == serializer.loads(Item, b'{"itemId":1,"names":["a"]}')
        == item
    )
    assert serializer.writer(Item) is serializer.writer(Item)
    with pytest.raises(LoadError, match="this is no JSON text"):
        serializer.loads(Item, b"{")


def test_strict_is_a_setting_that_a_call_may_replace() -> None:
    assert Serializer().load(int, "1") == 1
    assert Serializer(SerializerConfig(strict=True)).load(int, "1", strict=False) == 1
    for serializer, options in ((Serializer(SerializerConfig(strict=True)), {}), (Serializer(), {"strict": True})):
        with pytest.raises(LoadError):
            serializer.load(int, "1", **options)


def test_unknown_members_are_refused_unless_told_otherwise() -> None:
    data = {"itemId": 1, "zz": 2}
    with pytest.raises(LoadError, match=r'^zz: unknown name; known names: "itemId", "names"$'):
        Serializer().load(Item, data)
    assert Serializer().load(Item, data, extra="ignore") == Item(1)
    assert Serializer().loads(Item, b'{"itemId":1,"zz":2}', extra="ignore") == Item(1)


def test_plans_are_trees_of_nodes_and_kept() -> None:
    serializer = Serializer()
    node = serializer.plan(Annotated[Item | None, "an item"])
    assert isinstance(node, NoteNode)
    union = bare(node)
    assert isinstance(union, UnionNode)
    assert union.nullable
    assert isinstance(bare(union.members[0]), RecordNode)
    assert serializer.plan(Item) is serializer.plan(Item)
    assert serializer.plan(list[Item]) is serializer.plan(list[Item])


def test_the_order_of_a_union_counts_although_python_thinks_otherwise() -> None:
    serializer = Serializer()
    assert list[int | float] == list[float | int]
    assert [bare(n).kind for n in serializer.plan(list[int | str]).item.members] == ["int", "str"]  # type: ignore[attr-defined]
    assert [bare(n).kind for n in serializer.plan(list[str | int]).item.members] == ["str", "int"]  # type: ignore[attr-defined]


def test_a_definition_error_names_the_place_inside_the_type() -> None:
    @dataclass
    class Holder:
        calls: list[Callable[[], int]]

    with pytest.raises(DefinitionError, match=r"^Holder\.calls\[\]: .*Callable.* has no JSON form$"):
        Serializer().plan(Holder)


def test_a_configuration_is_frozen_and_copies_what_it_is_given() -> None:
    ignore = {"a"}
    rules = {Item: Rule(case=Case.SNAKE)}
    config = SerializerConfig(ignore=ignore, rules=rules)
    ignore.add("b")
    rules.clear()
    assert (config.ignore, dict(config.rules)) == ({"a"}, {Item: Rule(case=Case.SNAKE)})
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.case = Case.SNAKE  # type: ignore[misc]
    assert config.replace(case=Case.PASCAL).case is Case.PASCAL
    assert config.case is Case.CAMEL
    assert Serializer().config == SerializerConfig()


@pytest.mark.parametrize(
    ("setting", "value"), [("enum_as", "ordinal"), ("decimal_as", "float"), ("non_finite", "nan"), ("big_ints", "x")]
)
def test_a_setting_outside_its_choices_is_refused(setting: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"SerializerConfig.{setting} must be one of"):
        SerializerConfig(**{setting: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("case", "camel"), ("argument_case", 5), ("include", "not-none"), ("visibility", {"public"}), ("members", [5]),
        ("rules", {"Item": Rule()}), ("serializers", {"Item": CustomSerializer(str)}), ("indent", "  "), ("indent", -1),
    ],
)  # fmt: skip
def test_a_setting_of_another_kind_is_refused_at_once(setting: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=f"SerializerConfig.{setting} must"):
        SerializerConfig(**{setting: value})


def test_one_text_is_no_list_of_names() -> None:
    with pytest.raises(TypeError, match="ignore is a collection of names"):
        SerializerConfig(ignore="name")


def test_the_defaults_are_those_of_the_design() -> None:
    config = SerializerConfig()
    assert config.case is Case.CAMEL
    assert config.visibility == {Visibility.PUBLIC}
    assert config.include is Include.ALWAYS
    assert (config.enum_as, config.decimal_as, config.datetime_format) == ("value", "text", "iso")
    assert (config.non_finite, config.big_ints, config.strict, config.indent) == ("error", "exact", False, None)


def test_marshmallow_is_imported_when_data_first_needs_a_closer_look() -> None:
    code = """
import sys
from dataclasses import dataclass
from mcpconnect.serialization import Serializer
@dataclass
class Row:
    a: int
s = Serializer()
def f(row: Row, n: int = 1): ...
p = s.parameters(f)
p.json_schema()
assert p.load({"row": {"a": 1}}) == {"row": Row(1)}
assert s.loads(Row, s.dumps(Row(1))) == Row(1)
others = ["marshmallow", "pydantic", "attr", "attrs", "annotated_types", "PIL", "jsonschema_rs", "yaml"]
print([name for name in others if name in sys.modules])
p.load({"row": {"a": "1"}})
print("marshmallow" in sys.modules)
"""
    assert fresh_python(code).splitlines() == ["[]", "True"]


def test_hundreds_of_signatures_are_looked_at_quickly() -> None:
    def make() -> Callable[..., Any]:
        def f(city: str, days: int = 3, unit: str = "celsius", verbose: bool = False) -> dict[str, float]:
            return {}

        return f

    functions = [make() for _ in range(500)]
    serializer = Serializer()
    start = time.perf_counter()
    for function in functions:
        serializer.parameters(function)
    # About 30 ms on a slow machine; ten times that leaves room for a busy one and still fails if anything is compiled.
    assert time.perf_counter() - start < 0.3


T = TypeVar("T")


@dataclass
class Node(Generic[T]):
    value: T
    price: float = 1.5
    children: "list[Node[T]]" = field(default_factory=list)
    other: "Node[T] | Item | None" = None


def test_one_serializer_is_used_by_many_threads_at_once() -> None:
    def pay(node: Node[int], amount: Annotated[int, validate.Range(min=1)]) -> None: ...

    value = Node(1, children=[Node(2), Node(3, other=Item(4))])
    expected = Serializer().dump(value, Node[int])
    for _ in range(20):
        serializer = Serializer()
        barrier = threading.Barrier(8)

        def work(serializer: Serializer = serializer, barrier: threading.Barrier = barrier) -> None:
            barrier.wait(10)
            assert serializer.dump(value, Node[int]) == expected
            assert serializer.loads(Any, serializer.dumps(value)) == expected
            assert serializer.load(Node[int], expected) == value
            assert serializer.load(list[Node[int]], [{"value": "5"}])[0].value == 5
            loaded = serializer.parameters(pay).load({"node": expected, "amount": "2"})
            assert loaded == {"node": value, "amount": 2}
            assert serializer.json_schema(Node[int])["type"] == "object"

        with ThreadPoolExecutor(8) as pool:
            for future in [pool.submit(work) for _ in range(8)]:
                future.result(30)


def test_annotations_made_anew_for_each_call_do_not_fill_the_memory() -> None:
    serializer = Serializer()
    for _ in range(5000):
        serializer.dump([1], list[int])
    assert len(serializer._dumpers) <= 4097


def test_data_nested_too_deeply_is_an_error_of_the_data() -> None:
    @dataclass
    class Link:
        next: "Link | None" = None

    Link.__annotations__["next"] = Link | None
    deep: Any = {}
    for _ in range(10_000):
        deep = {"next": deep}
    with pytest.raises(LoadError, match="nested too deeply"):
        Serializer().load(Link, deep)
    while deep:
        deep = deep.pop("next", None)


def test_errors_carry_the_path_and_nothing_is_half_made() -> None:
    with pytest.raises(SerializationError) as caught:
        Serializer().dumps({"items": [{"price": 1.0}, {"price": float("nan")}]})
    assert (caught.value.path, caught.value.reason) == ("$.items[1].price", "nan is no JSON number")
