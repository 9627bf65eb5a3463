"""`Catalog`: everything that a server offers, and the one way in and out.

Rule: a registration is all or nothing over all kinds, from any thread, while calls run. Each kind tells the hub of its
changes; templates count as resources there, as they do in the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import RLock
from typing import Any

from ..context import Hub
from ..errors import DefinitionError
from .collect import Source, collect
from .lookup import Found, Shown, find_resource
from .prompt import PromptFeature
from .providers import Providers
from .registration import Batch, Registries, build
from .registry import Registry
from .resource import ResourceFeature, TemplateFeature
from .settings import FeatureSettings
from .tool import ToolFeature


class Catalog:
    """The features of one server."""

    def __init__(self, settings: FeatureSettings, hub: Hub) -> None:
        self._settings = settings
        self._lock = RLock()
        self.tools: Registry[ToolFeature] = Registry("tool", lambda: hub.publish("tools"))
        self.prompts: Registry[PromptFeature] = Registry("prompt", lambda: hub.publish("prompts"))
        self.resources: Registry[ResourceFeature] = Registry("resource", lambda: hub.publish("resources"))
        self.templates: Registry[TemplateFeature] = Registry("resource template", lambda: hub.publish("resources"))
        self.completions = Providers()

    @property
    def completes(self) -> bool:
        """Whether anything is completed."""
        if self.completions:
            return True
        return any(feature.completing.completers for feature in (*self.prompts, *self.templates) if feature.enabled)

    def register(self, thing: Any, prefix: str | None, factory: Callable[[], Any] | None) -> None:
        """Offer the decorated callables of a class, an instance or a function.

        Raises:
            DefinitionError: one of them cannot be served; nothing has changed.
        """
        self._add(collect(thing, factory), prefix)

    def register_all(self, functions: Iterable[Callable[..., Any]]) -> None:
        """Offer decorated functions, all or none, as one change.

        Raises:
            DefinitionError: one of them cannot be served; nothing has changed.
        """
        self._add([source for function in functions for source in collect(function, None)], None)

    def _add(self, sources: Iterable[Source], prefix: str | None) -> None:
        with self._lock:
            present = Registries(self.tools, self.prompts, self.resources, self.templates)
            batch = build(sources, prefix, self._settings, present)
            pairs = self._pairs(batch)
            for registry, features in pairs:
                registry.check(features)
            for complete in batch.completions:
                complete()
            for registry, features in pairs:
                registry.add(features)

    def unregister(self, thing: Any) -> None:
        """Take back what was registered: by name or URI, or all of a class, an instance or a function.

        Raises:
            DefinitionError: nothing of that kind is registered.
        """
        with self._lock:
            completers = sum([each.completing.remove(thing) for each in (*self.prompts, *self.templates)])
            if not completers + sum([registry.remove(lambda each: each.came_from(thing)) for registry in self._all]):
                raise DefinitionError(f"{thing!r} is not registered")

    def switch(self, names: tuple[str, ...], tags: Iterable[str], enabled: bool) -> None:
        """Enable or disable features by name (or URI) or tag.

        Raises:
            DefinitionError: a name is not registered.
        """
        if isinstance(tags, str):
            raise DefinitionError(f"tags={tags!r}: tags is a collection of texts, such as {{{tags!r}}}")
        wanted = frozenset(tags)
        with self._lock:
            known = {name for registry in self._all for feature in registry for name in feature.names}
            if missing := [name for name in names if name not in known]:
                raise DefinitionError(f"not registered: {', '.join(missing)}")
            for registry in self._all:
                registry.enable(
                    lambda feature: not (feature.names.isdisjoint(names) and wanted.isdisjoint(feature.tags)),
                    enabled,
                )

    def find_resource(self, uri: str, shown: Shown = lambda _: True) -> Found | None:
        """Return what a URI means, or None; what is not `shown` means nothing."""
        return find_resource(uri, self.resources, self.templates, shown)

    @property
    def _all(self) -> tuple[Registry[Any], ...]:
        return (self.tools, self.prompts, self.resources, self.templates)

    def _pairs(self, batch: Batch) -> list[tuple[Registry[Any], list[Any]]]:
        of_batch: tuple[list[Any], ...] = (batch.tools, batch.prompts, batch.resources, batch.templates)
        return [(registry, features) for registry, features in zip(self._all, of_batch, strict=True) if features]
