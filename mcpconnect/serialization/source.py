"""Generated source: written once per class, readable in tracebacks.

Rule: all functions of one compiler share one namespace, so that functions of recursive types find each other by name.
The text of every function is registered with `linecache`, as the standard library does for doctests.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any, Final

_COUNTER: Final = itertools.count(1)


class Source:
    """A namespace of generated functions and of the objects that they mention."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self._known: dict[int, str] = {}
        self._kept: list[Any] = []

    def name(self, value: Any, hint: str) -> str:
        """Return the name under which generated code finds `value`."""
        if id(value) not in self._known:
            self._kept.append(value)  # an identity names one object only as long as the object lives
            self._known[id(value)] = self.fresh(hint)
            self.names[self._known[id(value)]] = value
        return self._known[id(value)]

    def fresh(self, hint: str) -> str:
        """Return a name that no other object has."""
        letters = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in hint)
        return f"{letters}_{next(_COUNTER)}"

    def define(self, name: str, lines: list[str]) -> Callable[[Any], Any]:
        """Compile the function `name`, whose definition the lines are, and return it."""
        text = "\n".join(lines) + "\n"
        filename = f"<mcpconnect {name}>"
        exec(compile(text, filename, "exec"), self.names)
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        return self.names[name]  # type: ignore[no-any-return]
