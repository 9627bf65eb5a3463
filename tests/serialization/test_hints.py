"""Questions about annotations (`mcpconnect._typing`): evaluation where they were written, aliases, type parameters."""

import functools
import typing
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, NewType, Optional, Required, TypeVar, Union

import pytest
from typing_extensions import ReadOnly, TypeAliasType

from mcpconnect._typing import (
    Unresolved,
    alias_value,
    class_of,
    has_qualifier,
    is_optional,
    is_type_alias,
    is_union,
    resolve_hints,
    strip_annotated,
    substitute,
    type_arguments,
    union_members,
)

T = TypeVar("T")
S = TypeVar("S")
UserId = NewType("UserId", int)
Maybe = TypeAliasType("Maybe", Optional[int])  # noqa: UP045 - the old form is meant


def test_notes_and_qualifiers_are_taken_off_inner_notes_first() -> None:
    assert strip_annotated(Annotated[Annotated[int, 1], 2, 3]) == (int, (1, 2, 3))
    assert strip_annotated(Required[Annotated[ReadOnly[int], 1]]) == (int, (1,))
    assert strip_annotated(Final[int]) == (int, ())
    assert strip_annotated(Final) == (Any, ())
    assert strip_annotated(Annotated[NewType("A", Annotated[UserId, 1]), 2]) == (int, (1, 2))
    assert strip_annotated(list[int]) == (list[int], ())


def test_qualifiers_are_found_on_any_level() -> None:
    assert has_qualifier(Annotated[ClassVar[int], 1], "ClassVar")
    assert has_qualifier(Required[ReadOnly[int]], "ReadOnly")
    assert not has_qualifier(int, "ClassVar")


def test_unions_and_optionals() -> None:
    assert is_union(int | str)
    assert is_union(Union[int, str])  # noqa: UP007 - the old form is meant
    assert union_members(int | None) == (int, type(None))
    assert union_members(int) == (int,)
    for annotation in (int | None, Annotated[int | None, 1], Maybe, None, Annotated[Maybe, 1] | str):
        assert is_optional(annotation)
    assert not is_optional(int)


def test_aliases_and_classes() -> None:
    Pairs = TypeAliasType("Pairs", "dict[str, tuple[T, T]]", type_params=(T,))
    assert is_type_alias(Pairs[int])
    assert alias_value(Pairs[int]) == dict[str, tuple[int, int]]
    assert class_of(Annotated[list[int], 1]) is list
    assert class_of(int | str) is None
    with pytest.raises(NameError, match="'Nowhere' is unknown"):
        alias_value(TypeAliasType("Broken", "list[Nowhere]"))  # noqa: F821 - meant


def test_type_parameters_are_put_in_at_any_depth() -> None:
    assert substitute(dict[str, list[T]], {T: int}) == dict[str, list[int]]
    assert substitute(Annotated[T | None, 1], {T: int}) == Annotated[int | None, 1]
    assert substitute(int, {T: int}) is int
    assert substitute(tuple[T, S], {T: int}) == tuple[int, S]


class Base(Generic[T]):
    x: T


class Middle(Base[list[S]], Generic[S]):
    y: S


class Leaf(Middle[int]):
    pass


def test_type_arguments_are_followed_through_the_bases() -> None:
    assert type_arguments(Leaf) == {S: int, T: list[int]}
    assert type_arguments(Middle[str]) == {S: str, T: list[str]}
    assert type_arguments(int | str) == {}


def test_hints_of_functions_methods_partials_and_callables() -> None:
    @dataclass
    class Local:
        a: int

    class Tool:
        Inner = Local

        def method(self, x: "Inner", y: "Local", z: "Later") -> "Tool":
            return self

        def __call__(self, q: int) -> None: ...

    def wrapper(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapped

    hints = resolve_hints(Tool.method, Tool)
    assert (hints["x"], hints["return"]) == (Local, Tool)
    assert isinstance(hints["y"], Unresolved)  # only the class body knows it, under another name
    assert "'Local' is unknown" in hints["y"].reason
    assert hints["z"] is Later
    assert resolve_hints(Tool().method, Tool)["x"] is Local
    assert resolve_hints(wrapper(Tool.method), Tool)["x"] is Local
    assert resolve_hints(functools.partial(Tool.method), Tool)["x"] is Local
    assert resolve_hints(Tool())["q"] is int


class Later:
    pass


def test_texts_inside_annotations_are_evaluated_literals_are_not() -> None:
    class Odd:
        a: "list['Later']"
        b: Annotated["Later", "not evaluated"]
        c: Literal["Later"]
        d: typing.Callable[["Later"], "int"]
        e: "Later | None"
        f: "dict[str, 'Nowhere']"  # noqa: F821 - meant
        g: "1 +"  # noqa: F722 - meant
        h: list["Later"]
        i: Optional["Later"]
        j: 'list["Later"] | None'

    hints = resolve_hints(Odd)
    assert hints["a"] == list[Later]
    assert hints["b"] == Annotated[Later, "not evaluated"]
    assert hints["c"] == Literal["Later"]
    assert typing.get_args(hints["d"])[0] == [Later]
    assert hints["e"] == Later | None
    assert isinstance(hints["f"], Unresolved)
    assert isinstance(hints["g"], Unresolved)
    assert repr(hints["g"]) == "1 +"
    assert hints["h"] == list[Later]
    assert hints["i"] == hints["e"]
    assert hints["j"] == Optional[list[Later]]  # noqa: UP045 - the old form is meant
