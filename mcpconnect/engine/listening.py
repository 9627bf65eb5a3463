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
from ..features.resource import key_of
from ..protocol import names
from ..protocol.jsonrpc import Request, encode_error, encode_notification, encode_result
from ..protocol.refusal import Id
from ..server import McpServer
from .failures import internal
from .job import Prepare
from .sight import Sight
from .topics import CHANGES, updated_uri

_WISHES: Final[Mapping[str, str]] = {
    "toolsListChanged": "tools",
    "promptsListChanged": "prompts",
    "resourcesListChanged": "resources",
}
_URIS: Final = "resourceSubscriptions"


class Listening:
    """One open subscription."""

    threaded: bool = False
    timeout: float | None = None
    prepare: Prepare | None = None

    def __init__(self, server: McpServer, request: Request, context: Context) -> None:
        self._server = server
        self._id: Id = request.id
        self._context = context
        self._honoured = _honoured(request.params, server.limits.subscriptions)
        self._topics = {_WISHES[wish] for wish in self._honoured if wish in _WISHES}
        self._uris: dict[str | None, str] = {key_of(uri): uri for uri in self._honoured.get(_URIS, ())}
        self._order = Lock()  # changes come from any thread, but only between the acknowledgement and the end
        self._ended = anyio.Event()
        self._sight = Sight(server, lambda: context)
        self._sight.look()

    async def begin(self) -> None:
        """Acknowledge, and pass changes on until the server winds down."""
        with self._order:
            unsubscribe = self._server.hub.subscribe(self._heard)
            self._tell(names.ACKNOWLEDGED, {"notifications": self._honoured})
        try:
            await self._ended.wait()
        finally:
            unsubscribe()
        with self._order:
            self._topics.clear()
            self._uris.clear()
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
            if topic in self._topics and self._sight.changed(topic):
                self._tell(CHANGES[topic], {}, change=True)
            elif (uri := self._uris.get(updated_uri(topic))) is not None and self._sight.changed(topic):
                self._tell(names.RESOURCE_UPDATED, {"uri": uri}, change=True)

    def _tell(self, method: str, params: dict[str, Any], *, change: bool = False) -> None:
        meta = {names.SUBSCRIPTION_ID: self._id}
        self._context.tell(encode_notification(method, {names.META: meta, **params}), change=change)


def _honoured(params: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the wishes that are fulfilled, as the client wrote them.

    Raises:
        InvalidParams: there is no object of wishes, or one is malformed.
    """
    wishes = params.get("notifications")
    if not isinstance(wishes, dict):
        raise InvalidParams("notifications must be an object that says what to hear of")
    honoured: dict[str, Any] = {wish: True for wish in _WISHES if wishes.get(wish) is True}
    uris = wishes.get(_URIS)
    if uris is not None:
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise InvalidParams(f"{_URIS} must be a list of URIs")
        honoured[_URIS] = uris[:limit]
    return honoured
