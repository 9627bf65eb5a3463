"""The conversion table: every row, and the faults of the areas *return* and *media* that a result can show."""

import io
import json
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, Required, TypedDict
from uuid import UUID

import pytest
from PIL import Image

from mcpconnect.content import (
    UNSET,
    AudioContent,
    BlobResource,
    ContentList,
    EmbeddedResource,
    ImageContent,
    Mime,
    ResourceLink,
    TextContent,
    TextResource,
    ToolResult,
    ToolResultBuilder,
)
from mcpconnect.errors import DefinitionError, SerializationError
from mcpconnect.limits import Limits
from mcpconnect.serialization import EnumNames, Format, SerializerConfig

from .conversion import NO_ANNOTATION, convert, convert_once, converter, kinds, only_text, structured, texts


@dataclass
class Row:
    row_id: int
    title: str


class Point(NamedTuple):
    x: int
    y: int


class Color(Enum):
    RED = "r"
    GREEN = "g"


def picture() -> Image.Image:
    return Image.new("RGB", (2, 2), "red")


# -- ready-made -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "block",
    [
        TextContent("x"),
        ImageContent(b"i", "image/png"),
        AudioContent(b"a", "audio/wav"),
        ResourceLink("https://a.example/b"),
        EmbeddedResource(TextResource("x", "file:///x")),
    ],
)
def test_a_block_is_the_result(block) -> None:
    for annotation in (NO_ANNOTATION, type(block), Any):
        assert convert(block, annotation).content == (block,)
        assert converter(annotation).output_schema is None


def test_a_result_passes_as_it_is() -> None:
    result = ToolResult("x", is_error=True, meta={"k": 1})

    assert convert(result) is result
    assert convert(result, ToolResult) is result


def test_a_result_has_its_structured_value_encoded() -> None:
    result = convert(ToolResult("x", Row(1, "a")), ToolResult)

    assert structured(result) == {"rowId": 1, "title": "a"}
    assert structured(convert(ToolResult("x", None))) is None
    assert bytes(convert(result).structured) == bytes(result.structured)


def test_a_content_list_keeps_everything_it_carries() -> None:
    built = ToolResultBuilder().add_text("a").add_link(None, "https://a.example/b").structured([1]).meta(k=1).build()

    result = convert(built, ContentList)

    assert result.content == tuple(built)
    assert (structured(result), result.meta, result.is_error) == ([1], {"k": 1}, False)
    assert convert(ContentList()).content == ()


def test_values_in_a_content_list_take_the_servers_form() -> None:
    content = ContentList(["a", picture()]).add(Row(1, "b")).add([1, 2]).add(None)
    content.append(b"c")

    result = convert(content)

    assert kinds(result) == ["text", "image", "text", "text", "text", "resource"]
    assert texts(result) == ["a", '{"rowId":1,"title":"b"}', "[1,2]", "null"]


@pytest.mark.fault(30)
def test_a_result_built_as_an_error_stays_one() -> None:
    built = ToolResultBuilder().add_text("no such ticket").as_error().build()

    for annotation in (ContentList, NO_ANNOTATION, Any, list[TextContent]):
        result = convert(built, annotation)
        assert result.is_error
        assert result.content == tuple(built)


@pytest.mark.fault(31)
def test_subclasses_of_results_are_results() -> None:
    class MyList(ContentList): ...

    class MyResult(ToolResult): ...

    class MyText(TextContent): ...

    for value in (MyList([TextContent("x")]), MyResult("x"), MyText("x")):
        convert_one = converter(type(value), policy="all")
        assert convert_one.output_schema is None
        assert texts(convert_one(value)) == ["x"]
        assert convert_one(value).structured is UNSET


