"""What is decided by the value at hand: values without a declared type, wrong classes, sets, keys, cycles."""

import io
import itertools
import json
import os
import subprocess
import sys
import types
from collections import ChainMap, Counter, OrderedDict, UserDict, UserString, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path, PureWindowsPath
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import msgspec
import pytest

from mcpconnect.errors import SerializationError
from mcpconnect.serialization import OMIT, Case, Ignore, Include, IncludeIf, Raw, Serializer, SerializerConfig
from mcpconnect.serialization.text import encode


def both(value: Any, annotation: Any = Any, **config: Any) -> Any:
    """Return the JSON value, checked against the text."""
    serializer = Serializer(SerializerConfig(**config))
    dumped = serializer.dump(value, annotation)
    assert serializer.dumps(value, annotation) == encode(dumped)
    return dumped


def refused(value: Any, annotation: Any = Any, **config: Any) -> str:
    """Return the reason that both ways of writing give."""
    serializer = Serializer(SerializerConfig(**config))
    reasons = []
    for write in (serializer.dump, serializer.dumps):
        with pytest.raises(SerializationError) as caught:
            write(value, annotation)
        reasons.append(str(caught.value))
    assert reasons[0] == reasons[1]
    return reasons[0]


@dataclass
class Person:
    first_name: str
    age: int = 3


@pytest.mark.fault(34)
@pytest.mark.parametrize("annotation", [Person, object, Any])
def test_a_record_is_written_alike_whatever_was_declared(annotation: Any) -> None:
    assert both(Person("n"), annotation) == {"firstName": "n", "age": 3}


@pytest.mark.fault(7)
def test_bytes_inside_data_become_base64() -> None:
    assert both([{"id": 1, "sig": b"\xff\x00"}]) == [{"id": 1, "sig": "/wA="}]


@pytest.mark.fault(10)
@pytest.mark.fault(11)
@pytest.mark.fault(12)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_numbers_that_json_cannot_hold_are_an_error_or_null(value: Any) -> None:
    @dataclass
    class Row:
        v: type(value)  # type: ignore[valid-type]

    for holder, annotation in (([value], Any), ([value], list[type(value)]), ({"v": value}, dict[str, type(value)]), (Row(value), Row), ([value], list[float | Decimal])):  # fmt: skip
        assert "is no JSON number" in refused(holder, annotation)
        written = both(holder, annotation, non_finite="null")
        assert (written["v"] if isinstance(written, dict) else written[0]) is None
    assert refused({"x": [1.0, value]}).startswith("$.x[1]: ")


@pytest.mark.fault(12)
def test_decimals_keep_their_digits() -> None:
    values = [Decimal("1.10"), Decimal("1E+2"), Decimal("-0.00")]
    assert both(values, list[Decimal]) == both(values) == ["1.10", "1E+2", "-0.00"]
    assert both([Decimal("1.5"), Decimal("2.00"), 7], list[Decimal], decimal_as="number") == [1.5, 2, 7]


def test_a_decimal_written_as_number_keeps_digits_that_no_float_holds() -> None:
    exact = Decimal("0.1234567890123456789012345")
    serializer = Serializer(SerializerConfig(decimal_as="number"))
    assert serializer.dumps({"a": [exact, Decimal("0.5")]}) == b'{"a":[0.1234567890123456789012345,0.5]}'
    assert serializer.dump(exact) == float(exact)


@pytest.mark.parametrize("annotation", [Any, list[int]])
def test_an_integer_that_the_interpreter_does_not_write_is_an_error_with_its_path(annotation: Any) -> None:
    with pytest.raises(SerializationError, match=r"^\$\[1\]: the integer has too many digits"):
        Serializer().dumps([1, 10**5000], annotation)


def test_a_user_string_is_text() -> None:
    assert both({"a": [UserString("x")]}) == {"a": ["x"]}


