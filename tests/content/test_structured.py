"""Structured content and output schemas: which annotations have them, and that text, value and schema agree."""

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

import jsonschema_rs
import pytest
from marshmallow import validate
from PIL import Image
from pydantic import BaseModel

from mcpconnect._typing import Unresolved
from mcpconnect.content import UNSET, YAML_TEXT, ContentList, TextContent, ToolResult, ToolResultBuilder
from mcpconnect.errors import DefinitionError, SerializationError
from mcpconnect.serialization import Case, CustomSerializer, Name, SerializerConfig

from .conversion import NO_ANNOTATION, convert, converter, kinds, only_text, structured, texts

T = TypeVar("T")


@dataclass
class Weather:
    city: str
    degrees: float


@dataclass
class User:
    user_id: int
    kind: Literal["user"] = "user"


@dataclass
class Group:
    members: list[User]
    kind: Literal["group"] = "group"


@dataclass
class Page(Generic[T]):
    items: list[T]


@dataclass
class Node:
    name: str
    children: list["Node"] = field(default_factory=list)


class Point(NamedTuple):
    x: int
    y: int


class Person(TypedDict):
    name: str


class Color(Enum):
    RED = "r"


class Model(BaseModel):
    number: int


Weathers = NewType("Weathers", list[Weather])  # type: ignore[valid-newtype]

OBJECTS: list[tuple[Any, Any]] = [
    (Weather, Weather("Rome", 21.5)),
    (Annotated[Weather, "now"], Weather("Rome", 21.5)),
    (Person, {"name": "Ann"}),
    (Point, Point(1, 2)),
    (Model, Model(number=1)),
    (Page[Weather], Page([Weather("Rome", 1.0)])),
    (Node, Node("a", [Node("b")])),
    (dict[str, int], {"a": 1}),
    (dict[str, Any], {"a": [1]}),
    (Mapping[str, Weather], {"a": Weather("Rome", 1.0)}),
    (User | Group, Group([User(1)])),
    (Awaitable[Weather], Weather("Rome", 21.5)),
    (Coroutine[Any, Any, Weather], Weather("Rome", 21.5)),
]
OTHERS: list[tuple[Any, Any]] = [
    (list[Weather], [Weather("Rome", 21.5)]),
    (Sequence[Person], [{"name": "Ann"}]),
    (Iterator[Point], [Point(1, 2)]),
    (Iterable[Weather], [Weather("Rome", 1.0)]),
    (tuple[Weather, ...], (Weather("Rome", 1.0),)),
    (list[dict[str, int]], [{"a": 1}]),
    (list[User | Group], [User(1), Group([])]),
    (list[Weather | None], [None, Weather("Rome", 1.0)]),
    (Weather | None, Weather("Rome", 21.5)),
    (Weather | None, None),
    (User | str, "nobody"),
    (User | Color | int, 5),
    (list[Weather] | None, None),
    (Weathers, [Weather("Rome", 1.0)]),
]
UNSTRUCTURED: list[Any] = [
    NO_ANNOTATION,
    None,
    Any,
    object,
    int,
    str,
    bool,
    Decimal,
    date,
    Color,
    Literal["a"],
    int | str,
    int | None,
    dict,
    list,
    tuple,
    list[int],
    list[Any],
    list[str],
    list[Color],
    list[list[int]],
    set[str],
    tuple[int, str],
    bytes,
    Image.Image,
    list[Image.Image],
    Weather | Image.Image,
    ContentList,
    ToolResult,
    TextContent | Weather,
    Callable[[], int],
    list[Callable[[], int]],
    "pandas.DataFrame",
    Unresolved("pandas.DataFrame", "the name 'pandas' is unknown there"),
    Weather | list[int],
    memoryview,
    Generic,
]


