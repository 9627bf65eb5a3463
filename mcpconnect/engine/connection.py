"""`Connection`: one peer's messages in, answers out.

Rule: `receive` is synchronous and does everything up to the user's method, so that a cancellation right behind its
request always finds it. It gives finished bytes, jobs to run, or nothing; running them is the runner's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Raw

from ..errors import InternalError, InvalidRequest, MethodNotFound, ProtocolError
from ..protocol import names
from ..protocol.jsonrpc import (
    Batch,
    Notification,
    Request,
    Response,
    Single,
    decode,
    encode_error,
    encode_notification,
    encode_result,
)
from ..protocol.refusal import NO_ID, Id, NoId, Refused
from ..protocol.revision import Revision
from ..protocol.revisions import LATEST_HANDSHAKE
from ..server import McpServer
from .failures import internal
from .gathering import Gathering
from .job import Job, Reply
from .lifecycle import Lifecycle
from .operations import OPERATIONS, Exchange, Running

Outcome: TypeAlias = bytes | tuple[Job, ...] | None


class Connection:
    """The server's side of one connection. `write` takes one message without a line end, from any thread."""

    def __init__(self, server: McpServer, write: Callable[[bytes], None]) -> None:
        self._server = server
        self._write = write
        self._lifecycle = Lifecycle()
        self._live: dict[Id, Job] = {}
        self._unsubscribe = server.hub.subscribe(self._announce)

    @property
    def live(self) -> int:
        """How many calls are not answered yet."""
        return len(self._live)

    def receive(self, data: bytes) -> Outcome:
        """Take one message: return the answer, the jobs that will give it, or nothing."""
        try:
            message = decode(data, self._server.limits)
        except Refused as refused:
            return self.refuse(refused)
        if isinstance(message, Batch):
            return self._receive_batch(message)
        outcome = self._receive_one(message, self._reply)
        return (outcome,) if isinstance(outcome, Job) else outcome

    def refuse(self, refused: Refused) -> bytes:
        """Return the answer to a message that cannot be served, with the id and the code that the peer knows."""
        spoken = self._lifecycle.spoken
        answered: Id | NoId | None = refused.id
        if answered is NO_ID and (spoken is None or not spoken.anonymous_errors):
            answered = None
        return _error(answered, spoken or LATEST_HANDSHAKE, refused.error)

    def close(self) -> None:
        """End what still runs, without answers, and hear no more of changes."""
        self._unsubscribe()
        for job in list(self._live.values()):
            job.cancel("the connection is closed")

    def _reply(self, data: bytes | None) -> None:
        if data is not None:
            self._write(data)

    def _receive_batch(self, batch: Batch) -> Outcome:
        spoken = self._lifecycle.spoken
        if spoken is None or not spoken.batching:
            return self.refuse(Refused(InvalidRequest("Invalid request: this revision has no batches")))
        gathering = Gathering(len(batch.items), self._write)
        jobs = []
        for item in batch.items:
            outcome = self.refuse(item) if isinstance(item, Refused) else self._receive_one(item, gathering.add)
            if isinstance(outcome, Job):
                jobs.append(outcome)
            else:
                gathering.add(outcome)
        return tuple(jobs)

    def _receive_one(self, message: Single, reply: Reply) -> bytes | Job | None:
        if isinstance(message, Request):
            return self._receive_request(message, reply)
        if isinstance(message, Notification):
            self._receive_notification(message)
        else:
            assert isinstance(message, Response)  # we ask nothing yet, so it answers nothing
        return None

    def _receive_request(self, request: Request, reply: Reply) -> bytes | Job | None:
        try:
            exchange = Exchange(self._server, self._lifecycle, request, self._lifecycle.identify(request))
            operation = OPERATIONS.get(request.method)
            if operation is None or not exchange.peer.revision.has(request.method):
                raise MethodNotFound(f"unknown method {request.method[:100]!r}")
            result = operation(exchange)
            if isinstance(result, Running):
                return self._job(request, result, reply)
            if isinstance(result, bytes):
                return result
            return encode_result(request.id, result if isinstance(result, Raw) else exchange.lowered(result))
        except ProtocolError as error:
            return _error(request.id, self._lifecycle.revision_for(request), error)
        except Exception as error:
            failure = internal(error, request.method, request.id)
            return _error(request.id, self._lifecycle.revision_for(request), failure)

    def _job(self, request: Request, running: Running, reply: Reply) -> Job:
        if request.id in self._live:
            raise InvalidRequest(f"a request with the id {request.id!r} is still running")
        if len(self._live) >= self._server.limits.concurrent_calls:
            raise InternalError("too many calls run at once (Limits.concurrent_calls): try again later")

        def answer(data: bytes | None) -> None:
            self._live.pop(request.id, None)  # first, since the client may use the id again as soon as it reads
            reply(data)

        job = Job(running.call, running.context, running.disposals, answer)
        self._live[request.id] = job
        return job

    def _receive_notification(self, notification: Notification) -> None:
        if notification.method == names.INITIALIZED:
            self._lifecycle.initialized = self._lifecycle.peer is not None
        elif notification.method == names.CANCELLED:
            self._cancel(notification.params)

    def _cancel(self, params: Mapping[str, Any]) -> None:
        request_id, reason = params.get("requestId"), params.get("reason")
        if isinstance(request_id, (str, int)) and not isinstance(request_id, bool):  # True would find the request 1
            job = self._live.get(request_id)
            if job is not None:
                job.cancel(reason if isinstance(reason, str) else None)

    def _announce(self, topic: str) -> None:
        if self._lifecycle.initialized and topic == "tools":
            self._write(encode_notification(names.TOOLS_CHANGED))


def _error(request_id: Id | NoId | None, revision: Revision, error: ProtocolError) -> bytes:
    code = revision.code(error.kind or "") if error.code is None else error.code
    return encode_error(request_id, code, error.message, error.data)
