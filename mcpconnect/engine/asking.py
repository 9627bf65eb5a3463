"""Ending a call for questions, and running it again with the answers: the state that travels with them.

Rule: what the client carries is sealed: the method, what it is about, its arguments, when it expires, how many rounds
there were, what was asked, and the answers so far. Anything that does not open, or belongs to another call, is refused
before any code of the user runs.

Source: the specification's page *Multi Round-Trip Requests*.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from ..context import InputRequired, Inputs, LiveInputs, Pending, ReplayInputs
from ..errors import InvalidParams
from ..protocol import names
from ..protocol.jsonrpc import Request, encode_result
from ..protocol.peer import Peer
from ..server import McpServer

_SECONDS: Final = 60 * 60  # how long a client may take between two rounds
_TARGETS: Final[Mapping[str, str]] = {names.TOOLS_CALL: "name", names.PROMPTS_GET: "name", names.RESOURCES_READ: "uri"}


class _State(msgspec.Struct):
    """What is sealed into `requestState`."""

    method: str
    target: str
    arguments: bytes
    principal: str
    expires: float
    round: int
    answers: dict[str, tuple[str, Any]]
    asked: dict[str, str]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_State).decode


class Asking:
    """The questions of one request: the answers that it brings, and the result that asks for more."""

    def __init__(self, server: McpServer, request: Request, peer: Peer, principal: str | None) -> None:
        self._server = server
        self._request = request
        self._peer = peer
        self._principal = principal
        self._state = self._opened()

    def inputs(self, send: Callable[[bytes], None], pending: Pending) -> Inputs:
        """Return how the call asks: at once, or by ending."""
        if self._peer.revision.handshake:
            seconds = self._server.limits.answer_seconds
            return LiveInputs(send, pending, self._peer, self._server.serializer, seconds)
        given = self._request.params.get("inputResponses")
        new = given if isinstance(given, dict) else {}
        answered = {key: (asked, new[key]) for key, asked in self._state.asked.items() if key in new}
        kept = {**self._state.answers, **answered}
        return ReplayInputs(kept, new, self._peer, self._server.serializer)

    def required(self, signal: InputRequired) -> bytes:
        """Return the result that asks for what a call needs.

        Raises:
            InvalidParams: the call has asked too often.
        """
        state = self._state
        if state.round >= self._server.limits.rounds:
            raise InvalidParams(
                f"the call ended for a question {state.round} times (Limits.rounds); one that reads differently each "
                f"time the method runs is never answered"
            )
        sealed = self._server.sealer("state").seal(
            _encode(
                _State(
                    state.method,
                    state.target,
                    state.arguments,
                    state.principal,
                    time.time() + _SECONDS,
                    state.round + 1,
                    dict(signal.answers),
                    dict(signal.asked),
                )
            )
        )
        serializer = self._server.serializer
        asked = {
            key: {"method": question.method, "params": question.params(self._peer, serializer)}
            for key, question in signal.questions.items()
        }
        meta = {names.SERVER_INFO: self._server.implementation}
        result = {"resultType": "input_required", "inputRequests": asked, "requestState": sealed, names.META: meta}
        return encode_result(self._request.id, result)

    def _opened(self) -> _State:
        request = self._request
        fresh = _State(
            request.method,
            str(request.params.get(_TARGETS.get(request.method, ""))),
            sha256(msgspec.json.encode(request.params.get("arguments") or {}, order="deterministic")).digest(),
            self._principal or "",
            0.0,
            0,
            {},
            {},
        )
        sealed = request.params.get("requestState")
        if sealed is None or self._peer.revision.handshake:
            return fresh
        data = self._server.sealer("state").open(sealed) if isinstance(sealed, str) else None
        try:
            state = None if data is None else _decode(data)
        except msgspec.DecodeError:  # sealed by another version of the server
            state = None
        if state is None or state.expires < time.time():
            raise InvalidParams("requestState is not valid, or too old: call again without it")
        if _bound_to(state) != _bound_to(fresh):
            raise InvalidParams("requestState belongs to another call")
        return state


def _bound_to(state: _State) -> tuple[str, str, bytes, str]:
    return state.method, state.target, state.arguments, state.principal
