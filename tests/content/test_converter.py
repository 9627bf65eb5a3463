"""The order of decision: encoders first, and encoders that come and go."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from PIL import Image

from mcpconnect.content import (
    UNSET,
    YAML_TEXT,
    ContentList,
    Encoder,
    EncoderRegistry,
    TextContent,
    ToolResult,
)
from mcpconnect.errors import SerializationError
from mcpconnect.serialization import CustomSerializer, SerializerConfig

from .conversion import convert, converter, encoder_registry, kinds, only_text, structured, texts


@dataclass
class Money:
    amount: int


@dataclass
class Euro(Money):
    pass


def text_of(money: Money) -> TextContent:
    return TextContent(f"{money.amount} money")


def test_ready_made_results_come_before_encoders() -> None:
    registry = encoder_registry({object: lambda value: "encoded", TextContent: lambda value: "encoded"})

    for value in (TextContent("x"), ToolResult("x"), ContentList([TextContent("x")])):
        assert only_text(convert(value, encoders=registry)) == "x"


def test_encoders_come_before_the_tools_content_type_custom_serializers_and_rows() -> None:
    config = SerializerConfig(serializers={Money: CustomSerializer(lambda money: "custom")})
    registry = encoder_registry({Money: text_of, bytes: lambda value: "bytes", Image.Image: lambda value: "image"})

    result = convert(Money(5), Money, encoders=registry, config=config, content_type=YAML_TEXT)
    assert only_text(result) == "5 money"
    assert only_text(convert(b"x", bytes, encoders=registry)) == "bytes"
    assert only_text(convert(Image.new("L", (1, 1)), Image.Image, encoders=registry)) == "image"
    assert (
        only_text(convert("a", str, encoders=encoder_registry({str: lambda value: TextContent(value + "!")}))) == "a!"
    )
    assert only_text(convert(5, int, encoders=encoder_registry({int: lambda value: f"<{value}>"}))) == "<5>"
    assert only_text(convert(None, encoders=encoder_registry({type(None): lambda value: "none"}))) == "none"


def test_a_custom_serializer_comes_before_the_rows() -> None:
    for cls, value in ((bytes, b"x"), (Image.Image, Image.new("L", (1, 1))), (str, "x"), (list, [1])):
        config = SerializerConfig(serializers={cls: CustomSerializer(lambda value: {"custom": True})})
        assert only_text(convert(value, config=config)) == '{"custom":true}'


def test_the_nearest_class_wins_then_the_latest() -> None:
    registry = encoder_registry({Euro: lambda money: "euro", Money: text_of})
    assert only_text(convert(Euro(1), encoders=registry)) == "euro"
    assert only_text(convert(Money(1), encoders=registry)) == "1 money"

    registry.add(Euro, lambda money: "later")
    assert only_text(convert(Euro(1), encoders=registry)) == "later"


def test_an_encoder_may_decline() -> None:
    class Big(Encoder[Money]):
        def supports(self, value: Money) -> bool:
            return value.amount > 9

        def encode(self, value: Money) -> str:
            return "big"

    registry = encoder_registry({Money: text_of})
    registry.add(Money, Big())

    assert only_text(convert(Money(10), Money, encoders=registry)) == "big"
    assert only_text(convert(Money(1), Money, encoders=registry)) == "1 money"
    only_big = EncoderRegistry()
    only_big.add(Money, Big)
    assert only_text(convert(Money(1), Money, encoders=only_big)) == '{"amount":1}'


def test_encoders_of_other_kinds_are_not_asked() -> None:
    registry = EncoderRegistry()
    registry.add(Money, text_of, kinds={"prompt", "resource"})

    assert only_text(convert(Money(1), encoders=registry)) == '{"amount":1}'


def test_an_encoder_may_return_anything() -> None:
    def several(money: Money) -> Iterator[TextContent]:
        yield TextContent("a")
        yield TextContent("b")

    made: list[tuple[Any, list[str]]] = [
        (TextContent("a"), ["a"]),
        ([TextContent("a"), TextContent("b")], ["a", "b"]),
        (ContentList([TextContent("a")]), ["a"]),
        (ToolResult("a"), ["a"]),
        ("a", ["a"]),
        (5, ["5"]),
        ({"a": 1}, ['{"a":1}']),
        (["a", "b"], ['["a","b"]']),
        (None, []),
    ]
    for answer, expected in made:
        assert texts(convert(Money(1), encoders=encoder_registry({Money: lambda money, a=answer: a}))) == expected
    assert texts(convert(Money(1), encoders=encoder_registry({Money: several}))) == ["a", "b"]


def test_what_an_encoder_returns_may_meet_another_encoder_but_never_the_same() -> None:
    registry = encoder_registry(
        {
            Money: lambda money: [money, Image.new("L", (1, 1))] if money.amount < 0 else {"amount": money.amount},
            dict: lambda value: Money(value["amount"]),
        }
    )

    assert only_text(convert(Money(5), encoders=registry)) == '{"amount":5}'
    assert only_text(convert({"amount": 5}, encoders=registry)) == '{"amount":5}'


def test_a_whole_result_keeps_its_error_flag_and_meta() -> None:
    registry = encoder_registry({Money: lambda money: ToolResult("broke", is_error=True, meta={"k": 1})})

    result = convert(Money(0), Money, encoders=registry)

    assert (result.is_error, result.meta, result.structured) == (True, {"k": 1}, UNSET)


def test_structured_content_stays_beside_encoded_content() -> None:
    registry = encoder_registry({Money: text_of})

    result = convert(Money(5), Money, encoders=registry)
    assert only_text(result) == "5 money"
    assert structured(result) == {"amount": 5}
    result = convert([Money(5), Money(6)], list[Money], encoders=registry)
    assert texts(result) == ["5 money", "6 money"]
    assert structured(result) == [{"amount": 5}, {"amount": 6}]


def test_structured_content_of_an_encoders_result_is_taken_and_checked() -> None:
    given = encoder_registry({Money: lambda money: ToolResult("x", Money(7))})
    wrong = encoder_registry({Money: lambda money: ToolResult("x", "seven")})

    assert structured(convert(Money(5), Money, encoders=given)) == {"amount": 7}
    with pytest.raises(SerializationError, match="output mismatch"):
        convert(Money(5), Money, encoders=wrong)


def test_a_list_whose_items_have_an_encoder_goes_item_by_item() -> None:
    registry = encoder_registry({Money: text_of})

    for annotation in (list[Money], list, Any, tuple[Money, ...], list[Money | str]):
        assert texts(convert([Money(1), Euro(2)], annotation, encoders=registry)) == ["1 money", "2 money"]
    assert texts(convert([Money(1), "a", {"b": 1}], encoders=registry)) == ["1 money", "a", '{"b":1}']
    assert texts(convert([], list[Money], encoders=registry)) == ["[]"]
    assert texts(convert([{"b": 1}], list[dict], encoders=registry)) == ['[{"b":1}]']
    assert texts(convert([Money(1)], list[Money], encoders=registry, content_type=YAML_TEXT)) == ["1 money"]


def test_the_whole_list_is_offered_first() -> None:
    registry = encoder_registry({list: lambda value: f"{len(value)} items", Money: text_of})

    assert only_text(convert([Money(1), Money(2)], list[Money], encoders=registry)) == "2 items"
    assert texts(convert((Money(1), Money(2)), tuple[Money, ...], encoders=registry)) == ["1 money", "2 money"]


def test_an_encoder_of_lists_may_make_the_result_an_error() -> None:
    registry = encoder_registry({list: lambda value: ToolResult("bad", is_error=True)})

    assert convert([Money(1)], list[Money], encoders=registry).is_error
    assert only_text(convert((Money(1),), Any, encoders=registry)) == '[{"amount":1}]'


def test_encoders_that_come_and_go_are_seen_at_once() -> None:
    registry = EncoderRegistry()
    convert_one, convert_list = converter(Money, encoders=registry), converter(list[Money], encoders=registry)

    assert only_text(convert_one(Money(1))) == '{"amount":1}'
    registry.add(Money, text_of)
    assert only_text(convert_one(Money(1))) == "1 money"
    assert texts(convert_list([Money(1)])) == ["1 money"]
    registry.add(Money, lambda money: "newer")
    assert only_text(convert_one(Money(1))) == "newer"
    registry.remove(Money)
    assert only_text(convert_one(Money(1))) == "1 money"
    registry.remove(Money)
    assert only_text(convert_one(Money(1))) == '{"amount":1}'
    assert texts(convert_list([Money(1)])) == ['[{"amount":1}]']


def test_registering_while_calls_run_never_leaves_an_old_route() -> None:
    registry = EncoderRegistry()
    convert_one = converter(Money, encoders=registry)
    stop = threading.Event()

    def call() -> set[str]:
        seen = set()
        while not stop.is_set():
            seen.add(only_text(convert_one(Money(1))))
        return seen

    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(call) for _ in range(2)]
        for _ in range(200):
            registry.add(Money, text_of)
            assert only_text(convert_one(Money(1))) == "1 money"
            registry.remove(Money)
            assert only_text(convert_one(Money(1))) == '{"amount":1}'
        stop.set()
        for future in calls:
            assert future.result(timeout=30) <= {"1 money", '{"amount":1}'}


def test_errors_of_an_encoder_are_the_tools() -> None:
    def broken(money: Money) -> str:
        raise LookupError("no rate")

    with pytest.raises(LookupError, match="no rate"):
        convert(Money(1), encoders=encoder_registry({Money: broken}))


def test_values_of_a_content_list_meet_encoders_and_content_types() -> None:
    registry = encoder_registry({Money: text_of})

    result = convert(ContentList([Money(1), {"a": 1}]), ContentList, encoders=registry, content_type=YAML_TEXT)

    assert texts(result) == ["1 money", "a: 1"]
    assert kinds(result) == ["text", "text"]