@pytest.mark.fault(33)
def test_content_has_neither_schema_nor_structured_copy() -> None:
    blocks = [TextContent("x"), ImageContent(b"i", "image/png")]
    annotations = [
        list[TextContent | ImageContent],
        Sequence[TextContent],
        tuple[TextContent, ImageContent],
        list[Any],
        ContentList,
        ToolResult,
        TextContent | ImageContent | None,
        Iterator[TextContent],
    ]
    for annotation in annotations:
        for policy in ("records", "all") if annotation != list[Any] else ("records",):
            convert_one = converter(annotation, policy=policy)
            assert convert_one.output_schema is None
            assert convert_one(blocks).content == tuple(blocks)
            assert convert_one(blocks).structured is UNSET


def test_what_a_resource_returns_is_refused() -> None:
    for contents in (TextResource("x"), BlobResource(b"x")):
        with pytest.raises(SerializationError, match="EmbeddedResource"):
            convert(contents)
        with pytest.raises(SerializationError, match="EmbeddedResource"):
            convert([contents])
        for annotation in (type(contents), list[type(contents)], type(contents) | None):
            with pytest.raises(DefinitionError, match="EmbeddedResource"):
                converter(annotation)


# -- texts and scalars ------------------------------------------------------------------------------------------------


@pytest.mark.fault(28)
@pytest.mark.parametrize("text", ["hi", "", '{"a": 1}', '"quoted"', "null", "a\nb", "grün \u2028 \x00"])
def test_a_text_is_one_block_with_exactly_that_text(text: str) -> None:
    for annotation in (str, NO_ANNOTATION, Any, str | None, Row | str, int):
        assert only_text(convert(text, annotation)) == text


@pytest.mark.fault(27)
def test_control_and_separator_characters_stay() -> None:
    text = "".join(map(chr, range(1, 0x100))) + "\u2028\u2029"

    assert only_text(convert(text, str)) == text
    assert json.loads(only_text(convert({"a": text}))) == {"a": text}


@pytest.mark.fault(26)
def test_a_lone_surrogate_in_data_is_a_text_or_an_error() -> None:
    assert only_text(convert("ok\udc80", str)) == "ok\udc80"  # replaced when the message is written
    for value in ({"a": "ok\udc80"}, ["ok\udc80"], {"ok\udc80": 1}):
        try:
            text = only_text(convert(value))
        except SerializationError:
            continue
        json.loads(text.encode("utf-8", "replace"))


def test_subclasses_of_text_are_texts() -> None:
    class Html(str): ...

    UserName = NewType("UserName", str)

    assert only_text(convert(Html("<b>"), Html)) == "<b>"
    assert type(only_text(convert(Html("<b>")))) is str
    assert only_text(convert("ann", UserName)) == "ann"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12, "12"),
        (-(10**30), "-1000000000000000000000000000000"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1.5, "1.5"),
        (0.0, "0.0"),
        (Decimal("1.10"), "1.10"),
        (Color.RED, "r"),
        (date(2026, 1, 1), "2026-01-01"),
        (datetime(2026, 1, 1, 12, tzinfo=UTC), "2026-01-01T12:00:00Z"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("a/b"), "a/b"),
    ],
)
def test_a_json_scalar_is_one_text_without_quotes(value: Any, text: str) -> None:
    for annotation in (type(value), NO_ANNOTATION, Any, type(value) | None):
        assert only_text(convert(value, annotation)) == text
        assert converter(annotation).output_schema is None


@pytest.mark.fault(29)
def test_booleans_are_json_and_false_is_a_value() -> None:
    for annotation in (bool, NO_ANNOTATION, bool | None, int):
        assert only_text(convert(True, annotation)) == "true"
        assert only_text(convert(False, annotation)) == "false"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), Decimal("NaN")])
@pytest.mark.fault(11)
def test_a_scalar_that_is_no_number_follows_the_same_rule_as_inside(value: Any) -> None:
    for annotation in (type(value), NO_ANNOTATION):
        with pytest.raises(SerializationError):
            convert(value, annotation)
        assert only_text(convert(value, annotation, config=SerializerConfig(non_finite="null"))) == "null"


