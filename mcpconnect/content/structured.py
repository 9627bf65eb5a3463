"""Structured content: which tools have it, its schema, and how a value becomes it.

Rule: text, structured value and schema come from one annotation and one encoding. Wrapping (`{"result": …}`) is not
done here: the newest revision carries any JSON value bare, and older ones are lowered by the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
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
Refs: TypeAlias = Literal["defs", "inline"]
Write: TypeAlias = Callable[[Any], bytes]


class Structure:
    """The structured content of one tool: its output schema, and the encoder of its values.

    A derived schema is kept by the writer itself, which checks classes as it goes; a user's own needs a `check`.
    """

    def __init__(self, serializer: Serializer, annotation: Any, refs: Refs, check: SchemaCheck | None = None) -> None:
        self._serializer = serializer
        self._annotation = annotation
        self._refs = refs
        self._check = check

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The output schema in the newest shape, made when it is first asked for."""
        if self._check is not None:
            return self._check.schema
        return self._serializer.json_schema(self._annotation, view="output", refs=self._refs)

    @cached_property
    def _write(self) -> Write:
        if self._check is not None:
            return lenient_writer(self._serializer, self._annotation)
        return self._serializer.writer(self._annotation)

    def encode(self, value: Any) -> bytes:
        """Return the value as JSON, in the form that the text shows.

        Raises SerializationError if it does not match the tool's output schema.
        """
        try:
            data = self._write(value)
        except SerializationError as error:
            raise SerializationError(f"output mismatch: {error.reason}", error.path) from None
        if self._check is not None and (problems := self._check.problems(msgspec.json.decode(data))):
            path, reason = problems[0]
            raise SerializationError(f"output mismatch: {reason}", path)
        return data

    def content(self, data: bytes) -> msgspec.Raw:
        """Return encoded JSON as structured content; always on one line, because it stands inside a message."""
        return msgspec.Raw(data) if self._serializer.config.indent is None else _one_line(data)


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


def well_formed(given: msgspec.Raw) -> msgspec.Raw:
    """Return JSON that the user has encoded, on one line, which is all that a message may have.

    Raises:
        SerializationError: it is no JSON.
    """
    try:
        return _one_line(bytes(given))
    except msgspec.MsgspecError as error:
        raise SerializationError(f"the structured content is no JSON: {error}") from None


def _one_line(data: bytes) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.format(data, indent=-1))


def plan_structure(
    declared: Declared,
    serializer: Serializer,
    *,
    wish: Wish = None,
    policy: Policy = "records",
    output_schema: Mapping[str, Any] | None = None,
    refs: Refs = "defs",
) -> Structure | None:
    """Decide whether a tool has structured content, and prepare it.

    `wish` is the tool's own `structured=`, `policy` the server's. Raises DefinitionError if it is wished for and the
    annotation has no JSON form, or if the schema given does not compile.
    """
    if output_schema is not None:
        if wish is False:
            raise DefinitionError("output_schema= and structured=False contradict each other")
        return Structure(serializer, declared.annotation, refs, SchemaCheck(output_schema))
    if wish is False or (wish is None and not _falls_under(policy, declared)):
        return None
    structure = Structure(serializer, declared.annotation, refs)
    try:
        node = _plan(declared, serializer)
    except DefinitionError as error:
        if wish is None:
            return None
        raise DefinitionError(f"structured={wish!r} needs a return annotation with a JSON form: {error}") from None
    return structure if wish is not None or policy == "all" or _is_record_like(node, serializer) else None


def _falls_under(policy: Policy, declared: Declared) -> bool:
    """Tell whether a policy may give structured content to an annotation, as far as its shape tells."""
    if policy == "records":
        return declared.shape is Shape.DATA
    return policy == "all" and declared.written and declared.shape is not Shape.NOTHING


def _plan(declared: Declared, serializer: Serializer) -> Node:
    """Return the plan of an annotation. Raises DefinitionError if it has no JSON form."""
    if declared.formless:
        raise DefinitionError(declared.formless)
    plan = serializer.plan(declared.annotation)
    for path, node in walk(plan):
        if isinstance(node, CustomNode) and is_media_serializer(node.custom):
            raise DefinitionError(f"{path or 'it'} is a medium, which cannot stand inside data")
        if isinstance(node, ForeignNode):
            _check_describable(node, serializer)
    return plan


def _check_describable(node: ForeignNode, serializer: Serializer) -> None:
    try:
        serializer.json_schema(node.annotation or node.cls, view="output")
    except Exception as error:  # another library's, which may raise anything for a field that it cannot describe
        raise DefinitionError(f"{node.cls.__name__} cannot be described: {error}") from error


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
