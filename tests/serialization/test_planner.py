"""Planning: notes on aliases and unions, type variables, what becomes opaque."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from typing import Annotated, Any, ClassVar, Generic, LiteralString, TypeVar, Unpack

import pytest
from marshmallow import validate
from typing_extensions import TypeAliasType

from mcpconnect.errors import DefinitionError, LoadError
from mcpconnect.serialization import EnumNames, Format, Raw, Serializer, Unwrap


class Level(IntEnum):
    LOW = 1
    HIGH = 2


Number = TypeVar("Number", int, float)
Dated = TypeVar("Dated", bound=date)
Day = TypeAliasType("Day", Annotated[date, "a day"])


def test_notes_that_change_the_form_reach_through_aliases_and_unions() -> None:
    serializer = Serializer()
    for annotation in (Annotated[Day, Format("%d.%m.")], Annotated[Day | None, Format("%d.%m.")]):
        assert serializer.dump(date(2000, 2, 1), annotation) == "01.02."
    assert serializer.dump(Level.LOW, Annotated[Level | str, EnumNames("l", "h")]) == "l"
    assert serializer.json_schema(Annotated[Day, Format("%d.%m.")]) == {"type": "string", "description": "a day"}


def test_notes_inside_an_alias_are_obeyed() -> None:
    Positive = TypeAliasType("Positive", Annotated[int, "above zero", validate.Range(min=1)])
    serializer = Serializer()
    for annotation in (Positive, Annotated[Positive, "outer"], list[Positive], dict[str, Positive | None]):
        data: Any = {Positive: 0, list[Positive]: [0]}.get(annotation, {"a": 0} if "dict" in str(annotation) else 0)
        with pytest.raises(LoadError, match="Must be greater than or equal to 1, got the number 0"):
            serializer.load(annotation, data)
        assert '"minimum": 1' in json.dumps(serializer.json_schema(annotation, view="input"))
        assert "above zero" in str(serializer.json_schema(annotation)) or annotation == Annotated[Positive, "outer"]


def test_a_note_in_a_union_belongs_to_its_own_member() -> None:
    annotation = Annotated[Annotated[date, Format("%Y")] | int, "either"]
    assert Serializer().dump([date(2000, 1, 1), 5], list[annotation]) == ["2000", 5]  # type: ignore[valid-type]


def test_a_union_inside_an_alias() -> None:
    Inner = TypeAliasType("Inner", int | None)
    serializer = Serializer()
    assert serializer.dump([1, None, "x"], list[Inner | str]) == [1, None, "x"]
    assert serializer.load(list[Inner | str], [1, None, "x"]) == [1, None, "x"]


def test_type_variables_that_nobody_filled_in() -> None:
    @dataclass
    class Box(Generic[Number, Dated]):
        number: Number
        day: Dated
        text: LiteralString

    schema = Serializer().json_schema(Box)["properties"]
    assert schema["number"] == {"anyOf": [{"type": "integer"}, {"type": "number"}]}
    assert schema["day"] == {"type": "string", "format": "date"}
    assert schema["text"] == {"type": "string"}


def test_unknown_names_beside_class_variables() -> None:
    class Odd:
        limit: "ClassVar[Nowhere]" = 1  # type: ignore[name-defined]  # noqa: F821 - meant
        x: int

        def __init__(self, x: int) -> None:
            self.x = x

    assert Serializer().dump(Odd(1)) == {"x": 1}
    assert list(Serializer().json_schema(Odd)["properties"]) == ["x"]


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (Annotated[int, Raw], "Raw stands beside bytes or str, not int"),
        (Annotated[int, Unwrap], "Unwrap stands beside a type that is no record"),
        (Callable[[int], str], "has no JSON form"),
        (type[int], "has no JSON form"),
        (complex, "complex has no JSON form"),
        ("Nowhere", "has no JSON form"),
    ],
)
def test_what_cannot_be_planned_says_why(annotation: Any, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        Serializer().plan(annotation)


def test_a_tuple_unpacked_in_another_one_has_no_json_form() -> None:
    for annotation in (tuple[int, *tuple[str, ...]], tuple[int, Unpack[tuple[str, ...]]]):  # noqa: UP044 - both spellings
        with pytest.raises(DefinitionError, match="unpacked"):
            Serializer().json_schema(annotation)


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (list[5], "list[5][]: 5 has no JSON form"),
        (Annotated[Callable[[int], str], "note"], "collections.abc.Callable[[int], str] has no JSON form"),
        (Annotated[dict[str, type], "note"], "dict[str, type][]: type has no JSON form"),
    ],
)  # fmt: skip
def test_an_error_names_the_whole_type_without_its_notes(annotation: Any, told: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        Serializer().json_schema(annotation)
    assert str(caught.value) == told
