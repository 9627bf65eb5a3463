"""The `type` statement and the type parameters of Python 3.12."""

import sys
from typing import Any

import pytest

from mcpconnect.serialization import Serializer

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs the syntax of Python 3.12")

SOURCE = """
from dataclasses import dataclass
from typing import Annotated

type Json = dict[str, Json] | list[Json] | str | int | float | bool | None
type Pair[A] = tuple[A, A]
type UserId = Annotated[int, "the id"]

@dataclass
class Page[T]:
    items: list[T]
    ids: Pair[UserId]
    next: "Page[T] | None" = None

@dataclass
class Leaf[S](Page[list[S]]):
    extra: S | None = None

def find[K](page: Page[int], key: K, ids: list[UserId]) -> Page[K]:
    ...
"""


def defined() -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(SOURCE, namespace)
    return namespace


def test_type_statements_and_generic_classes_are_understood() -> None:
    names = defined()
    serializer = Serializer()
    value = {"a": [1, None, {"b": 1.5}]}
    assert serializer.load(names["Json"], value) == serializer.dump(value, names["Json"]) == value
    Page, Leaf = names["Page"], names["Leaf"]
    page = Page([1], (1, 2), Page([2], (3, 4)))
    assert serializer.load(Page[int], serializer.dump(page, Page[int]), strict=True) == page
    leaf = Leaf([[1]], (1, 2), None, 5)
    assert serializer.load(Leaf[int], serializer.dump(leaf, Leaf[int]), strict=True) == leaf
    schema = serializer.json_schema(Leaf[int])["properties"]
    assert schema["items"]["items"] == {"type": "array", "items": {"type": "integer"}}
    assert schema["ids"]["prefixItems"][0] == {"type": "integer", "description": "the id"}


def test_generic_functions_have_parameters() -> None:
    params = Serializer().parameters(defined()["find"])
    assert list(params.json_schema()["properties"]) == ["page", "key", "ids"]
    assert params.load({"page": {"items": [1], "ids": [1, 2]}, "key": "k", "ids": ["3"]})["ids"] == [3]
