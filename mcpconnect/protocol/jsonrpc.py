"""JSON-RPC 2.0: bytes to messages and back.

Rule: `decode` gives a message or raises `Refused`, whatever the bytes are; nothing else leaves it. The good case is one
msgspec call; what msgspec refuses is looked at once more (`protocol.refusal`) to tell whose fault it is and to find the
id that the answer must repeat. Ids are echoed exactly: `1`, `"1"`, `0` and `""` are four different ids.

Sources: https://www.jsonrpc.org/specification and the specification's page *Base Protocol, Messages*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from ..limits import Limits
from .nesting import nested_deeper
from .refusal import NO_ID, BrokenResponse, Id, NoId, Refused, invalid, read_again, too_deep, unreadable_batch


class Request(msgspec.Struct, frozen=True):
    """Wants an answer with the same id."""

    id: Id
    method: str
    params: dict[str, Any]


class Notification(msgspec.Struct, frozen=True):
    """Is never answered, whatever is wrong with it."""

    method: str
    params: dict[str, Any]


class ErrorObject(msgspec.Struct, frozen=True):
    """The `error` member of a response."""

    code: int
    message: str
    data: Any = None


class Response(msgspec.Struct, frozen=True):
    """Answers a request: exactly one of `result` and `error` is there; an error may have no id to name."""

    id: Id | None
    result: dict[str, Any] | None = None
    error: ErrorObject | None = None


Single: TypeAlias = Request | Notification | Response


class Batch(msgspec.Struct, frozen=True):
    """Several messages in one array, in their order; an item that could not be read stands as its `Refused`."""

    items: tuple[Single | Refused, ...]


class _Envelope(msgspec.Struct):
    jsonrpc: Literal["2.0"]
    id: Id | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    result: dict[str, Any] | UnsetType = UNSET
    error: ErrorObject | UnsetType = UNSET


class _Success(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: Id
    result: Any


_INVALID: Final = -32600
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_items = msgspec.json.Decoder(list[Raw]).decode
_encode = msgspec.json.Encoder().encode
_is_array = re.compile(rb"[ \t\r\n]*\[").match


def decode(data: bytes, limits: Limits) -> Single | Batch:
    """Return the message that `data` holds.

    Raises `Refused` (with a `ParseError` or an `InvalidRequest`, and the id to answer where one can be read). A batch
    does so only as a whole (empty, too long, not JSON); bad items stand in `Batch.items`. Whether the peer's revision
    knows batches is the caller's question.
    """
    if data.count(b"[") + data.count(b"{") > limits.depth and nested_deeper(data, limits.depth):
        raise too_deep(data, limits.depth)
    try:
        envelope = _decode_envelope(data)
    except msgspec.DecodeError as error:
        return _decode_batch(data, limits) if _is_array(data) else _look_again(data, error)
    return _single(envelope)


def _single(envelope: _Envelope) -> Single:
    method = envelope.method
    if method is UNSET:
        return _response(envelope)
    if envelope.result is not UNSET or envelope.error is not UNSET:
        raise invalid("a message with a `method` cannot have a `result` or an `error`")
    id = envelope.id
    if id is UNSET:
        return Notification(method, envelope.params)
    if id is None:
        raise invalid("`id` must be a string or an integer, not null")
    return Request(id, method, envelope.params)


def _look_again(data: bytes, error: msgspec.DecodeError) -> Notification | Response:
    try:
        return Notification(method=read_again(data, str(error)), params={})
    except BrokenResponse as broken:
        return _broken(broken.id, broken.error.message)


def _broken(id: Id, reason: str) -> Response:
    """Return the failure that a response is read as whose content cannot be used: who asked has to know."""
    return Response(id, error=ErrorObject(_INVALID, reason))


def _response(envelope: _Envelope) -> Response:
    id = None if envelope.id is UNSET else envelope.id
    if envelope.result is not UNSET and envelope.error is UNSET and id is not None:
        return Response(id, result=envelope.result)
    if envelope.error is not UNSET and envelope.result is UNSET:
        return Response(id, error=envelope.error)
    if envelope.error is UNSET and envelope.result is UNSET:
        raise invalid("`method` is missing", NO_ID if id is None else id)
    if id is not None:
        return _broken(id, "Invalid response: it has both a `result` and an `error`")
    # No id: the sender of a broken response would take the answer for one to a request of its own.
    raise invalid("a response needs an `id` and one of `result` and `error`")


def _decode_batch(data: bytes, limits: Limits) -> Batch:
    try:
        items = _decode_items(data)
    except msgspec.DecodeError as error:
        raise unreadable_batch(data, str(error)) from None
    if not items:
        raise invalid("a batch cannot be empty")
    if len(items) > limits.batch:
        raise invalid(f"a batch holds at most {limits.batch} messages, this one has {len(items)}")
    return Batch(tuple(_decode_item(item) for item in items))


def _decode_item(item: Raw) -> Single | Refused:
    try:
        try:
            envelope = _decode_envelope(item)
        except msgspec.DecodeError as error:
            return _look_again(bytes(item), error)
        return _single(envelope)
    except Refused as refused:
        return refused


def encode_result(id: Id, result: Any, encode: Callable[[Any], bytes] = _encode) -> bytes:
    """Return the response that carries `result`, a JSON object in the peer's shape.

    Parts that are `msgspec.Raw` (encoded already) pass as they are. Lone surrogates, which UTF-8 cannot hold, become
    U+FFFD. `encode` writes the JSON.
    """
    try:
        return encode(_Success(id, result))
    except UnicodeEncodeError:
        return encode(_Success(id, _well_formed(result)))


class Failure(bytes):
    """An error response that remembers its code, for transports whose status line depends on it."""

    code: int = 0


def encode_error(id: Id | NoId | None, code: int, message: str, data: Any = None) -> Failure:
    """Return the error response; `NO_ID` leaves the member out, `None` writes null, and `data=None` is left out."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    identified = {} if id is NO_ID else {"id": id}
    failure = Failure(_encode_envelope({"jsonrpc": "2.0", **identified, "error": error}))
    failure.code = code
    return failure


def encode_request(id: Id, method: str, params: dict[str, Any] | None = None) -> bytes:
    """Return the request; `params=None` leaves the member out."""
    given = {} if params is None else {"params": params}
    return _encode_envelope({"jsonrpc": "2.0", "id": id, "method": method, **given})


def encode_notification(method: str, params: dict[str, Any] | None = None) -> bytes:
    """Return the notification; `params=None` leaves the member out."""
    given = {} if params is None else {"params": params}
    return _encode_envelope({"jsonrpc": "2.0", "method": method, **given})


def encode_batch(messages: Iterable[bytes]) -> bytes:
    """Return the array of messages that are encoded already."""
    return b"[" + b",".join(messages) + b"]"


def _encode_envelope(envelope: dict[str, Any]) -> bytes:
    try:
        return _encode(envelope)
    except UnicodeEncodeError:
        return _encode(_well_formed(envelope))


def _well_formed(value: Any) -> Any:
    """Return the JSON value with surrogate pairs joined and lone surrogates replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_well_formed(key): _well_formed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_well_formed(item) for item in value]
    return value
