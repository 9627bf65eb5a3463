"""`Exchange`: one request, who sent it, and the server that answers; what every operation is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from msgspec import Raw

from ..context import Channel, Context, Disposals, InputRequired, Inputs, Pending, RunContext, Runtime, SessionScope
from ..errors import InvalidParams
from ..features.offered import Offered
from ..protocol import names
from ..protocol.jsonrpc import Request
from ..protocol.peer import Peer
from ..protocol.revision import Shape
from ..server import McpServer
from .asking import Asking
from .failures import leaves
from .job import Call
from .lifecycle import Lifecycle

F = TypeVar("F", bound=Offered)


@dataclass(slots=True)
class Exchange:
    """A request, who sent it, the server that answers, and the way back.

    `guarded` names the tool whose guards have had their say, `made` is its context once somebody wanted that. `sent` is
    what the client sent, where a middleware may have replaced it.
    """

    server: McpServer
    lifecycle: Lifecycle
    request: Request
    peer: Peer
    channel: Channel
    pending: Pending
    runtime: Runtime
    session: SessionScope | None = None
    guarded: str | None = None
    made: tuple[Context, Disposals] | None = None
    sent: Request | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The request's parameters."""
        return self.request.params

    def lowered(self, result: Shape) -> Shape:
        """Return a result in the peer's shape, with the server's identity where the revision has a place for it."""
        meta = {**result.get(names.META, {}), names.SERVER_INFO: self.server.implementation}
        return self.peer.revision.lower(self.request.method, {**result, names.META: meta})

    def text(self, member: str, what: str) -> str:
        """Return a text among the parameters.

        Raises:
            InvalidParams: it is not there, or of another type.
        """
        value = self.params.get(member)
        if not isinstance(value, str):
            raise InvalidParams(f"{member} must be {what}")
        return value

    def arguments(self) -> dict[str, Any]:
        """Return the arguments; absent and null ones are none at all.

        Raises:
            InvalidParams: they are no object.
        """
        arguments = self.params.get("arguments")
        if arguments is None:
            return {}
        if not isinstance(arguments, dict):
            raise InvalidParams("arguments must be an object")
        return arguments

    def required(self, error: BaseException) -> bytes | None:
        """Return the answer of a call that needs to know more, if that is why it ended."""
        signal = next((cause for cause in leaves(error) if isinstance(cause, InputRequired)), None)
        return None if signal is None else self._asking().required(signal)

    def context(self, feature: str, uri: str | None = None) -> tuple[Context, Disposals]:
        """Return the request's context, about a feature, and what it will leave behind.

        Raises:
            InvalidParams: the request's `_meta` is no object, or names an unknown log level.
        """
        if self.made is not None:
            context, disposals = self.made
            context.feature, context.uri = feature, uri
            return self.made
        meta = self._meta()
        disposals = Disposals()
        context = Context(
            self.request.id,
            self.peer,
            feature,
            meta,
            self.channel,
            disposals,
            uri,
            runtime=self.runtime,
            _serializer=self.server.serializer,
            _session=self.session if self.peer.revision.handshake else None,
            _heard_from=self.lifecycle.heard_from(self.peer, meta),
        )
        # A state that is not valid is refused now, before anything runs.
        context.asks(lambda: self._inputs(context), now="requestState" in self.params)
        self.made = context, disposals
        return self.made

    def inside(self, request: Request) -> tuple[Exchange, Context]:
        """Return the exchange of the same request as a middleware hands it on, and a context of its own for the run.

        Raises:
            InvalidParams: as `context` does.
        """
        inner = replace(self, request=request)
        outer, _ = inner.made or inner.context(request.method)
        outer.meta = inner._meta()
        outer._heard_from = self.lifecycle.heard_from(self.peer, outer.meta)
        disposals = Disposals()
        context = RunContext(outer, disposals)
        inner.made = context, disposals
        return inner, context

    def _meta(self) -> dict[str, Any]:
        meta = self.params.get(names.META, {})
        if not isinstance(meta, dict):
            raise InvalidParams("_meta must be an object")
        return meta

    def seen(self, feature: F | None) -> F | None:
        """Return a feature that is there, if the client may know of it.

        Raises:
            InvalidParams: as `context` does, and for what is not there as for what is hidden.
        """
        if not self.server.visibility:
            return feature
        self.context(self.request.method)
        return feature if feature is not None and self.sees(feature) else None

    def sees(self, feature: Offered) -> bool:
        """Say whether the client may know of a feature."""
        if not self.server.visibility:
            return True
        uri = self.params.get("uri")
        context, _ = self.context(feature.name, uri if isinstance(uri, str) else None)
        return self.server.visibility.shows(feature, context)

    def _asking(self) -> Asking:
        # The client comes back with what it sent, and knows nothing of what a middleware put in its place.
        return Asking(self.server, self.sent or self.request, self.peer, self.channel.arrival.principal)

    def _inputs(self, context: Context) -> Inputs:
        return self._asking().inputs(context.tell, self.pending, self.channel.deaf, self.runtime.aside)


@dataclass(slots=True)
class Running:
    """A call that is ready to run."""

    call: Call
    context: Context
    disposals: Disposals


Result: TypeAlias = Shape | Raw | bytes | Running
"""The newest shape; a finished result; a finished message; a call to run."""

Operation: TypeAlias = Callable[[Exchange], Result]
Operations: TypeAlias = Mapping[str, Operation]
