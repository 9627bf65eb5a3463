"""Who may see what: rules that hide features from some clients.

Rule: what is hidden does not exist: it is neither listed nor callable, and its changes are told to nobody who cannot
see it. A rule that fails hides.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from ..context import Context, check_callable, is_async, is_generator, named
from ..errors import DefinitionError
from .offered import Offered

Rule: TypeAlias = Callable[[Offered, Context], bool]
R = TypeVar("R", bound=Rule)
_logger = logging.getLogger("mcpconnect.calls")


class Visibility:
    """The rules of a server; a feature is shown if all agree."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []

    def __bool__(self) -> bool:
        return bool(self._rules)

    def add(self, rule: R) -> R:
        """Add a rule, and return it.

        Raises:
            DefinitionError: it is a class, asynchronous, or does not take a feature and a context.
        """
        form = "a rule of visibility is def (feature, context)"
        check_callable(rule, form, "feature", "context")
        if is_async(rule) or is_generator(rule):  # what it gives would be true, and everything shown
            raise DefinitionError(f"{form}, but {named(rule)} is async, or yields: write `def`, and return a bool")
        self._rules.append(rule)
        return rule

    def shows(self, feature: Offered, context: Context) -> bool:
        """Say whether the client of a request may know of a feature."""
        try:
            return all(_agrees(rule(feature, context)) for rule in self._rules)
        except Exception:
            _logger.warning(
                "a rule of visibility failed, so %s is hidden",
                feature.name,
                exc_info=True,
                extra={"event": "visibility-failed", "feature": feature.name},
            )
            return False


def _agrees(answer: object) -> bool:
    if inspect.isawaitable(answer):  # which is true, whatever it would come to
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError("a rule of visibility returned something to be awaited, not a bool")
    return bool(answer)