@pytest.mark.fault(26)
def test_iterators_lose_nothing_when_a_lone_surrogate_is_replaced() -> None:
    serializer = Serializer()
    assert serializer.dumps({"a": (text for text in ("x\udc80", "y"))}) == '{"a":["x\ufffd","y"]}'.encode()

    @dataclass
    class Row:
        name: str
        at: datetime
        note: Annotated[str | None, IncludeIf(Include.NOT_NONE)] = None
        raw: Annotated[str, Raw] = '"\ud800"'

    row = Row("\udc80", datetime(2026, 1, 1, tzinfo=UTC))
    expected = {"name": "\ufffd", "at": "2026-01-01T00:00:00Z", "raw": "\ufffd"}
    assert json.loads(serializer.dumps(iter([row]), Iterator[Row])) == [expected]


@pytest.mark.fault(13)
def test_big_integers_follow_one_rule() -> None:
    row = {"id": 9007199254740993, "n": 5, "ok": True, "edge": 2**53 - 1}
    assert both(row) == row
    assert both(row, big_ints="string") == {**row, "id": "9007199254740993"}
    assert both([2**70, -(2**60)], list[int], big_ints="string") == [str(2**70), str(-(2**60))]
    assert Serializer().dumps(2**70, int) == b"1180591620717411303424"


@pytest.mark.fault(18)
def test_sets_have_one_order_whatever_the_hash_seed() -> None:
    code = "from mcpconnect.serialization import Serializer; print(Serializer().dumps({'b', 'a', 'c', 'ab'}).decode())"
    texts = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        texts.add(run.stdout.strip())
    assert texts == {'["a","ab","b","c"]'}
    assert both({3, 10, 2}, set[int]) == [10, 2, 3]  # the order of their JSON text
    assert both(frozenset({Person}.__class__()), frozenset[int]) == []


@pytest.mark.fault(21)
def test_enums_are_written_by_value_or_by_name_never_by_repr() -> None:
    class Colour(Enum):
        RED = "r"

    class Level(IntEnum):
        LOW = 1

    class Unit(StrEnum):
        METRE = "m"

    class Shape(Enum):
        POINT = (0, 0)
        LINE = (1, 1)

    values = [Colour.RED, Level.LOW, Unit.METRE, Shape.LINE]
    assert both(values) == ["r", 1, "m", "LINE"]
    assert both(values, enum_as="name") == ["RED", "LOW", "METRE", "LINE"]
    assert both({"k": Colour.RED, Colour.RED: 1}) == {"k": "r", "r": 1}
    assert both({Colour.RED: [Colour.RED]}, dict[Colour, list[Colour]]) == {"r": ["r"]}
    assert both(Shape.LINE, Shape) == "LINE"


@pytest.mark.fault(23)
def test_uuids_and_paths_are_plain_text() -> None:
    value = {"id": UUID(int=1), "p": Path("a/b"), "w": PureWindowsPath("c:\\d\\e")}
    assert both(value) == {"id": "00000000-0000-0000-0000-000000000001", "p": "a/b", "w": "c:/d/e"}


@pytest.mark.fault(24)
def test_keys_that_become_the_same_text_are_an_error_naming_both() -> None:
    assert refused({"x": {1: "a", "1": "b"}}) == "$.x: the keys 1 and '1' are both written as '1'"
    assert list(both({None: "d", 1.5: "e", UUID(int=0): "f"})) == ["null", "1.5", str(UUID(int=0))]
    assert both({2: 1, False: 2}) == {"2": 1, "false": 2}
    assert both({date(2000, 1, 2): 1}, dict[date, int]) == {"2000-01-02": 1}


@pytest.mark.fault(25)
def test_a_key_that_is_no_scalar_is_named() -> None:
    assert "the key (1, 2) cannot be written" in refused({"ok": 1, (1, 2): 3})
    assert "the key 'a' cannot be written: expected int, got str" in refused({"a": 1}, dict[int, int])
    assert "the key 1 cannot be written: expected str, got int" in refused({1: 1}, dict[str, int])


