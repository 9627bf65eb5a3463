"""`Listening`: a `subscriptions/listen` request, which stays open and hears of changes.

Rule: the acknowledgement comes first, and says what of the wish is honoured; every message names the subscription, and
nothing is missed from the acknowledgement on. A client ends it by cancelling (or by leaving), the server by a
`notifications/cancelled` and the result.

Source: the specification's page *Subscriptions*.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

import anyio

from ..context import Context
from ..errors import InvalidParams
from ..protocol import names
from ..protocol.jsonrpc import Request, encode_error, encode_notification, encode_result
from ..protocol.refusal import Id
from ..server import McpServer
from .failures import internal

_TOPICS: Final[Mapping[str, tuple[str, str]]] = {"toolsListChanged": ("tools", names.TOOLS_CHANGED)}
"""What may be asked for: the topic of the hub, and the notification that tells of a change."""


class Listening:
    """One open subscription."""

    threaded: bool = False
    timeout: float | None = None

    def __init__(self, server: McpServer, request: Request, context: Context) -> None:
        self._server = server
        self._id: Id = request.id
        self._context = context
        self._honoured = _honoured(request.params)
        self._notifications = dict(_TOPICS[wish] for wish in self._honoured)  # by topic
        self._order = Lock()  # changes come from any thread, but only between the acknowledgement and the end
        self._ended = anyio.Event()

    async def begin(self) -> None:
        """Acknowledge, and pass changes on until the server winds down."""
        with self._order:
            unsubscribe = self._server.hub.subscribe(self._heard)
            self._tell(names.ACKNOWLEDGED, {"notifications": dict.fromkeys(self._honoured, True)})
        try:
            await self._ended.wait()
        finally:
            unsubscribe()
        with self._order:
            self._notifications.clear()
            self._tell(names.CANCELLED, {"requestId": self._id, "reason": "the server is shutting down"})

    def finish(self, _: Any) -> bytes:
        """Return the result that ends the subscription."""
        meta = {names.SUBSCRIPTION_ID: self._id, names.SERVER_INFO: self._server.implementation}
        return encode_result(self._id, {"resultType": "complete", names.META: meta})

    def fail(self, error: BaseException) -> bytes:
        """Return the answer for what should not happen."""
        failure = internal(error, names.LISTEN, self._id)
        return encode_error(self._id, self._context.peer.revision.code(failure.kind), failure.message)

    def expire(self) -> bytes:
        """Return the result: a subscription has no time limit of its own."""
        return self.finish(None)

    def wind_down(self) -> None:
        """End the subscription by a result."""
        self._ended.set()

    def _heard(self, topic: str) -> None:
        with self._order:
            notification = self._notifications.get(topic)
            if notification is not None:
                self._tell(notification, {})

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        meta = {names.SUBSCRIPTION_ID: self._id}
        self._context.tell(encode_notification(method, {names.META: meta, **params}))


def _honoured(params: Mapping[str, Any]) -> list[str]:
    """Return the wishes that can be fulfilled.

    Raises:
        InvalidParams: there is no object of wishes.
    """
    wishes = params.get("notifications")
    if not isinstance(wishes, dict):
        raise InvalidParams("notifications must be an object that says what to hear of")
    return [wish for wish in _TOPICS if wishes.get(wish) is True]
