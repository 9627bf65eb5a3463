"""Reading containers, unions and keys; the compiled loader and marshmallow side by side."""

import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import (
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
    Set,
)
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import pytest
from marshmallow import validate
from typing_extensions import TypeAliasType

from mcpconnect.errors import LoadError
from mcpconnect.serialization import Serializer


class Level(IntEnum):
    LOW = 1


class Colour(Enum):
    RED = "r"


class Tags(list[str]):
    pass


class Scores(dict[str, int]):
    pass


def both_ways(annotation: Any, data: Any, *, strict: bool = False) -> Any:
    """Load with the compiled loader in front and with marshmallow alone, and compare."""
    serializer = Serializer()
    node = serializer.plan(annotation)
    outcomes = []
    for load in (serializer._loader.load, serializer._loader.load_slowly):
        try:
            outcomes.append(load(node, data, strict=strict))
        except LoadError as error:
            outcomes.append(error.problems)
    fast, slow = outcomes
    assert type(fast) is type(slow)
    assert fast == slow or isinstance(fast, (Iterator, map))
    return fast


@pytest.mark.parametrize(
    ("annotation", "made"),
    [
        (list[int], [1, 2]), (Sequence[int], [1, 2]), (MutableSequence[int], [1, 2]), (Iterable[int], [1, 2]),
        (Collection[int], [1, 2]), (tuple[int, ...], (1, 2)), (set[int], {1, 2}), (MutableSet[int], {1, 2}),
        (frozenset[int], frozenset({1, 2})), (Set[int], frozenset({1, 2})), (deque[int], deque([1, 2])), (tuple[int, int], (1, 2)),
        (list, [1, 2]), (tuple, (1, 2)), (set, {1, 2}),
    ],
)  # fmt: skip
def test_every_kind_of_list(annotation: Any, made: Any) -> None:
    for strict in (True, False):
        loaded = both_ways(annotation, [1, 2], strict=strict)
        assert (loaded, type(loaded)) == (made, type(made))
    assert both_ways(annotation, "[1,2]") == made
    assert both_ways(annotation, "x")[0][1].startswith("expected a list")


@pytest.mark.parametrize("annotation", [Iterator[int], Generator[int, None, None]])
def test_an_iterator_is_one_over_the_loaded_items(annotation: Any) -> None:
    assert list(both_ways(annotation, [1, 2])) == [1, 2]
    assert list(Serializer().load(annotation, ["1"])) == [1]


@pytest.mark.parametrize(
    ("annotation", "made"),
    [
        (dict[str, int], {"a": 1}), (Mapping[str, int], {"a": 1}), (MutableMapping[str, int], {"a": 1}), (dict, {"a": 1}),
        (OrderedDict[str, int], OrderedDict(a=1)), (Counter[str], Counter(a=1)), (Scores, Scores(a=1)), (Counter, Counter(a=1)),
    ],
)  # fmt: skip
def test_every_kind_of_map(annotation: Any, made: Any) -> None:
    loaded = both_ways(annotation, {"a": 1})
    assert (loaded, type(loaded)) == (made, type(made))
    assert both_ways(annotation, '{"a":1}') == made


def test_a_defaultdict_and_a_subclass_of_list() -> None:
    loaded = both_ways(defaultdict[str, list[int]], {"a": [1]})
    assert (loaded, type(loaded)) == ({"a": [1]}, defaultdict)
    assert type(both_ways(Tags, ["a"])) is Tags
    assert both_ways(Tags, [1]) == (("[0]", "expected text, got the number 1"),)


@pytest.mark.parametrize(
    ("key", "text", "made"),
    [
        (str, "1", "1"), (int, "-5", -5), (float, "1.50", 1.5), (float, "3", 3.0), (bool, "true", True), (None, "null", None),
        (UUID, str(UUID(int=1)), UUID(int=1)), (date, "2000-01-02", date(2000, 1, 2)), (Decimal, "1.50", Decimal("1.50")),
        (Level, "1", Level.LOW), (Colour, "r", Colour.RED), (Literal["a", 1], "1", 1), (Any, "1", "1"), (int | str, "1", "1"),
        (int | None, "null", None), (bytes, "QQ==", b"A"),
    ],
)  # fmt: skip
def test_keys_are_read_from_their_text(key: Any, text: str, made: Any) -> None:
    assert both_ways(dict[key, int], {text: 1}) == {made: 1}


