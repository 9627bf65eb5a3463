"""One member of a record, or one parameter of a function.

Rule: a member says what is true of its value wherever it is used; the nodes say what the value looks like.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._typing import MISSING
from .config import Include, IncludeRule
from .notes import NO_NOTES, Notes

if TYPE_CHECKING:
    from .plan import Node


@dataclass(eq=False, slots=True, kw_only=True)
class Member:
    """A member of a record, or a parameter of a function.

    `name` is the Python attribute, key or parameter, `wire` the name on the wire. `argument` is the constructor's
    parameter; without one the value is set after construction if `settable`, else read and dropped. `restored`: its
    class does not know what its absence stands for (a value that an include rule left out, a default in `Annotated`).
    """

    name: str
    wire: str
    annotation: Any
    node: Node
    default: Any = MISSING
    factory: Callable[[], Any] | None = None
    notes: Notes = NO_NOTES
    include: IncludeRule = Include.ALWAYS
    dumped: bool = True
    loaded: bool = True
    optional: bool = False
    restored: bool = False
    argument: str | None = None
    settable: bool = True
    is_property: bool = False

    @property
    def required(self) -> bool:
        """Whether loading fails without it."""
        return self.default is MISSING and self.factory is None and not self.optional

    @property
    def description(self) -> str | None:
        """The text for the model."""
        return self.notes.description

    @property
    def title(self) -> str | None:
        """The name for people."""
        return self.notes.title

    @property
    def examples(self) -> tuple[Any, ...]:
        """Example values, in Python form."""
        return self.notes.examples

    @property
    def header(self) -> str | None:
        """The HTTP header that mirrors the argument."""
        return self.notes.header

    @property
    def metadata(self) -> tuple[Any, ...]:
        """Everything that stands beside the type in `Annotated`."""
        return self.notes.metadata

    def absent(self) -> Any:
        """Return the value of a member that was not given."""
        return self.factory() if self.factory is not None else self.default
