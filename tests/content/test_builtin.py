"""Content types: the built-in ones, a user's own, and many calls at once."""

import csv
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar

import pytest
import yaml
from PIL import Image

from mcpconnect.content import (
    JSON_TEXT,
    PNG_IMAGE,
    YAML_TEXT,
    Block,
    ContentFormatter,
    ContentType,
    ImageContent,
    ImageContentType,
    TextContent,
)
from mcpconnect.content.builtin import JsonText
from mcpconnect.errors import DefinitionError, SerializationError
from mcpconnect.serialization import Case, CustomSerializer, Serializer, SerializerConfig

from .conversion import NO_ANNOTATION, convert, convert_once, kinds, only_text, structured, texts


@dataclass
class Row:
    row_id: int
    price: Decimal


class Color(Enum):
    RED = "r"


def picture(colour: str = "red") -> Image.Image:
    return Image.new("RGB", (8, 8), colour)


# -- texts ------------------------------------------------------------------------------------------------------------


def test_json_is_compact_and_yaml_reads_back_as_the_same_value() -> None:
    rows = [Row(1, Decimal("1.10")), Row(2, Decimal("2"))]

    as_json = only_text(convert(rows, list[Row], content_type=JSON_TEXT))
    as_yaml = only_text(convert(rows, list[Row], content_type=YAML_TEXT))

    assert as_json == '[{"rowId":1,"price":"1.10"},{"rowId":2,"price":"2"}]'
    assert as_yaml == "- rowId: 1\n  price: '1.10'\n- rowId: 2\n  price: '2'"
    assert yaml.safe_load(as_yaml) == json.loads(as_json)


def test_the_structured_copy_is_the_same_data_in_any_notation() -> None:
    row = Row(1, Decimal("1.10"))

    for content_type in (JSON_TEXT, YAML_TEXT, None):
        assert structured(convert(row, Row, content_type=content_type)) == {"rowId": 1, "price": "1.10"}


@pytest.mark.parametrize("place", ["content_type", "default_content_type"])
def test_text_types_leave_texts_scalars_nothing_and_media_to_the_table(place: str) -> None:
    options = {place: YAML_TEXT}

    assert only_text(convert("a: b", str, **options)) == "a: b"
    assert only_text(convert(True, **options)) == "true"
    assert only_text(convert(Decimal("1.10"), Decimal, **options)) == "1.10"
    assert only_text(convert(Color.RED, Color, **options)) == "r"
    assert convert(None, **options).content == ()
    assert only_text(convert(None, Row | None, **options)) == "null"
    assert kinds(convert(b"x", bytes, **options)) == ["resource"]
    assert kinds(convert(picture(), Image.Image, **options)) == ["image"]
    assert kinds(convert_once(io.BytesIO(b"x"), **options)) == ["resource"]
    assert texts(convert([picture(), {"a": [1]}, "b"], **options)) == ["a:\n- 1", "b"]


def test_a_list_of_texts_is_one_block_only_under_the_tools_own_type() -> None:
    assert only_text(convert(["a", "b"], list[str], content_type=YAML_TEXT)) == "- a\n- b"
    assert only_text(convert([], list[str], content_type=YAML_TEXT)) == "[]"
    assert texts(convert(["a", "b"], list[str], default_content_type=YAML_TEXT)) == ["a", "b"]
    assert only_text(convert(["a", "b"], default_content_type=YAML_TEXT)) == "- a\n- b"


def test_the_servers_type_presents_what_no_row_presents() -> None:
    for annotation in (Row, NO_ANNOTATION, Any):
        assert (
            only_text(convert(Row(1, Decimal(2)), annotation, default_content_type=YAML_TEXT)) == "rowId: 1\nprice: '2'"
        )


def test_the_tools_own_type_beats_a_custom_serializer_and_the_servers_type() -> None:
    config = SerializerConfig(serializers={Row: CustomSerializer(lambda row: [row.row_id])})

    assert only_text(convert(Row(1, Decimal(2)), config=config, default_content_type=YAML_TEXT)) == "- 1"
    own = convert(Row(1, Decimal(2)), config=config, content_type=Shout(), default_content_type=YAML_TEXT)
    assert only_text(own) == "[1]!"


def test_a_custom_scalar_is_written_without_quotes_under_any_text_type() -> None:
    config = SerializerConfig(serializers={Row: CustomSerializer(lambda row: f"#{row.row_id}")})

    for options in ({}, {"content_type": YAML_TEXT}, {"default_content_type": YAML_TEXT}):
        assert only_text(convert(Row(1, Decimal(2)), Row, config=config, **options)) == "#1"


def test_settings_of_the_serializer_hold_in_every_notation() -> None:
    config = SerializerConfig(case=Case.KEBAB)

    assert only_text(convert(Row(1, Decimal(2)), config=config, content_type=YAML_TEXT)) == "row-id: 1\nprice: '2'"


def test_a_value_that_is_not_what_was_declared_is_presented_by_its_own_class() -> None:
    assert only_text(convert({"a": [1]}, list[int], content_type=YAML_TEXT)) == "a:\n- 1"


def test_content_types_present_values_without_a_tool() -> None:
    serializer = Serializer()

    assert JSON_TEXT.present({"a": 1}, serializer) == TextContent('{"a":1}')
    assert YAML_TEXT.present("a", serializer).text.startswith("a")


# -- pictures ---------------------------------------------------------------------------------------------------------


def test_image_types_write_pictures_in_their_type() -> None:
    for content_type in (PNG_IMAGE, ImageContentType("image/webp"), ImageContentType("jpg")):
        [block] = convert(picture(), Image.Image, content_type=content_type).content
        assert isinstance(block, ImageContent)
        assert block.mime_type == content_type.mime
        assert Image.MIME[str(Image.open(io.BytesIO(block.data)).format)] == content_type.mime


