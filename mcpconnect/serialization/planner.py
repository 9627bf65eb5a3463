"""From an annotation to its plan.

Rule: planning never fails halfway. What has no JSON form, or does not resolve, becomes an `OpaqueNode` with the
reason; `Serializer.plan` refuses a tree that holds one, dumping goes on by the run-time class. The order of decision
for a class: user's serializer, media hook, declared records, enum, scalar, container, foreign class, plain class.
"""

from __future__ import annotations

import threading
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args, get_origin

from .._typing import Unresolved, alias_value, class_of, is_type_alias, is_union, strip_annotated
from ..errors import DefinitionError
from .config import SerializerConfig
from .custom import Custom, CustomSerializer, nearest
from .enums import plan_enum, plan_literal
from .foreign import foreign_library
from .kinds import check_notes, plan_container, plan_scalar
from .member import Member
from .members import check_names, hidden_argument, make_member, nearest_rule_use, settings_for
from .notes import NO_NOTES, Notes, read_notes
from .plan import (
    AnyNode,
    CustomNode,
    ForeignNode,
    LazyNode,
    Node,
    NoteNode,
    OpaqueNode,
    RawNode,
    RecordNode,
    ScalarNode,
    UnionNode,
    bare,
)
from .records import Attribute, attributes_of, record_kind, why_not_loadable

MediaHook = Callable[[type], CustomSerializer | None]


