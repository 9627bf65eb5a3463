"""Ending a call for questions, and running it again with the answers: the state that travels with them.

Rule: what the client carries is sealed: the method, what it is about, its arguments, when it expires, how many rounds
there were, what was asked, and the answers so far. Anything that does not open, or belongs to another call, is refused
before any code of the user runs.

Source: the specification's page *Multi Round-Trip Requests*.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Raw

from ..context import Aside, InputRequired, Inputs, LiveInputs, NoInputs, Pending, ReplayInputs
from ..errors import InvalidParams
from ..protocol import names
from ..protocol.jsonrpc import Request, encode_result
from ..protocol.peer import Peer
from ..server import McpServer

_TARGETS: Final[Mapping[str, str]] = {names.TOOLS_CALL: "name", names.PROMPTS_GET: "name", names.RESOURCES_READ: "uri"}


def as_sent(request: Request, peer: Peer) -> Request:
    """Return a request that stays what its client sent, whatever becomes of its parameters.

    Encoding the arguments is the cheapest copy, and all that is needed of them to know the call again.
    """
    params = dict(request.params)
    if not peer.revision.handshake and "arguments" in params:
        params["arguments"] = Raw(_written(params["arguments"]))
    return Request(request.id, request.method, params)


def _written(arguments: Any) -> bytes:
    return msgspec.json.encode(arguments or {}, order="deterministic")


class _Bond(msgspec.Struct, frozen=True):
    """The call that a state belongs to."""

    server: str
    method: str
    target: str
    arguments: str
    principal: str


class _State(msgspec.Struct, frozen=True):
    """What is sealed into `requestState`: `answers` by `Asked.ident`, and the idents of what was asked last by key."""

    bond: _Bond
    expires: float = 0.0
    round: int = 0
    answers: dict[str, Any] = {}
    asked: dict[str, str] = {}
    nonce: str = ""


# JSON, because an answer may hold any number that JSON can.
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_State).decode


class Asking:
    """The questions of one request: the answers that it brings, and the result that asks for more."""

    def __init__(self, server: McpServer, request: Request, peer: Peer, principal: str | None) -> None:
        self._server = server
        self._request = request
        self._peer = peer
        self._principal = principal
        self._state = self._opened()

    def inputs(self, send: Callable[[bytes], None], pending: Pending, deaf: str | None, aside: Aside) -> Inputs:
        """Return how the call asks: at once, by ending, or not at all (`deaf` says why)."""
        server, peer = self._server, self._peer
        if peer.revision.handshake:
            if deaf is not None:
                return NoInputs(deaf)
            return LiveInputs(send, pending, peer, server.serializer, server.limits.answer_seconds, aside)
        if self._request.method not in _TARGETS:
            return NoInputs(f"in {peer.revision.version} no question can be the answer to {self._request.method}")
        given = self._request.params.get("inputResponses")
        new = given if isinstance(given, dict) else {}
        asked = self._state.asked
        answers = {**{asked[key]: answer for key, answer in new.items() if key in asked}, **self._state.answers}
        unasked = {key: answer for key, answer in new.items() if key not in asked}
        return ReplayInputs(answers, unasked, peer, server.serializer, use=self._use, thread=pending.thread)

    def required(self, signal: InputRequired) -> bytes:
        """Return the result that asks for what a call needs.

        Raises:
            InvalidParams: the call has asked too often.
        """
        state, limits = self._state, self._server.limits
        signal.delivered = True
        if state.round >= limits.rounds:
            raise InvalidParams(_too_often(state.round, signal.problem))
        more = msgspec.structs.replace(
            state,
            expires=time.time() + limits.state_seconds,
            round=state.round + 1,
            answers=dict(signal.answers),
            asked={key: asked.ident for key, asked in signal.asked.items()},
            nonce=secrets.token_hex(8),
        )
        result = {
            "resultType": "input_required",
            "inputRequests": {k: {"method": each.method, "params": each.params} for k, each in signal.asked.items()},
            "requestState": self._server.sealer("state").seal(_encode(more)),
            names.META: {names.SERVER_INFO: self._server.implementation},
        }
        return encode_result(self._request.id, result)

    def _use(self) -> None:
        limits = self._server.limits
        if not self._server.sealer("state").first_use(self._request.params["requestState"], limits.states):
            raise InvalidParams("requestState was used before: call again without it")

    def _opened(self) -> _State:
        request = self._request
        bond = _Bond(
            self._server.name,
            request.method,
            str(request.params.get(_TARGETS.get(request.method, ""))),
            sha256(_written(request.params.get("arguments"))).hexdigest(),
            self._principal or "",
        )
        sealed = request.params.get("requestState")
        if sealed is None or self._peer.revision.handshake:
            return _State(bond)
        data = self._server.sealer("state").open(sealed) if isinstance(sealed, str) else None
        try:
            state = None if data is None else _decode(data)
        except msgspec.DecodeError:  # sealed by another version of the server
            state = None
        if state is None or state.expires < time.time():
            raise InvalidParams("requestState is not valid, or too old: call again without it")
        if state.bond != bond:
            raise InvalidParams("requestState belongs to another call")
        return state


def _too_often(rounds: int, problem: str | None) -> str:
    if problem is not None:
        return f"no answer in {rounds} rounds fits its question (Limits.rounds): {problem}"
    return (
        f"the call ended for a question {rounds} times (Limits.rounds); one that reads differently each time the "
        f"method runs is never answered"
    )
