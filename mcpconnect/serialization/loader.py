"""Loading: the compiled loader first, marshmallow where it is in doubt.

Rule: marshmallow and everything that needs it is imported when the first data needs a closer look, not before.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal

from ..errors import LoadError
from .loading import LoadCompiler
from .plan import Node
from .planner import Planner
from .readers import Reader

if TYPE_CHECKING:
    from .build import FieldBuilder

Extra = Literal["refuse", "ignore"]


class Loader:
    """Loads data into the nodes of one serializer."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._compiler = LoadCompiler(planner, self.load_below)
        self._ready: dict[Node, Reader] = {}
        self._builders: dict[tuple[bool, Extra], FieldBuilder] = {}
        self._lock = threading.RLock()

    def load(self, node: Node, data: Any, *, strict: bool, extra: Extra = "refuse") -> Any:
        """Return what the data stands for.

        Raises:
            LoadError: with everything that is wrong.
        """
        load = self._ready.get(node)
        if load is None:
            load = self._ready[node] = self._compiler.function(node)
        try:
            return load(data)
        except Exception:  # any doubt, whatever its kind, is settled by marshmallow
            return self.load_slowly(node, data, strict=strict, extra=extra)

    def load_slowly(self, node: Node, data: Any, *, strict: bool, extra: Extra = "refuse") -> Any:
        """Do the same without the compiled loader."""
        from marshmallow import ValidationError

        from .explain import problems

        try:
            return self._builder(strict, extra).root(node).deserialize(data)
        except ValidationError as error:
            raise LoadError(problems(error.messages)) from None
        except RecursionError:
            raise LoadError([("", "the data is nested too deeply")]) from None

    def load_below(self, node: Node, data: Any, strict: bool) -> Any:
        """Load a part of a value for a custom serializer that asks for the default."""
        return self.load(node, data, strict=strict)

    def _builder(self, strict: bool, extra: Extra) -> FieldBuilder:
        with self._lock:
            if (strict, extra) not in self._builders:
                from .build import FieldBuilder

                strictly = None if strict else self._builder(True, extra)
                self._builders[strict, extra] = FieldBuilder(
                    self._planner, self._compiler, self.load_below, extra=extra, strictly=strictly
                )
            return self._builders[strict, extra]
