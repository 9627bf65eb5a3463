"""What becomes of a completer's answer, row by row, and what helps to make one."""

import enum
import itertools
from collections import deque
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from mcpconnect import Complete, CompletionResult, DefinitionError, InternalError, PromptRef, TemplateRef, matching
from mcpconnect.features.completion import CompletionContext, normalized
from mcpconnect.protocol.model import Completion
from mcpconnect.serialization import Serializer


class Language(enum.Enum):
    PYTHON = "python"
    RUST = "rust"


def sent(answer: Any) -> Completion:
    return normalized(answer, Serializer())


def numbers(count: int) -> list[str]:
    return [f"v{number}" for number in range(count)]


def test_row_1_none_is_a_fault_of_the_completer() -> None:
    with pytest.raises(InternalError, match="returned None"):
        sent(None)


def test_rows_2_3_14_no_values_are_an_empty_list() -> None:
    assert sent(CompletionResult()) == Completion(values=())
    assert sent(CompletionResult([], total=42, has_more=True)) == Completion(values=(), total=42, has_more=True)
    assert sent([]) == Completion(values=())


@pytest.mark.parametrize("place", [0, 3, 150])
@pytest.mark.parametrize("wrap", [list, tuple, iter, CompletionResult])
def test_row_4_none_among_the_values_is_a_fault_wherever_it_stands(place: int, wrap: Any) -> None:
    values: list[Any] = numbers(200)
    values[place] = None
    with pytest.raises(InternalError, match="hold None"):
        sent(wrap(values))


@pytest.mark.parametrize("values", [["c", "a", "b"], ["a", "a", "b", "a"]])
def test_rows_5_6_15_order_and_duplicates_stay(values: list[str]) -> None:
    assert sent(values).values == sent(CompletionResult(values)).values == tuple(values)


@pytest.mark.parametrize("count", [1, 99, 100])
@pytest.mark.parametrize("has_more", [None, True, False])
def test_rows_7_8_up_to_a_hundred_values_nothing_is_changed(count: int, has_more: bool | None) -> None:
    answer = sent(CompletionResult(numbers(count), has_more=has_more))
    assert answer == Completion(values=tuple(numbers(count)), has_more=has_more)


@pytest.mark.parametrize("has_more", [None, True, False])
def test_rows_9_10_who_cuts_says_so_and_invents_no_total(has_more: bool | None) -> None:
    answer = sent(CompletionResult(numbers(101), has_more=has_more))
    assert answer == Completion(values=tuple(numbers(100)), has_more=True)


@pytest.mark.parametrize("total", [0, 1, 101, 100_000])
def test_row_11_a_total_is_kept_as_given(total: int) -> None:
    assert sent(CompletionResult(numbers(101), total=total)).total == total
    assert sent(CompletionResult(numbers(3), total=total)).total == total


@pytest.mark.parametrize("total", [-1, True, "3", 1.5])
def test_row_12_a_total_that_counts_nothing_is_a_fault(total: Any) -> None:
    with pytest.raises(InternalError, match="total"):
        sent(CompletionResult(["a"], total=total))


def test_row_13_later_changes_of_the_list_have_no_effect() -> None:
    values = ["a"]
    answer = sent(values)
    values.append("b")
    assert answer.values == ("a",)


def test_a_flag_that_is_none_is_a_fault() -> None:
    with pytest.raises(InternalError, match="has_more"):
        sent(CompletionResult(["a"], has_more="yes"))  # type: ignore[arg-type]


@pytest.mark.parametrize("wrap", [list, tuple, deque, iter, lambda values: (each for each in values)])
def test_a_bare_iterable_that_is_cut_is_counted(wrap: Any) -> None:
    assert sent(wrap(numbers(250))) == Completion(values=tuple(numbers(100)), total=250, has_more=True)
    assert sent(wrap(numbers(100))) == Completion(values=tuple(numbers(100)))


def test_what_is_too_long_to_count_has_no_total() -> None:
    endless = sent(map(str, itertools.count()))
    assert (len(endless.values), endless.total, endless.has_more) == (100, None, True)
    assert sent(numbers(100_500)).total == 100_500


def test_scalars_become_texts_in_their_json_form() -> None:
    assert sent([1, True, Decimal("1.10"), Language.RUST]).values == ("1", "true", "1.10", "rust")
    assert sent(Language).values == ("python", "rust")
    assert sent({"b": 1, "a": 2}).values == ("b", "a")
    assert sent("one").values == ("one",)
    assert sent(7).values == ("7",)


@pytest.mark.parametrize("value", [{"a": 1}, ["a"], object()])
def test_other_values_are_a_fault(value: Any) -> None:
    with pytest.raises(InternalError):
        sent([value])


def test_matching_filters_counts_and_cuts() -> None:
    assert matching(["Paris", "Pau", "Lyon"], "Pa") == CompletionResult(["Paris", "Pau"], 2, False)
    assert matching(["Paris", "pau"], "PA", casefold=True) == CompletionResult(["Paris", "pau"], 2, False)
    assert matching(["Paris"], "pa") == CompletionResult([], 0, False)
    assert matching([3, 31, 4], "3", key=str) == CompletionResult(["3", "31"], 2, False)
    assert matching(numbers(100), "") == CompletionResult(numbers(100), 100, False)
    assert matching(numbers(101), "") == CompletionResult(numbers(100), 101, True)
    assert matching(["a", "b", "c"], "", limit=2) == CompletionResult(["a", "b"], 3, True)


def test_the_chosen_arguments_are_never_none_and_cannot_be_changed() -> None:
    assert dict(CompletionContext().arguments) == {}
    context = CompletionContext(MappingProxyType({"b": "1", "a": "2"}))
    assert list(context.arguments) == ["b", "a"]
    with pytest.raises(TypeError):
        context.arguments["c"] = "3"  # type: ignore[index]
    with pytest.raises(TypeError):
        CompletionContext().arguments["c"] = "3"  # type: ignore[index]


def test_references_keep_what_they_were_given() -> None:
    assert PromptRef("a b").name == "a b"
    assert TemplateRef("x://{a}").uri == "x://{a}"


@pytest.mark.parametrize("source", ["python", b"x", 3, None])
def test_a_source_that_gives_no_values_is_refused(source: Any) -> None:
    with pytest.raises(DefinitionError, match="Complete"):
        Complete(source)
