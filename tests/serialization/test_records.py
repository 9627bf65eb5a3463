"""Every kind of record: what it declares, how it is written, read and described."""

from __future__ import annotations

import abc
import collections
import dataclasses
from dataclasses import KW_ONLY, InitVar, dataclass, field
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    NotRequired,
    Protocol,
    TypedDict,
    TypeVar,
    runtime_checkable,
)

import attrs
import pytest
import typing_extensions

from mcpconnect.errors import DefinitionError, LoadError, SerializationError
from mcpconnect.serialization import Serializer, SerializerConfig, Visibility

T = TypeVar("T")


def there_and_back(value: Any, annotation: Any = None, **config: Any) -> Any:
    """Check that a value survives, in both ways of writing; return its JSON value."""
    serializer = Serializer(SerializerConfig(**config))
    annotation = annotation or type(value)
    dumped = serializer.dump(value, annotation)
    assert serializer.loads(annotation, serializer.dumps(value, annotation), strict=True) == value
    assert serializer.load(annotation, dumped, strict=True) == value
    return dumped


@dataclass
class Owner:
    owner_id: int
    email: str = "-"


@dataclass
class Employee(Owner):
    _: KW_ONLY
    salary: Decimal = Decimal("1.10")
    tags: list[str] = field(default_factory=list)
    boss: Employee | None = None


def test_a_dataclass_with_inheritance_keyword_only_fields_defaults_and_factories() -> None:
    assert there_and_back(Employee(1, boss=Employee(2))) == {
        "ownerId": 1,
        "email": "-",
        "salary": "1.10",
        "tags": [],
        "boss": {"ownerId": 2, "email": "-", "salary": "1.10", "tags": [], "boss": None},
    }
    assert Serializer().load(Employee, {"ownerId": 3}) == Employee(3)


@pytest.mark.fault(36)
def test_a_slotted_dataclass() -> None:
    @dataclass(slots=True, frozen=True)
    class Point:
        x: int
        y: int = 2

    assert there_and_back(Point(1)) == {"x": 1, "y": 2}


@dataclass
class Seeded:
    seed: InitVar[int]
    name: str
    K: ClassVar[int] = 1
    note: InitVar[str] = ""
    length: int = field(init=False, default=0)

    def __post_init__(self, seed: int, note: str) -> None:
        self.tmp = seed
        self.length = seed


@pytest.mark.fault(37)
def test_helpers_init_only_and_class_variables_never_appear() -> None:
    serializer = Serializer()
    assert serializer.dump(Seeded(3, "n")) == {"name": "n", "length": 3}
    assert list(serializer.json_schema(Seeded)["properties"]) == ["name", "length"]
    # What the constructor cannot do without is read, and nothing else of these.
    schema = serializer.json_schema(Seeded, view="input")
    assert (list(schema["properties"]), schema["required"]) == (["seed", "name", "length"], ["seed", "name"])
    loaded = serializer.load(Seeded, {"seed": 4, "name": "n", "length": 9})
    assert (loaded.name, loaded.length, loaded.tmp) == ("n", 9, 4)


def test_a_field_that_the_constructor_does_not_take_is_set_even_on_a_frozen_object() -> None:
    @dataclass(frozen=True)
    class Row:
        a: int
        b: int = field(init=False, default=1)

    row = Serializer().load(Row, {"a": 1, "b": 5})
    assert (row.a, row.b) == (1, 5)


@dataclass
class Span:
    start: int
    end: int

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError("end lies before start")


@dataclass
class Plan:
    spans: list[Span]


def test_what_a_constructor_refuses_is_a_reason_for_the_model() -> None:
    with pytest.raises(LoadError) as caught:
        Serializer().load(Plan, {"spans": [{"start": 1, "end": 2}, {"start": 2, "end": 1}]})
    assert caught.value.problems == (("spans[1]", "end lies before start"),)


@dataclass
class Page(Generic[T]):
    items: list[T]
    next_page: Page[T] | None = None


@dataclass
class Named(Page[Owner]):
    name: str = ""