def test_image_types_take_bytes_and_streams_and_keep_what_has_their_type() -> None:
    webp = ImageContentType("image/webp")
    data = convert(picture(), content_type=webp).content[0].data
    stream = io.BytesIO(data)

    assert convert(data, bytes, content_type=webp).content == (ImageContent(data, "image/webp"),)
    assert convert(bytearray(data), content_type=webp).content == (ImageContent(data, "image/webp"),)
    assert convert_once(stream, content_type=webp).content == (ImageContent(data, "image/webp"),)
    assert stream.closed


def test_image_types_convert_bytes_of_another_picture_type() -> None:
    png = convert(picture(), content_type=PNG_IMAGE).content[0].data

    [block] = convert(png, content_type=ImageContentType("image/jpeg")).content

    assert Image.open(io.BytesIO(block.data)).format == "JPEG"
    with pytest.raises(SerializationError, match="no picture"):
        convert(b"%PDF-1.7", content_type=PNG_IMAGE)


@pytest.mark.parametrize("value", [{"a": 1}, Row(1, Decimal(2)), "text", 5, None, {1}])
def test_image_types_refuse_anything_else_by_name(value: Any) -> None:
    with pytest.raises(SerializationError, match=type(value).__name__):
        convert(value, content_type=PNG_IMAGE)
    with pytest.raises(SerializationError, match="text"):
        convert(io.StringIO("x"), content_type=PNG_IMAGE)


def test_image_types_present_a_list_item_by_item() -> None:
    result = convert([picture(), picture("blue")], list[Image.Image], content_type=ImageContentType("image/webp"))

    assert [block.mime_type for block in result.content] == ["image/webp"] * 2
    with pytest.raises(SerializationError, match="int"):
        convert([picture(), 5], content_type=PNG_IMAGE)


def test_an_image_type_that_cannot_be_written_is_refused_at_once() -> None:
    for mime in ("image/svg+xml", "text/plain", "audio/wav"):
        with pytest.raises(DefinitionError, match="possible are image/png"):
            ImageContentType(mime)
    with pytest.raises(DefinitionError, match="not a MIME type"):
        ImageContentType("picture")


# -- a user's own -----------------------------------------------------------------------------------------------------


class Shout(ContentType):
    """The JSON text with an exclamation mark."""

    def formatter(self, serializer: Serializer) -> ContentFormatter:
        return ShoutFormatter(serializer)


class ShoutFormatter(ContentFormatter):
    def __init__(self, serializer: Serializer) -> None:
        self.serializer = serializer
        self.parts: list[str] = []

    def begin(self) -> None:
        self.parts.append("")

    def format(self, value: Any) -> None:
        self.parts.append(self.serializer.dumps(value, self.annotation).decode())

    def finish(self) -> Block:
        return TextContent("".join(self.parts) + "!")


@dataclass(frozen=True)
class CsvText(ContentType):
    """Rows as lines. The serializer never sees the values."""

    separator: str = ";"
    scalars: ClassVar[int] = 0

    def formatter(self, serializer: Serializer) -> ContentFormatter:
        return CsvFormatter(self.separator)


class CsvFormatter(ContentFormatter):
    def __init__(self, separator: str) -> None:
        self.file = io.StringIO()
        self.writer = csv.writer(self.file, delimiter=separator, lineterminator="\n")

    def format(self, value: Any) -> None:
        for row in value:
            self.writer.writerow([row.row_id, row.price])

    def finish(self) -> Block:
        return TextContent(self.file.getvalue())


def test_a_users_content_type_presents_records_and_leaves_scalars() -> None:
    rows = [Row(1, Decimal(2)), Row(3, Decimal(4))]

    result = convert(rows, list[Row], content_type=CsvText())

    assert only_text(result) == "1;2\n3;4\n"
    assert structured(result) == [{"rowId": 1, "price": "2"}, {"rowId": 3, "price": "4"}]
    assert only_text(convert("text", content_type=CsvText())) == "text"
    assert only_text(convert(Row(1, Decimal(2)), content_type=Shout())) == '{"rowId":1,"price":"2"}!'


def test_a_subclass_of_the_json_type_is_asked_like_any_other() -> None:
    class Pretty(JsonText):
        def formatter(self, serializer: Serializer) -> ContentFormatter:
            return ShoutFormatter(serializer)

    assert only_text(convert({"a": 1}, default_content_type=Pretty())) == '{"a":1}!'


def test_a_content_type_may_present_what_the_serializer_cannot_write() -> None:
    class Frame:
        __slots__ = ()

        def __iter__(self):
            return iter([Row(1, Decimal(2))])

    assert only_text(convert(Frame(), content_type=CsvText())) == "1;2\n"


def test_many_threads_may_use_one_content_type_at_once() -> None:
    from .conversion import converter

    start = threading.Barrier(8, timeout=30)
    converters = [converter(Any, content_type=content_type) for content_type in (Shout(), YAML_TEXT, JSON_TEXT)]
    pictures = converter(Image.Image, content_type=PNG_IMAGE)
    shared = picture("blue")

    def work(number: int) -> bool:
        start.wait()
        good = True
        for turn in range(50):
            value = {"thread": number, "turn": turn, "rows": [Row(number, Decimal(turn))] * 3}
            shout, as_yaml, as_json = (only_text(convert_one(value)) for convert_one in converters)
            good = good and shout == as_json + "!" and yaml.safe_load(as_yaml) == json.loads(as_json)
            good = good and json.loads(as_json)["thread"] == number
            good = good and pictures(shared).content[0].data == pictures(shared).content[0].data
        return good

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
