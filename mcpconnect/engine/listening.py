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

CHANGES: Final[Mapping[str, str]] = {
    "tools": names.TOOLS_CHANGED,
    "prompts": names.PROMPTS_CHANGED,
    "resources": names.RESOURCES_CHANGED,
}
"""The notification that tells of a change, by the hub's topic."""

_WISHES: Final[Mapping[str, str]] = {
    "toolsListChanged": "tools",
    "promptsListChanged": "prompts",
    "resourcesListChanged": "resources",
}
_UPDATED: Final = "resource:"


def updated_uri(topic: str) -> str | None:
    """Return the URI of the resource whose change the topic tells, if it is such a one."""
    return topic.removeprefix(_UPDATED) if topic.startswith(_UPDATED) else None


class Listening:
    """One open subscription."""

    threaded: bool = False
    timeout: float | None = None

    def __init__(self, server: McpServer, request: Request, peer: Peer, channel: Channel) -> None:
        self._server = server
        self._id: Id = request.id
        self._peer = peer
        self._channel = channel
        self._wanted = _wanted(request.params, server.limits.subscriptions)
        self._ended = anyio.Event()

    async def begin(self) -> None:
        """Acknowledge, and pass changes on until the server winds down."""
        self._tell(names.ACKNOWLEDGED, {"notifications": self._wanted})
        topics = {_WISHES[wish] for wish in self._wanted if wish in _WISHES}
        uris = set(self._wanted.get("resourceSubscriptions", ()))

        def heard(topic: str) -> None:
            if topic in topics:
                self._tell(CHANGES[topic], {})
            elif (uri := updated_uri(topic)) in uris:
                self._tell(names.RESOURCE_UPDATED, {"uri": uri})

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


def _wanted(params: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the part of a client's wish that is honoured."""
    wishes = params.get("notifications")
    if not isinstance(wishes, dict):
        raise InvalidParams("notifications must be an object that says what to hear of")
    honoured: dict[str, Any] = {wish: True for wish in _WISHES if wishes.get(wish) is True}
    uris = wishes.get("resourceSubscriptions")
    if uris is not None:
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise InvalidParams("resourceSubscriptions must be a list of URIs")
        honoured["resourceSubscriptions"] = uris[:limit]
    return honoured
