"""`PromptFeature`: one prompt of a server, planned when it is registered.

Rule: the wire carries texts. Parameters may be of any type that loads from text; what does not is an error of the
caller's parameters that names every fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from ..content import PromptConverter, PromptResult
from ..context import Context
from ..errors import InvalidParams, LoadError
from ..protocol.model import PromptArgument, PromptDefinition
from .binding import context_parameters, parameters_of
from .collect import Source
from .completing import Completing, marked_completers
from .offered import Offered, converter, offered_name
from .settings import FeatureSettings


class PromptFeature(Offered):
    """A prompt: its definition for clients, and the steps of getting it."""

    def __init__(self, source: Source, prefix: str | None, settings: FeatureSettings) -> None:
        super().__init__(source, settings, offered_name(source, prefix))
        self._injected = context_parameters(source)
        self._parameters = parameters_of(source, settings, self.parameter_texts)
        self.completing = Completing(
            {member.name: member.wire for member in self._parameters.members},
            marked_completers(self._parameters.members, settings, self.where),
        )
        self._converter: PromptConverter = converter(PromptConverter, source, settings)

    @cached_property
    def definition(self) -> PromptDefinition:
        """What a client sees in the list, in the newest shape."""
        declaration = self.source.declaration
        arguments = tuple(
            PromptArgument(
                name=member.wire, title=member.title, description=member.description, required=member.required
            )
            for member in self._parameters.members
        )
        return PromptDefinition(
            name=self.name,
            title=declaration.title,
            description=self.description,
            arguments=arguments or None,
            icons=declaration.icons or None,
            meta=dict(declaration.meta) if declaration.meta else None,
        )

    def bind(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Return the keyword arguments of the method.

        Raises:
            InvalidParams: an argument is missing, unknown, no text, or does not load.
        """
        wrong = [name for name, value in arguments.items() if not isinstance(value, str)]
        problems = [(name, "arguments of a prompt are texts") for name in wrong]
        try:
            bound = self._parameters.load(arguments, strict=False, extra="refuse")
        except LoadError as error:
            problems += [problem for problem in error.problems if problem[0] not in wrong]
        if problems:
            raise InvalidParams(str(LoadError(problems)))
        bound.update(dict.fromkeys(self._injected, context))
        return bound

    def convert(self, value: Any, keep: Callable[[Any], bool]) -> PromptResult:
        """Return the result for what the method returned, settled; its description is the prompt's own by default."""
        result = self._converter(value, keep)
        if result.description is None and self.description is not None:
            return PromptResult(result.messages, self.description, result.meta)
        return result
