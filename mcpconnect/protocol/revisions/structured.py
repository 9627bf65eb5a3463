"""Structured content and output schemas where only objects are allowed: `{"result": …}`.

Rule: a schema is wrapped exactly when its root is not `type: object`, and its references still resolve afterwards. A
value is wrapped when it is no object; that a declared schema asks for more is `Revision.lower(wrap=True)`.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Raw

from ..revision import Shape

_is_object = re.compile(rb"\s*\{").match
_MOVED_TO = "#/properties/result"
_HOISTED = ("$schema", "$defs")
_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DATA = frozenset({"const", "enum", "default", "examples"})


def wrap_structured(result: Shape) -> Shape:
    """Return a tool's result whose structured content is an object."""
    if "structuredContent" not in result:
        return result
    value = result["structuredContent"]
    if isinstance(value, dict) or (isinstance(value, Raw) and _is_object(value)):
        return result
    return {**result, "structuredContent": {"result": value}}


def wrap_schema(schema: Shape) -> Shape:
    """Return an output schema whose root is an object.

    `$defs` move to the new root, where `#/$defs/…` still finds them; other references from the root are rewritten.
    """
    if schema.get("type") == "object":
        return schema
    if "$id" in schema:  # a document of its own: its references do not start at our root
        return {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    moved = _moved(schema)
    hoisted = {name: moved.pop(name) for name in _HOISTED if name in moved}
    return {**hoisted, "type": "object", "properties": {"result": moved}, "required": ["result"]}


def object_properties(schema: Shape) -> Shape:
    """Return a schema whose properties are objects: `true` and `false` were not foreseen."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not any(isinstance(value, bool) for value in properties.values()):
        return schema
    boolean: dict[bool, Shape] = {True: {}, False: {"not": {}}}
    plain = {name: boolean[value] if isinstance(value, bool) else value for name, value in properties.items()}
    return {**schema, "properties": plain}


def _moved(schema: Any) -> Any:
    """Return the (part of a) schema with the references rewritten; what is data or only names is not a schema."""
    if isinstance(schema, list):
        return [_moved(item) for item in schema]
    if not isinstance(schema, dict) or "$id" in schema:
        return schema
    return {keyword: _moved_value(keyword, value) for keyword, value in schema.items()}


def _moved_value(keyword: str, value: Any) -> Any:
    if keyword in ("$ref", "$dynamicRef") and isinstance(value, str):
        from_root = value == "#" or (value.startswith("#/") and not value.startswith("#/$defs/"))
        return _MOVED_TO + value[1:] if from_root else value
    if keyword in _DATA:
        return value
    if keyword in _NAMES and isinstance(value, dict):
        return {name: _moved(inner) for name, inner in value.items()}
    return _moved(value)
