"""Arguments of functions: what a model may send, what the function gets, what is refused and how it is told."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional
from uuid import UUID

import pytest
from marshmallow import validate

from mcpconnect.errors import DefinitionError, LoadError
from mcpconnect.serialization import (
    Case,
    CustomSerializer,
    EnumNames,
    Name,
    Param,
    Parameters,
    Serializer,
    SerializerConfig,
    Unwrap,
)

if TYPE_CHECKING:
    from fractions import Fraction as OnlyForCheckers


class Level(IntEnum):
    LOW = 1
    HIGH = 3


@EnumNames("rot", "grün")
class Colour(Enum):
    RED = 0
    GREEN = 1


@dataclass
class Item:
    item_name: str
    due: date
    colour: Colour = Colour.RED


@dataclass
class Order:
    order_id: int
    items: list[Item] = field(default_factory=list)


def parameters(function: Callable[..., Any], *, skip: tuple[str, ...] = (), **config: Any) -> Parameters:
    return Serializer(SerializerConfig(**config)).parameters(function, skip=skip)


def bound(function: Callable[..., Any], arguments: dict[str, Any], *, strict: bool = False, **config: Any) -> Any:
    loaded = parameters(function, **config).load(arguments, strict=strict)
    return function(**loaded)


def problems(function: Callable[..., Any], arguments: Any, *, strict: bool = False) -> str:
    with pytest.raises(LoadError) as caught:
        parameters(function).load(arguments, strict=strict)
    return str(caught.value)


# -- conversions ------------------------------------------------------------------------------------------------------


@pytest.mark.fault(92)
def test_lists_and_objects_may_come_as_json_text() -> None:
    def f(tags: list[str], order: Order, pair: tuple[int, str], weights: dict[str, float]) -> Any:
        return tags, order, pair, weights

    sent = {"tags": '["a","b"]', "order": '{"orderId": 1}', "pair": '[1,"x"]', "weights": '{"a":1}'}
    assert bound(f, sent) == (["a", "b"], Order(1), (1, "x"), {"a": 1.0})
    told = problems(f, sent, strict=True)
    assert 'tags: expected a list, got text "[\\"a\\",\\"b\\"]"' in told
    assert problems(f, {**sent, "tags": '{"a":1}'}) == 'tags: expected a list, got text "{\\"a\\":1}"'


@pytest.mark.fault(93)
@pytest.mark.parametrize("text", ['{"a":1}', "123", "null", "true", "", " x ", '"quoted"'])
@pytest.mark.parametrize("strict", [True, False])
def test_text_is_never_changed(text: str, strict: bool) -> None:
    def f(code: str, anything: Any, maybe: str | None) -> Any:
        return code, anything, maybe

    assert bound(f, {"code": text, "anything": text, "maybe": text}, strict=strict) == (text, text, text)


@pytest.mark.fault(93)
@pytest.mark.parametrize("value", [1, 1.5, True, None, [], {}])
def test_nothing_else_becomes_text(value: Any) -> None:
    def f(code: str) -> str:
        return code

    assert problems(f, {"code": value}).startswith("code: expected text, got ")


@pytest.mark.fault(94)
def test_text_that_looks_like_a_number_stays_text_where_text_is_taken() -> None:
    def f(id: str, either: int | str, other: str | int) -> Any:
        return id, either, other

    assert bound(f, {"id": "007", "either": "42", "other": "42"}) == ("007", "42", "42")
    assert bound(f, {"id": "", "either": 42, "other": 42}) == ("", 42, 42)


@pytest.mark.fault(95)
def test_a_text_encoded_type_takes_its_plain_text_only() -> None:
    def f(id: UUID) -> UUID:
        return id

    assert bound(f, {"id": str(UUID(int=1))}) == UUID(int=1)
    assert problems(f, {"id": f'"{UUID(int=1)}"'}).startswith('id: expected a UUID, got text "')


@pytest.mark.fault(96)
def test_numbers_may_come_as_exactly_their_json_text() -> None:
    def f(n: int, x: float, d: Decimal) -> Any:
        return n, x, d

    assert bound(f, {"n": "10", "x": "-1.5e3", "d": 1.1}) == (10, -1500.0, Decimal("1.1"))
    assert bound(f, {"n": "1e2", "x": "3", "d": "1.10"}) == (100, 3.0, Decimal("1.10"))
    assert problems(f, {"n": "ten", "x": 1, "d": "1"}) == 'n: expected an integer, got text "ten"'
    assert problems(f, {"n": "10", "x": 1, "d": "1"}, strict=True) == 'n: expected an integer, got text "10"'
    for wrong in (" 10", "1_0", "+1", "0x1", "01", "1.5", "", "1e999999999", "NaN", "Infinity", "١"):
        assert problems(f, {"n": wrong, "x": 1, "d": "1"}).startswith("n: expected an integer, got text ")
    for wrong in ("1e999", "nan", "1,5"):
        assert problems(f, {"n": 1, "x": wrong, "d": "1"}).startswith("x: expected a number, got text ")


@pytest.mark.fault(97)
@pytest.mark.parametrize("strict", [True, False])
def test_a_boolean_is_no_number_and_a_number_no_boolean(strict: bool) -> None:
    def f(n: int = 0, x: float = 0, flag: bool = False, d: Decimal = Decimal(0), level: Level = Level.LOW) -> None: ...

    assert problems(f, {"n": True}, strict=strict) == "n: expected an integer, got true"
    assert problems(f, {"x": False}, strict=strict) == "x: expected a number, got false"
    assert problems(f, {"flag": 1}, strict=strict) == "flag: expected true or false, got the number 1"
    assert problems(f, {"d": True}, strict=strict).startswith("d: expected a decimal number")
    assert problems(f, {"level": True}, strict=strict) == "level: expected one of 1, 3, got true"


@pytest.mark.fault(98)
def test_booleans_may_come_as_text() -> None:
    def f(flag: bool) -> bool:
        return flag

    for text in ("false", "0", "FALSE", "False"):
        assert bound(f, {"flag": text}) is False
    for text in ("true", "1", "True"):
        assert bound(f, {"flag": text}) is True
    for text in ("", "maybe", "no", "yes", " true"):
        assert problems(f, {"flag": text}).startswith("flag: expected true or false, got text")
    assert problems(f, {"flag": "false"}, strict=True) == 'flag: expected true or false, got text "false"'


@pytest.mark.fault(99)
def test_empty_text_for_an_optional_value_means_not_given() -> None:
    def f(
        active: bool | None = None,
        since: date | None = None,
        n: int = 7,
        tags: list[str] | None = None,
        note: str = "d",
    ) -> Any:
        if tags is None:
            tags = ["x"]
        return active, since, n, tags, note

    empty = {"active": "", "since": "", "n": "", "tags": "", "note": ""}
    assert bound(f, empty) == (None, None, 7, ["x"], "")
    assert problems(f, {"since": ""}, strict=True).startswith("since: expected a date such as 1999-12-31, got text")


@pytest.mark.fault(100)
@pytest.mark.parametrize("strict", [True, False])
def test_integral_floats_are_integers_fractions_are_not(strict: bool) -> None:
    def f(n: int, x: float) -> Any:
        return n, x

    result = bound(f, {"n": 3.0, "x": 3}, strict=strict)
    assert result == (3, 3.0)
    assert [type(part) for part in result] == [int, float]
    assert problems(f, {"n": 3.7, "x": 1}, strict=strict) == "n: expected an integer, got the number 3.7"
    assert problems(f, {"n": math.inf, "x": math.nan}).startswith("n: expected an integer, got the number inf\nx:")


@pytest.mark.fault(101)
def test_large_integers_are_exact() -> None:
    def f(n: int, maybe: int | None, any: Any) -> Any:
        return n, maybe, any

    sent = Serializer().loads(
        dict[str, Any], b'{"n":9007199254740993,"maybe":1180591620717411303424,"any":18014398509481985}'
    )
    assert bound(f, sent) == (9007199254740993, 2**70, 2**54 + 1)


@pytest.mark.fault(102)
def test_unknown_arguments_are_refused_with_the_known_names() -> None:
    def f(topic: str = "", max_hits: int = 1) -> None: ...

    told = 'topc: unknown name; known names: "topic", "maxHits"'
    assert problems(f, {"topc": "x"}) == problems(f, {"topc": "x"}, strict=True) == told
    assert problems(lambda: None, {"x": 1}) == "x: unknown name; known names: none"


@pytest.mark.fault(103)
def test_a_setting_ignores_unknown_arguments_at_every_depth() -> None:
    def f(topic: str, order: Order) -> Any:
        return topic, order

    sent = {"topic": "x", "toolCallId": "1", "order": {"orderId": 1, "zz": 2}}
    assert parameters(f).load(sent, extra="ignore") == {"topic": "x", "order": Order(1)}
    assert "additionalProperties" not in parameters(f).json_schema(additional=True)


@pytest.mark.fault(105)
@pytest.mark.fault(106)
def test_everything_that_is_wrong_is_told_at_once_in_plain_words() -> None:
    def f(city: str, n: int, order: Order, level: Level = Level.LOW, colour: Colour = Colour.RED) -> None: ...

    told = problems(f, {"n": {}, "order": {"items": [{"itemName": 1}, 5]}, "level": 2, "colour": "RED"})
    assert told.splitlines() == [
        "city: missing; expected text",
        "n: expected an integer, got an object",
        "order.orderId: missing; expected an integer",
        "order.items[0].itemName: expected text, got the number 1",
        "order.items[0].due: missing; expected a date such as 1999-12-31",
        "order.items[1]: expected an object, got the number 5",
        "level: expected one of 1, 3, got the number 2",
        'colour: expected one of "rot", "grün", got text "RED"',
    ]
    assert "marshmallow" not in told.lower()


def test_long_text_is_cut_in_a_reason() -> None:
    def f(n: int) -> None: ...

    assert len(problems(f, {"n": "x" * 10_000})) < 120


@pytest.mark.fault(107)
@pytest.mark.parametrize("case", [Case.CAMEL, Case.PASCAL, Case.UNCHANGED])
def test_nested_records_arrive_as_objects_with_converted_members(case: Case) -> None:
    def f(order: Order) -> Any:
        return order

    serializer = Serializer(SerializerConfig(case=case))
    order = Order(1, [Item("i", date(2000, 1, 2), Colour.GREEN)])
    name = next(iter(serializer.parameters(f).json_schema()["properties"]))
    assert serializer.parameters(f).load({name: serializer.dump(order)}) == {"order": order}


@pytest.mark.fault(108)
def test_untyped_text_is_never_tried_as_something_else() -> None:
    def f(note: str, v: Any, o: object) -> Any:
        return note, v, o

    assert bound(f, dict.fromkeys(["note", "v", "o"], "2024-01-01")) == ("2024-01-01",) * 3


@pytest.mark.fault(109)
def test_skipped_parameters_are_neither_shown_nor_taken() -> None:
    def f(ctx: object, q: str) -> None: ...

    params = parameters(f, skip=("ctx",))
    assert list(params.json_schema()["properties"]) == ["q"]
    with pytest.raises(LoadError, match='ctx: unknown name; known names: "q"'):
        params.load({"q": "x", "ctx": {"user": "admin"}})


@pytest.mark.fault(50)
def test_only_members_of_an_enum_are_taken() -> None:
    def f(level: Level) -> Level:
        return level

    assert bound(f, {"level": 3}) is bound(f, {"level": 3.0}) is bound(f, {"level": "3"}) is Level.HIGH
    assert problems(f, {"level": 7}) == "level: expected one of 1, 3, got the number 7"
    assert problems(f, {"level": "3"}, strict=True) == 'level: expected one of 1, 3, got text "3"'


@pytest.mark.fault(83)
@pytest.mark.fault(22)
def test_each_listed_value_of_an_enum_is_taken_and_nothing_else() -> None:
    def f(colour: Colour) -> Colour:
        return colour

    listed = parameters(f).json_schema()["properties"]["colour"]["enum"]
    assert [bound(f, {"colour": wire}) for wire in listed] == list(Colour)
    serializer = Serializer()
    for annotation, value, wire in (
        (Colour, Colour.GREEN, "grün"), (list[Colour], [Colour.GREEN], ["grün"]),
        (Colour | None, Colour.GREEN, "grün"), (dict[str, Colour], {"a": Colour.GREEN}, {"a": "grün"}),
        (dict[Colour, int], {Colour.GREEN: 1}, {"grün": 1}), (Any, [Colour.GREEN], ["grün"]),
    ):  # fmt: skip
        assert serializer.dump(value, annotation) == wire
        assert "grün" in str(serializer.json_schema(annotation)) or annotation is Any
        if annotation is not Any:
            assert serializer.load(annotation, wire) == value
    for wrong in ("GREEN", "Grün", 1, "1"):
        assert "expected one of" in problems(f, {"colour": wrong})


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.fault(57)
def test_reserved_words_are_names_on_the_wire() -> None:
    def f(range: str, from_: str, class_: str = "c") -> Any:
        return range, from_, class_

    assert list(parameters(f).json_schema()["properties"]) == ["range", "from", "class"]
    assert bound(f, {"range": "r", "from": "f", "class": "x"}) == ("r", "f", "x")


@pytest.mark.fault(58)
def test_an_explicit_name_is_used_everywhere() -> None:
    def f(city: Annotated[str, Param(name="City_Name")], zip_code: Annotated[int, Name("ZIP")] = 1) -> Any:
        return city, zip_code

    schema = parameters(f).json_schema()
    assert schema["properties"] == {"City_Name": {"type": "string"}, "ZIP": {"type": "integer", "default": 1}}
    assert schema["required"] == ["City_Name"]
    assert bound(f, {"City_Name": "Rome", "ZIP": 2}) == ("Rome", 2)
    assert [(m.name, m.wire) for m in parameters(f).members] == [("city", "City_Name"), ("zip_code", "ZIP")]


def test_lenient_loading_also_takes_the_python_name() -> None:
    def f(zip_code: int) -> int:
        return zip_code

    assert bound(f, {"zip_code": 1}) == bound(f, {"zipCode": 1}) == 1
    assert "zip_code: unknown name" in problems(f, {"zip_code": 1, "zipCode": 2})
    assert "zip_code: unknown name" in problems(f, {"zip_code": 1}, strict=True)


def test_arguments_may_have_a_case_of_their_own() -> None:
    def f(zip_code: int, the_order: Order) -> None: ...

    schema = parameters(f, argument_case=Case.SNAKE).json_schema()
    assert list(schema["properties"]) == ["zip_code", "the_order"]
    assert "orderId" in schema["properties"]["the_order"]["properties"]


def test_two_parameters_with_one_name_are_refused() -> None:
    def f(user_id: int, userId: int) -> None: ...

    with pytest.raises(DefinitionError, match=r"test_parameters\..*f: 'user_id' and 'userId' are both called 'userId'"):
        parameters(f)


# -- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.fault(64)
def test_the_root_is_an_object_and_required_is_left_out_when_empty() -> None:
    def f(a: int = 1) -> None: ...

    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    assert parameters(lambda: None).json_schema() == nothing
    assert "required" not in parameters(f).json_schema()


@pytest.mark.fault(65)
@pytest.mark.fault(87)
def test_optional_parameters_keep_their_plain_type() -> None:
    def f(
        a: bool | None = None, n: Optional[int] = None, tags: list[str] | None = None, implicit: int = None,  # noqa: RUF013, UP045
        limited: Annotated[int | None, "how many", validate.Range(min=1)] = None,
    ) -> Any:  # fmt: skip
        return a, n, tags, implicit, limited

    schema = parameters(f).json_schema()
    assert schema["properties"] == {
        "a": {"type": "boolean"},
        "n": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "implicit": {"type": "integer"},
        "limited": {"type": "integer", "minimum": 1, "description": "how many"},
    }
    assert "required" not in schema
    for strict in (True, False):
        assert bound(f, {}, strict=strict) == (None,) * 5
        assert bound(f, dict.fromkeys(schema["properties"]), strict=strict) == (None,) * 5
        sent = {"a": True, "n": 1, "tags": ["x"], "implicit": 2, "limited": 3}
        assert bound(f, sent, strict=strict) == (True, 1, ["x"], 2, 3)


def test_a_required_parameter_may_take_null() -> None:
    def f(n: int | None) -> Any:
        return n

    schema = parameters(f).json_schema()
    assert schema["properties"]["n"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert schema["required"] == ["n"]
    assert bound(f, {"n": None}) is None


@pytest.mark.fault(66)
def test_falsy_defaults_are_shown() -> None:
    def f(flag: bool = False, n: int = 0, s: str = "") -> None: ...

    schema = parameters(f).json_schema()
    assert [part["default"] for part in schema["properties"].values()] == [False, 0, ""]
    assert "required" not in schema


@pytest.mark.fault(67)
def test_a_default_without_json_form_is_not_shown_and_still_used() -> None:
    sentinel = object()

    def f(when: date = date(2025, 1, 1), x: Any = sentinel, colour: Colour = Colour.GREEN) -> Any:
        return when, x, colour

    properties = parameters(f).json_schema()["properties"]
    assert properties["when"]["default"] == "2025-01-01"
    assert properties["colour"]["default"] == "grün"
    assert properties["x"] == {}
    assert bound(f, {}) == (date(2025, 1, 1), sentinel, Colour.GREEN)


@pytest.mark.fault(68)
def test_keyword_only_defaults() -> None:
    def f(*, limit: int = 5, must: int) -> Any:
        return limit, must

    schema = parameters(f).json_schema()
    assert (schema["properties"]["limit"]["default"], schema["required"]) == (5, ["must"])
    assert bound(f, {"must": 1}) == (5, 1)


@pytest.mark.fault(69)
@pytest.mark.fault(70)
def test_parameters_that_no_object_can_fill_are_refused_by_name() -> None:
    def positional(item_id: int, /) -> None: ...

    def many(*args: int) -> None: ...

    def named(**kwargs: int) -> None: ...

    for function, name in ((positional, "item_id"), (many, "args"), (named, "kwargs")):
        with pytest.raises(DefinitionError, match=rf"{function.__name__}: the parameter '{name}' "):
            parameters(function)


@pytest.mark.fault(71)
def test_postponed_annotations_are_resolved_where_they_were_written() -> None:
    class Tool:
        def method(self, ctx: object, q: Annotated[Literal["a", "b"], "mode"]) -> None: ...

    params = Serializer().parameters(Tool.method, skip=("self", "ctx"), owner=Tool)
    assert params.json_schema()["properties"]["q"] == {"type": "string", "enum": ["a", "b"], "description": "mode"}


@pytest.mark.fault(72)
def test_a_type_imported_for_checkers_only_is_a_clear_error() -> None:
    def f(x: OnlyForCheckers) -> None: ...

    with pytest.raises(DefinitionError) as caught:
        parameters(f)
    for part in ("test_parameters", ".f:", "'x'", "OnlyForCheckers", "if TYPE_CHECKING"):
        assert part in str(caught.value)


@pytest.mark.fault(73)
def test_local_classes_are_found_through_the_closure_or_told() -> None:
    @dataclass
    class Local:
        a: int

    def f(x: Local) -> Any:
        return x, Local

    def g(x: Local) -> None: ...

    assert bound(f, {"x": {"a": 1}})[0] == Local(1)
    with pytest.raises(DefinitionError, match="the name 'Local' is unknown there"):
        parameters(g)


@pytest.mark.fault(74)
def test_every_reference_resolves_inside_the_document() -> None:
    def f(first: Order, second: Order | None = None) -> None: ...

    schema = parameters(f).json_schema()
    assert set(schema["$defs"]) == {"Order"}
    assert schema["properties"]["first"] == {"$ref": "#/$defs/Order"} == schema["properties"]["second"]
    inline = parameters(f).json_schema(refs="inline")
    assert "$ref" not in str(inline)
    assert inline["properties"]["second"]["properties"]["items"]["items"]["properties"]["colour"]["enum"] == [
        "rot",
        "grün",
    ]


@pytest.mark.fault(79)
@pytest.mark.fault(80)
@pytest.mark.fault(81)
@pytest.mark.fault(82)
def test_any_name_may_be_a_parameter() -> None:
    def f(
        title: str, items: list[int], properties: int, required: bool, default: str, enum: str, copy: float,
        json: dict[str, int], dict: list[int], schema: str, validate: bool, fields: int, load: int, context: int,
        _limit: int = 3, type: str = "x", data: str = "", f0: int = 0, self_: int = 0,
    ) -> Any:  # fmt: skip
        return locals()

    sent = {
        "title": "t", "items": [1], "properties": 1, "required": True, "default": "d", "enum": "e", "copy": 1.5,
        "json": {"a": 1}, "dict": [1], "schema": "s", "validate": False, "fields": 1, "load": 2, "context": 3,
        "limit": 4, "type": "y", "data": "z", "f0": 9, "self_": 1,
    }  # fmt: skip
    params = parameters(f)
    assert list(params.json_schema()["properties"]) == list(sent)
    expected = {("_limit" if k == "limit" else k): v for k, v in sent.items()}
    assert params.load(sent) == expected
    assert params.load({**sent, "required": "true"}) == expected  # by way of marshmallow


@pytest.mark.fault(80)
def test_a_member_may_be_called_like_a_reference() -> None:
    @dataclass
    class Link:
        ref: Annotated[str, Name("$ref")]

    serializer = Serializer()
    assert serializer.load(Link, serializer.dump(Link("x"))) == Link("x")
    assert serializer.json_schema(Link)["properties"] == {"$ref": {"type": "string"}}


@pytest.mark.fault(84)
def test_descriptions_come_from_annotated_first_then_from_the_docstring() -> None:
    def f(
        n: Annotated[int, "how many"],
        m: Annotated[int, Param(title="M", examples=[1, 2])] = 0,
        o: int = 0,
        p: Annotated[date, Param(description="P", examples=[date(2000, 1, 2), "2000-01-03"], header="Day")] = date(
            2000, 1, 1
        ),
    ) -> None: ...

    params = Serializer().parameters(f, descriptions={"n": "ignored", "m": "em", "o": "oh"})
    assert params.json_schema()["properties"] == {
        "n": {"type": "integer", "description": "how many"},
        "m": {"type": "integer", "title": "M", "description": "em", "examples": [1, 2], "default": 0},
        "o": {"type": "integer", "description": "oh", "default": 0},
        "p": {
            "type": "string", "format": "date", "description": "P", "examples": ["2000-01-02", "2000-01-03"],
            "default": "2000-01-01",
        },
    }  # fmt: skip
    assert params.members[3].header == "Day"
    assert (params.members[1].title, params.members[1].examples, params.members[1].description) == ("M", (1, 2), "em")


@pytest.mark.fault(86)
def test_a_constraint_that_does_not_fit_the_type_is_refused() -> None:
    def f(n: Annotated[int, validate.Length(min=1)]) -> None: ...

    def g(s: Annotated[str, validate.Range(min=1)]) -> None: ...

    with pytest.raises(DefinitionError, match=r"'n'.*the constraint Length does not fit number"):
        parameters(f)
    with pytest.raises(DefinitionError, match=r"'s'.*the constraint Range does not fit text"):
        parameters(g)


@pytest.mark.fault(88)
def test_the_schema_says_that_unknown_names_are_refused_at_every_depth() -> None:
    def f(order: Order) -> None: ...

    schema = parameters(f).json_schema()
    assert schema["additionalProperties"] is False
    assert schema["properties"]["order"]["additionalProperties"] is False


@pytest.mark.fault(89)
def test_printing_a_schema_changes_nothing() -> None:
    def f(order: Order, n: Annotated[int, "n", validate.Range(min=1)]) -> None: ...

    params = parameters(f)
    first = params.json_schema()
    first["properties"].clear()
    assert params.json_schema() == params.json_schema() != first


@pytest.mark.fault(91)
def test_bytes_are_base64_text() -> None:
    def f(data: bytes) -> bytes:
        return data

    assert parameters(f).json_schema()["properties"]["data"] == {"type": "string", "contentEncoding": "base64"}
    assert bound(f, {"data": "+/8="}) == bound(f, {"data": "data:image/png;base64,+/8="}) == b"\xfb\xff"
    for wrong in ("-_8=", "+/8", "+/8=\n", "é", "data:text/plain,x", 5):
        assert problems(f, {"data": wrong}).startswith("data: expected base64 text, got ")


def test_a_parameter_that_cannot_be_read_is_refused_with_a_mend() -> None:
    class Money:
        pass

    def f(x: Money) -> None: ...

    def g(x: list[Callable[[], int]]) -> None: ...

    with pytest.raises(DefinitionError, match="the name 'Money' is unknown there"):
        parameters(f)
    f.__annotations__["x"] = Money
    with pytest.raises(
        DefinitionError, match=r"Money cannot be read from JSON: Money has no JSON form; .*register a serializer"
    ):
        parameters(f)
    with pytest.raises(DefinitionError, match=r"\(at \[\]\) cannot be read from JSON"):
        parameters(g)
    only_out = {Money: CustomSerializer(str)}
    with pytest.raises(DefinitionError, match="the serializer of Money only writes"):
        parameters(f, serializers=only_out)


def test_callable_objects_partials_and_bound_methods_have_parameters() -> None:
    import functools

    class Callable_:
        def __call__(self, n: int) -> int:
            return n

        def method(self, n: Annotated[int, "en"]) -> int:
            return n

    def f(a: int, n: int) -> int:
        return a + n

    for function in (Callable_(), Callable_().method, functools.partial(f, 1)):
        assert bound(function, {"n": "3"}) in (3, 4)


def test_parameters_without_annotation_take_anything() -> None:
    def f(a, b=types.MappingProxyType({})):  # type: ignore[no-untyped-def]
        return a, b

    assert parameters(f).json_schema()["properties"] == {"a": {}, "b": {"default": {}}}
    assert bound(f, {"a": [1]}) == ([1], {})


def test_a_moment_needs_an_offset() -> None:
    def f(at: datetime) -> datetime:
        return at

    assert problems(f, {"at": "2026-01-01T12:00:00"}).startswith("at: expected a date and time with offset, such as ")


def test_a_record_may_be_unwrapped_into_the_arguments() -> None:
    def f(q: str, paging: Annotated[Paging, Unwrap]) -> Any:
        return q, paging

    schema = parameters(f).json_schema()
    assert list(schema["properties"]) == ["q", "pageSize", "sort"]
    assert bound(f, {"q": "x", "pageSize": "5"}) == ("x", Paging(5))
    assert bound(f, {"q": "x"}) == ("x", Paging())
    assert problems(f, {"q": "x", "sort": 1}) == "sort: expected text, got the number 1"


@dataclass
class Paging:
    page_size: int = 10
    sort: str = "name"


def test_any_mapping_may_hold_the_arguments() -> None:
    def f(q: str) -> str:
        return q

    assert bound(f, types.MappingProxyType({"q": "x"})) == "x"  # type: ignore[arg-type]