@pytest.mark.fault(10)
def test_numbers_that_are_none_are_errors_or_null_in_text_and_structure_alike() -> None:
    value = {"x": float("nan"), "y": float("-inf")}

    for annotation in (dict, dict[str, float], NO_ANNOTATION):
        with pytest.raises(SerializationError, match=r"\$\.x"):
            convert(value, annotation)
    result = convert(value, dict[str, float], config=SerializerConfig(non_finite="null"))
    assert only_text(result) == '{"x":null,"y":null}'
    assert structured(result) == {"x": None, "y": None}


@pytest.mark.fault(12)
def test_decimals_keep_their_digits() -> None:
    values = [Decimal("1.10"), Decimal("1E+2")]

    assert json.loads(only_text(convert(values, list[Decimal])))[0] == "1.10"
    assert Decimal(json.loads(only_text(convert(values, list[Decimal])))[1]) == 100
    with pytest.raises(SerializationError, match=r"\$\[2\]"):
        convert([*values, Decimal("NaN")], list[Decimal])


@pytest.mark.fault(13)
def test_big_integers_are_exact_or_text_by_one_rule() -> None:
    value = {"id": 9007199254740993, "n": 5, "ok": True}

    result = convert(value, dict[str, int | bool])
    assert only_text(result) == '{"id":9007199254740993,"n":5,"ok":true}'
    assert structured(result) == value
    result = convert(value, dict[str, int | bool], config=SerializerConfig(big_ints="string"))
    assert structured(result) == {"id": "9007199254740993", "n": 5, "ok": True} == json.loads(only_text(result))


@pytest.mark.fault(14)
def test_a_naive_datetime_gets_its_offset() -> None:
    @dataclass
    class Log:
        created: datetime

    result = convert(Log(datetime(2025, 10, 22, 15, 50, 22)), Log)

    assert structured(result) == {"created": "2025-10-22T15:50:22Z"}


@pytest.mark.fault(15)
def test_the_instant_stays_with_and_without_utc() -> None:
    moment = datetime(2025, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))

    assert only_text(convert(moment, datetime)) == "2025-01-01T12:00:00+02:00"
    assert only_text(convert(moment, datetime, config=SerializerConfig(use_utc=True))) == "2025-01-01T10:00:00Z"


@pytest.mark.fault(16)
def test_falsy_values_are_values() -> None:
    @dataclass
    class Nothing:
        count: int = 0
        name: str = ""
        flag: bool = False
        items: list[int] = field(default_factory=list)
        at: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    expected = {"count": 0, "name": "", "flag": False, "items": [], "at": "1970-01-01T00:00:00Z"}

    assert structured(convert(Nothing(), Nothing)) == expected
    assert json.loads(only_text(convert(Nothing()))) == expected


@pytest.mark.fault(17)
def test_a_duration_keeps_sign_and_microseconds() -> None:
    assert only_text(convert(timedelta(days=-1, seconds=5, microseconds=7), timedelta)) == "-PT86394.999993S"


@pytest.mark.fault(18)
def test_a_set_is_an_array_in_a_stable_order() -> None:
    program = "from tests.content.conversion import *; print(only_text(convert({'b', 'a', 'c'}, set[str])))"
    root = Path(__file__).resolve().parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert outputs == {'["a","b","c"]\n'}


@pytest.mark.fault(19)
def test_a_named_tuple_has_one_shape_everywhere() -> None:
    @dataclass
    class Shape:
        p: Point

    result = convert(Shape(Point(1, 2)), Shape)

    assert structured(result) == {"p": {"x": 1, "y": 2}} == json.loads(only_text(result))
    assert only_text(convert(Point(1, 2), Point)) == only_text(convert(Point(1, 2))) == '{"x":1,"y":2}'


@pytest.mark.fault(20)
def test_an_absent_key_of_a_typed_dict_stays_absent() -> None:
    class Person(TypedDict, total=False):
        name: Required[str]
        age: int

    assert structured(convert({"name": "Dave"}, Person)) == {"name": "Dave"}