@pytest.mark.fault(26)
def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    @dataclass
    class Row:
        name: str

    serializer = Serializer()
    for value, annotation in (("ok\udc80", str), ({"k\udc80": ["\ud800x"]}, Any), (Row("\udfff"), Row)):
        text = serializer.dumps(value, annotation)
        assert b"\xef\xbf\xbd" in text
        msgspec.json.decode(text)
    assert serializer.dumps("ok") == b'"ok"'


@pytest.mark.fault(35)
@pytest.mark.parametrize(
    "value",
    [object(), len, lambda: 1, types, int, ValueError("x"), io.BytesIO(b"x"), 1j, Fraction(1, 3), NotImplemented, OMIT],
    ids=repr,
)
def test_what_is_no_data_is_an_error_naming_the_class(value: Any) -> None:
    reason = refused({"a": [value]})
    assert reason.startswith("$.a[0]: ")
    assert type(value).__name__ in reason
    assert "0x" not in reason


@pytest.mark.fault(35)
def test_a_class_without_annotations_shows_its_public_attributes() -> None:
    class Bag:
        kind = "class attribute"

        def __init__(self) -> None:
            self.user_id = 1
            self._hidden = 2
            self.inner = [Person("n")]

    class Closed:
        def __init__(self) -> None:
            self._hidden = 1

    assert both(Bag()) == {"userId": 1, "inner": [{"firstName": "n", "age": 3}]}
    assert "Closed has no JSON form: it has no public attributes" in refused(Closed())


@pytest.mark.fault(39)
def test_a_cycle_is_found_quickly_with_its_path() -> None:
    @dataclass
    class Link:
        name: str
        next: "Link | None" = None

    Link.__annotations__["next"] = Link | None
    a, b = Link("a"), Link("b")
    a.next, b.next = b, a
    assert refused(a, Link) == "$.next.next: circular reference"
    loop: list[Any] = [1]
    loop.append({"x": (loop,)})
    assert refused({"l": loop}) == "$.l[1].x[0]: circular reference"


def test_the_path_of_a_cycle_has_the_names_of_the_wire_and_no_step_that_is_not_written() -> None:
    @dataclass
    class Link:
        aside: Annotated[Any, Ignore] = None
        next_link: Any = None

    link = Link()
    link.next_link = link.aside = link
    assert refused(link, Link) == "$.nextLink: circular reference"
    loose = types.SimpleNamespace()
    loose.next_link = loose
    assert refused([loose]) == "$[0].nextLink: circular reference"


def test_the_same_object_twice_is_no_cycle_and_depth_has_an_end() -> None:
    shared = [1]
    assert both([shared, {"a": shared}]) == [[1], {"a": [1]}]
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert refused(deep) == "the value is nested too deeply"
    while deep:
        deep = deep.pop()


@pytest.mark.fault(49)
def test_integers_and_floats_stay_what_they_are() -> None:
    @dataclass
    class Numbers:
        i: int = 3
        f: float = 3.0
        big: float = 1e22
        neg: float = -0.0

    text = Serializer().dumps(Numbers())
    assert text == b'{"i":3,"f":3.0,"big":1e22,"neg":-0.0}'
    assert both(Numbers(f=5)) == {"i": 3, "f": 5, "big": 1e22, "neg": -0.0}


@pytest.mark.fault(51)
def test_odd_keys_stay_as_they_are() -> None:
    odd = {"a.b": 1, "c d": 2, "": 3, 'q"': 4, "from_": 5, "user_id": 6}
    assert both(odd) == odd
    assert refused({"c d": {"": object()}}) == "$['c d']['']: object has no JSON form"


