"""`Announcing`: telling a client that stays of changes: of the lists, and of the resources that it subscribed to.

Rule: it is told only of what it can see. Who it is, where rules of visibility ask, is how its latest request came.
"""

from __future__ import annotations

from collections.abc import Callable

from ..context import Channel, Context
from ..protocol import names
from ..protocol.jsonrpc import encode_notification
from ..server import McpServer
from .lifecycle import Lifecycle
from .sight import Sight
from .topics import CHANGES, updated_uri


class Announcing:
    """Tells one client, along `channel`, until it is closed. `onlooker` gives a context of the client as it is now."""

    __slots__ = ("_channel", "_lifecycle", "_onlooker", "_server", "_unsubscribe")

    def __init__(
        self, server: McpServer, lifecycle: Lifecycle, channel: Channel, onlooker: Callable[[], Context]
    ) -> None:
        self._server = server
        self._lifecycle = lifecycle
        self._channel = channel
        self._onlooker = onlooker
        self._unsubscribe = server.hub.subscribe(self._announce)

    def look(self) -> None:
        """Find out what the client sees, unless that is known."""
        if self._lifecycle.sight is None and self._server.visibility:
            self._lifecycle.sight = Sight(self._server, self._onlooker)
            self._lifecycle.sight.look()

    def close(self) -> None:
        """Tell nothing more."""
        self._unsubscribe()

    def _announce(self, topic: str) -> None:
        if topic in CHANGES and self._sees_change(topic):
            self._channel.send(encode_notification(CHANGES[topic]), change=True)
        elif (uri := updated_uri(topic)) in self._lifecycle.subscribed and self._sees_change(topic):
            self._channel.send(encode_notification(names.RESOURCE_UPDATED, {"uri": uri}), change=True)

    def _sees_change(self, topic: str) -> bool:
        if not self._server.visibility:
            return True
        if self._lifecycle.sight is None:  # the first rule came after this client
            self._lifecycle.sight = Sight(self._server, self._onlooker)
        return self._lifecycle.sight.changed(topic)
