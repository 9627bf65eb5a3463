"""Content types: how a value is presented when no row of the table gives it a block.

A `ContentType` is immutable and shared by all calls; everything that one call gathers lives in the `ContentFormatter`
that `formatter(serializer)` makes for it. That is why any number of threads may use one content type at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from .blocks import Block

if TYPE_CHECKING:
    from ..serialization import Serializer


class ContentFormatter(ABC):
    """Carries one call: `begin()`, `format(value)`, `finish()`, each once and in this order.

    `annotation` is what the tool declares to return (`Any` if nothing). Hand it to `serializer.dump(value, annotation)`
    so that the formats noted beside the type are obeyed.
    """

    annotation: Any = Any

    def begin(self) -> None:  # noqa: B027 - most formatters have nothing to begin
        """Get ready for the value."""

    @abstractmethod
    def format(self, value: Any) -> None:
        """Take in the value. Raises SerializationError if it cannot be presented in this way."""

    @abstractmethod
    def finish(self) -> Block:
        """Return the block."""


class ContentType(ABC):
    """One way of presenting values. A subclass holds only its settings, and never changes them.

    A content type for texts leaves `str`, `None`, JSON scalars and media to the conversion table, also as a tool's own.
    One that says `takes_everything` is given all of these too, and lists item by item.
    """

    takes_everything: ClassVar[bool] = False

    def check(self) -> None:  # noqa: B027 - most content types need nothing
        """Raise DefinitionError if something that this content type needs is not installed."""

    @abstractmethod
    def formatter(self, serializer: Serializer) -> ContentFormatter:
        """Return a new formatter for one call."""

    def present(self, value: Any, serializer: Serializer, annotation: Any = Any) -> Block:
        """Return the block for a value."""
        formatter = self.formatter(serializer)
        formatter.annotation = annotation
        formatter.begin()
        formatter.format(value)
        return formatter.finish()
