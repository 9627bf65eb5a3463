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
from ..serialization.text import encode

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
        properties = form.get("properties")
        if form.get("type") != "object" or not isinstance(properties, Mapping):
            raise DefinitionError("a form's JSON Schema is that of an object with flat properties")
        for name, inner in properties.items():
            _field("the form", name, inner)
        return dict(form)
    schema = serializer.json_schema(form, view="input", refs="inline")
    where = getattr(form, "__name__", str(form))
    members = schema.get("properties", {}).items()
    properties = {name: _field(where, name, _as_texts(_given(inner))) for name, inner in members}
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def check_content(content: dict[str, Any], form: Any, serializer: Serializer) -> Any:
    """Return the filled-in form: an object of the dataclass, or the mapping where a schema was given.

    Raises:
        LoadError: it does not fit; every reason is named.
    """
    if isinstance(form, Mapping):
        if problems := SchemaCheck(form).problems(content):
            raise LoadError(problems)
        return content
    fields = serializer.json_schema(form, view="input", refs="inline").get("properties", {})
    chosen = {name: _chosen(fields.get(name, {}), value) for name, value in content.items()}
    return serializer.load(form, chosen, strict=False)


def _field(where: str, name: str, schema: Any) -> dict[str, Any]:
    """Return what a client is shown of a field."""
    refused = DefinitionError(
        f"{where}.{name} is no field of a form: a text, a number, a bool, some choices (an enum or a Literal), "
        f"or a list of choices; one that may stay empty has the default None"
    )
    if not isinstance(schema, Mapping):
        raise refused
    kind = schema.get("type")
    kept = _KEPT.get(kind) if isinstance(kind, str) else None
    if kept is None or (kind == "array" and not _is_choice(schema.get("items"))):
        raise refused
    field = {key: value for key, value in schema.items() if key in kept}
    if field.get("format", "date") not in _FORMATS:
        del field["format"]
    if "items" in field:
        field["items"] = {key: value for key, value in field["items"].items() if key in ("type", "enum", "anyOf")}
    return field


def _given(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a field that has the default None as that of what it is when it is filled in."""
    others = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if len(others) != 1 or schema.get("default", 0) is not None:
        return dict(schema)
    return {**{key: value for key, value in schema.items() if key not in ("anyOf", "default")}, **others[0]}


def _as_texts(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a choice as one between texts, the only one that forms have; `_chosen` turns the text back."""
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        default = {"default": [_text(each) for each in schema["default"]]} if "default" in schema else {}
        return {**schema, "items": _as_texts(schema["items"]), **default}
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if schema.get("type") == "boolean" or not choices or any(type(each) not in (str, int, float) for each in choices):
        return schema
    default = {"default": _text(schema["default"])} if "default" in schema else {}
    return {**schema, "type": "string", "enum": [_text(each) for each in choices], **default}


def _chosen(schema: dict[str, Any], value: Any) -> Any:
    """Return what a text stands for in a choice between numbers."""
    schema = _given(schema)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_chosen(schema["items"], each) for each in value]
    choices = schema.get("enum", [schema["const"]] if "const" in schema else ())
    return next((each for each in choices if not isinstance(each, str) and _text(each) == value), value)


def _text(choice: Any) -> Any:
    return choice if isinstance(choice, str) else encode(choice).decode()


def _is_choice(items: Any) -> bool:
    return isinstance(items, dict) and ("enum" in items or "anyOf" in items) and items.get("type", "string") == "string"
