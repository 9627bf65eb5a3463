"""From the decorated callables of one registration to features, sorted by kind.

Rule: everything is built and checked before anything is registered, so that a registration that fails changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from ..errors import DefinitionError
from .collect import Source
from .completing import Completing, of_method
from .declare import ToolDeclaration
from .declare_completions import CompletionDeclaration
from .declare_prompts import PromptDeclaration
from .declare_resources import ResourceDeclaration
from .prompt import PromptFeature
from .registry import Registry
from .resource import ResourceFeature, TemplateFeature
from .settings import FeatureSettings
from .tool import ToolFeature


@dataclass(slots=True)
class Registries:
    """What a server offers, by kind."""

    tools: Registry[ToolFeature]
    prompts: Registry[PromptFeature]
    resources: Registry[ResourceFeature]
    templates: Registry[TemplateFeature]


@dataclass(slots=True)
class Batch:
    """What one registration brings. `completions` are done last, when everything is there that they may name."""

    tools: list[ToolFeature] = field(default_factory=list)
    prompts: list[PromptFeature] = field(default_factory=list)
    resources: list[ResourceFeature] = field(default_factory=list)
    templates: list[TemplateFeature] = field(default_factory=list)
    completions: list[Callable[[], None]] = field(default_factory=list)


def build(sources: Iterable[Source], prefix: str | None, settings: FeatureSettings, present: Registries) -> Batch:
    """Return the features of some callables; `present` is what is registered already.

    Raises:
        DefinitionError: one of them cannot be served.
    """
    batch = Batch()
    completions = []
    for source in sources:
        match source.declaration:
            case ToolDeclaration():
                batch.tools.append(ToolFeature(source, prefix, settings))
            case PromptDeclaration():
                batch.prompts.append(PromptFeature(source, prefix, settings))
            case ResourceDeclaration(is_template=True):
                batch.templates.append(TemplateFeature(source, settings))
            case ResourceDeclaration():
                batch.resources.append(ResourceFeature(source, settings))
            case CompletionDeclaration():
                completions.append(source)
    _build_completions(completions, batch, present, settings)
    return batch


def _build_completions(sources: Iterable[Source], batch: Batch, present: Registries, settings: FeatureSettings) -> None:
    planned = set()
    for source in sources:
        declaration = cast(CompletionDeclaration, source.declaration)
        target = _target(source, declaration.target, batch, present)
        wire = target.check(source, declaration.argument)
        if (id(target), wire) in planned:
            raise DefinitionError(f"{source.where}: the argument {declaration.argument!r} has a completer already")
        planned.add((id(target), wire))
        batch.completions.append(partial(target.add, wire, of_method(source, settings.providers)))


def _target(source: Source, wanted: str, batch: Batch, present: Registries) -> Completing:
    """Return what a `@complete` means: in its own class by the Python name, then by name or by a template's URI."""
    for prompt in batch.prompts:
        if prompt.source.name == wanted and prompt.source.owner is source.owner:
            return prompt.completing
    prompts: list[PromptFeature] = [*batch.prompts, *present.prompts]
    templates: list[TemplateFeature] = [*batch.templates, *present.templates]
    for prompt in prompts:
        if prompt.name == wanted:
            return prompt.completing
    for template in templates:
        if template.template.text == wanted:
            return template.completing
    raise DefinitionError(f"{source.where}: @complete({wanted!r}, …) names no prompt and no template")
