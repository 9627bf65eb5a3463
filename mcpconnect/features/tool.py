"""`ToolFeature`: one tool of a server, planned when it is registered.

Rule: what can be found out once is found out here. A call only binds its arguments, runs the user's method and has
the value converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

from ..content import ToolConverter, ToolResult
from ..context import Context
from ..protocol.model import ToolAnnotations, ToolDefinition
from .binding import Binding, bind_signature, bind_verbatim
from .collect import Source
from .declare import ToolDeclaration
from .offered import Offered, converter, offered_name
from .settings import FeatureSettings


class ToolFeature(Offered):
    """A tool: its definition for clients, and the steps of a call."""

    def __init__(self, source: Source, prefix: str | None, settings: FeatureSettings) -> None:
        super().__init__(source, settings, offered_name(source, prefix))
        declaration = cast(ToolDeclaration, source.declaration)
        self._declaration = declaration
        self.timeout = settings.limits.tool_seconds if declaration.timeout is None else declaration.timeout
        self.threaded = self.threaded and declaration.thread is not False
        self.guards = declaration.guards
        self.shown_errors = declaration.errors
        self.brief = declaration.structured == "only"
        if declaration.input_schema is not None:
            self._binding: Binding = bind_verbatim(source, declaration.input_schema)
        else:
            self._binding = bind_signature(source, settings, self.parameter_texts)
        own_schema = declaration.output_schema
        self._converter: ToolConverter = converter(
            ToolConverter,
            source,
            settings,
            content_type=declaration.content_type,
            structured=declaration.structured,
            policy=settings.structured,
            output_schema=dict(own_schema) if own_schema is not None else None,
            refs=settings.schema_refs,
        )

    @cached_property
    def definition(self) -> ToolDefinition:
        """What a client sees in the list, in the newest shape."""
        declaration = self._declaration
        return ToolDefinition(
            name=self.name,
            title=declaration.title,
            description=self.description,
            icons=declaration.icons or None,
            input_schema=dict(self._binding.input_schema()),
            output_schema=self._converter.output_schema,
            annotations=_annotations(declaration),
            meta=dict(declaration.meta) if declaration.meta else None,
        )

    @cached_property
    def wraps(self) -> bool:
        """Whether revisions whose structured content is an object get `{"result": …}`."""
        schema = self._converter.output_schema
        return schema is not None and schema.get("type") != "object"

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers that mirror arguments, by the argument's name on the wire."""
        return self._binding.headers

    def bind(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Return the keyword arguments of the method.

        Raises:
            LoadError: the arguments do not fit; it names every fault.
        """
        return self._binding.bind(arguments, context)

    def convert(self, value: Any, keep: Callable[[Any], bool]) -> ToolResult:
        """Return the result for what the method returned, settled; `keep` says which streams stay open.

        Raises:
            SerializationError: the value has no form in a result.
        """
        return self._converter(value, keep)


def _annotations(declaration: ToolDeclaration) -> ToolAnnotations | None:
    hints = (declaration.read_only, declaration.destructive, declaration.idempotent, declaration.open_world)
    if hints == (None, None, None, None):
        return None
    read_only, destructive, idempotent, open_world = hints
    return ToolAnnotations(
        title=declaration.title,
        read_only_hint=read_only,
        destructive_hint=destructive,
        idempotent_hint=idempotent,
        open_world_hint=open_world,
    )
