"""`Sight`: what one client sees, so that it is told only of changes that it can see."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from ..context import Context
from ..features.offered import Offered
from ..server import McpServer
from .topics import CHANGES, updated_uri


class Sight:
    """The features that a client can see, by the topic of their changes. Costs nothing while there are no rules."""

    def __init__(self, server: McpServer, context: Context) -> None:
        self._server = server
        self._context = context
        self._seen = {topic: self._visible(topic) for topic in CHANGES} if server.visibility else {}

    def changed(self, topic: str) -> bool:
        """Say whether the client can see what changed."""
        if not self._server.visibility:
            return True
        if (uri := updated_uri(topic)) is not None:
            return self._server.catalog.find_resource(uri, self._shows) is not None
        before, self._seen[topic] = self._seen.get(topic), self._visible(topic)
        return before != self._seen[topic]

    def _visible(self, topic: str) -> list[int]:
        return [id(feature) for feature in self._features(topic) if feature.enabled and self._shows(feature)]

    def _features(self, topic: str) -> Iterable[Offered]:
        server = self._server
        if topic == "tools":
            return server.tools
        return server.prompts if topic == "prompts" else chain(server.resources, server.templates)

    def _shows(self, feature: Offered) -> bool:
        return self._server.visibility.shows(feature, self._context)
