"""What the two compilers share: one function for each node, made when it is first asked for.

Rule: a function may be asked for while it is in the making, because a type may contain itself; whoever asks then gets
its name, or a function that looks the name up when it is called. What fails to be made leaves nothing behind.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from .plan import Node
from .source import Source


class Compiler(ABC):
    """Makes and keeps the functions of one serializer for one direction, in one namespace."""

    prefix: ClassVar[str]
    """What the names of its functions begin with."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._functions: dict[Node, str] = {}
        self.source = Source()

    def function(self, node: Node) -> Callable[[Any], Any]:
        """Return the function for the node; compiled on the first call."""
        with self._lock:
            name = self.name(node)
            known: Callable[[Any], Any] | None = self.source.names.get(name)
            return known or self.late(name)

    def late(self, name: str) -> Callable[[Any], Any]:
        """Return a function that looks the named one up when it is called: it does not exist yet."""
        names = self.source.names
        return lambda value: names[name](value)

    def name(self, node: Node) -> str:
        """Return the global name of the node's function. It may still be in the making, if the type is recursive."""
        node = self.stripped(node)
        if node not in self._functions:
            hint = getattr(node, "cls", type(node)).__name__
            name = self._functions[node] = self.source.fresh(f"{self.prefix}_{hint}")
            try:
                self.make(node, name)
            except BaseException:
                del self._functions[node]
                raise
        return self._functions[node]

    @abstractmethod
    def stripped(self, node: Node) -> Node:
        """Return the node without what makes no difference here."""

    @abstractmethod
    def make(self, node: Node, name: str) -> None:
        """Make the function of a node under a name of the namespace."""
