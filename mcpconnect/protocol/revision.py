"""What one revision of the protocol can do, and how the newest shapes are turned into its own.

Rule: the newest shape is the model; nobody outside `protocol/revisions/` writes or compares a date. Code asks
`revision.has(…)`, `revision.code(kind)` and `revision.lower(method, result)`. An older revision is made from its newer
neighbour by naming the differences (`newer.before(…)`), so that a file of `revisions/` reads as a changelog backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from .names import ANONYMOUS_ERRORS, ANY_STRUCTURED, BATCHING, TOOLS_CALL

Shape: TypeAlias = dict[str, Any]
"""A result, the parameters of a notification, or a part of one, as a JSON object."""

Step: TypeAlias = Callable[[Shape], Shape]
"""One difference between two neighbours: newer shape to older shape. It never changes its argument."""

EVERY: Final = "*"
"""In a table of steps: every method, before its own steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Revision:
    """One revision of the specification.

    `version` is its name on the wire. `handshake` tells the eras apart: with `initialize`, or with `_meta` on each
    request. `features` are the methods that it knows and the words of `protocol.names` for what else it can do.
    """

    version: str
    handshake: bool
    features: frozenset[str]
    codes: Mapping[str, int]
    steps: Mapping[str, tuple[Step, ...]]

    @classmethod
    def newest(cls, version: str, *, handshake: bool, features: Iterable[str], codes: Mapping[str, int]) -> Revision:
        """Return the revision whose shapes are the model."""
        return cls(version, handshake, frozenset(features), codes, {EVERY: ()})

    def before(
        self,
        version: str,
        *,
        handshake: bool | None = None,
        without: Iterable[str] = (),
        also: Iterable[str] = (),
        codes: Mapping[str, int] | None = None,
        lower: Mapping[str, Step] | None = None,
    ) -> Revision:
        """Return the older neighbour, given by its differences.

        `without` names what came only with this revision, `also` what ended with the older one; `lower` turns this
        revision's results (by method, or `EVERY`) into the older one's.
        """
        return Revision(
            version,
            self.handshake if handshake is None else handshake,
            self.features.difference(without).union(also),
            {**self.codes, **(codes or {})},
            _composed(self.steps, lower or {}),
        )

    def has(self, feature: str) -> bool:
        """Say whether this revision knows a method, or one of the features in `protocol.names`."""
        return feature in self.features

    @property
    def batching(self) -> bool:
        """Whether a message may be an array of messages."""
        return BATCHING in self.features

    @property
    def anonymous_errors(self) -> bool:
        """Whether an error whose request's id is unknown leaves the member out (elsewhere it is null)."""
        return ANONYMOUS_ERRORS in self.features

    def code(self, kind: str) -> int:
        """Return the JSON-RPC code for a `ProtocolError.kind`."""
        return self.codes[kind]

    def lower(self, method: str, result: Shape, *, wrap: bool = False) -> Shape:
        """Return the result of `method` (or the parameters of a notification) in this revision's shape.

        `wrap` says that the tool's declared output schema is not an object's: where structured content must be an
        object it then becomes `{"result": …}`, whatever this one value is (`outputSchema` is listed so, too). Without
        it only values that are no objects are wrapped. `result` is left as it was.
        """
        if wrap and method == TOOLS_CALL and "structuredContent" in result and not self.has(ANY_STRUCTURED):
            result = {**result, "structuredContent": {"result": result["structuredContent"]}}
        for step in self.steps.get(method) or self.steps[EVERY]:
            result = step(result)
        return result

    def __repr__(self) -> str:
        return f"<Revision {self.version}>"


def _composed(newer: Mapping[str, tuple[Step, ...]], lower: Mapping[str, Step]) -> dict[str, tuple[Step, ...]]:
    first = (lower[EVERY],) if EVERY in lower else ()
    composed = {}
    for method in {*newer, *lower}:
        own = (lower[method],) if method in lower and method != EVERY else ()
        composed[method] = newer.get(method, newer[EVERY]) + first + own
    return composed
