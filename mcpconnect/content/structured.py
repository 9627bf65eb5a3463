"""Structured content: which tools have it, its schema, and how a value becomes it.

Rule: text, structured value and schema come from one annotation and one encoding. Wrapping (`{"result": …}`) is not
done here: the newest revision carries any JSON value bare, and older ones are lowered by the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from ..errors import DefinitionError, SerializationError
from ..serialization.plan import (
    AnyNode,
    CustomNode,
    EnumNode,
    ForeignNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    OpaqueNode,
    RecordNode,
    ScalarNode,
    UnionNode,
    bare,
    walk,
)
from .declared import Declared, Shape
from .media import is_media_serializer
from .schema_check import SchemaCheck

if TYPE_CHECKING:
    from ..serialization import Serializer

Wish: TypeAlias = Literal["only"] | bool | None
Policy: TypeAlias = Literal["records", "all", "none"]
Write: TypeAlias = Callable[[Any], bytes]


class Structure:
    """The structured content of one tool: its output schema, and the encoder of its values.

    A derived schema is kept by `write` itself, which checks classes as it goes; a user's own needs a `check`.
    """

    def __init__(self, schema: dict[str, Any], write: Write, check: SchemaCheck | None, *, indented: bool) -> None:
        self.schema = schema
        self._write = write
        self._check = check
        self._indented = indented

    def encode(self, value: Any) -> bytes:
        """Return the value as JSON, in the form that the text shows.

        Raises SerializationError if it does not match the tool's output schema.
        """
        try:
            data = self._write(value)
        except SerializationError as error:
            raise SerializationError(f"output mismatch: {error.reason}", error.path) from error
        if self._check is not None and (problems := self._check.problems(msgspec.json.decode(data))):
            path, reason = problems[0]
            raise SerializationError(f"output mismatch: {reason}", path)
        return data

    def content(self, data: bytes) -> msgspec.Raw:
        """Return encoded JSON as structured content; always on one line, because it stands inside a message."""
        return _one_line(data) if self._indented else msgspec.Raw(data)


def encoded(serializer: Serializer, value: Any) -> msgspec.Raw:
    """Return any value as structured content that no schema describes."""
    return _one_line(serializer.dumps(value))


def lenient_writer(serializer: Serializer, annotation: Any) -> Write:
    """Return a writer for a type that no output schema promises: a value of another class is written by its own."""
    by_class = serializer.writer(Any)
    if annotation is Any:
        return by_class
    as_declared = serializer.writer(annotation)

    def write(value: Any) -> bytes:
        try:
            return as_declared(value)
        except SerializationError:
            return by_class(value)

    return write


def _one_line(data: bytes) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.format(data, indent=-1))


def plan_structure(
    declared: Declared,
    serializer: Serializer,
    *,
    wish: Wish = None,
    policy: Policy = "records",
    output_schema: Mapping[str, Any] | None = None,
    refs: Literal["defs", "inline"] = "defs",
) -> Structure | None:
    """Decide whether a tool has structured content, and prepare it.

    `wish` is the tool's own `structured=`, `policy` the server's. Raises DefinitionError if it is wished for and the
    annotation has no JSON form, or if the schema given does not compile.
    """
    indented = serializer.config.indent is not None
    if output_schema is not None:
        if wish is False:
            raise DefinitionError("output_schema= and structured=False contradict each other")
        check = SchemaCheck(output_schema)
        return Structure(check.schema, lenient_writer(serializer, declared.annotation), check, indented=indented)
    wished = wish is True or wish == "only"
    if not wished and (wish is False or not _falls_under(policy, declared)):
        return None
    if reason := _formless(declared, serializer):
        if wished:
            raise DefinitionError(f"structured={wish!r} needs a return annotation with a JSON form: {reason}")
        return None
    if not wished and policy == "records" and not _is_record_like(serializer.plan(declared.annotation), serializer):
        return None
    schema = serializer.json_schema(declared.annotation, view="output", refs=refs)
    return Structure(schema, serializer.writer(declared.annotation), None, indented=indented)


def _falls_under(policy: Policy, declared: Declared) -> bool:
    return policy != "none" and declared.written and declared.shape is not Shape.NOTHING


def _formless(declared: Declared, serializer: Serializer) -> str:
    """Return why a return annotation has no JSON form; empty if it has one."""
    if declared.formless:
        return declared.formless
    try:
        for path, node in walk(serializer.plan(declared.annotation)):
            if isinstance(node, OpaqueNode):
                return node.reason
            if isinstance(node, CustomNode) and is_media_serializer(node.custom):
                return f"{path or 'the result'} is a medium, which cannot stand inside data"
        serializer.json_schema(declared.annotation, view="output")
    except DefinitionError as error:
        return str(error)
    return ""


def _is_record_like(node: Node, serializer: Serializer) -> bool:
    """Tell whether the values are records or free-keyed objects, lists of these, or unions of these with scalars."""
    match bare(node):
        case RecordNode():
            return True
        case MapNode(key=key):
            return not isinstance(bare(key), AnyNode)
        case ListNode(item=item):
            return _is_record_like(item, serializer)
        case UnionNode(members=members):
            record_like = [_is_record_like(member, serializer) for member in members]
            return any(record_like) and all(map(_or_scalar, members, record_like))
        case CustomNode() | ForeignNode() as own:
            schema = serializer.json_schema(own.annotation or own.cls, view="output")
            return schema.get("type") == "object" or "$ref" in schema
    return False


def _or_scalar(member: Node, record_like: bool) -> bool:
    return record_like or isinstance(bare(member), ScalarNode | EnumNode | LiteralNode)