@pytest.mark.fault(41)
def test_type_parameters_are_resolved_also_from_text_and_through_inheritance() -> None:
    page = Page([Owner(1)], Page([Owner(2)]))
    assert there_and_back(page, Page[Owner])["items"] == [{"ownerId": 1, "email": "-"}]
    assert there_and_back(Named([Owner(1)], None, "n"))["name"] == "n"
    for annotation in (Page[Owner], Named):
        items = Serializer().json_schema(annotation)["properties"]["items"]["items"]
        definitions = Serializer().json_schema(annotation).get("$defs", {})
        target = definitions[items["$ref"].rpartition("/")[2]] if "$ref" in items else items
        assert list(target["properties"]) == ["ownerId", "email"]
    with pytest.raises(LoadError, match=r"^items\[0\]: expected an object, got the number 1$"):
        Serializer().load(Page[Owner], {"items": [1]})


class Animal:
    name: str

    def __init__(self, name: str) -> None:
        self.name = name


class Dog(Animal):
    breed: str

    def __init__(self, name: str, breed: str) -> None:
        super().__init__(name)
        self.breed = breed


@pytest.mark.fault(42)
def test_a_value_of_a_subclass_is_written_by_its_own_class_and_the_schema_allows_it() -> None:
    serializer = Serializer()
    dogs = [Animal("A"), Dog("R", "x")]
    assert serializer.dump(dogs, list[Animal]) == [{"name": "A"}, {"name": "R", "breed": "x"}]
    assert serializer.dumps(dogs, list[Animal]) == b'[{"name":"A"},{"name":"R","breed":"x"}]'
    assert "additionalProperties" not in serializer.json_schema(Animal)


def test_a_plain_class_is_made_through_its_constructor_and_what_that_does_not_take_is_set() -> None:
    class Box:
        width: int
        label: str = "none"
        _hidden: int = 1
        unit: Final = "cm"

        def __init__(self, width: int) -> None:
            self.width = width

    serializer = Serializer()
    box = serializer.load(Box, {"width": 3, "label": "l"})
    assert (box.width, box.label) == (3, "l")
    assert serializer.dump(box) == {"width": 3, "label": "l", "unit": "cm"}
    assert serializer.load(Box, {"width": 3}).label == "none"


def test_a_constructor_that_needs_more_than_the_members_makes_a_class_unreadable() -> None:
    class Report:
        title: str

        def __init__(self, title: str, database: object) -> None:
            self.title = title

    serializer = Serializer()
    assert serializer.dump(Report("t", object())) == {"title": "t"}
    with pytest.raises(DefinitionError, match="the constructor of Report needs database"):
        serializer.load(Report, {"title": "t"})


def test_a_hidden_member_that_the_constructor_needs_makes_a_class_unreadable() -> None:
    @dataclass
    class Account:
        name: str
        _token: str

    with pytest.raises(DefinitionError, match="needs _token, which is not a visible member"):
        Serializer().load(Account, {"name": "n"})
    everything = Serializer(SerializerConfig(visibility=set(Visibility)))
    assert everything.load(Account, {"name": "n", "token": "t"}) == Account("n", "t")


def test_a_slotted_class() -> None:
    class Slotted:
        __slots__ = ("_c", "a", "b")

        def __init__(self, a: int, b: int) -> None:
            self.a, self.b, self._c = a, b, 0

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Slotted) and (self.a, self.b) == (other.a, other.b)

        __hash__ = None  # type: ignore[assignment]

    assert there_and_back(Slotted(1, 2)) == {"a": 1, "b": 2}


def test_an_attribute_that_has_no_value_is_named() -> None:
    class Half:
        a: int
        b: int

        def __init__(self) -> None:
            self.a = 1

    with pytest.raises(SerializationError, match=r"^\$\[0\]\.b: b has no value$"):
        Serializer().dump([Half()], list[Half])


@pytest.mark.parametrize("decorate", [lambda cls: cls, runtime_checkable])
def test_a_protocol_says_nothing_of_the_form_and_values_are_written_by_their_class(decorate: Any) -> None:
    class Shape(Protocol):
        area: float

    @dataclass
    class Square:
        area: float

    serializer, annotation = Serializer(), decorate(Shape)
    assert serializer.dumps(Square(2.0), annotation) == b'{"area":2.0}'
    assert serializer.dump([Square(2.0)], list[annotation]) == [{"area": 2.0}]
    for refused in (serializer.json_schema, lambda cls: serializer.load(cls, {"area": 1})):
        with pytest.raises(DefinitionError, match="Shape is a protocol"):
            refused(annotation)