def agree(annotation: Any, value: Any, **options: Any) -> Any:
    """Check that text, structured value and schema agree, and return the schema."""
    convert_one = converter(annotation, **options)
    result = convert_one(value)
    schema = convert_one.output_schema
    assert schema is not None
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    assert validator.is_valid(structured(result)), (schema, structured(result))
    if isinstance(structured(result), str):
        assert only_text(result) == structured(result)
    else:
        assert json.loads(only_text(result)) == structured(result)
    return schema


@pytest.mark.fault(126)
@pytest.mark.parametrize(("annotation", "value"), OBJECTS)
def test_objects_have_text_and_structure_under_a_schema_of_objects(annotation: Any, value: Any) -> None:
    assert agree(annotation, value)["type"] == "object"


@pytest.mark.parametrize(("annotation", "value"), OTHERS)
def test_what_may_be_something_else_has_a_schema_without_an_object_at_its_root(annotation: Any, value: Any) -> None:
    assert agree(annotation, value).get("type") != "object"


@pytest.mark.fault(131)
@pytest.mark.parametrize("annotation", UNSTRUCTURED)
def test_everything_else_announces_nothing(annotation: Any) -> None:
    convert_one = converter(annotation)

    assert convert_one.output_schema is None
    for value in (None, "x", 5, [1], TextContent("x")):
        assert convert_one(value).structured is UNSET


@pytest.mark.fault(131)
def test_a_tool_that_returns_content_announces_nothing_under_any_policy() -> None:
    for annotation in (None, ContentList, list[TextContent], bytes, Image.Image, NO_ANNOTATION):
        assert converter(annotation, policy="all").output_schema is None


@pytest.mark.fault(134)
@pytest.mark.parametrize(
    "annotation",
    [
        Callable[[], int],
        type("SomeCClass", (), {"__slots__": ()}),
        "pandas.DataFrame",
        Unresolved("pandas.DataFrame", "the name 'pandas' is unknown there"),
        list[Unresolved("x", "unknown")],  # type: ignore[misc]
        Weather | Callable[[], int],
        Iterator,
        Awaitable,
        type,
        T,
        ...,
    ],
)
def test_an_exotic_annotation_has_no_schema_and_is_an_error_only_where_one_is_wished_for(annotation: Any) -> None:
    for policy in ("records", "none"):
        convert_one = converter(annotation, policy=policy)
        assert convert_one.output_schema is None
        assert only_text(convert_one({"a": 1})) == '{"a":1}'


def test_structured_true_needs_a_json_form() -> None:
    unresolved = Unresolved("pandas.DataFrame", "the name 'pandas' is unknown there")
    for annotation in (Callable[[], int], unresolved, bytes, Image.Image, list[Image.Image], ContentList, "x.Y"):
        for wish in (True, "only"):
            with pytest.raises(DefinitionError, match="needs a return annotation with a JSON form"):
                converter(annotation, structured=wish)


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (int, 5, "5"),
        (str, "a", "a"),
        (bool, False, "false"),
        (int | None, None, "null"),
        (None, None, "null"),
        (Any, {"a": 1}, '{"a":1}'),
        (Any, None, "null"),
        (NO_ANNOTATION, [1], "[1]"),
        (dict, {"a": 1}, '{"a":1}'),
        (list, [1], "[1]"),
        (list[int], [1], "[1]"),
        (tuple[int, str], (1, "a"), '[1,"a"]'),
        (date, date(2026, 1, 1), "2026-01-01"),
    ],
)
def test_structured_true_adds_what_records_alone_have_otherwise(annotation: Any, value: Any, text: str) -> None:
    convert_one = converter(annotation, structured=True)

    result = convert_one(value)

    assert only_text(result) == text
    assert convert_one.output_schema is not None
    expected = text if isinstance(value, (str, date)) else json.loads(text)
    assert structured(result) == expected


def test_texts_of_a_list_stay_texts_beside_their_structure() -> None:
    result = convert(["a", "b"], list[str], structured=True)

    assert texts(result) == ["a", "b"]
    assert structured(result) == ["a", "b"]


