"""`ToolFeature`: one tool of a server, planned when it is registered.

Rule: what can be found out once is found out here. A call only binds its arguments, runs the user's method and has
the value converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from inspect import Signature
from typing import Any

from .._typing import resolve_hints
from ..content import ToolConverter, ToolResult
from ..context import Context
from ..errors import DefinitionError
from ..protocol.model import ToolAnnotations, ToolDefinition
from .binding import Binding, bind_signature, bind_verbatim
from .collect import Source
from .declare import ToolDeclaration
from .docstring import read_docstring
from .names import check_name, composed
from .settings import FeatureSettings


class ToolFeature:
    """A tool: its definition for clients, and the steps of a call."""

    def __init__(self, source: Source, prefix: str | None, settings: FeatureSettings) -> None:
        declaration = source.declaration
        self.where = source.where
        self.enabled = declaration.enabled
        self.tags = declaration.tags
        self.timeout = settings.limits.tool_seconds if declaration.timeout is None else declaration.timeout
        self.threaded = declaration.thread is not False and not source.is_async
        self.shown_errors = declaration.errors
        self.brief = declaration.structured == "only"
        if prefix is None:
            prefix = getattr(source.owner, "__mcp_prefix__", None)
        self.name = composed(prefix, source.name if declaration.name is None else declaration.name)
        check_name(self.name, prefix, self.where)
        self._source = source
        docstring = read_docstring(source.documented)
        self._description = docstring.description if declaration.description is None else declaration.description
        if declaration.input_schema is not None:
            self._binding: Binding = bind_verbatim(source, declaration.input_schema)
        else:
            self._binding = bind_signature(source, settings, docstring.parameters)
        self._converter = _converter(source, settings)

    @cached_property
    def definition(self) -> ToolDefinition:
        """What a client sees in the list, in the newest shape."""
        declaration = self._source.declaration
        return ToolDefinition(
            name=self.name,
            title=declaration.title,
            description=self._description,
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

    def came_from(self, thing: Any) -> bool:
        """Say whether `thing` is this tool's name, or what was registered and gave it."""
        return self.name == thing if isinstance(thing, str) else self._source.origin is thing

    def bind(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Return the keyword arguments of the method.

        Raises:
            LoadError: the arguments do not fit; it names every fault.
        """
        return self._binding.bind(arguments, context)

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the method, on a new instance where a class was registered."""
        return self._source.reach()(**arguments)

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


def _converter(source: Source, settings: FeatureSettings) -> ToolConverter:
    declaration = source.declaration
    annotation = resolve_hints(source.function, source.owner).get("return", Signature.empty)
    try:
        return ToolConverter(
            annotation,
            serializer=settings.serializer,
            encoders=settings.encoders,
            content_type=declaration.content_type,
            default_content_type=settings.content_type,
            structured=declaration.structured,
            policy=settings.structured,
            output_schema=dict(declaration.output_schema) if declaration.output_schema is not None else None,
            refs=settings.schema_refs,
            limits=settings.limits,
        )
    except DefinitionError as error:
        raise DefinitionError(f"{source.where}: {error}") from error