class Planner:
    """Builds and keeps the plan of every annotation that one serializer meets. Safe to use from several threads."""

    def __init__(self, config: SerializerConfig, media: MediaHook | None = None) -> None:
        self.config = config
        self._media = media
        self._nodes: dict[Any, tuple[Any, Node]] = {}
        self._lock = threading.RLock()

    def node(self, annotation: Any) -> Node:
        """Return the plan of the annotation; the same node for the same annotation."""
        with self._lock:
            return self._node(annotation)

    def default_node(self, cls: type) -> Node:
        """Return the plan of the class as it is without its own custom serializer (those of its members hold)."""
        with self._lock:
            key = ("default", cls)
            if key not in self._nodes:
                self._nodes[key] = (cls, self._built_in(cls, cls, NO_NOTES, key))
            return self._nodes[key][1]

    def custom_for(self, cls: type) -> Custom | None:
        """Return the user's own serializer for the class, by class distance."""
        found = nearest(cls, self.config.serializers)
        return found if found is not None else nearest_rule_use(cls, self.config.rules)

    # -- one annotation -----------------------------------------------------------------------------------------------

    def _node(self, annotation: Any) -> Node:
        key = _key(annotation)
        if (known := self._nodes.get(key)) is not None:
            return known[1]
        inner, extras = strip_annotated(annotation)
        node = self._noted(annotation, inner, read_notes(extras)) if extras else self._form(inner, NO_NOTES)
        # The annotation is kept beside its node because the key holds the identity of its notes.
        return self._nodes.setdefault(key, (annotation, node))[1]

    def _noted(self, annotation: Any, inner: Any, notes: Notes) -> Node:
        try:
            node = self._form(inner, notes)
            check_notes(notes, node)
        except ValueError as error:
            return OpaqueNode(annotation, str(error))
        return NoteNode(node, notes)

    def _form(self, annotation: Any, notes: Notes) -> Node:
        """Plan a type without notes around it, obeying those notes that change its form."""
        if isinstance(annotation, Unresolved):
            return OpaqueNode(annotation, annotation.reason)
        if is_type_alias(annotation):
            return self._alias(annotation, notes)
        if is_union(annotation):
            return self._union(annotation, notes)
        if notes.use is not None:
            return CustomNode(class_of(annotation) or object, notes.use, annotation)
        if notes.raw:
            if annotation not in (bytes, str):
                raise ValueError(f"Raw stands beside bytes or str, not {type_name(annotation)}")
            return RawNode(annotation)
        return self._plain(annotation, notes)

    def _plain(self, annotation: Any, notes: Notes) -> Node:
        if annotation is Any or annotation is object:
            return AnyNode()
        if annotation is None or annotation is type(None):
            return ScalarNode("none", type(None))
        if get_origin(annotation) is Literal:
            return plan_literal(annotation, self._node)
        if type(annotation).__name__ == "TypeVar":
            return self._type_variable(annotation, notes)
        if annotation is typing.LiteralString:
            annotation = str
        origin = get_origin(annotation) or annotation
        if isinstance(origin, type):
            return self._class(annotation, origin, notes)
        return OpaqueNode(annotation, f"{type_name(annotation)} has no JSON form")

    def _union(self, annotation: Any, notes: Notes) -> Node:
        flat: list[Node] = []
        nullable = False
        for part in get_args(annotation):
            node = self._part(part, notes)
            inner = bare(node)
            if isinstance(inner, ScalarNode) and inner.kind == "none":
                nullable = True
            elif isinstance(inner, UnionNode) and not isinstance(node, (NoteNode, LazyNode)):
                nullable = nullable or inner.nullable
                flat.extend(inner.members)
            else:
                flat.append(node)
        raws = [node for node in flat if isinstance(node, RawNode)]
        if raws and len(raws) == len(flat):  # bytes | str: one text, in either class
            return UnionNode((raws[0],), nullable) if nullable else raws[0]
        return UnionNode(tuple(flat), nullable)

    def _part(self, annotation: Any, notes: Notes) -> Node:
        """Plan a member of a union; notes that change the form of a value hold for it too."""
        inner, extras = strip_annotated(annotation)
        if not notes.changes_form or extras or inner is type(None):
            return self._node(annotation)
        return self._form(inner, notes)

    def _alias(self, annotation: Any, notes: Notes) -> Node:
        if notes.changes_form:
            inner, extras = strip_annotated(alias_value(annotation))
            return NoteNode(self._form(inner, read_notes((*extras, *notes.metadata))), read_notes(extras))
        key = _key(annotation)
        if key in self._nodes:
            return self._nodes[key][1]
        lazy = LazyNode(type_name(annotation))
        self._nodes[key] = (annotation, lazy)
        try:
            lazy.target = self._node(alias_value(annotation))
        except NameError as error:
            lazy.target = OpaqueNode(annotation, str(error))
        return lazy

    def _type_variable(self, variable: Any, notes: Notes) -> Node:
        if variable.__bound__ is not None:
            return self._form(variable.__bound__, notes)
        if variable.__constraints__:
            return self._node(typing.Union[variable.__constraints__])  # noqa: UP007 - built from a tuple
        return AnyNode()

    def _class(self, annotation: Any, cls: type, notes: Notes) -> Node:
        custom = self.custom_for(cls)
        if custom is not None:
            return CustomNode(cls, custom, annotation, of_class=True)
        media = self._media(cls) if self._media is not None else None
        if media is not None:
            return CustomNode(cls, media, annotation)
        return self._built_in(annotation, cls, notes, _key(annotation))

    def _built_in(self, annotation: Any, cls: type, notes: Notes, key: Any) -> Node:
        kind = record_kind(cls)
        library = foreign_library(cls)
        if kind is not None and kind != "class" and library is None:
            return self._record(annotation, cls, key)
        node = (
            plan_enum(cls, settings_for(cls, self.config), notes)
            or plan_scalar(cls, self.config, notes)
            or plan_container(annotation, cls, self._node)
        )
        if node is not None:
            return node
        if library is not None:
            return ForeignNode(cls, library, annotation)
        if getattr(cls, "_is_protocol", False):  # what a value has need not be what is written of its class
            return OpaqueNode(annotation, f"{cls.__name__} is a protocol, which says nothing of the JSON form")
        if kind is not None:
            return self._record(annotation, cls, key)
        return OpaqueNode(annotation, f"{type_name(annotation)} has no JSON form")

    # -- records ------------------------------------------------------------------------------------------------------

    def _record(self, annotation: Any, cls: type, key: Any) -> Node:
        kind = record_kind(cls)
        assert kind is not None
        node = RecordNode(cls, kind, annotation)
        self._nodes[key] = (annotation, node)
        attributes = attributes_of(annotation, cls, kind)
        try:
            node.members = self._members(attributes, cls)
        except DefinitionError as error:
            self._nodes[key] = (annotation, OpaqueNode(annotation, str(error)))
            return self._nodes[key][1]
        if kind == "class" and not node.members:
            reason = f"{cls.__name__} has no JSON form: it has no public attributes"
            self._nodes[key] = (annotation, OpaqueNode(annotation, reason))
            return self._nodes[key][1]
        node.unloadable = why_not_loadable(cls, kind, attributes) or hidden_argument(attributes, node.loaded, cls)
        return node

    def _members(self, attributes: list[Attribute], cls: type) -> tuple[Member, ...]:
        settings = settings_for(cls, self.config)
        members: list[Member] = []
        for attribute in attributes:
            notes = read_notes(strip_annotated(attribute.annotation)[1])
            member = make_member(attribute, cls, notes, settings, self._node)
            if member is not None:
                members.append(member)
        if settings.sort_members:
            members.sort(key=lambda member: member.wire)
        check_names(members, f"{cls.__module__}.{cls.__qualname__}")
        return tuple(members)


def type_name(annotation: Any) -> str:
    """Return the annotation as a person would write it."""
    if get_origin(annotation) is Annotated:
        return type_name(annotation.__origin__)
    if get_args(annotation) and isinstance(get_origin(annotation), type):
        return str(annotation).replace("typing.", "")
    return str(getattr(annotation, "__name__", None) or annotation).replace("typing.", "")


def _key(annotation: Any) -> Any:
    """Return what identifies an annotation.

    Annotations themselves cannot key a dictionary: `int | str` equals `str | int` although the order counts, and notes
    may not be hashable.
    """
    if isinstance(annotation, (list, tuple)):
        return tuple(map(_key, annotation))
    origin = get_origin(annotation)
    if origin is Annotated:
        return (Annotated, _key(annotation.__origin__), tuple(map(id, annotation.__metadata__)))
    if origin is Literal:
        return (Literal, tuple((type(value), value) for value in get_args(annotation)))
    arguments = get_args(annotation)
    if arguments:
        return (origin, tuple(map(_key, arguments)))
    return annotation if isinstance(annotation, type) else ("id", id(annotation))
