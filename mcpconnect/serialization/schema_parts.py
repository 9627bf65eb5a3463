"""Small operations on JSON Schemas: adding words, requiring a name, renaming references.

Rule: a schema that is passed in is never changed, so that parts may be shared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .notes import Notes
from .plan import MapNode, Node, RecordNode, bare
from .planner import type_name

Json = dict[str, Any]


def constraint_words(notes: Notes, kinds: set[str]) -> list[tuple[str, Any]]:
    """Return the words of all constraints for values of these kinds."""
    return [
        pair for constraint in notes.constraints for kind in sorted(kinds) for pair in constraint.keywords(kind).items()
    ]


def with_words(schema: Json, words: list[tuple[str, Any]]) -> Json:
    """Return the schema with more words; one that contradicts a word already there goes into `allOf`."""
    schema = dict(schema)
    for word, value in words:
        if word not in schema:
            schema[word] = value
        elif schema[word] != value:
            schema["allOf"] = [*schema.get("allOf", []), {word: value}]
    return schema


def with_required(schema: Json, name: str) -> Json:
    """Return the schema of an object with one more required name."""
    required = schema.get("required", [])
    return schema if name in required else {**schema, "required": [*required, name]}


def adopted(definitions: Json, schema: Json) -> Json:
    """Return a schema made elsewhere without its `$defs`, which join `definitions` under names that are free there."""
    own = schema.get("$defs")
    if not own:
        return schema
    renamed = {}
    for name, definition in own.items():
        free, i = name, 2
        while free in definitions and definitions[free] != definition:
            free, i = f"{name}_{i}", i + 1
        renamed[f"#/$defs/{name}"] = f"#/$defs/{free}"
        definitions[free] = definition
    for reference in renamed.values():
        free = reference.removeprefix("#/$defs/")
        definitions[free] = with_refs(definitions[free], renamed)
    result: Json = with_refs({word: value for word, value in schema.items() if word != "$defs"}, renamed)
    return result


def with_refs(schema: Any, renamed: Mapping[str, str]) -> Any:
    """Return the schema with references replaced."""
    if isinstance(schema, dict):
        return {
            key: renamed.get(part, part) if key == "$ref" and isinstance(part, str) else with_refs(part, renamed)
            for key, part in schema.items()
        }
    return [with_refs(part, renamed) for part in schema] if isinstance(schema, list) else schema


def is_object(node: Node) -> bool:
    """Whether all values of the node are objects."""
    return isinstance(bare(node), (RecordNode, MapNode))


def short_name(annotation: Any) -> str:
    """Return the name of a type without modules, for a definition."""
    text = type_name(annotation) if isinstance(annotation, type) else str(annotation)
    return re.sub(r"[\w.<>]+\.", "", text)


def own_docstring(cls: type) -> str | None:
    """Return the first paragraph of the class's docstring, unless a library wrote it."""
    text = vars(cls).get("__doc__")
    if not isinstance(text, str) or text.startswith(f"{cls.__name__}(") or cls in (dict, object):
        return None
    return " ".join(text.strip().split("\n\n")[0].split()) or None