def test_policies_and_wishes() -> None:
    def has(annotation: Any, **options: Any) -> bool:
        return converter(annotation, **options).output_schema is not None

    assert [has(Weather, policy=policy) for policy in ("records", "all", "none")] == [True, True, False]
    assert [has(int, policy=policy) for policy in ("records", "all", "none")] == [False, True, False]
    assert [has(Any, policy=policy) for policy in ("records", "all", "none")] == [False, True, False]
    assert [has(Weather, structured=wish, policy="none") for wish in (True, False, "only", None)] == [
        True,
        False,
        True,
        False,
    ]
    assert not has(Weather, structured=False, policy="all")


def test_structured_only_leaves_a_line_in_the_place_of_the_json() -> None:
    result = convert(Weather("Rome", 21.5), Weather, structured="only")
    assert only_text(result) == "The result (Weather) is in the structured content."
    assert structured(result) == {"city": "Rome", "degrees": 21.5}
    result = convert([Weather("Rome", 21.5)], list[Weather], structured="only", content_type=YAML_TEXT)
    assert only_text(result) == "The result (list with 1 item) is in the structured content."
    assert "2 items" in only_text(convert(["a", "b"], list[str], structured="only"))
    assert only_text(convert(5, int, structured="only")) == "5"
    assert only_text(convert(None, Weather | None, structured="only")) == "null"


@pytest.mark.fault(127)
def test_blocks_beside_a_record_are_blocks_only() -> None:
    result = convert([TextContent("see"), Weather("Rome", 1.0)], list[TextContent | Weather])

    assert kinds(result) == ["text", "text"]
    assert result.structured is UNSET


@pytest.mark.fault(128)
def test_names_are_the_same_in_text_value_and_schema() -> None:
    @dataclass
    class Renamed:
        full_name: str
        zip_code: Annotated[str, Name("PLZ")]

    for case, name in ((Case.CAMEL, "fullName"), (Case.SNAKE, "full_name"), (Case.KEBAB, "full-name")):
        schema = agree(Renamed, Renamed("Ann", "1"), config=SerializerConfig(case=case))
        assert set(schema["properties"]) == set(schema["required"]) == {name, "PLZ"}


@pytest.mark.fault(129)
def test_an_error_has_no_structure() -> None:
    error = ToolResultBuilder().add_text("no such city").as_error()

    for value in (error.build(), error.structured({"city": 5}).build(), ToolResult("no", {"a": 1}, is_error=True)):
        result = convert(value, Weather)
        assert result.is_error
        assert result.structured is UNSET


@pytest.mark.fault(130)
@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (User, User("41")),  # type: ignore[arg-type]
        (User, User(1, "admin")),  # type: ignore[arg-type]
        (User, {"userId": 1, "kind": "user"}),
        (User, "x"),
        (User, None),
        (list[User], [User(1), User("2")]),  # type: ignore[arg-type]
        (dict[str, Color], {"a": "purple"}),
        (User | str, 5),
        (User, Image.new("L", (1, 1))),
        (User, b"x"),
        (list[User], [TextContent("x")]),
    ],
)
def test_a_value_that_breaks_the_schema_is_an_error_that_says_so(annotation: Any, value: Any) -> None:
    with pytest.raises(SerializationError, match="output mismatch"):
        convert(value, annotation)
    with pytest.raises(SerializationError, match="output mismatch"):
        convert(value, annotation, content_type=YAML_TEXT)


@pytest.mark.fault(130)
def test_the_place_of_a_mismatch_is_told() -> None:
    with pytest.raises(SerializationError) as caught:
        convert([User(1), User("2")], list[User])  # type: ignore[arg-type]

    assert caught.value.path == "$[1].userId"
    assert str(caught.value).startswith("$[1].userId: output mismatch")


