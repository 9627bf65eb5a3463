"""Which resource a URI means.

Rule: a resource of exactly this URI beats every template; among templates the most specific one wins, whatever the
order of registration: more literal characters, then fewer variables, then the earlier one. The winner alone is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .offered import Offered
from .registry import Registry
from .resource import ResourceFeature, TemplateFeature, key_of
from .uri_template import Values

Shown: TypeAlias = Callable[[Offered], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """The feature that a URI means; `values` are those of its variables, if it is a template."""

    feature: ResourceFeature | TemplateFeature
    values: Values | None = None


def find_resource(
    uri: str, resources: Registry[ResourceFeature], templates: Registry[TemplateFeature], shown: Shown = lambda _: True
) -> Found | None:
    """Return what the URI means, or None; what is not `shown` means nothing."""
    resource = resources.get(key_of(uri))
    if resource is not None and shown(resource):
        return Found(resource)
    for template in templates.kept("ranked", lambda: _ranked(templates)):
        values = template.template.match(uri)
        if values is not None and shown(template):
            return Found(template, values)
    return None


def _ranked(templates: Registry[TemplateFeature]) -> list[TemplateFeature]:
    enabled = [template for template in templates if template.enabled]
    return sorted(enabled, key=lambda feature: feature.template.rank)
