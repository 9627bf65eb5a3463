"""pydantic models and msgspec structs: their own loading, dump and schema, with our names."""

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import jsonschema_rs
import msgspec
import pydantic
import pytest

from mcpconnect.errors import LoadError, SerializationError
from mcpconnect.serialization import Case, Serializer, SerializerConfig


class Address(pydantic.BaseModel):
    street_name: str
    since: date | None = None


class Customer(pydantic.BaseModel):
    """A customer."""

    customer_id: int = pydantic.Field(ge=1, description="the id")
    e_mail: str = pydantic.Field(alias="EMail", default="-")
    home_address: Address | None = None
    other_addresses: list[Address] = []
    by_name: dict[str, Address] = {}

    @pydantic.field_serializer("customer_id")
    def _id(self, value: int) -> str:
        return f"#{value}"

    @pydantic.field_validator("customer_id", mode="before")
    @classmethod
    def _from_id(cls, value: Any) -> Any:
        return int(value.removeprefix("#")) if isinstance(value, str) else value


class Tree(pydantic.BaseModel):
    child_nodes: list["Tree"] = []


class Point(msgspec.Struct):
    point_x: int
    point_y: Annotated[float, msgspec.Meta(ge=0)] = 0.5
    exact_name: int = msgspec.field(default=1, name="EXACT")
    next_point: "Point | None" = None


@dataclass
class Holder:
    the_customer: Customer
    the_points: list[Point]


CUSTOMER = Customer(customer_id=1, home_address=Address(street_name="s"), other_addresses=[Address(street_name="t")])
DUMPED = {
    "customerId": "#1",
    "EMail": "-",
    "homeAddress": {"streetName": "s", "since": None},
    "otherAddresses": [{"streetName": "t", "since": None}],
    "byName": {},
}


def test_a_model_is_dumped_its_own_way_with_our_names() -> None:
    serializer = Serializer()
    for annotation in (Customer, Any):
        assert serializer.dump(CUSTOMER, annotation) == DUMPED
        assert serializer.loads(Any, serializer.dumps(CUSTOMER, annotation)) == DUMPED
    named = Customer(customer_id=1, by_name={"user_key": Address(street_name="s")})
    assert serializer.dump(named)["byName"] == {"user_key": {"streetName": "s", "since": None}}
    assert next(iter(Serializer(SerializerConfig(case=Case.UNCHANGED)).dump(CUSTOMER))) == "customer_id"


def test_a_model_is_read_its_own_way_with_our_names() -> None:
    serializer = Serializer()
    assert serializer.load(Customer, DUMPED) == CUSTOMER
    with pytest.raises(LoadError) as caught:
        serializer.load(Holder, {"theCustomer": {"customerId": 0, "homeAddress": {}}, "thePoints": []})
    paths = dict(caught.value.problems)
    assert list(paths) == ["theCustomer.customerId", "theCustomer.homeAddress.streetName"]
    assert "pydantic" not in str(caught.value)


def test_a_struct_is_dumped_read_and_described_with_our_names() -> None:
    serializer = Serializer()
    point = Point(1, next_point=Point(2))
    dumped = {
        "pointX": 1, "pointY": 0.5, "EXACT": 1,
        "nextPoint": {"pointX": 2, "pointY": 0.5, "EXACT": 1, "nextPoint": None},
    }  # fmt: skip
    assert serializer.dump(point) == serializer.dump(point, Point) == dumped
    assert serializer.load(Point, dumped) == point
    with pytest.raises(LoadError) as caught:
        serializer.load(Holder, {"theCustomer": {"customerId": 1}, "thePoints": [{"pointX": "a"}]}, strict=True)
    assert [path for path, _ in caught.value.problems] == ["thePoints[0].pointX"]
    assert "`" not in str(caught.value)