@pytest.mark.parametrize(
    ("key", "text"), [(int, "1.0"), (int, "01"), (int, " 1"), (bool, "True"), (Level, "1.0"), (date, "x")]
)
def test_a_key_in_another_spelling_is_refused(key: Any, text: str) -> None:
    ((path, reason),) = both_ways(dict[key, int], {text: 1})
    assert path.strip("[]'").endswith(text)
    assert reason.startswith("expected ")


def test_keys_that_mean_the_same_and_keys_that_are_no_text() -> None:
    assert both_ways(dict[float, int], {"1": 1, "1.0": 2}) == (("", "two keys mean the same"),)
    assert both_ways(dict[str, int], {1: 1}) == (("[1]", "a key is text, got 1"),)


def test_items_of_a_set_differ_in_strict_mode_and_are_merged_in_lenient_mode() -> None:
    assert both_ways(set[int], [1, 1]) == {1}
    assert both_ways(set[int], [1, 1.0], strict=True) == (("", "the items must differ from each other"),)
    assert both_ways(set[bool | int], [True, 1], strict=True) == {True}
    assert both_ways(set[tuple[int, ...]], [[1], [1, 2]], strict=True) == {(1,), (1, 2)}
    assert both_ways(set[tuple[int, ...]], [[1], [1.0]], strict=True) == (
        ("", "the items must differ from each other"),
    )
    assert both_ways(set[Any], [{"a": 1}]) == (("", "the items cannot be in a set"),)


class Cat(TypedDict):
    lives: int


@pytest.mark.parametrize(
    ("union", "data", "value"),
    [
        (int | float, 3, 3), (float | int, 3, 3), (int | float, 3.0, 3.0), (int | float, "3", 3), (float | int, "3", 3.0),
        (int | bool, True, True), (bool | int, 1, 1), (bool | int, "1", True), (int | str, "1", "1"), (int | list[int], "[1]", [1]),
        (date | str, "2000-01-02", date(2000, 1, 2)), (str | date, "2000-01-02", "2000-01-02"), (list[int] | list[float], [1, 2.5], [1.0, 2.5]),
        (list[float] | list[int], [1, 2], [1.0, 2.0]), (dict[str, int] | list[int], {"a": 1}, {"a": 1}), (Cat | dict[str, str], {"lives": 9}, {"lives": 9}),
        (Cat | dict[str, str], {"lives": "x"}, {"lives": "x"}), (int | Any, "1", "1"), (Literal[1] | Literal["1"], "1", "1"),
        (Annotated[int, validate.Range(max=5)] | float, 7, 7.0), (Colour | Level | None, None, None), (int | None, "7", 7),
    ],
)  # fmt: skip
def test_what_takes_a_value_exactly_wins(union: Any, data: Any, value: Any) -> None:
    loaded = both_ways(union, data)
    assert (loaded, type(loaded)) == (value, type(value))


def test_a_union_tells_about_the_only_member_that_could_be_meant() -> None:
    @dataclass
    class Row:
        a: int

    assert both_ways(Row | str, {"a": "x"}) == (("a", 'expected an integer, got text "x"'),)
    assert both_ways(list[int] | str, [1, "x"]) == (("[1]", 'expected an integer, got text "x"'),)
    assert both_ways(Row | None, []) == (("", "expected an object or null, got a list"),)


@dataclass
class Circle:
    size: int
    kind: Literal["circle"] = "circle"


@dataclass
class Square:
    size: int
    kind: Literal["square"] = "square"


def test_a_tag_counts_in_json_text_too() -> None:
    union = Circle | Square
    assert both_ways(union, '{"size":"1","kind":"square"}') == Square(1)
    assert both_ways(union, {"size": "1", "kind": "square"}) == Square(1)
    assert both_ways(union, {"size": "x", "kind": "square"}) == (("size", 'expected an integer, got text "x"'),)
    assert both_ways(union, {"size": 1}) == (("kind", 'missing; expected one of "circle", "square"'),)
    assert both_ways(union, {"size": 1, "kind": []}) == (("kind", 'expected one of "circle", "square", got a list'),)
    assert both_ways(union, '{"size":1}')[0][1].startswith("expected an object, got text")
    assert both_ways(union, "{")[0][1].startswith("expected an object, got text")


