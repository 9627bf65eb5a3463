"""Why a message is refused, and to whom the answer goes.

Rule: this file only looks for the fault and the id; nothing it reads is ever served. Bytes that are no JSON are a parse
error; JSON that we refuse (a wrong envelope, a lone surrogate, a number out of range, too deep) is an invalid request.
The id of the answer is the message's own where it can be read and is a legal one, else there is none.
"""

from __future__ import annotations

import enum
import json
import math
import re
from typing import Any, Final, Literal, NoReturn, TypeAlias, TypeGuard

from ..errors import InvalidRequest, ParseError, ProtocolError
from .nesting import structure

Id: TypeAlias = int | str
"""A request's id, echoed exactly."""


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class NoId(enum.Enum):
    """The type of `NO_ID`."""

    NO_ID = "no id"


NO_ID: Final = NoId.NO_ID
"""The id of a request could not be read."""


class Refused(Exception):  # noqa: N818 - it is the answer to a message, not a failure of ours
    """A message that cannot be served: `error` says why, `id` whom to answer."""

    def __init__(self, error: ProtocolError, id: Id | Literal[NoId.NO_ID] = NO_ID) -> None:
        self.error = error
        self.id = id
        super().__init__(error.message)


def invalid(reason: str, id: Id | Literal[NoId.NO_ID] = NO_ID) -> Refused:
    """Return the refusal of JSON that is not a legal message."""
    return Refused(InvalidRequest(f"Invalid request: {reason}"), id)


def too_deep(data: bytes, limit: int) -> Refused:
    """Return the refusal of a message nested more than `limit` levels deep."""
    brackets = structure(data)
    if brackets.count(b"[") != brackets.count(b"]"):
        return Refused(ParseError("Parse error: brackets do not match"))
    return invalid(f"nested more than {limit} levels deep", _legal_id(_outline(data)))


class BrokenResponse(Refused):
    """A response whose id says whose it is, though nothing else of it can be used."""

    id: Id


def read_again(data: bytes, reason: str) -> str:
    """Find out why the decoder refused `data`, a single message (`reason` is what it said).

    Returns the method if it is a notification after all, which no fault makes answerable.

    Raises:
        BrokenResponse: it answers a request.
        Refused: anything else.
    """
    message = _load(data, reason)
    if not isinstance(message, dict):
        raise invalid("a message must be a JSON object")
    if message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str) and "id" not in message:
        return str(message["method"])
    fault = _envelope_fault(message) or _value_fault(data, reason)
    if _is_response(message) and _is_id(message.get("id")):
        raise BrokenResponse(InvalidRequest(f"Invalid response: {fault}"), message["id"])
    raise invalid(fault, _legal_id(message))


def unreadable_batch(data: bytes, reason: str) -> Refused:
    """Return the refusal of an array that the decoder refused as a whole."""
    try:
        _load(data, reason)
    except Refused as refused:
        return refused
    return invalid(_value_fault(data, reason))


def _load(data: bytes, reason: str) -> Any:
    try:
        return json.loads(data.decode(), parse_int=_integer, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(ParseError(f"Parse error: {reason}")) from None


def _envelope_fault(message: dict[str, Any]) -> str | None:
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0"'
    if "id" in message and not _is_id(message["id"]):
        return "`id` must be a string or an integer"
    if not isinstance(message.get("method", ""), str):
        return "`method` must be a string"
    if not isinstance(message.get("params", {}), dict):
        return "`params` must be an object"
    return None


def _value_fault(data: bytes, reason: str) -> str:
    return "a string holds a lone surrogate" if _SURROGATE.search(data) else reason


def _legal_id(message: dict[str, Any]) -> Id | Literal[NoId.NO_ID]:
    if _is_response(message):
        return NO_ID  # a broken response: its sender would take our answer for one to a request of its own
    id = message.get("id")
    return id if _is_id(id) else NO_ID


def _is_response(message: dict[str, Any]) -> bool:
    return "method" not in message and ("result" in message or "error" in message)


def _is_id(value: Any) -> TypeGuard[Id]:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _integer(digits: str) -> float:
    # The interpreter refuses to read thousands of digits; as infinity they are at least no id.
    return int(digits) if len(digits) <= 4000 else math.inf


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_ONE_CONTAINER = re.compile(
    rb"""
    (\s*\{ [^"\[{]*+ (?:"[^"\\]*+(?:\\.[^"\\]*+)*+" [^"\[{]*+)*+)  # the members before the first container
    [\[{] .* [\]}]
    ([^\[\]{}]* \}\s*)                                             # the members behind the last one
    """,
    re.VERBOSE | re.DOTALL,
)


def _outline(data: bytes) -> dict[str, Any]:
    """Return the members of a message without looking into its (one) container, usually `params`."""
    match = _ONE_CONTAINER.fullmatch(data)
    if match is None:
        return {}
    try:
        outline = json.loads((match[1] + b"null" + match[2]).decode(), parse_int=_integer)
    except ValueError:
        return {}
    return outline if isinstance(outline, dict) else {}
