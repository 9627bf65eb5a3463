"""Forms for the client's user: which dataclasses are some, how they look, and how the answers come back."""

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal

import pytest
from marshmallow import validate

from mcpconnect import Context, DefinitionError, McpServer, tool
from mcpconnect.context.forms import form_schema
from mcpconnect.serialization import EnumNames, Serializer
from tests.interaction.test_asking import ERAS, connecting, conversed, text
from tests.wire import serving

pytestmark = pytest.mark.anyio


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Order:
    size: Size
    level: Literal[1, 2.5]
    kind: Literal["tea"]
    note: str | None = None
    count: Annotated[int | None, "How many", validate.Range(min=1)] = None
    colors: list[Color] | None = None
    sizes: list[Size] = field(default_factory=list)
    shown: Annotated[Color, EnumNames("Rot", "Blau")] = Color.BLUE
    preset: tuple[Size, ...] = (Size.LARGE,)


FIELDS = {
    "size": {"type": "string", "enum": ["1", "2"]},
    "level": {"type": "string", "enum": ["1", "2.5"]},
    "kind": {"type": "string", "enum": ["tea"]},
    "note": {"type": "string"},
    "count": {"type": "integer", "description": "How many", "minimum": 1},
    "colors": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
    "sizes": {"type": "array", "items": {"type": "string", "enum": ["1", "2"]}},
    "shown": {"type": "string", "enum": ["Rot", "Blau"], "default": "Blau"},
    "preset": {"type": "array", "items": {"type": "string", "enum": ["1", "2"]}, "default": ["2"]},
}


def test_a_form_shows_choices_as_texts_and_what_may_stay_empty_as_not_required() -> None:
    schema = form_schema(Order, Serializer())
    assert schema == {"type": "object", "properties": FIELDS, "required": ["size", "level", "kind"]}


@ERAS
@pytest.mark.parametrize(
    ("content", "order"),
    [
        ({"size": "1", "level": "2.5", "kind": "tea"}, Order(Size.SMALL, 2.5, "tea")),
        (
            {
                "size": "2",
                "level": "1",
                "kind": "tea",
                "note": "hot",
                "count": 3,
                "colors": ["blue"],
                "sizes": ["2", "1"],
                "shown": "Rot",
                "preset": [],
            },
            Order(Size.LARGE, 1, "tea", "hot", 3, [Color.BLUE], [Size.LARGE, Size.SMALL], Color.RED, ()),
        ),
    ],
)
async def test_what_was_filled_in_comes_back_as_the_dataclass(revision: str, content: Any, order: Order) -> None:
    got: list[Any] = []

    @tool
    async def sell(ctx: Context) -> str:
        got.append((await ctx.elicit("What?", Order)).content)
        return "sold"

    async with connecting(revision, serving(sell)) as wire:
        assert text(await conversed(wire, "sell", lambda *_: {"action": "accept", "content": content})) == "sold"
    assert got == [order]


@dataclass
class Inner:
    a: int


@dataclass
class Optional:
    a: str | None


def form_of(annotation: Any) -> Any:
    return dataclass(type("Form", (), {"__annotations__": {"a": annotation}}))


@pytest.mark.parametrize(
    "form",
    [
        Optional,
        form_of(Inner),
        form_of(list[str]),
        form_of(list[list[Color]]),
        form_of(dict[str, int]),
        form_of(int | str),
        form_of(Any),
        {"type": "string"},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer", "enum": [1]}}}},
        {"type": "object", "properties": {"a": True}},
    ],
)
def test_what_nobody_can_fill_in_is_no_form(form: Any) -> None:
    with pytest.raises(DefinitionError, match="form"):
        form_schema(form, Serializer())


def test_a_schema_of_ones_own_is_shown_as_it_is() -> None:
    titled = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]}
    several = {"type": "array", "items": {"anyOf": [{"const": "r", "title": "Red"}]}, "maxItems": 1}
    form = {"type": "object", "properties": {"a": titled, "b": several}, "title": "Colours"}
    assert form_schema(form, McpServer("s").serializer) == form


def test_an_unknown_format_is_not_shown() -> None:
    form = form_of(Annotated[str, validate.URL()])
    assert form_schema(form, Serializer())["properties"]["a"] == {"type": "string", "format": "uri"}
    from uuid import UUID

    assert form_schema(form_of(UUID), Serializer())["properties"]["a"] == {"type": "string"}