@pytest.mark.fault(21)
def test_an_enum_has_the_same_form_everywhere() -> None:
    assert only_text(convert(Color.RED, Color)) == "r"
    assert only_text(convert([Color.RED], list[Color])) == '["r"]'
    result = convert({"c": Color.RED}, dict[str, Color])
    assert structured(result) == {"c": "r"} == json.loads(only_text(result))
    schema = json.dumps(converter(dict[str, Color]).output_schema)
    assert '"r"' in schema
    assert "RED" not in schema


@pytest.mark.fault(22)
def test_wire_names_of_an_enum_hold_everywhere() -> None:
    @EnumNames("stop", "go")
    class Light(Enum):
        RED = 1
        GREEN = 2

    assert only_text(convert(Light.RED, Light)) == "stop"
    assert only_text(convert(Light.RED, Light | None)) == "stop"
    assert only_text(convert([Light.RED], list[Light])) == '["stop"]'
    assert only_text(convert({"l": Light.GREEN}, dict[str, Light])) == '{"l":"go"}'
    for annotation in (Light, Light | None, list[Light], dict[str, Light]):
        schema = json.dumps(converter(annotation, structured=True).output_schema)
        assert '"stop"' in schema
        assert "RED" not in schema


@pytest.mark.fault(23)
def test_identifiers_and_paths_are_plain_text_inside_too() -> None:
    value = {"id": UUID(int=1), "p": Path("a/b")}

    assert json.loads(only_text(convert(value))) == {"id": "00000000-0000-0000-0000-000000000001", "p": "a/b"}


@pytest.mark.fault(24)
def test_keys_that_become_the_same_text_are_an_error() -> None:
    for annotation in (dict, NO_ANNOTATION, dict[int | str, str]):
        with pytest.raises(SerializationError, match="1"):
            convert({1: "a", "1": "b"}, annotation)
    assert only_text(convert({1: "a"}, dict)) == '{"1":"a"}'


@pytest.mark.fault(25)
def test_a_key_without_text_is_an_error_that_names_it() -> None:
    with pytest.raises(SerializationError, match=r"\(1, 2\)|tuple"):
        convert({(1, 2): 3, "ok": 1})


def test_a_format_beside_the_annotation_holds() -> None:
    day = Annotated[date, Format("%d.%m.%Y")]

    assert only_text(convert(date(2026, 1, 2), day)) == "02.01.2026"
    assert only_text(convert([date(2026, 1, 2)], list[day])) == '["02.01.2026"]'


def test_enums_that_are_texts_or_numbers_follow_the_enum_rule() -> None:
    class Size(StrEnum):
        BIG = "b"

    class Level(IntEnum):
        HIGH = 3

    by_name = SerializerConfig(enum_as="name")
    assert only_text(convert(Size.BIG, Size)) == only_text(convert(Size.BIG, str)) == "b"
    assert only_text(convert(Size.BIG, Size, config=by_name)) == "BIG"
    assert only_text(convert(Level.HIGH, Level)) == "3"
    assert only_text(convert(Level.HIGH, config=by_name)) == "HIGH"


# -- nothing ----------------------------------------------------------------------------------------------------------


@pytest.mark.fault(2)
def test_nothing_is_no_blocks() -> None:
    for annotation in (None, type(None), NO_ANNOTATION, Any, object, str, Image.Image):
        result = convert(None, annotation)
        assert result.content == ()
        assert not result.is_error
        assert result.structured is UNSET


def test_nothing_is_null_where_it_is_declared() -> None:
    for annotation in (str | None, int | None, Row | None, Image.Image | None, list[str] | None, ContentList | None):
        assert only_text(convert(None, annotation)) == "null"


# -- media ------------------------------------------------------------------------------------------------------------


@pytest.mark.fault(6)
@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_bytes_are_an_embedded_blob(make) -> None:
    data = b"\x89\xff\x00"
    for annotation in (make, NO_ANNOTATION, bytes | None, Any):
        [block] = convert(make(data), annotation).content
        assert isinstance(block, EmbeddedResource)
        assert isinstance(block.resource, BlobResource)
        assert block.resource.blob == data
        assert block.resource.mime_type == "application/octet-stream"
        assert block.resource.uri
        assert converter(annotation).output_schema is None