@pytest.mark.fault(130)
def test_a_value_that_is_not_of_the_declared_class_is_an_error_with_its_path() -> None:
    @dataclass
    class Row:
        age: int
        mode: Literal["a", "b"] = "a"
        when: date | None = None
        inner: list[Person] = field(default_factory=list)

    assert refused(Row("41"), Row) == "$.age: expected int, got str"  # type: ignore[arg-type]
    assert refused([Row(True)], list[Row]) == "$[0].age: expected int, got bool"
    assert refused(Row(1.0), Row) == "$.age: expected int, got float"  # type: ignore[arg-type]
    assert refused(Row(1, "c"), Row) == "$.mode: expected one of 'a', 'b', got 'c'"  # type: ignore[arg-type]
    assert refused(Row(1, when=datetime(2000, 1, 1)), Row) == "$.when: expected date, got datetime"
    assert refused(Row(1, inner=[{"first_name": "x"}]), Row) == "$.inner[0]: expected Person, got dict"  # type: ignore[list-item]
    assert refused(1, Person) == "expected Person, got int"
    assert refused("x", list[str]) == "expected list, got str"
    assert refused([1], set[int]) == "expected set, got list"
    assert refused([1], dict[str, int]) == "expected dict, got list"
    assert refused((1, 2, 3), tuple[int, int]) == "expected 2 items, got 3"
    assert refused(5, tuple[int, int]) == "expected tuple, got int"
    assert refused(1, str | None) == "expected str or None, got int"


@pytest.mark.parametrize(
    ("annotation", "wrong", "expected"),
    [
        (bool, 1, "bool"), (int, "1", "int"), (float, True, "float"), (Decimal, 1.5, "Decimal"), (str, b"", "str"),
        (bytes, "", "bytes"), (datetime, date(2000, 1, 1), "datetime"), (date, "2000-01-01", "date"),
        (UUID, "x", "UUID"), (Path, "x", "Path"), (type(None), 0, "None"),
    ],
)  # fmt: skip
def test_scalars_of_another_class_are_refused(annotation: Any, wrong: Any, expected: str) -> None:
    assert refused(wrong, annotation) == f"expected {expected}, got {type(wrong).__name__}"


def test_subclasses_of_scalars_and_numbers_of_other_libraries_are_taken() -> None:
    class Text(str):
        __slots__ = ()

    class Whole(int):
        pass

    assert both([Text("x"), Whole(3)], list[Any]) == ["x", 3]
    assert both(Text("x"), str) == "x"
    assert both(Whole(3), int) == 3
    assert both(bytearray(b"\xff"), bytes) == both(memoryview(b"\xff")) == "/w=="


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ((1, 2), list[int]), (deque([1, 2]), Sequence[int]), ([1, 2], tuple[int, ...]), (range(1, 3), Iterable[int]),
        (iter([1, 2]), list[int]), ({1: 0, 2: 0}.keys(), Any), (itertools.chain([1], [2]), Any), ((1, 2), tuple[int, int]),
        (range(1, 3), Any), (deque([1, 2]), Any), ([1, 2], tuple[int, int]),
    ],
)  # fmt: skip
def test_whatever_holds_items_is_an_array(value: Any, annotation: Any) -> None:
    assert Serializer().dump(value, annotation) == [1, 2]


@pytest.mark.parametrize(
    "value", [OrderedDict(a=1), Counter("a"), UserDict(a=1), ChainMap({"a": 1}), types.MappingProxyType({"a": 1})]
)
def test_whatever_is_a_mapping_is_an_object(value: Any) -> None:
    assert both(value) == both(value, Mapping[str, int]) == both(value, dict[str, int]) == {"a": 1}


def test_maps_may_be_sorted() -> None:
    assert list(both({"b": 1, "a": {"d": 1, "c": 2}}, sort_maps=True)) == ["a", "b"]
    assert Serializer(SerializerConfig(sort_maps=True)).dumps({"b": 1, "a": 2}, dict[str, int]) == b'{"a":2,"b":1}'


def test_indented_text() -> None:
    serializer = Serializer(SerializerConfig(indent=2))
    assert serializer.dumps({"a": [1, "é"]}).decode() == '{\n  "a": [\n    1,\n    "é"\n  ]\n}'


