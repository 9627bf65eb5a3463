"""Values on their way in that are read as a whole: enums, literals, raw text, classes with their own loading.

Rule: as for scalars, a reader returns the value or raises `Mismatch`; the text of a user's `ValueError` or `TypeError`
is the reason. What a library says about its own class is told with paths, without the library's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from ..errors import LoadError
from .custom import CustomSerializer
from .customs import Default, bound_field, default_node
from .foreign import load_foreign
from .plan import CustomNode, EnumNode, ForeignNode, LiteralNode, Node, RawNode, ScalarNode, bare
from .readers import Reader, number_from_text, scalar_reader
from .text import decode, encode
from .words import Mismatch, Problems, got, mismatch

if TYPE_CHECKING:
    from .planner import Planner

LoadNode = Callable[[Node, Any, bool], Any]
"""Loads data into a node, strictly or not; raises `LoadError`."""


def value_reader(node: Node, planner: Planner, load: LoadNode, *, strict: bool) -> Reader | None:
    """Return the reader of a node that is read as a whole, `None` for lists, maps, records and unions."""
    match bare(node):
        case ScalarNode() as scalar:
            return scalar_reader(scalar, strict=strict, big_text=planner.config.big_ints == "string")
        case EnumNode(mask=int()) as flag:
            return _flag(flag, strict=strict)
        case EnumNode() as enum:
            members = [enum.cls.__members__[name] for name in enum.wires]
            return _choice(enum, enum.wires.values(), members, strict=strict)
        case LiteralNode() as literal:
            return _choice(literal, literal.wires, literal.values, strict=strict)
        case RawNode() as raw:
            return lambda value: encode(value) if raw.cls is bytes else encode(value).decode()
        case CustomNode() as custom:
            return _custom(custom, planner, load, strict=strict)
        case ForeignNode() as foreign:
            return lambda value: load_foreign(foreign, value, planner.config, strict=strict)
    return None


def _choice(node: Node, wires: Iterable[Any], values: Iterable[Any], *, strict: bool) -> Reader:
    known = {_json_key(wire): value for wire, value in zip(wires, values, strict=True)}

    def read(value: Any) -> Any:
        key = _json_key(value)
        if key in known:
            return known[key]
        if not strict and isinstance(value, str):
            key = _json_key(number_from_text(value))
            if key in known:
                return known[key]
        raise mismatch(node, value)

    return read


def _json_key(value: Any) -> Any:
    """Return a key that is equal for equal JSON scalars: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, (list, dict)):
        return ("container",)
    return (float if type(value) in (int, float) else type(value), value)


def _flag(node: EnumNode, *, strict: bool) -> Reader:
    integer = scalar_reader(ScalarNode("int", int), strict=strict)
    mask = node.mask or 0

    def read(value: Any) -> Any:
        try:
            number = integer(value)
        except Mismatch:
            raise mismatch(node, value) from None
        if number < 0 or number & ~mask:
            raise mismatch(node, value)
        return node.cls(number)

    return read


def _custom(node: CustomNode, planner: Planner, load: LoadNode, *, strict: bool) -> Reader:
    call = _custom_call(node, planner, load, strict=strict)

    def read(value: Any) -> Any:
        try:
            return call(value)
        except Mismatch:
            raise
        except LoadError as error:
            raise Mismatch(str(error), Problems(error.problems)) from None
        except Exception as error:
            found = _mismatch_of(node, value, error)
            if found is None:
                raise
            raise found from None

    return read


def _mismatch_of(node: CustomNode, value: Any, error: Exception) -> Mismatch | None:
    """Return what the failure of a user's `load` says of the value, `None` if it is a fault of the program."""
    if isinstance(error, InvalidOperation):  # from `Decimal("x")`; its own text would be of no use
        return Mismatch(f"is no valid {node.cls.__name__}")
    if isinstance(error, (ValueError, TypeError)):
        return Mismatch(str(error) or f"is no valid {node.cls.__name__}")
    schema = node.custom.json_schema if isinstance(node.custom, CustomSerializer) else None
    declared = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(declared, str) and declared in _JSON_TYPES:
        words, classes = _JSON_TYPES[declared]
        if type(value) not in classes:  # the serializer relied on its schema
            return Mismatch(f"expected {words}, got {got(value)}")
    messages = getattr(error, "messages", None)
    return None if messages is None else Mismatch("is not valid", messages)


_JSON_TYPES: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "string": ("text", (str,)),
    "integer": ("an integer", (int, float)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "array": ("a list", (list,)),
    "object": ("an object", (dict,)),
    "null": ("null", (type(None),)),
}


def _custom_call(node: CustomNode, planner: Planner, load: LoadNode, *, strict: bool) -> Reader:
    custom = node.custom
    if not isinstance(custom, CustomSerializer):
        return bound_field(custom).load
    function = custom.load
    assert function is not None  # checked before anything is loaded: `parameters.why_unreadable`
    if not custom.load_takes_context:
        return function
    target = node.cls
    context = Default(planner.config, lambda data: load(default_node(node, planner, target), data, strict))
    return lambda value: function(value, context)


def key_reader(node: Node, read: Reader) -> Reader:
    """Return the reader of an object's key: the text itself where the node takes it, else the scalar that it spells."""
    inner = bare(node)
    if isinstance(inner, ScalarNode) and inner.cls is str:
        return _text_key

    any_number = isinstance(inner, ScalarNode) and inner.kind == "float"

    def read_key(key: Any) -> Any:
        text = _text_key(key)
        scalar = _spelled(text, any_number=any_number)
        for form in (text, scalar) if scalar is not text else (text,):
            try:
                return read(form)
            except Mismatch as error:
                refusal = error
            except Exception:  # a compiled loader says no in its own way
                refusal = mismatch(node, text)
        raise refusal

    return read_key


def _text_key(key: Any) -> str:
    if type(key) is not str:
        raise Mismatch(f"a key is text, got {key!r}")
    return key


def _spelled(text: str, *, any_number: bool) -> Any:
    """Return the scalar that a key spells in the one way that we write it, else the text."""
    if any_number:
        return number_from_text(text)
    try:
        scalar = decode(text)
    except ValueError:
        return text
    plain = scalar is None or type(scalar) in (bool, int)
    return scalar if plain and encode(scalar).decode() == text else text
