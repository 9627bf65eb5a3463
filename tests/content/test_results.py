"""`ToolResult`."""

from dataclasses import FrozenInstanceError

import pytest

from mcpconnect.content import UNSET, TextContent, ToolResult
from mcpconnect.content.results import finished


def test_content_is_a_tuple_of_blocks_however_it_is_given() -> None:
    block = TextContent("x")

    for content in ("x", block, [block], ["x"], (block,), iter([block])):
        assert ToolResult(content).content == (block,)
    assert ToolResult().content == ()


def test_content_of_anything_else_is_refused() -> None:
    for content in ([5], (b"x",), [None]):
        with pytest.raises(TypeError, match="content blocks"):
            ToolResult(content)  # type: ignore[arg-type]


def test_a_subclass_of_a_block_is_a_block() -> None:
    class Note(TextContent):
        pass

    assert ToolResult((Note("x"),)).content == (Note("x"),)


def test_results_are_frozen_and_start_without_structure() -> None:
    result = ToolResult("x")

    assert (result.structured, result.is_error, result.meta) == (UNSET, False, None)
    with pytest.raises(FrozenInstanceError):
        result.is_error = True  # type: ignore[misc]


def test_the_short_way_makes_the_same_result() -> None:
    assert finished((TextContent("x"),), 5) == ToolResult("x", 5)
