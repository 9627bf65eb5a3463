"""The parameters of a function, treated like the members of a record.

Rule: what cannot be filled from a JSON object (`*args`, `**kwargs`, positional-only parameters, types without a JSON
form) is refused when the function is looked at, with the name of the function and of the parameter and with the mend.
Arguments that were not given are not passed, so the function's own defaults hold.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Literal

from .._typing import MISSING, Unresolved, resolve_hints, strip_annotated
from ..errors import DefinitionError
from .custom import CustomSerializer
from .loader import Extra, Loader
from .member import Member
from .members import check_names
from .naming import wire_name
from .notes import NO_NOTES, Notes, read_notes
from .plan import CustomNode, Node, NoteNode, OpaqueNode, RecordNode, walk
from .planner import Planner, type_name

Json = dict[str, Any]
PrintSchema = Callable[[Node, bool, Literal["defs", "inline"]], Json]

_KINDS: Final = {
    inspect.Parameter.VAR_POSITIONAL: "takes any number of values; give it a name and a type such as list[str]",
    inspect.Parameter.VAR_KEYWORD: "takes any names; give it one name and a type such as dict[str, str]",
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only, but arguments come by name; remove the / behind it",
}


class Parameters:
    """The parameters of one function: `members` in their order, loading of arguments, and the input schema."""

    def __init__(self, node: RecordNode, loader: Loader, print_schema: PrintSchema) -> None:
        self.members = node.members
        self._node = node
        self._loader = loader
        self._print_schema = print_schema

    def load(self, arguments: Mapping[str, Any], *, strict: bool = False, extra: Extra = "refuse") -> dict[str, Any]:
        """Return keyword arguments by Python name; those that were not given are left to the function's defaults.

        Raises:
            LoadError: with everything that is wrong.
        """
        loaded: dict[str, Any] = self._loader.load(self._node, dict(arguments), strict=strict, extra=extra)
        return loaded

    def json_schema(self, *, refs: Literal["defs", "inline"] = "defs", additional: bool = False) -> Json:
        """Return the input schema, an object at the root. `additional`: unknown arguments are ignored, not refused."""
        return self._print_schema(self._node, additional, refs)


def read_parameters(
    function: Callable[..., Any],
    planner: Planner,
    *,
    skip: Collection[str] = (),
    owner: type | None = None,
    descriptions: Mapping[str, str] | None = None,
) -> RecordNode:
    """Return the parameters of a function as the members of a record of kind `arguments`.

    Raises:
        DefinitionError: naming the function and the parameter, and how to mend it.
    """
    place = _place(function, owner)
    hints = resolve_hints(function, owner)
    members = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in skip:
            continue
        if parameter.kind in _KINDS:
            raise DefinitionError(f"{place}: the parameter {name!r} {_KINDS[parameter.kind]}")
        default = MISSING if parameter.default is parameter.empty else parameter.default
        member = _member(name, hints.get(name, Any), default, planner, (descriptions or {}).get(name))
        _refuse_unreadable(place, member)
        members.append(member)
    check_names(members, place)
    return RecordNode(dict, "arguments", None, tuple(members))


def _member(name: str, annotation: Any, default: Any, planner: Planner, text: str | None) -> Member:
    notes = read_notes(strip_annotated(annotation)[1]).described(text)
    config = planner.config
    style = config.case if config.argument_case is None else config.argument_case
    return Member(
        name=name,
        wire=notes.name or wire_name(name, style),
        annotation=annotation,
        node=_with_notes(planner.node(annotation), notes),
        default=notes.default if default is MISSING else default,
        notes=notes,
        restored=default is MISSING and notes.default is not MISSING,
        argument=name,
    )


def _with_notes(node: Node, notes: Notes) -> Node:
    if isinstance(node, OpaqueNode) or notes is NO_NOTES:
        return node
    return NoteNode(node.inner if isinstance(node, NoteNode) else node, notes)


def _refuse_unreadable(place: str, member: Member) -> None:
    where = f"{place}: the parameter {member.name!r} of type {type_name(member.annotation)}"
    for path, node in walk(member.node):
        reason = why_unreadable(node)
        if reason is None:
            continue
        unknown = isinstance(node, OpaqueNode) and isinstance(node.annotation, Unresolved)
        mend = "import it outside `if TYPE_CHECKING`" if unknown else _MEND
        inside = f" (at {path})" if path else ""
        raise DefinitionError(f"{where}{inside} cannot be read from JSON: {reason}; {mend}")


def why_unreadable(node: Node) -> str | None:
    """Return why values of this one node cannot be loaded, `None` if they can."""
    if isinstance(node, OpaqueNode):
        return node.reason
    if isinstance(node, RecordNode):
        return node.unloadable
    if isinstance(node, CustomNode) and isinstance(node.custom, CustomSerializer) and node.custom.load is None:
        return f"the serializer of {node.cls.__name__} only writes"
    return None


_MEND: Final = "use a type with a JSON form, or register a serializer for it"


def _place(function: Callable[..., Any], owner: type | None) -> str:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    if owner is not None:
        return f"{owner.__module__}.{owner.__qualname__}.{getattr(function, '__name__', name)}"
    return f"{getattr(function, '__module__', '?')}.{name}"