def test_ready_json_text_is_written_as_it_is() -> None:
    @dataclass
    class Holder:
        body: Annotated[bytes | str, Raw]
        more: Annotated[str, Raw()] = "null"

    serializer = Serializer()
    assert serializer.dumps(Holder(b'{"a": 1}', "[1, 2]"), Holder) == b'{"body":{"a": 1},"more":[1, 2]}'
    assert serializer.dump(Holder(b'{"a": 1}')) == {"body": {"a": 1}, "more": None}
    assert serializer.dumps(Holder(b'{"a":\n1}'), Holder) == b'{"body":{"a":1},"more":null}'
    assert serializer.load(Holder, {"body": {"a": 1}, "more": [1]}) == Holder(b'{"a":1}', "[1]")
    assert refused(Holder(b"{"), Holder) == "$.body: it is declared as ready JSON text, but is none"
    assert refused(Holder(5), Holder) == "$.body: expected JSON text, got int"  # type: ignore[arg-type]
    assert serializer.json_schema(Holder)["properties"] == {"body": {}, "more": {}}


@pytest.mark.parametrize(
    "annotation", [Any, dict[str, int], Person, int, str | None, list[int], bytes, Literal["a"], set[int], date, Path]
)
def test_text_encoded_before_passes_through_every_type(annotation: Any) -> None:
    raw = msgspec.Raw(b'{"a":1}')
    serializer = Serializer()
    assert serializer.dump(raw, annotation) is raw
    assert serializer.dumps([raw, raw], list[annotation]) == b'[{"a":1},{"a":1}]'


class Point(NamedTuple):
    x: int


def test_unions_go_by_the_class_of_the_value_the_nearest_first() -> None:
    class Left(Enum):
        A = "left"

    annotation = list[int | str | Point | dict[str, int] | list[int] | Left | Person | float | None]
    values = [1, "1", Point(2), {"a": 1}, [1], Left.A, Person("p"), 1.5, None]
    assert both(values, annotation) == [
        1, "1", {"x": 2}, {"a": 1}, [1], "left", {"firstName": "p", "age": 3}, 1.5, None,
    ]  # fmt: skip
    assert both([3], list[float | str]) == [3]
    assert both([{"a": 1}, {"b": "x"}], list[dict[str, int] | dict[str, str]]) == [{"a": 1}, {"b": "x"}]
    assert refused([{"a": None}], list[dict[str, int] | dict[str, str]]).startswith("$[0].a: expected")


def test_the_compact_text_is_utf8_without_escapes() -> None:
    assert Serializer().dumps("é\u2028\x01") == b'"\xc3\xa9\xe2\x80\xa8\\u0001"'


@pytest.mark.fault(27)
def test_control_and_separator_characters_survive() -> None:
    text = "".join(map(chr, range(1, 0x100))) + "\u2028\u2029"
    serializer = Serializer()
    encoded = serializer.dumps([text])
    assert b"\n" not in encoded
    assert serializer.loads(list[str], encoded) == [text]


def test_names_that_need_escapes() -> None:
    Odd = TypedDict("Odd", {'q"x': int, "a\\b": int, "\n": int, "класс": str})
    value = {'q"x': 1, "a\\b": 2, "\n": 3, "класс": "я"}
    assert (
        Serializer(SerializerConfig(case=Case.UNCHANGED)).loads(
            Odd, Serializer(SerializerConfig(case=Case.UNCHANGED)).dumps(value, Odd)
        )
        == value
    )


def test_members_may_be_called_like_names_in_generated_code() -> None:
    names = ["self", "v", "p", "out", "at", "error", "m0", "UNSET", "MISSING", "Doubt", "construct", "type"]
    Awkward = make_dataclass("Awkward", [(name, int, 1) for name in names])
    serializer = Serializer(SerializerConfig(case=Case.UNCHANGED))
    assert serializer.load(Awkward, serializer.dump(Awkward(v=2))) == Awkward(v=2)
    assert serializer.load(Awkward, {"v": "2", "self": "3"}) == Awkward(v=2, self=3)
