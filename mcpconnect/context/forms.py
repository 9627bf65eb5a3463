"""Forms for the client's user: a dataclass as the flat schema that clients can show, and the answer back into it.

Rule: a form has only what a person can fill in: texts, numbers, yes or no, one or several of some choices. Anything
else is the author's mistake, and named as such.

Source: the specification's page *Elicitation*, requested schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..content.schema_check import SchemaCheck
from ..errors import DefinitionError, LoadError
from ..serialization import Serializer

_COMMON: Final = ("type", "title", "description", "default")
_KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    "string": (*_COMMON, "minLength", "maxLength", "format", "enum", "enumNames", "oneOf"),
    "number": (*_COMMON, "minimum", "maximum"),
    "integer": (*_COMMON, "minimum", "maximum"),
    "boolean": _COMMON,
    "array": (*_COMMON, "items", "minItems", "maxItems"),
}
_FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})


def form_schema(form: Any, serializer: Serializer) -> dict[str, Any]:
    """Return the schema of a form; a mapping is one already.

    Raises:
        DefinitionError: a member is nothing that a person can fill in.
    """
    if isinstance(form, Mapping):
        return dict(form)
    schema = serializer.json_schema(form, view="input", refs="inline")
    properties = {name: _field(form, name, inner) for name, inner in schema.get("properties", {}).items()}
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def check_content(content: dict[str, Any], form: Any, serializer: Serializer) -> Any:
    """Return the filled-in form: an object of the dataclass, or the mapping where a schema was given.

    Raises:
        LoadError: it does not fit; every reason is named.
    """
    if not isinstance(form, Mapping):
        return serializer.load(form, content, strict=False)
    if problems := SchemaCheck(form).problems(content):
        raise LoadError(problems)
    return content


def _field(form: Any, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    schema = _of_choices(schema)
    kind = schema.get("type")
    kept = _KEPT.get(kind) if isinstance(kind, str) else None
    flat = kind != "array" or _is_choice(schema.get("items"))
    if kept is None or not flat:
        raise DefinitionError(
            f"{getattr(form, '__name__', form)}.{name} is no field of a form: a text, a number, a bool, an enum, "
            f"or a list of an enum"
        )
    field = {key: value for key, value in schema.items() if key in kept}
    if field.get("format", "date") not in _FORMATS:
        del field["format"]
    if "items" in field:
        field["items"] = {key: value for key, value in field["items"].items() if key in ("type", "enum", "anyOf")}
    return field


def _of_choices(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with a `type`, which an enum of texts may leave out."""
    if "type" not in schema and all(isinstance(choice, str) for choice in schema.get("enum", [None])):
        return {"type": "string", **schema}
    return schema


def _is_choice(items: Any) -> bool:
    return isinstance(items, dict) and ("enum" in items or "anyOf" in items)
