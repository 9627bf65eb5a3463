"""Custom serializers, three ways: chosen by class distance, used for output, arguments and both schemas."""

import os
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, NamedTuple

import pytest
from marshmallow import Schema, ValidationError, fields, post_load, validate

from mcpconnect.errors import DefinitionError, LoadError, SerializationError
from mcpconnect.serialization import (
    OMIT,
    CustomSerializer,
    DumpContext,
    LoadContext,
    Rule,
    Serializer,
    SerializerConfig,
    Use,
)
from mcpconnect.serialization.text import encode


@dataclass
class Money:
    amount: Decimal
    currency: str = "EUR"


def read_money(text: Any) -> Money:
    if not isinstance(text, str) or " " not in text:
        raise ValueError('expected money such as "1.50 EUR"')
    amount, currency = text.split()
    return Money(Decimal(amount), currency)


MONEY = CustomSerializer(
    dump=lambda money: f"{money.amount} {money.currency}",
    load=read_money,
    json_schema={"type": "string", "pattern": r"^[0-9.]+ [A-Z]{3}$"},
)


@dataclass
class Invoice:
    total: Money
    parts: list[Money]
    tip: Money | None = None


def serializer_with(entries: Any = (), **config: Any) -> Serializer:
    return Serializer(SerializerConfig(serializers=entries, **config))


@pytest.mark.fault(45)
def test_one_custom_serializer_serves_output_arguments_and_both_schemas() -> None:
    serializer = serializer_with({Money: MONEY})
    invoice = Invoice(Money(Decimal("12.50")), [Money(Decimal(1), "USD")])
    dumped = {"total": "12.50 EUR", "parts": ["1 USD"], "tip": None}
    assert serializer.dump(invoice) == dumped
    assert serializer.dumps(invoice, Invoice) == encode(dumped)
    assert serializer.load(Invoice, dumped) == invoice
    for view in ("input", "output"):
        assert serializer.json_schema(Invoice, view=view)["properties"]["total"]["type"] == "string"

    def pay(money: Money) -> None: ...

    assert serializer.parameters(pay).load({"money": "2 EUR"}) == {"money": Money(Decimal(2))}
    with pytest.raises(LoadError, match=r'^money: expected money such as "1.50 EUR"$'):
        serializer.parameters(pay).load({"money": 3})
    assert serializer.is_custom(Money)
    assert not serializer.is_custom(Invoice)


class Base:
    pass


class Derived(Base):
    pass


class Leaf(Derived):
    pass


@pytest.mark.fault(44)
def test_the_nearest_class_wins_and_without_it_the_next() -> None:
    base, derived = CustomSerializer(lambda v: "base"), CustomSerializer(lambda v: "derived")
    values = [Base(), Derived(), Leaf()]
    for annotation in (Any, list[Base], list[Any]):
        assert serializer_with({Base: base, Derived: derived}).dump(values, annotation) == [
            "base",
            "derived",
            "derived",
        ]
        assert serializer_with([(Derived, derived), (Base, base)]).dump(values, annotation) == [
            "base",
            "derived",
            "derived",
        ]
        assert serializer_with({Base: base}).dump(values, annotation) == ["base", "base", "base"]
    with pytest.raises(SerializationError, match="expected Derived, got Base"):
        serializer_with({Derived: derived}).dump([Base()], list[Derived])


def test_a_later_pair_replaces_an_earlier_one_for_the_same_class() -> None:
    pairs = [(Base, CustomSerializer(lambda v: 1)), (Base, CustomSerializer(lambda v: 2))]
    assert serializer_with(pairs).dump(Base()) == 2


@pytest.mark.fault(46)
@pytest.mark.parametrize(
    ("cls", "value"),
    [(bytes, b"x"), (str, "x"), (int, 1), (float, 1.5), (dict, {"a": 1}), (list, [1]), (date, date(2000, 1, 1))],
)
def test_a_users_serializer_beats_a_built_in_one_everywhere(cls: type, value: Any) -> None:
    serializer = serializer_with({cls: CustomSerializer(lambda v: "mine", lambda d: value)})

    @dataclass
    class Row:
        member: cls  # type: ignore[valid-type]
        maybe: cls | None = None  # type: ignore[valid-type]

    assert serializer.dump(value) == "mine"
    assert serializer.dump((value,)) == ["mine"]
    assert serializer.dump(Row(value, value)) == {"member": "mine", "maybe": "mine"}
    assert serializer.dumps(Row(value), Row) == b'{"member":"mine","maybe":null}'
    assert serializer.dump([value], tuple[cls, ...]) == ["mine"] if cls is not list else True
    assert serializer.load(Row, {"member": "mine"}) == Row(value)


