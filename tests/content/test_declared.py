"""Return annotations in the table's terms."""

import inspect
import io
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from typing import IO, Annotated, Any, BinaryIO, NewType, TypeVar, Union

import pytest
from PIL import Image
from typing_extensions import TypeAliasType

from mcpconnect.content import ContentList, ImageContent, Mime, TextContent, ToolResult
from mcpconnect.content.declared import Shape, declare
from mcpconnect.serialization import CustomSerializer, Format, Use


@dataclass
class Row:
    a: int


class Recursive:
    """What `type Json = …` makes since Python 3.12: an alias whose value holds the alias itself."""

    def __init__(self) -> None:
        self.__value__: Any = Union[dict[str, self], list[self], list[list[self]], str, None]  # noqa: UP007 - not a class

    def __call__(self) -> None: ...


Recursive.__name__ = "TypeAliasType"
Json = Recursive()
Rows = TypeAliasType("Rows", list[Row])
Broken = TypeAliasType("Broken", "Missing")  # noqa: F821 - that is the point


@pytest.mark.parametrize(
    ("annotation", "shape"),
    [
        (inspect.Signature.empty, Shape.OPEN),
        (Any, Shape.OPEN),
        (object, Shape.OPEN),
        (TypeVar("T"), Shape.OPEN),
        ("Row", Shape.OPEN),
        (Broken, Shape.OPEN),
        (list, Shape.OPEN),
        (tuple, Shape.OPEN),
        (list[Any], Shape.OPEN),
        (Row | Image.Image, Shape.OPEN),
        (list[Row | Image.Image], Shape.OPEN),
        (None, Shape.NOTHING),
        (str, Shape.TEXT),
        (str | None, Shape.TEXT),
        (NewType("Name", str), Shape.TEXT),
        (Annotated[str, "a name"], Shape.TEXT),
        (TextContent, Shape.CONTENT),
        (TextContent | ImageContent, Shape.CONTENT),
        (ToolResult | ContentList, Shape.CONTENT),
        (bytes, Shape.MEDIA),
        (io.BytesIO, Shape.MEDIA),
        (BinaryIO, Shape.MEDIA),
        (IO[bytes], Shape.MEDIA),
        (Image.Image | None, Shape.MEDIA),
        (bytes | Image.Image, Shape.MEDIA),
        (str | Image.Image, Shape.MIXED),
        (list[str], Shape.ITEMS),
        (list[str | Image.Image], Shape.ITEMS),
        (tuple[str, Image.Image], Shape.ITEMS),
        (tuple[int, Image.Image], Shape.ITEMS),
        (Iterator[bytes], Shape.ITEMS),
        (list[Image.Image | None], Shape.ITEMS),
        (Row, Shape.DATA),
        (Row | str, Shape.DATA),
        (list[Row], Shape.DATA),
        (Rows, Shape.DATA),
        (Json, Shape.DATA),
        (list[str | None], Shape.DATA),
        (list[list[Image.Image]], Shape.DATA),
        (set[str], Shape.DATA),
        (Annotated[str, Format("x")], Shape.DATA),
        (Annotated[Image.Image, Use(CustomSerializer(str))], Shape.DATA),
    ],
)
def test_shapes(annotation: Any, shape: Shape) -> None:
    assert declare(annotation).shape is shape


def test_an_alias_that_cannot_be_evaluated_promises_nothing() -> None:
    class Lazy(Recursive):
        def __init__(self) -> None: ...

        @property
        def __value__(self) -> Any:  # type: ignore[override]
            raise NameError("Missing")

    Lazy.__name__ = "TypeAliasType"

    assert declare(Lazy()).shape is Shape.OPEN


def test_what_the_serializer_plans() -> None:
    assert declare(Awaitable[Iterator[Row]]).annotation == list[Row]
    assert declare(Annotated[Iterator[Row], "rows"]).annotation == Annotated[list[Row], "rows"]
    assert declare(tuple[Row, ...]).annotation == tuple[Row, ...]
    assert declare(Annotated[Row | None, "x"]).annotation == Annotated[Row | None, "x"]
    assert declare(Row | Image.Image).annotation is Any


def test_notes_about_media() -> None:
    pdf = Annotated[bytes, Mime("application/pdf")]

    assert declare(pdf).mime == declare(pdf | None).mime == declare(list[pdf]).mime == "application/pdf"
    assert declare(Annotated[list[pdf], Mime("image/png")]).mime == "image/png"


def test_none_and_lists_inside_a_union() -> None:
    assert declare(Row | None).nullable
    assert not declare(Row | str).nullable
    assert declare(str | list[str]).itemwise
    assert declare(list[str] | None).itemwise
    assert not declare(list[Row]).itemwise


def test_why_there_is_no_json_form() -> None:
    assert "text and was not resolved" in declare("Row").formless
    assert "blocks" in declare(list[Image.Image]).formless
    assert "blocks" in declare(tuple[str, Image.Image]).formless
    assert declare(Any).formless == declare(Row).formless == declare(list[Any]).formless == ""
