"""Reading the body of a request: bounded in size and in time."""

from __future__ import annotations

import asyncio
from typing import Final

from ...limits import Limits
from .asgi import Message
from .exchange import CLOSE, HttpExchange

_LINGER_SECONDS: Final = 2.0
_DIGITS: Final = 18  # of a length that is worth reading


class Disconnected(Exception):  # noqa: N818 - a fact, not a failure
    """The client went away."""


class _TooLong(Exception):  # noqa: N818 - an answer to the client, not a failure of ours
    """The body is longer than it may be; `more` says whether there is still more of it."""

    def __init__(self, more: bool) -> None:
        self.more = more
        super().__init__()


async def read_body(http: HttpExchange, limits: Limits) -> bytes | None:
    """Return the whole body, or None after answering that it is too long or too slow.

    Raises:
        Disconnected: the client went away meanwhile.
    """
    declared = http.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > _DIGITS or int(declared) > limits.body_bytes):
        await _refuse_long(http, limits, more=True)
        return None
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _read(http, limits.body_bytes)
    except _TooLong as body:
        await _refuse_long(http, limits, more=body.more)
    except TimeoutError:
        reason = f"the body took longer than {limits.body_seconds:g} s (Limits.body_seconds)"
        await http.refuse(408, reason, CLOSE)
    return None


async def _read(http: HttpExchange, limit: int) -> bytes:
    message = await http.receive()
    pieces: list[bytes] = [_piece(message)]
    size = len(pieces[0])
    while message.get("more_body", False) and size <= limit:
        message = await http.receive()
        pieces.append(_piece(message))
        size += len(pieces[-1])
    if size > limit:
        raise _TooLong(message.get("more_body", False))
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _piece(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise Disconnected
    piece: bytes = message.get("body", b"")
    return piece


async def _refuse_long(http: HttpExchange, limits: Limits, *, more: bool) -> None:
    # Closing at once would take the answer away from a client that still sends.
    reason = f"the body is longer than {limits.body_bytes} bytes (Limits.body_bytes)"
    await http.refuse(413, reason, CLOSE, linger=_LINGER_SECONDS if more else 0)
