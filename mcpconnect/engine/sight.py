"""`Sight`: what one client sees, so that it is told only of changes that it can see.

Rule: a change is one against what the client saw when it last looked or was told; of what it saw before the first rule
of visibility nothing is known, so the first change is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from ..context import Context
from ..features.offered import Offered
from ..server import McpServer
from .topics import CHANGES, updated_uri


class Sight:
    """The features that a client can see, by the topic of their changes. Costs nothing while there are no rules.

    `onlooker` gives who looks, as it is now.
    """

    def __init__(self, server: McpServer, onlooker: Callable[[], Context]) -> None:
        self._server = server
        self._onlooker = onlooker
        self._seen: dict[str, list[int]] = {}

    def look(self, *topics: str) -> None:
        """Remember what the client sees now."""
        if self._server.visibility:
            for topic in topics or CHANGES:
                self._seen[topic] = self._visible(topic)

    def changed(self, topic: str) -> bool:
        """Say whether the client can see what changed."""
        if not self._server.visibility:
            return True
        if (uri := updated_uri(topic)) is not None:
            return self._server.catalog.find_resource(uri, self._shown(self._onlooker())) is not None
        before, self._seen[topic] = self._seen.get(topic), self._visible(topic)
        return before != self._seen[topic]

    def _visible(self, topic: str) -> list[int]:
        shows = self._shown(self._onlooker())
        return [id(feature) for feature in self._features(topic) if feature.enabled and shows(feature)]

    def _features(self, topic: str) -> Iterable[Offered]:
        server = self._server
        if topic == "tools":
            return server.tools
        return server.prompts if topic == "prompts" else chain(server.resources, server.templates)

    def _shown(self, context: Context) -> Callable[[Offered], bool]:
        return lambda feature: self._server.visibility.shows(feature, context)
