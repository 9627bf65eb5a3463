"""Writers of values that are neither plain scalars nor containers: enums, literals, ready JSON text.

Rule: as everywhere, `msgspec.Raw` passes through untouched; a wrong value is refused with what was expected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..errors import SerializationError
from .plan import EnumNode, LiteralNode
from .scalars import wrong_class
from .text import decode, encode, without_surrogates

Writer = Callable[[Any], Any]


def refuse(reason: str) -> Writer:
    """Return a writer that refuses every value."""

    def write(_: Any) -> Any:
        raise SerializationError(reason)

    return write


def raw_or_refused(value: Any, expected: str) -> Any:
    """Return JSON text made earlier; refuse anything else."""
    if type(value) is msgspec.Raw:
        return value
    raise wrong_class(expected, value)


def enum_writer(node: EnumNode) -> Writer:
    """Return the writer of an enum's members."""

    def write(value: Any) -> Any:
        if not isinstance(value, node.cls):
            return raw_or_refused(value, node.cls.__name__)
        if node.mask is None:
            return node.wires[value.name]
        number = int(value.value)
        if number & ~node.mask:
            raise SerializationError(f"{number} is no combination of the members of {node.cls.__name__}")
        return number

    return write


def literal_writer(node: LiteralNode) -> Writer:
    """Return the writer of the values of a `Literal`."""
    wires = {(type(value), value): wire for value, wire in zip(node.values, node.wires, strict=True)}
    listed = ", ".join(map(repr, node.values))

    def write(value: Any) -> Any:
        if type(value) is msgspec.Raw:
            return value
        try:
            return wires[type(value), value]
        except (KeyError, TypeError):
            raise SerializationError(f"expected one of {listed}, got {value!r}") from None

    return write


def raw_writer(*, as_value: bool) -> Writer:
    """Return the writer of ready JSON text; `as_value` for `dump`, which has to parse it."""

    def write(value: Any) -> Any:
        if value is None or type(value) is msgspec.Raw:
            return value
        if not isinstance(value, (str, bytes, bytearray, memoryview)):
            raise wrong_class("JSON text", value)
        text = without_surrogates(value).encode() if isinstance(value, str) else bytes(value)
        try:
            if as_value:
                return decode(text)
            msgspec.json.decode(text, type=msgspec.Raw)  # reads over the text without building anything
        except msgspec.DecodeError:
            raise SerializationError("it is declared as ready JSON text, but is none") from None
        # A line feed between tokens would end the message on a line-based transport.
        return msgspec.Raw(encode(decode(text)) if b"\n" in text or b"\r" in text else text)

    return write
