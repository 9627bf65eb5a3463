"""JSON Schema of a user's own marshmallow fields and schemas.

Rule: a table from marshmallow's classes, found by name through the bases of the user's class, so that nothing is
imported; a class that the table does not know, or a function that decides at run time, is `{}` (anything). Validators
are printed by the same table as those in `Annotated`, in the input view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .constraints import ValueKind, constraints_of
from .custom import View
from .plan import LiteralNode
from .scalar_schema import choice_schema

Json = dict[str, Any]


def field_schema(custom: Any, view: View) -> Json:
    """Return the schema of a field, a schema instance or a schema class."""
    if isinstance(custom, type):
        custom = custom()
    if _is_schema(custom):
        return _schema(custom, view)
    schema, kind = _by_class(custom, view)
    if view == "input":
        for validator in custom.validators:
            for constraint in constraints_of(validator):
                schema = {**schema, **constraint.keywords(kind)}
    for word in ("title", "description", "examples"):
        if word in custom.metadata:
            schema[word] = custom.metadata[word]
    return {"anyOf": [schema, {"type": "null"}]} if custom.allow_none and schema else schema


def _is_schema(custom: Any) -> bool:
    return hasattr(custom, "dump_fields")


def _schema(schema: Any, view: View) -> Json:
    fields = schema.load_fields if view == "input" else schema.dump_fields
    properties = {(field.data_key or name): field_schema(field, view) for name, field in fields.items()}
    required = [field.data_key or name for name, field in fields.items() if view == "input" and field.required]
    document: Json = {"type": "object", "properties": properties}
    if required:
        document["required"] = required
    if view == "input" and schema.unknown == "raise":
        document["additionalProperties"] = False
    return {"type": "array", "items": document} if schema.many else document


def _by_class(field: Any, view: View) -> tuple[Json, ValueKind]:
    for base in type(field).__mro__:
        if base.__module__.startswith("marshmallow") and base.__name__ in _TABLE:
            kind, make = _TABLE[base.__name__]
            return make(field, view), kind
    return {}, "other"


def _of(**words: Any) -> Callable[[Any, View], Json]:
    return lambda _, __: dict(words)


def _number(field: Any, _: View) -> Json:
    return {"type": "string"} if field.as_string else {"type": "number"}


def _integer(field: Any, _: View) -> Json:
    return {"type": "string"} if field.as_string else {"type": "integer"}


def _list(field: Any, view: View) -> Json:
    return {"type": "array", "items": field_schema(field.inner, view)}


def _tuple(field: Any, view: View) -> Json:
    items = [field_schema(item, view) for item in field.tuple_fields]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _mapping(field: Any, view: View) -> Json:
    values = field_schema(field.value_field, view) if field.value_field is not None else {}
    return {"type": "object", "additionalProperties": values}


def _nested(field: Any, view: View) -> Json:
    document = _schema(field.schema, view)
    return {"type": "array", "items": document} if field.many and document["type"] != "array" else document


def _pluck(field: Any, view: View) -> Json:
    item = field_schema(field.schema.fields[field.field_name], view)
    return {"type": "array", "items": item} if field.many else item


def _constant(field: Any, _: View) -> Json:
    return choice_schema(LiteralNode((field.constant,), (field.constant,)))


def _enum(field: Any, _: View) -> Json:
    members = list(field.enum)
    wires = [member.value if field.by_value else member.name for member in members]
    return choice_schema(LiteralNode(tuple(wires), tuple(wires)))


def _moment(field: Any, _: View) -> Json:
    if (field.format or "iso") in ("iso", "iso8601"):
        return {"type": "string", "format": "date-time"}
    return {"type": "number"} if str(field.format).startswith("timestamp") else {"type": "string"}


_TABLE: Final[dict[str, tuple[ValueKind, Callable[[Any, View], Json]]]] = {
    "String": ("text", _of(type="string")),
    "UUID": ("other", _of(type="string", format="uuid")),
    "Integer": ("number", _integer),
    "Float": ("number", _number),
    "Decimal": ("decimal", _number),
    "Number": ("number", _number),
    "Boolean": ("boolean", _of(type="boolean")),
    "DateTime": ("datetime", _moment),
    "Time": ("time", _of(type="string")),
    "Date": ("date", _of(type="string", format="date")),
    "TimeDelta": ("timedelta", _of(type="number")),
    "Email": ("text", _of(type="string", format="email")),
    "Url": ("text", _of(type="string", format="uri")),
    "IP": ("other", _of(type="string")),
    "IPv4": ("other", _of(type="string", format="ipv4")),
    "IPv6": ("other", _of(type="string", format="ipv6")),
    "IPInterface": ("other", _of(type="string")),
    "List": ("list", _list),
    "Tuple": ("list", _tuple),
    "Mapping": ("map", _mapping),
    "Nested": ("record", _nested),
    "Pluck": ("other", _pluck),
    "Constant": ("other", _constant),
    "Enum": ("other", _enum),
}