def test_the_type_of_bytes_may_stand_beside_them() -> None:
    pdf = Annotated[bytes, Mime("application/pdf")]
    for annotation, value in ((pdf, b"x"), (list[pdf], [b"x"]), (Annotated[list[bytes], Mime("pdf")], [b"x"])):
        [block] = convert(value, annotation).content
        assert block.resource.mime_type == "application/pdf"
    [block] = convert(b"x", bytes, mime="application/pdf").content
    assert block.resource.mime_type == "application/pdf"


@pytest.mark.parametrize("make", [io.BytesIO, lambda data: io.BufferedReader(io.BytesIO(data))])
def test_a_binary_stream_is_read_from_its_start_and_closed(make) -> None:
    stream = make(b"abc")
    stream.read(2)

    [block] = convert_once(stream, io.BytesIO).content

    assert block.resource.blob == b"abc"
    assert block.resource.mime_type == "application/octet-stream"
    assert stream.closed


def test_files_and_temporary_files_are_streams(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("grün", encoding="utf-8")
    named = tempfile.NamedTemporaryFile(dir=tmp_path)  # noqa: SIM115 - the conversion closes it
    named.write(b"abc")

    assert only_text(convert_once((tmp_path / "a.txt").open(encoding="utf-8"))) == "grün"
    assert convert_once((tmp_path / "a.txt").open("rb")).content[0].resource.blob == "grün".encode()
    [block] = convert_once(named).content
    assert block.resource.blob == b"abc"
    assert block.resource.uri.endswith(Path(named.name).name)
    assert named.closed


def test_a_text_stream_is_one_text() -> None:
    assert only_text(convert_once(io.StringIO("a\nb"))) == "a\nb"


def test_a_kept_stream_stays_open() -> None:
    stream, other = io.BytesIO(b"abc"), io.BytesIO(b"def")
    convert_one = converter()

    assert len(convert_one([stream, other], lambda kept: kept is stream).content) == 2

    assert not stream.closed
    assert other.closed
    assert len(convert_one(stream, lambda kept: True).content) == 1
    assert not stream.closed


def test_streams_are_closed_when_the_conversion_fails() -> None:
    closed = io.BytesIO(b"")
    closed.close()
    first, last = io.BytesIO(b"a"), io.BytesIO(b"b")

    with pytest.raises(SerializationError, match="closed file"):
        convert_once([first, closed, last, TextContent("x")])

    assert first.closed
    assert last.closed


def test_a_stream_longer_than_the_limit_is_refused() -> None:
    limits = Limits(stream_bytes=3)

    assert convert_once(io.BytesIO(b"abc"), limits=limits).content[0].resource.blob == b"abc"
    for stream in (io.BytesIO(b"abcd"), io.StringIO("abcd")):
        with pytest.raises(SerializationError, match="more than 3 bytes"):
            convert_once(stream, limits=limits)
        assert stream.closed


def test_a_stream_that_gives_nothing_readable_is_refused() -> None:
    class NotReady(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> None:  # type: ignore[override]
            return None

    with pytest.raises(SerializationError, match="NoneType"):
        convert_once(NotReady())


def test_a_picture_is_an_image_block() -> None:
    for annotation in (Image.Image, NO_ANNOTATION, Image.Image | None, Any, Image.Image | Row):
        [block] = convert(picture(), annotation).content
        assert isinstance(block, ImageContent)
        assert block.mime_type == "image/png"
        assert Image.open(io.BytesIO(block.data)).getpixel((0, 0)) == (255, 0, 0)


def test_the_type_of_a_picture_may_stand_beside_it() -> None:
    [block] = convert(picture(), Annotated[Image.Image, Mime("image/webp")]).content

    assert block.mime_type == "image/webp"
    assert Image.open(io.BytesIO(block.data)).format == "WEBP"
    with pytest.raises(DefinitionError, match="application/pdf"):
        converter(Annotated[Image.Image, Mime("application/pdf")])


@pytest.mark.fault(4)
def test_texts_and_pictures_keep_their_order() -> None:
    values = ["before", picture(), "after"]

    for annotation in (NO_ANNOTATION, list[str | Image.Image], list, list[Any], Any, tuple[str, Image.Image, str]):
        result = convert(values, annotation)
        assert kinds(result) == ["text", "image", "text"]
        assert texts(result) == ["before", "after"]


@pytest.mark.fault(120)
def test_pictures_in_a_list_are_image_blocks() -> None:
    for annotation in (list[Image.Image], NO_ANNOTATION, Sequence[Image.Image], tuple[Image.Image, ...]):
        assert kinds(convert([picture(), picture()], annotation)) == ["image", "image"]
    assert kinds(convert((picture(),), tuple[Image.Image, ...])) == ["image"]
    assert kinds(convert(deque([picture()]))) == ["image"]
    assert kinds(convert({"a": picture()}.values())) == ["image"]


@pytest.mark.fault(121)
def test_media_below_the_top_level_are_an_error_that_says_what_to_do() -> None:
    @dataclass
    class Card:
        chart: Any
        title: str = "x"

    media = [picture(), io.BytesIO(b"x"), io.StringIO("x"), TextContent("x"), ContentList(), ToolResult("x")]
    for medium in media:
        for value in ({"chart": medium, "title": "x"}, Card(medium), [[medium]], [Card(medium)], {"a": [medium]}):
            with pytest.raises(SerializationError, match="return a list"):
                convert(value)
    with pytest.raises(SerializationError, match="return a list"):
        convert(Card(picture()), Card)
    with pytest.raises(SerializationError, match="return a list"):
        convert({"chart": picture()}, dict[str, Image.Image])


def test_a_record_that_declares_media_promises_no_schema() -> None:
    @dataclass
    class Card:
        chart: Image.Image

    assert converter(Card).output_schema is None
    assert converter(dict[str, io.BytesIO]).output_schema is None
    assert converter(list[Card], policy="all").output_schema is None


@pytest.mark.fault(7)
def test_bytes_inside_data_are_base64() -> None:
    rows = [{"id": 1, "sig": b"\xff\x00"}]

    for annotation in (list[dict], NO_ANNOTATION, list[dict[str, Any]]):
        assert json.loads(only_text(convert(rows, annotation))) == [{"id": 1, "sig": "/wA="}]


# -- lists ------------------------------------------------------------------------------------------------------------


def test_a_declared_list_of_texts_is_several_texts() -> None:
    annotations = [
        list[str],
        Sequence[str],
        Iterable[str],
        tuple[str, ...],
        tuple[str, str],
        list[Annotated[str, "a name"]],
        Annotated[list[str], "names"],
        list[str] | None,
        str | list[str],
        Iterator[str],
        AsyncIterator[str],
        Generator[str, None, None],
        AsyncGenerator[str, None],
        Awaitable[list[str]],
        Coroutine[Any, Any, list[str]],
        Awaitable[Iterator[str]],
    ]
    for annotation in annotations:
        assert texts(convert(["a", '"b"'], annotation)) == ["a", '"b"'], annotation


def test_other_lists_of_texts_are_data() -> None:
    for annotation in (NO_ANNOTATION, list, list[Any], Any, list[str | int], list[Color], Sequence[Literal["a", "b"]]):
        assert only_text(convert(["a", "b"], annotation)) == '["a","b"]'


@pytest.mark.fault(1)
def test_an_empty_list_is_one_text() -> None:
    for annotation in (list[str], tuple[str, ...], list[Row], list[Image.Image], list[TextContent], NO_ANNOTATION):
        for value in ([], ()):
            result = convert(value, annotation)
            assert only_text(result) == "[]"
            assert not result.is_error
    assert structured(convert([], list[str], structured=True)) == []
    assert structured(convert([], list[Row])) == []


@pytest.mark.fault(3)
def test_the_shape_does_not_depend_on_the_length() -> None:
    for annotation in (list[int], NO_ANNOTATION, list):
        assert only_text(convert([1], annotation)) == "[1]"
        assert only_text(convert([1, 2], annotation)) == "[1,2]"


@pytest.mark.fault(5)
def test_nested_lists_stay_nested() -> None:
    for annotation in (list[list[int]], NO_ANNOTATION):
        assert only_text(convert([[1, 2], [3]], annotation)) == "[[1,2],[3]]"
    result = convert([picture(), [[1, 2], [3]]])
    assert texts(result) == ["[[1,2],[3]]"]


@pytest.mark.fault(8)
def test_drained_iterators_count_as_the_list_they_declare() -> None:
    for annotation in (Iterator[int], AsyncIterator[int], Generator[int, None, None], AsyncGenerator[int, None]):
        assert only_text(convert([1, 2], annotation)) == "[1,2]"
    assert kinds(convert([picture()], Iterator[Image.Image])) == ["image"]
    assert structured(convert([Row(1, "a")], Iterator[Row])) == [{"rowId": 1, "title": "a"}]


@pytest.mark.fault(32)
def test_dicts_that_look_like_blocks_are_data() -> None:
    value = [{"type": "text", "text": "x"}]

    for annotation in (list[dict], NO_ANNOTATION, list[dict[str, str]]):
        assert json.loads(only_text(convert(value, annotation))) == value


def test_other_values_beside_media_take_their_own_rows() -> None:
    result = convert([picture(), {"a": 1}, 3, None, Row(1, "x"), ["b"], TextContent("t"), ContentList(["c", "d"])])

    assert texts(result) == ['{"a":1}', "3", "null", '{"rowId":1,"title":"x"}', '["b"]', "t", "c", "d"]


def test_an_error_in_a_list_makes_the_result_one() -> None:
    assert convert([TextContent("a"), ToolResult("b", is_error=True)]).is_error


# -- data -------------------------------------------------------------------------------------------------------------


@pytest.mark.fault(34)
def test_the_same_value_is_the_same_text_under_every_annotation() -> None:
    row = Row(1, "a")

    assert {only_text(convert(row, a)) for a in (Row, object, Any, NO_ANNOTATION)} == {'{"rowId":1,"title":"a"}'}


@pytest.mark.fault(35)
def test_an_object_without_form_is_an_error_that_names_its_class() -> None:
    class Empty: ...

    with pytest.raises(SerializationError, match="object"):
        convert(object())
    for value in (Empty(), [Empty()], {"a": object()}, lambda: 1):
        try:
            text = only_text(convert(value))
        except SerializationError as error:
            text = str(error)
        assert "0x" not in text

    class Plain:
        def __init__(self) -> None:
            self.full_name = "Ann"
            self._secret = 1

    assert only_text(convert(Plain())) == '{"fullName":"Ann"}'


def test_a_value_of_another_class_than_declared_is_converted_by_its_own() -> None:
    assert only_text(convert("text", int)) == "text"
    assert only_text(convert({"a": 1}, list[int])) == '{"a":1}'
    assert only_text(convert(["a"], list[int])) == '["a"]'
    assert only_text(convert(5, str)) == "5"
    assert kinds(convert(picture(), str)) == ["image"]
    assert kinds(convert([picture()], dict)) == ["image"]


def test_indented_json_stays_on_one_line_as_structured_content() -> None:
    result = convert(Row(1, "a\nb"), Row, config=SerializerConfig(indent=2))

    assert "\n" in only_text(result)
    assert b"\n" not in bytes(result.structured)
    assert structured(result) == json.loads(only_text(result))


def test_a_mapping_is_an_object() -> None:
    assert only_text(convert({"a_b": 1}, Mapping[str, int])) == '{"a_b":1}'
