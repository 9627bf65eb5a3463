"""`Listening`: a `subscriptions/listen` request, which stays open and hears of changes.

Rule: the acknowledgement comes first, and says what of the wish is honoured; every message names the subscription. A
client ends it by cancelling (or by leaving), the server by a `notifications/cancelled` and the result.

Source: the specification's page *Subscriptions*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import anyio

from ..context import Channel
from ..errors import InvalidParams
from ..protocol import names
from ..protocol.jsonrpc import Request, encode_error, encode_notification, encode_result
from ..protocol.peer import Peer
from ..protocol.refusal import Id
from ..server import McpServer
from .failures import internal

_TOPICS: Final[Mapping[str, tuple[str, str]]] = {"toolsListChanged": ("tools", names.TOOLS_CHANGED)}
"""What may be asked for: the topic of the hub, and the notification that tells of a change."""


class Listening:
    """One open subscription."""

    threaded: bool = False
    timeout: float | None = None

    def __init__(self, server: McpServer, request: Request, peer: Peer, channel: Channel) -> None:
        self._server = server
        self._id: Id = request.id
        self._peer = peer
        self._channel = channel
        self._wanted = _wanted(request.params)
        self._ended = anyio.Event()

    async def begin(self) -> None:
        """Acknowledge, and pass changes on until the server winds down."""
        topics = {_TOPICS[wish][0]: _TOPICS[wish][1] for wish in self._wanted}
        honoured = dict.fromkeys(self._wanted, True)
        self._tell(names.ACKNOWLEDGED, {"notifications": honoured})

        def heard(topic: str) -> None:
            if topic in topics:
                self._tell(topics[topic], {})

        unsubscribe = self._server.hub.subscribe(heard)
        try:
            await self._ended.wait()
        finally:
            unsubscribe()
        self._tell(names.CANCELLED, {"requestId": self._id, "reason": "the server is shutting down"})

    def finish(self, _: Any) -> bytes:
        """Return the result that ends the subscription."""
        meta = {names.SUBSCRIPTION_ID: self._id, names.SERVER_INFO: self._server.implementation}
        return encode_result(self._id, {"resultType": "complete", names.META: meta})

    def fail(self, error: BaseException) -> bytes:
        """Return the answer for what should not happen."""
        failure = internal(error, names.LISTEN, self._id)
        return encode_error(self._id, self._peer.revision.code(failure.kind), failure.message)

    def expire(self) -> bytes:
        """Return the result: a subscription has no time limit of its own."""
        return self.finish(None)

    def wind_down(self) -> None:
        """End the subscription by a result."""
        self._ended.set()

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        meta = {names.SUBSCRIPTION_ID: self._id}
        self._channel.send(encode_notification(method, {names.META: meta, **params}))


def _wanted(params: Mapping[str, Any]) -> list[str]:
    wishes = params.get("notifications")
    if not isinstance(wishes, dict):
        raise InvalidParams("notifications must be an object that says what to hear of")
    return [wish for wish in _TOPICS if wishes.get(wish) is True]