@pytest.mark.parametrize("view", ["input", "output"])
@pytest.mark.parametrize(
    ("annotation", "value"),
    [(Customer, CUSTOMER), (Tree, Tree(child_nodes=[Tree()])), (Point, Point(1, next_point=Point(2)))],
)
def test_the_schema_has_our_names_and_stands_alone(annotation: Any, value: Any, view: Any) -> None:
    serializer = Serializer()
    for kind in (annotation, list[annotation]):
        schema = serializer.json_schema(kind, view=view)
        dumped = serializer.dump([value] if kind is not annotation else value, kind)
        sent = json.loads(json.dumps(dumped).replace('"#1"', "1")) if view == "input" else dumped
        jsonschema_rs.Draft202012Validator(schema).validate(sent)
    assert schema["items"].get("type") == "object"
    assert "_" not in "".join(schema["items"]["properties"])


def test_definitions_of_foreign_classes_join_the_document() -> None:
    schema = Serializer().json_schema(Holder)
    assert schema["properties"]["theCustomer"]["properties"]["homeAddress"]["anyOf"][0] == {"$ref": "#/$defs/Address"}
    assert list(schema["$defs"]["Address"]["properties"]) == ["streetName", "since"]


def test_strict_loading_takes_the_published_names_only() -> None:
    class Struct(msgspec.Struct):
        my_name: str = "-"

    class Model(pydantic.BaseModel):
        my_name: str = "-"

    serializer = Serializer()
    for cls in (Struct, Model):
        assert list(serializer.json_schema(cls, view="input")["properties"]) == ["myName"]
        assert serializer.load(cls, {"my_name": "x"}).my_name == "x"
        for wrong in ({"my_name": "x"}, {"myName": "x", "my_name": "y"}):
            with pytest.raises(LoadError, match=r'^my_name: unknown name; known names: "myName"$'):
                serializer.load(cls, wrong, strict=True)
    with pytest.raises(LoadError, match=r"^otherAddresses\[0\]\.street_name: unknown name"):
        serializer.load(Customer, {"customerId": 1, "otherAddresses": [{"street_name": "x"}]}, strict=True)


def test_foreign_values_are_checked_like_others() -> None:
    class Loose(msgspec.Struct):
        x: float
        d: Decimal = Decimal(1)

    serializer = Serializer()
    with pytest.raises(SerializationError, match=r"^\$\[0\]\.x: nan is no JSON number$"):
        serializer.dump([Loose(float("nan"))])
    with pytest.raises(SerializationError, match="expected Customer, got dict"):
        serializer.dump({}, Customer)


def test_a_model_that_cannot_be_dumped_is_an_error() -> None:
    class Odd(pydantic.BaseModel):
        x: Any

    with pytest.raises(SerializationError, match="Odd cannot be dumped: PydanticSerializationError"):
        Serializer().dump(Odd(x=object()))


def test_a_field_of_pydantic_in_annotated_is_understood() -> None:
    def f(
        n: Annotated[int, pydantic.Field(ge=1, le=9, description="en", title="N", examples=[2])],
        s: Annotated[str, pydantic.Field(pattern="^[a-z]+$", min_length=2, alias="Es")] = "ab",
        old: Annotated[int, pydantic.Field(5, deprecated=True)] = 1,
        given: Annotated[int, pydantic.Field(default=7)] = 3,
    ) -> None: ...

    params = Serializer().parameters(f)
    assert params.json_schema()["properties"] == {
        "n": {"type": "integer", "minimum": 1, "maximum": 9, "title": "N", "description": "en", "examples": [2]},
        "Es": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "default": "ab"},
        "old": {"type": "integer", "deprecated": True, "default": 1},
        "given": {"type": "integer", "default": 3},
    }
    with pytest.raises(LoadError) as caught:
        params.load({"n": 0, "Es": "a\n"})
    assert caught.value.problems == (
        ("n", "must be at least 1, got the number 0"),
        ("Es", 'must match the pattern ^[a-z]+$, got text "a\\n"'),
    )


def test_a_default_of_a_pydantic_field_counts_where_the_signature_has_none() -> None:
    def f(n: Annotated[int, pydantic.Field(default=7)]) -> int:
        return n

    params = Serializer().parameters(f)
    assert params.json_schema()["properties"] == {"n": {"type": "integer", "default": 7}}
    assert params.load({}) == {"n": 7}
