"""The one place where exceptions become answers.

Rule: what a model may read is decided here and nowhere else. A deliberate error keeps its text; any other shows its
class and an id, under which the log holds the traceback. Nothing a method raises can end the server.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from typing import Final, Literal

from ..content import TextContent, ToolResult
from ..errors import (
    InternalError,
    LoadError,
    MissingCapability,
    ProtocolError,
    SerializationError,
    ToolError,
    UrlElicitationRequired,
)
from ..protocol import names
from ..protocol.jsonrpc import encode_error
from ..protocol.peer import Peer

ErrorMode = Literal["hidden", "message"]
_logger: Final = logging.getLogger("mcpconnect.calls")


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions of a group, or the exception itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def tool_failure(
    error: BaseException, name: str, shown: tuple[type[BaseException], ...], mode: ErrorMode, request_id: str | int
) -> ToolResult:
    """Return the `isError` result for what a tool raised.

    Raises:
        ProtocolError: that is what the tool raised, and so it answers as a JSON-RPC error; `shown` may name it, too.
    """
    causes = list(leaves(error))
    shown_too = tuple(kind for kind in shown if issubclass(kind, ProtocolError))
    for cause in causes:
        if isinstance(cause, ProtocolError) and not isinstance(cause, shown_too):
            raise cause
    if all(isinstance(cause, (ToolError, *shown)) for cause in causes):
        return error_result("\n".join(_text(cause) or f"{name} failed: {type(cause).__name__}" for cause in causes))
    if isinstance(error, SerializationError):
        error_id = _log(error, name, request_id, "unserializable-result")
        return error_result(f"{name} returned a value that cannot be sent: {error} (error id {error_id})")
    error_id = _log(error, name, request_id, "tool-failed")
    described = ", ".join(dict.fromkeys(_described(cause, mode) for cause in causes))
    return error_result(f"{name} failed: {described} (error id {error_id})")


def bad_arguments(error: LoadError) -> ToolResult:
    """Return the `isError` result that lists what is wrong with the arguments."""
    return error_result(str(error))


def timed_out(name: str, seconds: float) -> ToolResult:
    """Return the `isError` result of a tool that took too long."""
    _logger.warning("%s timed out after %g s", name, seconds, extra={"event": "tool-timeout", "feature": name})
    return error_result(f"{name} timed out after {seconds:g} s")


def internal(error: BaseException, what: str, request_id: str | int) -> InternalError:
    """Return the JSON-RPC error for a failure outside any tool; its text tells nothing but the log's error id."""
    error_id = _log(error, what, request_id, "request-failed")
    return InternalError(f"internal error (error id {error_id})")


def refused(error: ProtocolError, request_id: str | int, peer: Peer) -> bytes:
    """Return the JSON-RPC error in the words of the peer's revision."""
    data = error.data
    if isinstance(error, UrlElicitationRequired):
        if not peer.revision.has(names.ELICITATION_IDS):
            data = None  # pages with ids are what this revision does not know
        elif not peer.can("elicitation", "url"):
            return refused(MissingCapability.of("elicitation", "url"), request_id, peer)
    code = peer.revision.code(error.kind or InternalError.kind) if error.code is None else error.code
    return encode_error(request_id, code, error.message, data)


def too_long(data: bytes, limit: int) -> str:
    """Return how long a result is, for the error that stands in its place."""
    return f": {len(data):,} bytes, and {limit:,} are allowed (Limits.result_bytes)"


def error_result(text: str) -> ToolResult:
    """Return an `isError` result with one text."""
    return ToolResult((TextContent(text),), is_error=True)


def _described(cause: BaseException, mode: ErrorMode) -> str:
    name = type(cause).__name__
    text = _text(cause) if mode == "message" else ""
    return f"{name}: {text}" if text else name


def _text(cause: BaseException) -> str:
    # str(KeyError("x")) is the key's repr, which reads like a quotation of something else.
    if isinstance(cause, KeyError) and len(cause.args) == 1:
        return str(cause.args[0])
    return str(cause)


def _log(error: BaseException, what: str, request_id: str | int, event: str) -> str:
    error_id = secrets.token_hex(4)
    _logger.error(
        "%s failed (error id %s)",
        what,
        error_id,
        exc_info=error,
        extra={"event": event, "error_id": error_id, "request_id": request_id, "feature": what},
    )
    return error_id
