"""Questions about one callable.

Rule: only what stands there is looked at; nothing is called.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any


def innermost(function: Any) -> Any:
    """Return the function, method or class that runs in the end.

    It stands behind `functools.partial`, behind decorators that say so (`functools.wraps`), and is the `__call__` of a
    callable object.
    """
    while True:
        if isinstance(function, partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = inspect.unwrap(function)
        elif isinstance(function, type) or inspect.isroutine(function) or not callable(function):
            return function
        else:
            function = type(function).__call__