def test_an_abstract_class_can_be_written_but_not_made() -> None:
    class Shape(abc.ABC):
        area: float

        @abc.abstractmethod
        def grow(self) -> None: ...

    serializer = Serializer()
    assert serializer.json_schema(Shape)["properties"] == {"area": {"type": "number"}}
    with pytest.raises(DefinitionError, match="abstract"):
        serializer.load(Shape, {"area": 1})


@attrs.define
class Person:
    name: str
    _age: int = 3
    tags: list[str] = attrs.field(factory=list)
    initial: str = attrs.field(default=attrs.Factory(lambda self: self.name[:1], takes_self=True))
    upper: str = attrs.field(converter=str.upper, default="x")


def test_an_attrs_class() -> None:
    assert there_and_back(Person("n")) == {"name": "n", "tags": [], "initial": "n", "upper": "X"}
    assert there_and_back(Person("n", 4), visibility=set(Visibility))["age"] == 4
    assert Serializer().load(Person, {"name": "b", "upper": "y"}) == Person("b", upper="y")
    assert Serializer().json_schema(Person, view="input")["required"] == ["name"]


class Coordinates(NamedTuple):
    latitude: float
    height_above: int = 0


@dataclass
class Place:
    at: Coordinates


@pytest.mark.fault(19)
def test_a_named_tuple_is_an_object_everywhere() -> None:
    assert there_and_back(Place(Coordinates(1.5))) == {"at": {"latitude": 1.5, "heightAbove": 0}}
    assert Serializer().json_schema(Coordinates)["type"] == "object"
    Untyped = collections.namedtuple("Untyped", "a b")
    assert there_and_back(Untyped(1, "x")) == {"a": 1, "b": "x"}


class Base(TypedDict):
    id: int


class Movie(Base, total=False):
    name: typing_extensions.Required[str]
    year: int
    genre: NotRequired[Annotated[str, "what kind"]]


@pytest.mark.fault(20)
def test_absent_keys_of_a_typed_dict_stay_absent() -> None:
    value: Movie = {"id": 1, "name": "Dave"}
    assert there_and_back(value, Movie) == {"id": 1, "name": "Dave"}
    schema = Serializer().json_schema(Movie)
    assert schema["required"] == ["id", "name"]
    assert schema["properties"]["genre"] == {"type": "string", "description": "what kind"}
    with pytest.raises(LoadError, match=r"^name: missing; expected text$"):
        Serializer().load(Movie, {"id": 1})
    with pytest.raises(SerializationError, match=r"^\$\.name: name has no value$"):
        Serializer().dump({"id": 1}, Movie)


def test_keys_that_a_typed_dict_does_not_declare_are_not_written() -> None:
    assert Serializer().dump({"id": 1, "password": "p"}, Base) == {"id": 1}
    assert Serializer().dump(collections.ChainMap({"id": 1}), Base) == {"id": 1}


def test_hints_that_do_not_resolve_only_hurt_their_own_member() -> None:
    @dataclass
    class Odd:
        good: int
        bad: Nowhere  # noqa: F821 - meant

    serializer = Serializer()
    assert serializer.dump(Odd(1, [2])) == {"good": 1, "bad": [2]}
    with pytest.raises(DefinitionError, match=r"Odd\.bad: the name 'Nowhere' is unknown"):
        serializer.plan(Odd)


def test_a_class_defined_later_is_found_then() -> None:
    serializer = Serializer()
    namespace: dict[str, Any] = {"__name__": __name__, "dataclass": dataclass}
    exec("from __future__ import annotations\n@dataclass\nclass First:\n    x: list[Second]", namespace)
    globals()["Second"] = dataclasses.make_dataclass("Second", [("y", int)])
    try:
        assert serializer.load(namespace["First"], {"x": [{"y": 1}]}).x[0].y == 1
    finally:
        del globals()["Second"]


def test_a_member_whose_name_hides_its_type() -> None:
    assert there_and_back(Hiding(date=None, list=[1])) == {"date": None, "list": [1]}


@dataclass
class Hiding:
    date: Decimal | None = None
    list: list[int] = field(default_factory=list)


def test_the_first_paragraph_of_a_docstring_describes_a_record() -> None:
    @dataclass
    class Row:
        """A row
        of data.

        More of it.
        """

        x: int

    @dataclass
    class Silent:
        x: int

    assert Serializer().json_schema(Row)["description"] == "A row of data."
    assert "description" not in Serializer().json_schema(Silent)
