"""`Dialogue`: questions and their answers over one transport.

Rule: every question ends: with its answer, with a `ClientError` that says what the other side did wrong, with a time
limit, or by cancellation (the last two tell the server). What the server asks is answered, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio
from anyio import CancelScope, get_cancelled_exc_class

from ..errors import ClientError
from ..limits import Limits
from ..protocol import names
from ..protocol.jsonrpc import (
    Batch,
    Notification,
    Request,
    Response,
    decode,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)
from ..protocol.refusal import Id, Refused
from .transport import Transport

_LIMITS: Final = Limits(depth=500, batch=10_000)
_METHOD_NOT_FOUND: Final = -32601


class Question:
    """A request that waits for its answer."""

    __slots__ = ("answer", "answered", "failure")

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.answer: dict[str, Any] = {}
        self.failure: ClientError | None = None

    def fail(self, failure: ClientError) -> None:
        """End the waiting with an error."""
        self.failure = failure
        self.answered.set()


class Dialogue:
    """Speaks over an open transport; `listen` must run in a task of its own.

    `on_request` takes what the server asks, other than a ping, and sends the answer some time; without it the answer is
    that this client cannot do it.
    """

    def __init__(
        self,
        transport: Transport,
        on_notification: Callable[[Notification], None],
        on_request: Callable[[Request], None] | None = None,
    ) -> None:
        self._transport = transport
        self._on_notification = on_notification
        self._on_request = on_request
        self._ids = itertools.count(1)
        self._questions: dict[Id, Question] = {}
        self._broken: ClientError | None = ClientError("the client is not open: use it inside `async with`")

    def open(self) -> None:
        """Take questions from now on."""
        self._broken = None

    def close(self) -> None:
        """Take no more questions, and end those that wait."""
        self._break(ClientError("the client is closed"))

    async def listen(self) -> None:
        """Take what the server sends until it goes."""
        while True:
            try:
                message = await self._transport.receive()
            except ClientError as error:
                return self._break(error)
            for answer in self._take(message):
                try:
                    await self._transport.send(answer)
                except ClientError as error:
                    return self._break(error)

    async def ask(self, method: str, params: dict[str, Any], *, timeout: float | None = None) -> dict[str, Any]:
        """Send a request and return the result.

        `timeout` is in seconds; without one it waits as long as the server takes.

        Raises:
            ClientError: the server answered with an error, broke the protocol, went away or took too long.
        """
        if self._broken is not None:
            raise ClientError(str(self._broken))
        id = next(self._ids)
        question = self._questions[id] = Question()
        try:
            await self._transport.send(encode_request(id, method, params))
            with anyio.move_on_after(timeout):
                await question.answered.wait()
            if not question.answered.is_set():
                await self._cancel(id, f"no answer within {timeout:g} s")
                raise ClientError(f"{method} was not answered within {timeout:g} s")
        except get_cancelled_exc_class():
            if method != names.INITIALIZE:
                await self._cancel(id, "the caller was cancelled")
            raise
        finally:
            del self._questions[id]
        if (failure := question.failure) is not None:  # several may share it, and each raises its own
            raise ClientError(str(failure), failure.code, failure.data)
        return question.answer

    async def send(self, answer: bytes) -> None:
        """Send the answer to a request of the server.

        Raises:
            ClientError: the server has gone.
        """
        await self._transport.send(answer)

    async def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification.

        Raises:
            ClientError: the client is not open, or the server has gone.
        """
        if self._broken is not None:
            raise ClientError(str(self._broken))
        await self._transport.send(encode_notification(method, params))

    def _take(self, data: bytes) -> list[bytes]:
        """Take one message; return what is to be sent back."""
        try:
            message = decode(data, _LIMITS)
        except Refused as refused:
            self._break(_malformed(refused, data))
            return []
        if not isinstance(message, Batch):
            return self._take_one(message)
        answers = []
        for item in message.items:
            if isinstance(item, Refused):
                self._break(_malformed(item, data))
            else:
                answers += self._take_one(item)
        return answers

    def _take_one(self, message: Request | Notification | Response) -> list[bytes]:
        if isinstance(message, Response):
            self._answer(message)
            return []
        if isinstance(message, Notification):
            self._on_notification(message)
            return []
        if message.method == names.PING:
            return [encode_result(message.id, {})]
        if self._on_request is not None:
            self._on_request(message)
            return []
        return [encode_error(message.id, _METHOD_NOT_FOUND, f"this client does not serve {message.method!r}")]

    def _answer(self, response: Response) -> None:
        failure = None
        if response.error is not None:
            failure = ClientError(response.error.message, response.error.code, response.error.data)
        if response.id is None:
            # The server could not read which request it refuses, so none of them can be believed to be answered.
            for question in self._questions.values():
                question.fail(failure or ClientError("a response without an id"))
            return
        asked = self._questions.get(response.id)
        if asked is None:
            return  # late: nobody waits for it any more
        if failure is not None:
            asked.fail(failure)
        else:
            asked.answer = response.result or {}
            asked.answered.set()

    def _break(self, failure: ClientError) -> None:
        self._broken = self._broken or failure
        for question in self._questions.values():
            question.fail(failure)

    async def _cancel(self, id: Id, reason: str) -> None:
        # A server that has gone does not work on it either.
        with CancelScope(shield=True), anyio.move_on_after(1), suppress(ClientError):
            await self.tell(names.CANCELLED, {"requestId": id, "reason": reason})


def _malformed(refused: Refused, data: bytes) -> ClientError:
    shown = data[:200].decode("utf-8", "replace") + ("…" if len(data) > 200 else "")
    return ClientError(f"the server sent what is no JSON-RPC message ({refused.error.message}): {shown}")