@pytest.mark.fault(132)
def test_optional_results_pass_their_schema() -> None:
    for value in (None, Weather("Rome", 21.5)):
        schema = agree(Weather | None, value)
        wrapped = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        assert jsonschema_rs.is_valid(wrapped, {"result": structured(convert(value, Weather | None))})


@pytest.mark.fault(133)
def test_awaitables_are_looked_through() -> None:
    plain = converter(Weather).output_schema
    for annotation in (Awaitable[Weather], Coroutine[Any, Any, Weather], Annotated[Awaitable[Weather], None]):
        assert converter(annotation).output_schema == plain
        assert structured(convert(Weather("Rome", 1.0), annotation)) == {"city": "Rome", "degrees": 1.0}


def test_validators_promise_nothing_about_output_and_objects_are_open() -> None:
    @dataclass
    class Rated:
        stars: Annotated[int, validate.Range(max=5)]

    schema = agree(Rated, Rated(9))

    assert schema["properties"]["stars"] == {"type": "integer"}
    assert schema.get("additionalProperties") is not False


def test_a_foreign_model_that_cannot_be_described_has_no_schema() -> None:
    class Strange(BaseModel):
        then: Callable[[], int]

    assert converter(Strange).output_schema is None
    assert converter(list[Strange], policy="all").output_schema is None
    with pytest.raises(DefinitionError, match="Strange cannot be described"):
        converter(Strange, structured=True)


def test_references_follow_the_setting() -> None:
    assert "$defs" not in json.dumps(converter(Page[Weather], refs="inline").output_schema)


def test_a_custom_serializer_that_describes_an_object_is_a_record() -> None:
    as_object = CustomSerializer(lambda u: {"id": u.user_id}, json_schema={"type": "object"})
    as_text = CustomSerializer(lambda u: f"#{u.user_id}", json_schema={"type": "string"})

    assert agree(User, User(1), config=SerializerConfig(serializers={User: as_object}))["type"] == "object"
    assert converter(User, config=SerializerConfig(serializers={User: as_text})).output_schema is None
    assert agree(list[User], [User(1)], config=SerializerConfig(serializers={User: as_object}))["type"] == "array"


# -- a schema of the user's own ---------------------------------------------------------------------------------------

OWN = {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"]}


def test_an_own_schema_is_served_as_it_is_and_checked() -> None:
    for annotation in (Weather, NO_ANNOTATION, Any, dict, "pandas.DataFrame"):
        convert_one = converter(annotation, output_schema=OWN)
        assert convert_one.output_schema == OWN
        value = Weather("Rome", 1.0)
        assert structured(convert_one(value)) == {"city": "Rome", "degrees": 1.0}
        assert json.loads(only_text(convert_one(value))) == {"city": "Rome", "degrees": 1.0}
        with pytest.raises(SerializationError, match=r"\$\.city: output mismatch"):
            convert_one(Weather("Paris", 1.0))


def test_an_own_schema_checks_what_the_builder_was_given() -> None:
    convert_one = converter(ContentList, output_schema=OWN)

    assert structured(convert_one(ToolResultBuilder().add_text("x").structured({"city": "Oslo"}).build()))
    with pytest.raises(SerializationError, match="output mismatch"):
        convert_one(ToolResultBuilder().add_text("x").structured({"city": "Bonn"}).build())
    with pytest.raises(SerializationError, match="no structured content"):
        convert_one(ToolResultBuilder().add_text("x").build())
    assert convert_one(ToolResultBuilder().add_text("x").as_error().build()).is_error


def test_an_own_schema_and_no_structure_contradict_each_other() -> None:
    with pytest.raises(DefinitionError, match="contradict"):
        converter(Weather, output_schema=OWN, structured=False)


def test_an_own_schema_that_does_not_compile_is_refused() -> None:
    with pytest.raises(DefinitionError, match="does not compile"):
        converter(Weather, output_schema={"type": "objekt"})
