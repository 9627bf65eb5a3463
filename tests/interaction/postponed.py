"""Tools in a module whose annotations are only texts, some of which cannot be resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcpconnect import Context, Param, Tool, tool

if TYPE_CHECKING:
    from decimal import Decimal


class Postponed(Tool):
    @tool
    def choose(self, ctx: Context, q: Annotated[Literal["a", "b"], "mode"]) -> str:
        return f"{q} {type(ctx).__name__}"

    @tool
    def limited(self, *, limit: int = 5, title: Annotated[str, Param(title="T")] = "x") -> int:
        return limit

    @tool
    def later(self, later: Later | None = None) -> Later:
        return later or Later(1)

    @tool
    def only_for_checkers(self) -> Decimal:
        return 5  # type: ignore[return-value]


class NeedsChecker:
    @tool
    def method(self, x: Decimal) -> str: ...


@dataclass
class Later:
    later_id: int
    others: list[Later] | None = None


def make_local_tool() -> Any:
    @dataclass
    class Local:
        local_id: int

    @tool
    def local(item: Local, items: Annotated[list[Local], "more"] = ()) -> Local:  # type: ignore[assignment]
        return item

    return local