@pytest.mark.fault(46)
def test_a_users_serializer_for_all_enums_and_not_for_bool_by_way_of_int() -> None:
    class Colour(Enum):
        RED = 1

    serializer = serializer_with(
        {Enum: CustomSerializer(lambda e: f"~{e.name}"), int: CustomSerializer(lambda i: i + 1)}
    )
    assert serializer.dump([Colour.RED, 1, True]) == ["~RED", 2, True]
    assert serializer.dump({"a": Colour.RED}, dict[str, Colour]) == {"a": "~RED"}


def test_a_rule_and_a_member_may_name_a_serializer() -> None:
    cents = CustomSerializer(lambda m: int(m.amount * 100), lambda n: Money(Decimal(n) / 100), {"type": "integer"})

    @dataclass
    class Bill:
        a: Money
        b: Annotated[Money, Use(cents)]
        c: Annotated[Money | None, Use(cents)] = None

    serializer = Serializer(SerializerConfig(rules={Money: Rule(use=MONEY)}))
    bill = Bill(Money(Decimal(1)), Money(Decimal(2)), Money(Decimal(3)))
    assert serializer.dump(bill) == {"a": "1 EUR", "b": 200, "c": 300}
    assert serializer.load(Bill, {"a": "1 EUR", "b": 200, "c": 300}) == bill
    assert serializer.load(Bill, {"a": "1 EUR", "b": 200, "c": None}).c is None
    properties = serializer.json_schema(Bill)["properties"]
    assert properties["b"] == {"type": "integer"}
    assert properties["c"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert serializer.is_custom(Money)


def test_a_dump_may_return_anything_that_can_be_written() -> None:
    @dataclass
    class Inner:
        day: date

    serializer = serializer_with({Base: CustomSerializer(lambda v: {"user_id": [Inner(date(2000, 1, 2)), (1, {2})]})})
    expected = {"user_id": [{"day": "2000-01-02"}, [1, [2]]]}
    assert serializer.dump(Base()) == expected
    assert serializer.dumps([Base()], list[Base]) == encode([expected])


def test_a_dump_that_returns_its_argument_means_the_default() -> None:
    serializer = serializer_with({Money: CustomSerializer(lambda m: m), dict: CustomSerializer(lambda d: d)})
    assert serializer.dump({"m": Money(Decimal(1))}) == {"m": {"amount": "1", "currency": "EUR"}}


def test_the_context_gives_the_default_form_and_the_configuration() -> None:
    def dump(money: Money, context: DumpContext) -> Any:
        return {**context.default(money), "strict": context.config.strict}

    def load(data: Any, context: LoadContext) -> Any:
        return context.default({key: value for key, value in data.items() if key != "strict"})

    @dataclass
    class Twice(Money):
        other: Money | None = None

    serializer = serializer_with({Money: CustomSerializer(dump, load)})
    one = {"amount": "1", "currency": "EUR", "strict": False}
    assert serializer.dump(Twice(Decimal(1), other=Money(Decimal(1)))) == {
        "amount": "1", "currency": "EUR", "other": one, "strict": False,
    }  # fmt: skip
    assert serializer.load(Money, one) == Money(Decimal(1))
    with pytest.raises(LoadError, match=r"^\[0\]\.amount: expected a decimal number as text"):
        serializer.load(list[Money], [{"amount": "x"}])


def test_a_member_with_a_serializer_of_its_own_has_a_default_too() -> None:
    shouting = CustomSerializer(
        lambda value, context: [context.default(value)], lambda data, context: context.default(data[0])
    )

    @dataclass
    class Row:
        days: Annotated[list[date], Use(shouting)]

    serializer = Serializer()
    assert serializer.dump(Row([date(2000, 1, 2)])) == {"days": [["2000-01-02"]]}
    assert serializer.load(Row, {"days": [["2000-01-02"]]}) == Row([date(2000, 1, 2)])


def test_omit_leaves_out_a_member_an_item_or_an_entry() -> None:
    @dataclass
    class Row:
        a: Money
        b: int = 1

    serializer = serializer_with({Money: CustomSerializer(lambda m: OMIT if m.amount == 0 else str(m.amount))})
    zero, one = Money(Decimal(0)), Money(Decimal(1))
    for annotation in (Any, Row):
        assert serializer.dump(Row(zero), annotation) == {"b": 1}
        assert serializer.dumps(Row(zero), annotation) == b'{"b":1}'
    assert serializer.dump([zero, one]) == serializer.dump([zero, one], list[Money]) == ["1"]
    assert serializer.dumps([zero, one], list[Money]) == serializer.dumps([zero, one]) == b'["1"]'
    assert (
        serializer.dump({"z": zero, "o": one}) == serializer.dump({"z": zero, "o": one}, dict[str, Money]) == {"o": "1"}
    )
    assert serializer.dumps({"z": zero, "o": one}, dict[str, Money]) == b'{"o":"1"}'
    assert "a" not in serializer.json_schema(Row)["required"]


def test_a_failing_dump_names_the_class_not_the_text_of_the_failure() -> None:
    def fail(money: Money) -> Any:
        raise RuntimeError("secret")

    for write in (
        serializer_with({Money: CustomSerializer(fail)}).dump,
        serializer_with({Money: CustomSerializer(fail)}).dumps,
    ):
        with pytest.raises(
            SerializationError, match=r"^\$\[0\]: the serializer of Money failed with RuntimeError$"
        ) as caught:
            write([Money(Decimal(1))])
        assert isinstance(caught.value.__cause__, RuntimeError)


def test_unexpected_failures_when_loading_are_not_swallowed() -> None:
    def fail(data: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        serializer_with({Money: CustomSerializer(str, fail)}).load(Money, "x")


def test_a_load_that_relies_on_its_schema_need_not_check_the_kind_of_value() -> None:
    def load(text: str) -> Money:
        return Money(Decimal(text.removesuffix(" EUR")))

    class Bill(NamedTuple):
        money: Money

    serializer = serializer_with({Money: CustomSerializer(str, load, {"type": "string"})})
    for data, reason in ((5, "expected text, got the number 5"), (None, "expected text, got null"),
                         ([], "expected text, got a list"), ("x EUR", "is no valid Money")):  # fmt: skip
        with pytest.raises(LoadError) as caught:
            serializer.load(Bill, {"money": data})
        assert str(caught.value) == f"money: {reason}"


def test_a_constructor_that_makes_decimals_refuses_what_is_none() -> None:
    @dataclass
    class Price:
        amount: Any

        def __post_init__(self) -> None:
            self.amount = Decimal(self.amount)

    with pytest.raises(LoadError, match=r"^\[0\]: is no valid Price$"):
        Serializer().load(list[Price], [{"amount": "x"}])


def test_a_whole_value_that_is_left_out_is_an_error() -> None:
    serializer = serializer_with({Money: CustomSerializer(lambda value: OMIT)})
    for write in (serializer.dump, serializer.dumps):
        with pytest.raises(SerializationError, match="nothing is left to write"):
            write(Money(Decimal(1)))


def test_without_load_a_type_cannot_be_read() -> None:
    with pytest.raises(DefinitionError, match="the serializer of Money only writes"):
        serializer_with({Money: CustomSerializer(str)}).load(list[Money], [])


def test_a_schema_may_depend_on_the_view_and_bring_definitions() -> None:
    def describe(view: str) -> dict[str, Any]:
        return {"$ref": "#/$defs/Money", "$defs": {"Money": {"title": view, "anyOf": [{"$ref": "#/$defs/Money"}, {}]}}}

    serializer = serializer_with({Money: CustomSerializer(str, read_money, describe)})
    schema = serializer.json_schema(list[Money], view="input")
    assert schema["items"] == {"$ref": "#/$defs/Money"}
    assert schema["$defs"]["Money"]["title"] == "input"


class UpperField(fields.Field[str]):
    def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
        return value.upper()

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        if not str(value).isupper():
            raise ValidationError("Must be upper case.")
        return str(value).lower()


def test_a_marshmallow_field_for_a_class_and_for_a_member() -> None:
    class Code(str):
        __slots__ = ()

    @dataclass
    class Row:
        code: Code
        when: Annotated[date, Use(fields.Date(format="%d.%m.%Y"))]
        direct: Annotated[Decimal, fields.Decimal(as_string=True, validate=validate.Range(min=0))]
        maybe: Annotated[int | None, fields.Integer(strict=True)] = None

    serializer = serializer_with({Code: UpperField()})
    row = Row(Code("x"), date(2000, 1, 2), Decimal("1.50"))
    dumped = {"code": "X", "when": "02.01.2000", "direct": "1.50", "maybe": None}
    assert serializer.dump(row) == dumped
    assert serializer.load(Row, dumped) == row
    with pytest.raises(LoadError) as caught:
        serializer.load(Row, {"code": "x", "when": "2000", "direct": "-1", "maybe": "x"})
    assert caught.value.problems == (
        ("code", "Must be upper case."),
        ("when", "Not a valid date."),
        ("direct", "Must be greater than or equal to 0."),
        ("maybe", "Not a valid integer."),
    )
    assert serializer.json_schema(Row)["properties"]["direct"] == {"type": "string"}


class MoneySchema(Schema):
    amount = fields.Decimal(as_string=True, required=True)
    currency = fields.String(data_key="cur", load_default="EUR", validate=validate.Length(equal=3))

    @post_load
    def make(self, data: dict[str, Any], **kwargs: Any) -> Money:
        return Money(**data)


@pytest.mark.parametrize("schema", [MoneySchema, MoneySchema()])
def test_a_marshmallow_schema_for_a_class(schema: Any) -> None:
    serializer = serializer_with({Money: schema})
    invoice = Invoice(Money(Decimal("1.50")), [Money(Decimal(2), "USD")])
    dumped = {"total": {"amount": "1.50", "cur": "EUR"}, "parts": [{"amount": "2", "cur": "USD"}], "tip": None}
    assert serializer.dump(invoice) == dumped
    assert serializer.load(Invoice, dumped) == invoice
    with pytest.raises(LoadError) as caught:
        serializer.load(Invoice, {"total": {"cur": "x", "zz": 1}, "parts": [5]})
    assert caught.value.problems == (
        ("total.amount", "Missing data for required field."),
        ("total.cur", "Length must be 3."),
        ("total.zz", "Unknown field."),
        ("parts[0]", "Invalid input type."),
    )
    assert serializer.json_schema(Money, view="input") == {
        "type": "object",
        "properties": {"amount": {"type": "string"}, "cur": {"type": "string", "minLength": 3, "maxLength": 3}},
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert serializer.json_schema(Money) == {
        "type": "object",
        "properties": {"amount": {"type": "string"}, "cur": {"type": "string"}},
    }


def test_media_are_asked_after_the_user_and_before_the_built_in_kinds() -> None:
    asked = []

    def media(cls: type) -> CustomSerializer | None:
        asked.append(cls)
        return CustomSerializer(lambda v: "media", bytes.fromhex) if cls in (bytes, Money) else None

    serializer = Serializer(SerializerConfig(serializers={Money: MONEY}), media=media)
    assert serializer.dump([b"x", Money(Decimal(1)), 1]) == ["media", "1 EUR", 1]
    assert serializer.load(bytes, "00ff") == b"\x00\xff"
    assert Money not in asked
    assert not serializer.is_custom(bytes)


def test_an_abstract_base_catches_classes_that_do_not_inherit_from_it() -> None:
    class Location:
        def __fspath__(self) -> str:
            return "a/b"

    serializer = serializer_with({os.PathLike: CustomSerializer(os.fspath), Hashable: CustomSerializer(lambda v: "h")})
    assert serializer.dump([Location(), "x", [1, True]]) == ["a/b", "h", ["h", "h"]]
