"""`ResourceFeature` and `TemplateFeature`: what can be read under a URI, or under any URI of a template.

Rule: a variable of a template is a parameter of the method, by its own name (a dot is an underscore in
Python); its value is decoded and then loaded into the parameter's type. What does not load names no resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

from ..content import CacheControl, ResourceConverter, ResourceResult
from ..context import Context
from ..errors import DefinitionError, LoadError, ResourceNotFound
from ..protocol.model import ResourceDefinition, TemplateDefinition
from .binding import context_parameters, parameters_of
from .collect import Source
from .completing import Completing, marked_completers
from .declare_resources import ResourceDeclaration
from .offered import Offered, converter
from .settings import FeatureSettings
from .uri_parts import legal_uri, normal_uri
from .uri_template import UriTemplate, Value


class Readable(Offered):
    """Something that is read: the steps of a call that resources and templates share."""

    def __init__(self, source: Source, settings: FeatureSettings, key: str) -> None:
        declaration = cast(ResourceDeclaration, source.declaration)
        super().__init__(source, settings, declaration.name or source.name, key)
        self.declaration = declaration
        self.injected = context_parameters(source)
        self.parameters = parameters_of(source, settings, self.parameter_texts)
        self._converter: ResourceConverter = converter(
            ResourceConverter, source, settings, mime_type=declaration.mime_type
        )

    @property
    def cache(self) -> CacheControl | None:
        """How long a client may keep what it read, where the declaration says so."""
        return self.declaration.cache

    def convert(self, value: Any, uri: str, keep: Callable[[Any], bool]) -> ResourceResult | None:
        """Return the contents for what the method returned, settled; None says that there is no such resource."""
        return self._converter(value, legal_uri(uri), keep)

    def _described(self) -> dict[str, Any]:
        declaration = self.declaration
        return {
            "name": self.name,
            "title": declaration.title,
            "description": self.description,
            "mime_type": declaration.mime_type,
            "annotations": declaration.annotations,
            "icons": declaration.icons or None,
            "meta": dict(declaration.meta) if declaration.meta else None,
        }


class ResourceFeature(Readable):
    """A resource under one URI, which is listed as it was written, and read in any spelling that means the same."""

    def __init__(self, source: Source, settings: FeatureSettings) -> None:
        uri = cast(ResourceDeclaration, source.declaration).uri
        super().__init__(source, settings, key_of(uri))
        self.uri = uri
        self.names |= {uri}
        if missing := [member.name for member in self.parameters.members if member.required]:
            raise DefinitionError(
                f"{self.where}: {uri} has no variable for the parameter {missing[0]!r}: "
                f"write {{{missing[0]}}} in the URI, or give it a default"
            )

    @cached_property
    def definition(self) -> ResourceDefinition:
        """What a client sees in the list, in the newest shape."""
        return ResourceDefinition(uri=legal_uri(self.uri), size=self.declaration.size, **self._described())

    def bind(self, context: Context) -> dict[str, Any]:
        """Return the keyword arguments of the method."""
        return dict.fromkeys(self.injected, context)


class TemplateFeature(Readable):
    """All the resources whose URIs match a template."""

    def __init__(self, source: Source, settings: FeatureSettings) -> None:
        uri = cast(ResourceDeclaration, source.declaration).uri
        super().__init__(source, settings, template_key(uri))
        self.names |= {uri}
        try:
            self.template = UriTemplate(uri)
        except DefinitionError as error:
            raise DefinitionError(f"{self.where}: {error}") from error
        names = self._paired()
        wires = {member.name: member.wire for member in self.parameters.members}
        marked = marked_completers(self.parameters.members, settings, self.where)
        self._wires = {variable: wires[name] for variable, name in names.items()}
        self.completing = Completing(
            {name: variable for variable, name in names.items()},
            {variable: marked[wire] for variable, wire in self._wires.items() if wire in marked},
        )

    @cached_property
    def definition(self) -> TemplateDefinition:
        """What a client sees in the list, in the newest shape."""
        return TemplateDefinition(uri_template=self.key, **self._described())

    def load(self, uri: str, values: Mapping[str, Value]) -> dict[str, Any]:
        """Return the arguments of the method for the values of a URI.

        Raises:
            ResourceNotFound: a value does not load into its parameter's type.
        """
        given = {self._wires[variable]: value for variable, value in values.items()}
        try:
            return self.parameters.load(given, strict=False, extra="refuse")
        except LoadError as error:
            raise ResourceNotFound(f"no resource {uri[:500]}: {error}", data={"uri": uri}) from None

    def bind(self, uri: str, values: Mapping[str, Value], context: Context) -> dict[str, Any]:
        """Return the keyword arguments of the method for the values of a URI; raises as `load` does."""
        return {**self.load(uri, values), **dict.fromkeys(self.injected, context)}

    def _paired(self) -> dict[str, str]:
        """Return the Python name of each variable."""
        members = {member.name: member for member in self.parameters.members}
        names: dict[str, str] = {}
        for variable in self.template.variables:
            name = variable.replace(".", "_")
            if name not in members:
                raise DefinitionError(f"{self.where}: the variable {{{variable}}} has no parameter {name!r}")
            if name in names.values():
                raise DefinitionError(f"{self.where}: two variables stand for the parameter {name!r}")
            names[variable] = name
        for name, member in members.items():
            if name in names.values():
                self._check_optional(member, names)
            elif member.required:
                raise DefinitionError(f"{self.where}: the parameter {name!r} stands in no variable of the URI")
        return names

    def _check_optional(self, member: Any, names: Mapping[str, str]) -> None:
        optional = {names[variable] for variable in self.template.query_variables}
        if member.name in optional and member.required:
            raise DefinitionError(
                f"{self.where}: a URI may leave the query variable {member.name!r} out: give the parameter a default"
            )


def key_of(uri: str) -> str:
    """Return the spelling under which a resource's URI is compared."""
    legal = legal_uri(uri)
    return normal_uri(legal) or legal


def template_key(text: str) -> str:
    """Return the spelling under which a template is listed and asked for."""
    return legal_uri(text, "{}")
