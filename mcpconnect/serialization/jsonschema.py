"""JSON Schema 2020-12, printed from the plan.

Rule: one function per node kind, and two views. The input view says exactly what strict loading takes: validators,
required members, no unknown names. The output view promises what dumping checks (classes, choices, formats) and leaves
objects open. A record used once stands where it is used; others, and recursive ones, are in `$defs`, but the root is
always spelled out, so that it has a `type`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from .config import Include, SerializerConfig
from .custom import CustomSerializer, View
from .foreign_schema import foreign_schema
from .kinds import value_kind
from .marshmallow_schema import field_schema
from .member import Member
from .plan import (
    CustomNode,
    EnumNode,
    ForeignNode,
    LazyNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    NoteNode,
    RecordNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    bare,
    children,
    unwrapped_record,
)
from .scalar_schema import choice_schema, key_schema, scalar_schema
from .schema_parts import (
    adopted,
    constraint_words,
    is_object,
    own_docstring,
    short_name,
    with_required,
    with_words,
)
from .unions import find_tag

Json = dict[str, Any]
Refs = Literal["defs", "inline"]
DumpNode = Callable[[Any, Node], Any]


class SchemaPrinter:
    """Prints one document. `dump` gives the JSON form of defaults and examples."""

    def __init__(
        self, config: SerializerConfig, view: View, dump: DumpNode, *, refs: Refs = "defs", additional: bool = False
    ) -> None:
        self._config = config
        self._view = view
        self._dump = dump
        self._inline = refs == "inline"
        self._open_objects = additional or view == "output"
        self._uses: dict[Node, int] = {}
        self._recursive: set[Node] = set()
        self._names: dict[Node, str] = {}
        self._definitions: Json = {}
        self._printing: list[Node] = []

    def document(self, node: Node) -> Json:
        """Return the schema of the node as a document of its own."""
        self._count(node, ())
        schema = self._spelled_out(node)
        root = bare(node)
        if isinstance(root, UnionNode) and not root.nullable and all(map(is_object, root.members)):
            schema = {"type": "object", **schema}
        return {**schema, "$defs": self._definitions} if self._definitions else schema

    def _count(self, node: Node, above: tuple[Node, ...]) -> None:
        """Count how often each record is used, and find those that contain themselves."""
        if node in above:
            self._recursive.add(node)
            return
        if isinstance(node, (RecordNode, LazyNode)):
            self._uses[node] = self._uses.get(node, 0) + 1
            if self._uses[node] > 1:
                return
            above = (*above, node)
        for below in self._below(node):
            self._count(below, above)

    def _below(self, node: Node) -> list[Node]:
        if isinstance(node, RecordNode):
            return [member.node for member in self._members(node)]
        return [below for _, below in children(node)]

    def _members(self, node: RecordNode) -> tuple[Member, ...]:
        return node.dumped if self._view == "output" else node.loaded

    # -- any node -----------------------------------------------------------------------------------------------------

    def _print(self, node: Node) -> Json:
        if isinstance(node, NoteNode):
            return self._noted(node, self._print(node.inner))
        if isinstance(node, LazyNode):
            return self._shared(node) if node in self._recursive or node.target is None else self._print(node.target)
        if isinstance(node, RecordNode) and (node in self._recursive or self._uses.get(node, 0) > 1):
            return self._shared(node)
        return self._body(node)

    def _spelled_out(self, node: Node) -> Json:
        """Print a node in place, even if it is one that would be referred to."""
        if isinstance(node, NoteNode):
            return self._noted(node, self._spelled_out(node.inner))
        if isinstance(node, LazyNode) and node.target is not None:
            return self._spelled_out(node.target)
        return self._body(node)

    def _shared(self, node: Node) -> Json:
        """Return a reference to a definition, or in inline mode the schema itself, cut where it would not end."""
        if self._inline:
            if node in self._printing:
                return {"type": "object"} if isinstance(node, RecordNode) else {}
            self._printing.append(node)
            schema = self._spelled_out(node)
            self._printing.pop()
            return schema
        if node not in self._names:
            self._names[node] = name = self._free_name(node)
            self._definitions[name] = {}
            self._definitions[name] = self._spelled_out(node)
        return {"$ref": f"#/$defs/{self._names[node]}"}

    def _free_name(self, node: Node) -> str:
        annotation = getattr(node, "annotation", None) or getattr(node, "name", "Type")
        text = annotation if isinstance(annotation, str) else short_name(annotation)
        name = re.sub(r"\W+", "_", text).strip("_") or "Type"
        taken = self._definitions
        return next(n for n in (name, *(f"{name}_{i}" for i in range(2, len(taken) + 3))) if n not in taken)

    def _body(self, node: Node) -> Json:
        match node:
            case ScalarNode():
                return scalar_schema(node, self._config, self._view)
            case EnumNode() | LiteralNode():
                return choice_schema(node)
            case ListNode():
                items = {"type": "array", "items": self._print(node.item)}
                return {**items, "uniqueItems": True} if node.unique else items
            case TupleNode(items=items):
                count = len(items)
                prefix = {"prefixItems": [self._print(item) for item in items]} if items else {}
                return {"type": "array", **prefix, "minItems": count, "maxItems": count}
            case MapNode():
                keys = key_schema(node.key, self._config)
                schema = {"type": "object", "additionalProperties": self._print(node.value)}
                return {**schema, "propertyNames": keys} if keys else schema
            case UnionNode():
                return self._union(node)
            case RecordNode():
                return self._object(node)
            case CustomNode():
                return self._custom(node)
            case ForeignNode():
                return adopted(self._definitions, foreign_schema(node, self._config, self._view))
            case _:
                return {}

    def _union(self, node: UnionNode) -> Json:
        parts = [self._print(member) for member in node.members]
        tag = find_tag(node.members) if self._view == "input" else None
        if tag is not None:
            wire, chosen = tag
            records = set(map(id, chosen.values()))
            parts = [
                with_required(part, wire) if id(bare(member)) in records else part
                for part, member in zip(parts, node.members, strict=True)
            ]
        if node.nullable:
            parts.append({"type": "null"})
        return parts[0] if len(parts) == 1 else {"anyOf": parts}

    def _custom(self, node: CustomNode) -> Json:
        custom = node.custom
        if not isinstance(custom, CustomSerializer):
            return adopted(self._definitions, field_schema(custom, self._view))
        given = custom.json_schema(self._view) if callable(custom.json_schema) else custom.json_schema
        return adopted(self._definitions, dict(given or {}))

    # -- records ------------------------------------------------------------------------------------------------------

    def _object(self, node: RecordNode) -> Json:
        properties: Json = {}
        required: list[str] = []
        for member in self._members(node):
            if member.notes.unwrap:
                self._unwrap(member, properties, required)
                continue
            properties[member.wire] = self._property(node, member)
            if self._is_required(node, member):
                required.append(member.wire)
        schema: Json = {"type": "object", "properties": properties}
        if text := own_docstring(node.cls):
            schema = {"type": "object", "description": text, "properties": properties}
        if required:
            schema["required"] = required
        if not self._open_objects:
            schema["additionalProperties"] = False
        return schema

    def _unwrap(self, member: Member, properties: Json, required: list[str]) -> None:
        record = unwrapped_record(member)
        assert record is not None
        optional = isinstance(bare(member.node), UnionNode) or (self._view == "input" and not member.required)
        below = self._object(record)
        properties.update(below["properties"])
        required.extend(() if optional else below.get("required", ()))

    def _is_required(self, node: RecordNode, member: Member) -> bool:
        if self._view == "input":
            return member.required
        sometimes_absent = node.kind == "typeddict" and member.optional
        # A custom serializer may return OMIT.
        return (
            member.include is Include.ALWAYS and not sometimes_absent and not isinstance(bare(member.node), CustomNode)
        )

    def _property(self, node: RecordNode, member: Member) -> Json:
        plain = node.kind == "arguments" and member.default is None
        schema = self._print_plain(member.node) if plain else self._print(member.node)
        if self._view == "output":
            return schema
        if member.argument is None and not member.settable:
            schema = {**schema, "readOnly": True}
        if plain or member.required or member.factory is not None or (member.optional and member.default is None):
            return schema
        try:
            return {**schema, "default": self._dump(member.default, member.node)}
        except Exception:  # a default without JSON form is simply not shown
            return schema

    def _print_plain(self, node: Node) -> Json:
        """Print a parameter that defaults to `None` as its plain type, which every host can fill in."""
        if isinstance(node, NoteNode):
            return self._noted(node, self._print_plain(node.inner))
        if isinstance(node, UnionNode) and node.nullable:
            return self._union(UnionNode(node.members, nullable=False))
        return self._print(node)

    # -- notes --------------------------------------------------------------------------------------------------------

    def _noted(self, node: Node, schema: Json) -> Json:
        if not isinstance(node, NoteNode):
            return schema
        notes = node.notes
        if self._view == "input":
            schema = self._constrained(node, schema)
        words: Json = {}
        if notes.title is not None:
            words["title"] = notes.title
        if notes.description is not None:
            words["description"] = notes.description
        if notes.examples:
            words["examples"] = [self._example(example, node.inner) for example in notes.examples]
        if notes.deprecated:
            words["deprecated"] = True
        return {**schema, **words}

    def _example(self, example: Any, node: Node) -> Any:
        try:
            return self._dump(example, node)
        except Exception:  # given in its JSON form
            return example

    def _constrained(self, node: NoteNode, schema: Json) -> Json:
        if not node.notes.constraints:
            return schema
        inner = bare(node.inner)
        parts = inner.members if isinstance(inner, UnionNode) else (inner,)
        words = constraint_words(node.notes, {value_kind(part) for part in parts})
        if "anyOf" in schema and len(parts) == 1:  # what may be null: the words belong to the other part
            first, *rest = schema["anyOf"]
            return {**schema, "anyOf": [with_words(first, words), *rest]}
        return with_words(schema, words)
