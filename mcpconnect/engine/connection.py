"""`Connection`: one peer's messages in, answers out.

Rule: `receive` is synchronous and does everything up to the user's method, so that a cancellation right behind its
request always finds it. It gives finished bytes, jobs to run, or nothing; running them is the runner's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Raw

from ..context import Arrival, Channel, Context, Pending, Runtime, SessionScope, Via
from ..errors import InternalError, InvalidRequest, MethodNotFound, ProtocolError
from ..features.offered import Offered
from ..protocol import names
from ..protocol.jsonrpc import (
    Batch,
    Notification,
    Request,
    Response,
    Single,
    decode,
    encode_error,
    encode_result,
)
from ..protocol.peer import Peer
from ..protocol.refusal import NO_ID, Id, NoId, Refused
from ..protocol.revision import Revision
from ..protocol.revisions import LATEST_HANDSHAKE
from ..server import McpServer
from .announcing import Announcing
from .exchange import Exchange, Result, Running
from .failures import internal
from .gathering import Gathering
from .heard import Hearing
from .job import Job
from .lifecycle import Lifecycle
from .middleware import surround
from .operations import OPERATIONS

Outcome: TypeAlias = bytes | tuple[Job, ...] | None


class Connection:
    """The server's side of one connection. `channel` carries what belongs to no request, and answers by default.

    `runtime` is that of the runner that gets the jobs. `peer` is given where the handshake was made elsewhere, such as
    with a process that has ended. `announces` says whether a client that shook hands stays: it has a session, and is
    told of changes.
    """

    __slots__ = (
        "__weakref__",
        "_announces",
        "_announcing",
        "_arrival",
        "_channel",
        "_hearing",
        "_lifecycle",
        "_live",
        "_pending",
        "_runtime",
        "_server",
        "_session",
    )

    def __init__(
        self,
        server: McpServer,
        channel: Channel,
        runtime: Runtime,
        peer: Peer | None = None,
        *,
        announces: bool = True,
    ) -> None:
        self._server = server
        self._channel = channel
        self._runtime = runtime
        self._lifecycle = Lifecycle(peer)
        self._live: dict[Id, Job] = {}
        self._pending = Pending()
        self._announces = announces
        self._session = SessionScope(server.providers.session, runtime) if announces else None
        self._announcing: Announcing | None = None
        self._hearing: Hearing | None = None
        self._arrival = channel.arrival
        if peer is not None:
            self._hear()

    @property
    def live(self) -> int:
        """How many calls are not answered yet."""
        return len(self._live)

    @property
    def holds_data(self) -> bool:
        """Whether a session object was made, or something was provided for the session."""
        return self._session is not None and not self._session.empty

    @property
    def peer(self) -> Peer | None:
        """The client that shook hands."""
        return self._lifecycle.peer

    def came(self, arrival: Arrival) -> None:
        """Remember how the latest message came, or the request for the stream of the server's own.

        That is who a client is that is told of changes, and whose notifications are heard.
        """
        self._arrival = arrival
        if self._announcing is not None:
            self._announcing.look()

    def receive(self, data: bytes) -> Outcome:
        """Take the bytes of one message: return the answer, the jobs that will give it, or nothing."""
        try:
            message = decode(data, self._server.limits)
        except Refused as refused:
            return self.refuse(refused)
        return self.take(message, self._channel)

    def shows(self, feature: Offered, request: Request) -> bool:
        """Say whether the sender of a request may know of a feature; not if the request is refused anyway."""
        try:
            return self._exchange(request, self._lifecycle.identify(request), self._channel).sees(feature)
        except ProtocolError:
            return False

    def take(self, message: Single | Batch, channel: Channel) -> Outcome:
        """Take one message whose answer goes to `channel`."""
        if isinstance(message, Batch):
            return self._take_batch(message, channel)
        outcome = self._take_one(message, channel)
        return (outcome,) if isinstance(outcome, Job) else outcome

    def refuse(self, refused: Refused) -> bytes:
        """Return the answer to a message that cannot be served, with the id and the code that the peer knows."""
        spoken = self._lifecycle.spoken
        answered: Id | NoId | None = refused.id
        if answered is NO_ID and (spoken is None or not spoken.anonymous_errors):
            answered = None
        return _error(answered, spoken or LATEST_HANDSHAKE, refused.error)

    def hear_no_more(self) -> None:
        """Fail what waits for the client's answer: it sends nothing any more. Calls go on."""
        self._pending.fail("the client has ended its input, and cannot answer")

    def wind_down(self) -> None:
        """End what would stay open as long as the connection; calls go on."""
        for job in list(self._live.values()):
            job.call.wind_down()

    def close(self, reason: str = "the connection is closed") -> None:
        """End what still runs, without answers, and hear no more of changes."""
        if self._announcing is not None:
            self._announcing.close()
        self._pending.fail(reason)
        if self._hearing is not None:
            self._hearing.close(reason)
        for job in list(self._live.values()):
            job.cancel(reason)
        if self._session is not None:
            self._session.end()

    def _take_batch(self, batch: Batch, channel: Channel) -> Outcome:
        spoken = self._lifecycle.spoken
        if spoken is None or not spoken.batching:
            return self.refuse(Refused(InvalidRequest("Invalid request: this revision has no batches")))
        gathering = Gathering(len(batch.items), channel)
        jobs = []
        for item in batch.items:
            outcome = self.refuse(item) if isinstance(item, Refused) else self._take_one(item, gathering)
            if isinstance(outcome, Job):
                jobs.append(outcome)
            if not isinstance(outcome, Job) or isinstance(item, Notification):
                gathering.answer(None if isinstance(outcome, Job) else outcome)
        return tuple(jobs)

    def _take_one(self, message: Single, channel: Channel) -> bytes | Job | None:
        if isinstance(message, Request):
            return self._take_request(message, channel)
        if isinstance(message, Notification):
            return self._take_notification(message)
        assert isinstance(message, Response)
        self._pending.take(message)
        return None

    def _take_request(self, request: Request, channel: Channel) -> bytes | Job | None:
        try:
            peer = self._lifecycle.identify(request)
            exchange = self._exchange(request, peer, channel)
            operation = OPERATIONS.get(request.method)
            if operation is None or not exchange.peer.revision.has(request.method):
                raise MethodNotFound(f"unknown method {request.method[:100]!r}")
            if self._server.middleware and request.method != names.INITIALIZE:
                result: Result = surround(exchange, self._server.middleware, operation, request.method)
            else:
                result = operation(exchange)
            if isinstance(result, Running):
                return self._job(request, result, channel)
            if isinstance(result, bytes):
                return result
            return encode_result(request.id, result if isinstance(result, Raw) else exchange.lowered(result))
        except ProtocolError as error:
            return _error(request.id, self._lifecycle.revision_for(request), error)
        except Exception as error:
            failure = internal(error, request.method, request.id)
            return _error(request.id, self._lifecycle.revision_for(request), failure)

    def _job(self, request: Request, running: Running, channel: Channel) -> Job:
        if request.id in self._live:
            raise InvalidRequest(f"a request with the id {request.id!r} is still running")
        if len(self._live) >= self._server.limits.concurrent_calls:
            raise InternalError("too many calls run at once (Limits.concurrent_calls): try again later")

        def answer(data: bytes | None) -> None:
            self._live.pop(request.id, None)  # first, since the client may use the id again as soon as it reads
            channel.answer(data)

        job = Job(running.call, running.context, running.disposals, answer)
        self._live[request.id] = job
        return job

    def _take_notification(self, notification: Notification) -> Job | None:
        if notification.method == names.INITIALIZED:
            self._lifecycle.initialized = self._lifecycle.peer is not None
            if self._lifecycle.initialized:
                self._hear()
                self.came(self._arrival)
        elif notification.method == names.CANCELLED:
            self._cancel(notification.params)
        handlers = self._server.on.of(notification.method)
        peer = self._lifecycle.peer
        if not handlers or peer is None:
            return None
        request = Request(notification.method, notification.method, notification.params)
        if self._hearing is None:
            self._hearing = Hearing()
        return self._hearing.take(self._exchange(request, peer, self._way()), handlers)

    def _exchange(self, request: Request, peer: Peer, channel: Channel) -> Exchange:
        return Exchange(
            self._server, self._lifecycle, request, peer, channel, self._pending, self._runtime, self._session
        )

    def _cancel(self, params: Mapping[str, Any]) -> None:
        request_id, reason = params.get("requestId"), params.get("reason")
        if isinstance(request_id, (str, int)) and not isinstance(request_id, bool):  # True would find the request 1
            job = self._live.get(request_id)
            if job is not None:
                job.cancel(reason if isinstance(reason, str) else None)

    def _hear(self) -> None:
        if self._announces and self._announcing is None:
            self._announcing = Announcing(self._server, self._lifecycle, self._channel, self._onlooker)

    def _onlooker(self) -> Context:
        peer = self._lifecycle.peer
        assert peer is not None
        return Context("", peer, "", {}, self._way(), runtime=self._runtime, _session=self._session)

    def _way(self) -> Channel:
        """Return the way back of what is no request: the connection's channel, with how the latest message came."""
        arrival = self._arrival
        return self._channel if arrival is self._channel.arrival else Via(self._channel, arrival)


def _error(request_id: Id | NoId | None, revision: Revision, error: ProtocolError) -> bytes:
    code = revision.code(error.kind or "") if error.code is None else error.code
    return encode_error(request_id, code, error.message, error.data)
