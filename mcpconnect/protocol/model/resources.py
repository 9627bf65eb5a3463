"""How resources and templates are listed. Results of `resources/read` are `content.ResourceResult`.

Source: the schema's page *Resources*.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...content.annotations import Annotations, Icon, Meta
from .common import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDefinition:
    """One resource of a list; `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Meta = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateDefinition:
    """One template of a list, by RFC 6570."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Meta = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListResourcesResult(Page):
    """The answer to `resources/list`."""

    resources: tuple[ResourceDefinition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTemplatesResult(Page):
    """The answer to `resources/templates/list`."""

    resource_templates: tuple[TemplateDefinition, ...]