def test_a_constraint_is_checked_by_both_loaders_and_never_on_null() -> None:
    annotation = Annotated[int | None, validate.Range(min=1)]
    assert both_ways(annotation, None) is None
    assert both_ways(annotation, 1) == 1
    assert both_ways(annotation, 0) == (("", "Must be greater than or equal to 1, got the number 0"),)
    inner = dict[str, Annotated[list[Annotated[str, validate.Length(max=2)]], validate.Length(min=1)]]
    assert both_ways(inner, {"a": ["abc"], "b": []}) == (
        ("a[0]", 'Longer than maximum length 2, got text "abc"'),
        ("b", "Shorter than minimum length 1, got 0 items"),
    )


@pytest.mark.parametrize(
    ("annotation", "data", "reason"),
    [
        (Annotated[int, validate.Range(max=9)], 10, "Must be less than or equal to 9, got the number 10"),
        (Annotated[Decimal, validate.Range(min=Decimal(1))], "0.50", "Must be greater than or equal to 1, got the number 0.50"),
        (Annotated[str, validate.Length(equal=3)], "ab", 'Length must be 3, got text "ab"'),
        (Annotated[bytes, validate.Length(max=1)], "YWI=", "Longer than maximum length 1, got 2 bytes"),
        (Annotated[list[int], validate.Length(max=0)], [1], "Longer than maximum length 0, got 1 item"),
        (Annotated[str, validate.Regexp("[a-z]+$")], "A", 'must match the pattern [a-z]+$, got text "A"'),
        (Annotated[str, validate.OneOf(["a", "b"])], "c", 'Must be one of: a, b, got text "c"'),
        (Annotated[str, validate.NoneOf(["a", "b"])], "a", 'must be none of: a, b, got text "a"'),
        (Annotated[str, validate.Email()], "a@", 'Not a valid email address, got text "a@"'),
        (Annotated[date, validate.Range(min=date(2026, 1, 1))], "2025-12-31", "Must be greater than or equal to 2026-01-01, got 2025-12-31"),
        (Annotated[int, validate.And(validate.Range(min=1), validate.Range(max=9))], 0, "Must be greater than or equal to 1, got the number 0"),
        (Annotated[int, validate.Range(min=1, error="At least one, please.")], 0, "At least one, please."),
        (Annotated[str, validate.Regexp("a", error="No {input}!")], "b", "No b!"),
    ],
)  # fmt: skip
def test_a_constraint_says_what_it_wants_and_what_came_unless_its_author_says_it(
    annotation: Any, data: Any, reason: str
) -> None:
    assert both_ways(annotation, data) == (("", reason),)


Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | bool | None")
Nest = TypeAliasType("Nest", "Annotated[list[Nest], validate.Length(max=2)]")


def test_recursive_aliases_are_read_by_both_loaders() -> None:
    assert both_ways(Json, {"a": [1, {"b": None}]}) == {"a": [1, {"b": None}]}
    assert both_ways(Json, {"a": [1, {"b": 1.5}]}) == (("a[1].b", "expected an integer, got the number 1.5"),)
    assert both_ways(Nest, [[], "[]"]) == [[], []]
    assert both_ways(Nest, [[[], [], []]]) == (("[0]", "Longer than maximum length 2, got 3 items"),)


def test_mappings_that_are_no_dict_are_refused() -> None:
    assert both_ways(dict[str, int], types.MappingProxyType({"a": 1}))[0][1].startswith(
        "expected an object, got a value"
    )


def test_generated_source_stands_in_tracebacks() -> None:
    import traceback

    @dataclass
    class Row:
        a: int

        def __getattribute__(self, name: str) -> Any:
            if name == "a":
                raise KeyboardInterrupt
            return object.__getattribute__(self, name)

    with pytest.raises(KeyboardInterrupt) as caught:
        Serializer().dump(Row(1))
    assert "m0 = v.a" in "".join(traceback.format_exception(caught.value))
