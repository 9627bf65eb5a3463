"""Reading the body of a request: bounded in size and in time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ...limits import Limits
from .asgi import Receive


class BodyRefused(Exception):  # noqa: N818 - an answer to the client, not a failure of ours
    """A body that is not read to its end; `status` is the HTTP status that says so."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        self.reason = reason
        super().__init__(reason)


class Disconnected(Exception):  # noqa: N818 - a fact, not a failure
    """The client went away."""


async def read_body(receive: Receive, headers: Mapping[str, str], limits: Limits) -> bytes:
    """Return the whole body.

    Raises:
        BodyRefused: it is too long or too slow.
        Disconnected: the client went away meanwhile.
    """
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limits.body_bytes:
        raise _too_long(limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _read(receive, limits)
    except TimeoutError:
        raise BodyRefused(408, f"the body took longer than {limits.body_seconds:g} s (Limits.body_seconds)") from None


async def _read(receive: Receive, limits: Limits) -> bytes:
    pieces: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        piece: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(piece)
        if size > limits.body_bytes:
            raise _too_long(limits)
        pieces.append(piece)
    return b"".join(pieces)


def _too_long(limits: Limits) -> BodyRefused:
    return BodyRefused(413, f"the body is longer than {limits.body_bytes} bytes (Limits.body_bytes)")
