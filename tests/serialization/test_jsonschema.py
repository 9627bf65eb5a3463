"""JSON Schemas: what hosts need of them, shapes of unions, recursion, definitions, views."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NewType, Optional, TypedDict, TypeVar
from uuid import UUID

import annotated_types
import jsonschema_rs
import pytest
from marshmallow import fields, validate
from typing_extensions import Doc, TypeAliasType

from mcpconnect.errors import DefinitionError, LoadError, SerializationError
from mcpconnect.serialization import Case, EnumNames, Format, Param, Rule, Serializer, SerializerConfig, Use


def schema_of(annotation: Any, view: Any = "output", **config: Any) -> dict[str, Any]:
    schema = Serializer(SerializerConfig(**config)).json_schema(annotation, view=view)
    jsonschema_rs.meta.validate(schema)
    json.dumps(schema)
    return schema


def accepts(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(value)


class Colour(Enum):
    RED = "r"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Dense(Flag):
    A = 1
    B = 2


class Sparse(IntFlag):
    A = 1
    B = 8


@dataclass
class User:
    user_id: int
    name: str | None = None


@dataclass
class Circle:
    radius: float
    kind: Literal["circle"] = "circle"


@dataclass
class Square:
    side: float
    kind: Literal["square"] = "square"


@dataclass
class Link:
    name: str
    next: Optional["Link"] = None


@dataclass
class Team:
    lead: User
    members: list[User]


@pytest.mark.fault(12)
@pytest.mark.fault(14)
@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (bool, {"type": "boolean"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (str, {"type": "string"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (Path, {"type": "string"}),
        (Colour, {"type": "string", "const": "r"}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Dense, {"type": "integer", "minimum": 0, "maximum": 3}),
        (Sparse, {"type": "integer", "enum": [0, 1, 8, 9]}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Literal["a"], {"type": "string", "const": "a"}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
        (Iterator[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2}),
        (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}),
        (dict, {"type": "object", "additionalProperties": {}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Mapping[Level, int], {"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"enum": ["1", "2"]}}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (NewType("UserId", int), {"type": "integer"}),
    ],
)  # fmt: skip
def test_the_schema_of_every_kind(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema_of(annotation) == schema_of(annotation, "input") == schema


@pytest.mark.fault(12)
@pytest.mark.parametrize(
    ("annotation", "value", "config"),
    [
        (Decimal, Decimal("1E+2"), {}), (Decimal, Decimal("1.5"), {"decimal_as": "number"}), (time, time(1, 2, 3, 4), {}),
        (timedelta, timedelta(days=-1, seconds=5, microseconds=7), {}), (datetime, datetime(2000, 1, 1), {}),
        (datetime, datetime(2000, 1, 1), {"datetime_format": "unix"}), (float, float("nan"), {"non_finite": "null"}),
        (Decimal, Decimal("NaN"), {"non_finite": "null"}), (int, 2**60, {"big_ints": "string"}), (Level, Level.LOW, {"enum_as": "name"}),
        (dict[float, int], {1.5: 1, 1e300: 2, -3.0: 1}, {}), (dict[bool, int], {True: 1}, {}), (dict[Any, Any], {None: 1}, {}),
        (dict[int | None, int], {None: 1, 5: 1}, {}), (dict[date, int], {date(2000, 1, 1): 1}, {}),
    ],
)  # fmt: skip
def test_schema_and_value_agree_in_every_format(annotation: Any, value: Any, config: dict[str, Any]) -> None:
    serializer = Serializer(SerializerConfig(**config))
    assert accepts(schema_of(annotation, **config), serializer.dump(value, annotation))


@pytest.mark.parametrize(
    ("annotation", "value", "wire", "words"),
    [
        (Annotated[bytes, Format("hex")], b"\xff", "ff", {"contentEncoding": "base16"}),
        (Annotated[bytes, Format("base64url")], b"\xfb\xff", "-_8=", {"contentEncoding": "base64url"}),
        (Annotated[bytes, Format("native")], b"\xff", [255], {"type": "array"}),
        (Annotated[datetime, Format("unix")], datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1, {"type": "number"}),
        (Annotated[datetime, Format("%d.%m.%Y")], datetime(2000, 2, 1), "01.02.2000", {"type": "string"}),
        (Annotated[date | None, Format("%d.%m.%Y")], date(2000, 2, 1), "01.02.2000", {}),
        (Annotated[time, Format("%H h")], time(5), "05 h", {"type": "string"}),
        (Annotated[timedelta, Format("seconds")], timedelta(seconds=1.5), 1.5, {"type": "number"}),
        (Annotated[Decimal, Format("number")], Decimal("1.5"), 1.5, {"type": "number"}),
        (Annotated[Level, Format("name")], Level.LOW, "LOW", {"enum": ["LOW", "HIGH"]}),
        (Annotated[Level, EnumNames({"LOW": "l"})], Level.LOW, "l", {"enum": ["l", "HIGH"]}),
    ],
)
def test_a_format_holds_for_value_loading_and_schema(
    annotation: Any, value: Any, wire: Any, words: dict[str, Any]
) -> None:
    serializer = Serializer()
    assert serializer.dump(value, annotation) == wire
    assert serializer.load(annotation, wire) == value
    assert words.items() <= schema_of(annotation).items()


@pytest.mark.parametrize(
    "annotation",
    [Annotated[int, Format("hex")], Annotated[str, EnumNames("a")], Annotated[int, EnumNames("a")],
     Annotated[Level, EnumNames("a", "b", "c")], Annotated[Level, EnumNames("a", "a")], Annotated[Level, EnumNames({"X": "a"})]],
)  # fmt: skip
def test_notes_that_do_not_fit_are_refused(annotation: Any) -> None:
    with pytest.raises(DefinitionError):
        Serializer().plan(annotation)


# -- views ------------------------------------------------------------------------------------------------------------


def test_the_views_of_a_record() -> None:
    assert schema_of(User) == {
        "type": "object",
        "properties": {"userId": {"type": "integer"}, "name": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["userId", "name"],
    }
    assert schema_of(User, "input") == {
        "type": "object",
        "properties": {
            "userId": {"type": "integer"},
            "name": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["userId"],
        "additionalProperties": False,
    }
    assert "additionalProperties" not in Serializer().json_schema(User, view="input", additional=True)


def test_the_output_view_leaves_validators_out() -> None:
    annotation = Annotated[int, "how many", validate.Range(min=1)]
    assert schema_of(annotation) == {"type": "integer", "description": "how many"}
    assert schema_of(annotation, "input") == {"type": "integer", "minimum": 1, "description": "how many"}


CONSTRAINTS = [
    (Annotated[int, validate.Range(1, 5, max_inclusive=False)], {"minimum": 1, "exclusiveMaximum": 5}, [1, 4], [0, 5]),
    (Annotated[Decimal, validate.Range(min=1)], {}, ["1.0"], ["0.9"]),
    (Annotated[str, validate.Length(equal=2)], {"minLength": 2, "maxLength": 2}, ["ab"], ["a"]),
    (Annotated[list[int], validate.Length(max=1)], {"maxItems": 1}, [[1]], [[1, 2]]),
    (Annotated[dict[str, int], validate.Length(min=1)], {"minProperties": 1}, [{"a": 1}], [{}]),
    (Annotated[bytes, validate.Length(max=1)], {}, ["QQ=="], ["QUE="]),
    (Annotated[str, validate.Regexp("[a-c]+$")], {"pattern": "^(?:[a-c]+$)"}, ["ab"], ["xb", "abx"]),
    (Annotated[str, validate.Regexp("^a")], {"pattern": "^a"}, ["ab"], ["b"]),
    (Annotated[str, validate.Regexp("a", 2)], {}, ["Ab"], ["b"]),
    (Annotated[str, validate.OneOf(["a", "b"])], {"enum": ["a", "b"]}, ["a"], ["c"]),
    (Annotated[str, validate.NoneOf(["a"])], {"not": {"enum": ["a"]}}, ["b"], ["a"]),
    (Annotated[int, validate.Equal(3)], {"const": 3}, [3], [4]),
    (Annotated[list[int], validate.ContainsOnly([1, 2])], {"allOf": [{"items": {"enum": [1, 2]}}]}, [[1]], [[3]]),
    (Annotated[list[int], validate.ContainsNoneOf([1])], {}, [[2]], [[1]]),
    (Annotated[str, validate.Email()], {"format": "email"}, ["a@b.co"], ["a"]),
    (Annotated[str, validate.URL()], {"format": "uri"}, ["http://a.co"], ["a"]),
    (Annotated[int, validate.And(validate.Range(min=1), validate.Range(max=3))], {"minimum": 1, "maximum": 3}, [1], [0, 4]),
    (Annotated[int | None, validate.Range(min=1)], {}, [1, None], [0]),
    (Annotated[int | float, validate.Range(min=1)], {"minimum": 1}, [1, 1.5], [0, 0.5]),
    (Annotated[int, annotated_types.Gt(1), annotated_types.Lt(9)], {"exclusiveMinimum": 1, "exclusiveMaximum": 9}, [2], [1, 9]),
    (Annotated[float, annotated_types.Interval(ge=1, le=2)], {"minimum": 1, "maximum": 2}, [1, 1.5], [0, 3]),
    (Annotated[int, annotated_types.MultipleOf(3)], {"multipleOf": 3}, [6], [7]),
    (Annotated[float, annotated_types.MultipleOf(0.1)], {"multipleOf": 0.1}, [0.3], [0.35]),
    (Annotated[str, annotated_types.Len(1, 2)], {"minLength": 1, "maxLength": 2}, ["a"], ["", "abc"]),
    (Annotated[list[int], annotated_types.MinLen(1)], {"minItems": 1}, [[1]], [[]]),
    (Annotated[str, annotated_types.Predicate(str.islower)], {}, ["a"], ["A"]),
    (Annotated[date, annotated_types.Ge(date(2000, 1, 1))], {}, ["2000-01-02"], ["1999-12-31"]),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "words", "right", "wrong"), CONSTRAINTS)
def test_constraints_are_checked_and_printed(
    annotation: Any, words: dict[str, Any], right: list[Any], wrong: list[Any]
) -> None:
    serializer = Serializer()
    schema = schema_of(annotation, "input")
    assert words.items() <= schema.items()
    for value in right:
        serializer.load(annotation, value, strict=True)
        assert accepts(schema, value)
    for value in wrong:
        with pytest.raises(LoadError) as caught:
            serializer.load(annotation, value, strict=True)
        assert caught.value.problems[0][1]
        assert not words or not accepts(schema, value)


@pytest.mark.fault(86)
@pytest.mark.parametrize(
    "annotation",
    [Annotated[int, validate.Length(min=1)], Annotated[str, validate.Range(min=1)], Annotated[int, validate.Regexp("a")],
     Annotated[bool, validate.Range(min=1)], Annotated[list[int], validate.Range(min=1)], Annotated[User, validate.Length(min=1)],
     Annotated[int | str, validate.Range(min=1)], Annotated[date, annotated_types.Ge(datetime(2000, 1, 1))],
     Annotated[int, annotated_types.MinLen(1)], Annotated[Colour, validate.Length(min=1)], Annotated[str, annotated_types.MultipleOf(2)]],
)  # fmt: skip
def test_constraints_that_do_not_fit_the_type_are_refused(annotation: Any) -> None:
    with pytest.raises(DefinitionError, match="does not fit"):
        Serializer().plan(annotation)


def test_notes_of_an_alias_and_of_the_member_add_up() -> None:
    Count = Annotated[int, "inner", validate.Range(min=0)]
    annotation = Annotated[Count, "outer", validate.Range(max=9), Param(title="T"), Doc("doc"), object()]
    assert schema_of(annotation, "input") == {
        "type": "integer", "minimum": 0, "maximum": 9, "title": "T", "description": "doc",
    }  # fmt: skip


# -- unions, recursion, definitions -----------------------------------------------------------------------------------


@pytest.mark.fault(78)
@pytest.mark.parametrize("union", [Circle | Square, Square | Circle])
def test_records_with_a_tag_can_be_told_apart(union: Any) -> None:
    serializer = Serializer()
    for value in (Circle(1), Square(2)):
        assert serializer.load(union, serializer.dump(value, union)) == value
    schema = schema_of(union, "input")
    assert schema["type"] == "object"
    assert all("kind" in part["required"] and "const" in part["properties"]["kind"] for part in schema["anyOf"])
    for wrong in ({"radius": 1}, {"side": 1, "kind": "circle"}, {"kind": "x", "side": 1}):
        assert not accepts(schema, wrong)
        with pytest.raises(LoadError):
            serializer.load(union, wrong)
    assert "kind" not in schema_of(Circle, "input")["required"]


def test_a_shared_record_in_a_tagged_union_is_still_required_to_carry_its_tag() -> None:
    schema = schema_of(tuple[Circle, Circle | Square], "input")
    assert schema["prefixItems"][1]["anyOf"][0] == {"$ref": "#/$defs/Circle", "required": ["kind"]}
    assert not accepts(schema, [{"radius": 1}, {"radius": 1}])
    assert accepts(schema, [{"radius": 1}, {"radius": 1, "kind": "circle"}])


def test_records_without_a_tag_go_by_shape() -> None:
    @dataclass
    class Cat:
        name: str
        lives: int

    @dataclass
    class Dog:
        name: str

    serializer = Serializer()
    for union in (Cat | Dog, Dog | Cat):
        assert serializer.load(union, {"name": "x", "lives": 9}) == Cat("x", 9)
        assert serializer.load(union, {"name": "x"}) == Dog("x")
        assert serializer.load(union, {"name": "x", "lives": "9"}) == Cat("x", 9)
        with pytest.raises(LoadError, match=r"^fits none of the expected objects: \{\"name\""):
            serializer.load(union, {"nam": "x"})


@pytest.mark.fault(75)
def test_a_union_stands_alone() -> None:
    schema = schema_of(Team | str)
    serializer = Serializer()
    for value in (Team(User(1), [User(2, "n")]), "nobody"):
        assert accepts(schema, serializer.dump(value, Team | str))


@pytest.mark.fault(76)
@pytest.mark.fault(77)
@pytest.mark.parametrize("view", ["input", "output"])
def test_a_record_that_contains_itself_has_an_object_at_the_root(view: Any) -> None:
    schema = schema_of(Link, view)
    assert schema["type"] == "object"
    assert schema["properties"]["next"]["anyOf"][0] == {"$ref": "#/$defs/Link"}
    value = Link("a", Link("b"))
    assert accepts(schema, Serializer().dump(value))
    assert not accepts(schema, {"name": "a", "next": {"name": 1}})
    assert Serializer().load(Link, Serializer().dump(value)) == value


def test_inline_schemas_have_no_references_and_end() -> None:
    for annotation in (Link, Team, list[Link]):
        schema = Serializer().json_schema(annotation, refs="inline")
        assert "$ref" not in json.dumps(schema)
        assert "$defs" not in schema
    assert Serializer().json_schema(Team, refs="inline")["properties"]["members"]["items"]["type"] == "object"


@pytest.mark.fault(74)
def test_a_record_used_twice_is_defined_once() -> None:
    schema = schema_of(Team)
    assert list(schema["$defs"]) == ["User"]
    assert schema["properties"]["members"]["items"] == schema["properties"]["lead"] == {"$ref": "#/$defs/User"}


def test_definitions_of_the_same_name_are_kept_apart() -> None:
    def make(kind: Any) -> Any:
        @dataclass
        class Same:
            value: kind

        return Same

    one, two = make(int), make(str)
    schema = schema_of(tuple[one, one, two, two])
    assert list(schema["$defs"]) == ["Same", "Same_2"]
    assert accepts(schema, [{"value": 1}, {"value": 1}, {"value": "x"}, {"value": "x"}])


T = TypeVar("T")


@dataclass
class Page(Generic[T]):
    items: list[T]
    more: "Page[T] | None" = None


def test_definitions_of_generics_carry_their_arguments() -> None:
    assert list(schema_of(Page[User])["$defs"]) == ["Page_User"]


Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | float | bool | None")
Numbers = TypeAliasType("Numbers", list[T], type_params=(T,))


def test_recursive_aliases() -> None:
    serializer = Serializer()
    value = {"a": [1, "x", None, {"b": 1.5}], "c": True}
    assert serializer.dump(value, Json) == serializer.load(Json, value) == value
    schema = schema_of(Json, "input")
    assert accepts(schema, value)
    assert schema_of(Numbers[int]) == {"type": "array", "items": {"type": "integer"}}
    with pytest.raises(SerializationError, match=r"\$\.a: expected .*, got object"):
        serializer.dump({"a": object()}, Json)
    assert serializer.json_schema(Json, refs="inline")["anyOf"]


def test_an_alias_of_something_unknown_is_a_clear_error() -> None:
    Broken = TypeAliasType("Broken", "list[Nowhere]")  # noqa: F821 - meant
    with pytest.raises(DefinitionError, match="Nowhere"):
        Serializer().plan(dict[str, Broken])


def test_examples_defaults_and_titles_are_in_json_form() -> None:
    @dataclass
    class Row:
        day: Annotated[date, Param(title="Day", description="when", examples=[date(2000, 1, 2)])] = date(2000, 1, 1)
        tags: list[str] = field(default_factory=list)

    assert schema_of(Row, "input")["properties"]["day"] == {
        "type": "string", "format": "date", "title": "Day", "description": "when", "examples": ["2000-01-02"],
        "default": "2000-01-01",
    }  # fmt: skip
    assert "default" not in schema_of(Row)["properties"]["day"]


class Options(TypedDict, total=False):
    """Options of a search."""

    page_size: int


@pytest.mark.fault(128)
def test_names_are_the_same_in_schema_and_value() -> None:
    for case in Case:
        serializer = Serializer(SerializerConfig(case=case))
        assert list(serializer.json_schema(User)["properties"]) == list(serializer.dump(User(1)))
        assert list(serializer.json_schema(Options)["properties"]) == list(serializer.dump({"page_size": 1}, Options))
    assert schema_of(Options)["description"] == "Options of a search."


@pytest.mark.parametrize(
    ("custom", "schema"),
    [
        (fields.String(validate=validate.Length(1)), {"type": "string", "minLength": 1}),
        (fields.Integer(allow_none=True), {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (fields.Float(metadata={"description": "d"}), {"type": "number", "description": "d"}),
        (fields.Decimal(), {"type": "number"}),
        (fields.Integer(as_string=True), {"type": "string"}),
        (fields.Boolean(), {"type": "boolean"}),
        (fields.UUID(), {"type": "string", "format": "uuid"}),
        (fields.DateTime(), {"type": "string", "format": "date-time"}),
        (fields.DateTime(format="timestamp"), {"type": "number"}),
        (fields.DateTime(format="%Y"), {"type": "string"}),
        (fields.Date(), {"type": "string", "format": "date"}),
        (fields.Time(), {"type": "string"}),
        (fields.TimeDelta(), {"type": "number"}),
        (fields.Email(), {"type": "string", "format": "email"}),
        (fields.Url(), {"type": "string", "format": "uri"}),
        (fields.IPv4(), {"type": "string", "format": "ipv4"}),
        (fields.List(fields.Integer()), {"type": "array", "items": {"type": "integer"}}),
        (fields.Tuple([fields.Integer(), fields.String()]), {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2}),
        (fields.Dict(values=fields.Integer()), {"type": "object", "additionalProperties": {"type": "integer"}}),
        (fields.Dict(), {"type": "object", "additionalProperties": {}}),
        (fields.Enum(Level), {"type": "string", "enum": ["LOW", "HIGH"]}),
        (fields.Enum(Level, by_value=True), {"type": "integer", "enum": [1, 2]}),
        (fields.Constant(5), {"type": "integer", "const": 5}),
        (fields.Raw(), {}),
        (fields.Nested({"a": fields.Integer(required=True)}), {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}),
        (fields.Nested({"a": fields.Integer()}, many=True), {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}}),
        (fields.Pluck({"a": fields.Integer()}, "a"), {"type": "integer"}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, fields.Field) else "",
)  # fmt: skip
def test_marshmallow_fields_are_printed(custom: Any, schema: dict[str, Any]) -> None:
    assert schema_of(Annotated[Any, Use(custom)], "input") == schema


def test_what_has_no_json_form_has_no_schema() -> None:
    class Silent:
        pass

    for annotation in (Silent, list[Silent], complex, type, dict[str, "Nowhere"]):  # type: ignore[name-defined]  # noqa: F821
        with pytest.raises(DefinitionError):
            Serializer().json_schema(annotation)


def test_a_rule_changes_the_schema_too() -> None:
    serializer = Serializer(SerializerConfig(rules={User: Rule(case=Case.SNAKE, ignore=["name"])}))
    assert serializer.json_schema(User)["properties"] == {"user_id": {"type": "integer"}}
