"""From the arguments of a call to the keyword arguments of a method.

Rule: everything about a signature is found out once, when the feature is registered. A parameter that the server
provides stands in no schema, and a client that sends one is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Protocol

from ..content.schema_check import SchemaCheck
from ..context import Context
from ..errors import DefinitionError, LoadError
from ..serialization import Parameters
from .collect import Source
from .marks import marked, running_context
from .mirrored import MIRRORED, annotated_headers, check_headers
from .names import check_key
from .settings import FeatureSettings


class Binding(Protocol):
    """How one method's arguments are described and bound."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers that mirror arguments, by the argument's name on the wire."""
        ...

    def input_schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of the arguments."""
        ...

    def bind(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Return the keyword arguments.

        Raises:
            LoadError: the arguments do not fit; it names every fault.
        """
        ...


def bind_signature(source: Source, settings: FeatureSettings, descriptions: Mapping[str, str]) -> Binding:
    """Return the binding that follows from a method's annotations.

    Raises:
        DefinitionError: a parameter cannot come from a client; the message names it.
    """
    injected = context_parameters(source)
    parameters = parameters_of(source, settings, descriptions)
    for member in parameters.members:
        check_key(member.wire, source.where)
    return _Derived(parameters, injected, settings, source.where)


def parameters_of(source: Source, settings: FeatureSettings, descriptions: Mapping[str, str]) -> Parameters:
    """Return the parameters of a method that come from a client.

    Raises:
        DefinitionError: one of them cannot; the message names it.
    """
    skip = source.skip | marked(source.function, source.owner).keys()
    return settings.serializer.parameters(source.function, skip=skip, owner=source.owner, descriptions=descriptions)


def bind_verbatim(source: Source, schema: Mapping[str, Any]) -> Binding:
    """Return the binding of a tool that brings its own `input_schema`: checked against it, handed over as they are.

    Raises:
        DefinitionError: the schema is not one of an object, does not compile, or needs the extra `schema`.
    """
    if schema.get("type") != "object":
        raise DefinitionError(f'{source.where}: input_schema needs "type": "object" at its root')
    try:
        return _Verbatim(SchemaCheck(schema), source)
    except DefinitionError as error:
        raise DefinitionError(f"{source.where}: input_schema: {error}") from error


class _Derived:
    def __init__(self, parameters: Parameters, injected: frozenset[str], settings: FeatureSettings, where: str) -> None:
        self._parameters = parameters
        self._injected = injected
        self._strict = settings.strict_arguments
        self._extra = settings.extra_arguments
        self._refs = settings.schema_refs
        self.headers = {member.wire: member.header for member in parameters.members if member.header is not None}
        if self.headers:
            check_headers(self.headers, self.input_schema(), where)

    def input_schema(self) -> Mapping[str, Any]:
        schema = self._parameters.json_schema(refs=self._refs, additional=self._extra == "ignore")
        for argument, header in self.headers.items():
            schema["properties"][argument][MIRRORED] = header
        return schema

    def bind(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        bound: dict[str, Any] = self._parameters.load(arguments, strict=self._strict, extra=self._extra)
        for name in self._injected:
            bound[name] = context
        return bound


class _Verbatim:
    def __init__(self, check: SchemaCheck, source: Source) -> None:
        self._check = check
        self.headers = annotated_headers(check.schema)
        check_headers(self.headers, check.schema, source.where)
        self._injected = context_parameters(source)
        signature = inspect.signature(source.function).parameters.values()
        kinds = {parameter.kind for parameter in signature}
        self._open = inspect.Parameter.VAR_KEYWORD in kinds
        own = [
            each for each in signature if each.name not in source.skip | marked(source.function, source.owner).keys()
        ]
        self._known = {each.name for each in own if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
        self._needed = [each.name for each in own if each.name in self._known and each.default is each.empty]
        required = check.schema.get("required")
        untaken = set(required if isinstance(required, list) else ()) - self._known
        if untaken and not self._open:
            listed = ", ".join(map(repr, sorted(untaken)))
            raise DefinitionError(f"it requires {listed}, which no parameter takes; add one, or **arguments for all")

    def input_schema(self) -> Mapping[str, Any]:
        return self._check.schema

    def bind(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        problems = [(path.removeprefix("$").removeprefix("."), why) for path, why in self._check.problems(arguments)]
        if not problems and not self._open:
            known = ", ".join(sorted(self._known)) or "none"
            problems += [(name, f"unknown argument; known: {known}") for name in arguments if name not in self._known]
        problems += [(name, "is missing") for name in self._needed if name not in arguments and not problems]
        if problems:
            raise LoadError(problems)
        return {**arguments, **dict.fromkeys(self._injected, context)}


def context_parameters(source: Source) -> frozenset[str]:
    """Return the names of the parameters that take the context."""
    marks = marked(source.function, source.owner).items()
    return frozenset(name for name, mark in marks if mark.provider is running_context)
