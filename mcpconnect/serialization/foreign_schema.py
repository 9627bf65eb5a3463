"""JSON Schema of pydantic models and msgspec structs, with our names.

Rule: the library prints the schema; here only the names of properties are replaced, in the class and in those that
it refers to, found through the annotations of its members.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from .._typing import resolve_hints
from .config import SerializerConfig
from .custom import View
from .foreign import foreign_library, own_names
from .plan import ForeignNode

Json = dict[str, Any]


def foreign_schema(node: ForeignNode, config: SerializerConfig, view: View) -> Json:
    """Return the library's schema of the class, as a document of its own, with the case style applied."""
    document = _msgspec_schema(node.cls) if node.library == "msgspec" else _pydantic_schema(node.cls, view)
    definitions = document.get("$defs", {})
    for cls in set(_classes_in(node.cls, set())):
        names = {own: ours for own, (_, ours) in (own_names(cls, config) or {}).items()}
        for key, definition in definitions.items():
            if key == cls.__name__ or key.endswith(f"__{cls.__name__}"):
                _rename(definition, names)
        if cls is node.cls:
            _rename(document, names)
    return document


def _pydantic_schema(cls: Any, view: View) -> Json:
    mode = "serialization" if view == "output" else "validation"
    document: Json = cls.model_json_schema(mode=mode)
    if "$ref" in document:  # a model that contains itself: the root is spelled out
        document = {**document["$defs"][document["$ref"].rpartition("/")[2]], "$defs": document["$defs"]}
    return document


def _msgspec_schema(cls: type) -> Json:
    (schema,), definitions = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}")
    name = schema["$ref"].rpartition("/")[2]
    document = dict(definitions[name])
    text = str(definitions)
    others = {key: part for key, part in definitions.items() if f"#/$defs/{key}'" in text}
    return {**document, "$defs": others} if others else document


def _classes_in(annotation: Any, seen: set[type]) -> Iterator[type]:
    if isinstance(annotation, type) and foreign_library(annotation) is not None:
        if annotation in seen:
            return
        seen.add(annotation)
        yield annotation
        for hint in resolve_hints(annotation).values():
            yield from _classes_in(hint, seen)
    for argument in get_args(annotation):
        yield from _classes_in(argument, seen)


def _rename(schema: Json, names: dict[str, str]) -> None:
    if "properties" in schema:
        schema["properties"] = {names.get(key, key): part for key, part in schema["properties"].items()}
    if "required" in schema:
        schema["required"] = [names.get(key, key) for key in schema["required"]]
