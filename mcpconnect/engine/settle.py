"""From what a method returned to a plain value: awaitables awaited, iterators drained, anyio streams read.

Rule: draining belongs to the call. It runs under the call's time limit and error handling, is bounded, and closes
what it drained also when the caller is cancelled. Plain binary and text streams are left to `content`.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import AsyncIterator, Iterator
from typing import Any

from anyio import EndOfStream
from anyio.abc import ByteReceiveStream

from ..context import Context
from ..errors import ToolError
from ..limits import Limits


def needs_loop(value: Any) -> bool:
    """Say whether settling `value` takes an event loop."""
    return inspect.isawaitable(value) or isinstance(value, (AsyncIterator, ByteReceiveStream))


def settle_here(value: Any, limits: Limits) -> Any:
    """Settle a value that needs no loop."""
    if isinstance(value, Iterator) and not isinstance(value, io.IOBase):
        return _drained(value, limits.items)
    return value


async def settle(value: Any, limits: Limits, context: Context) -> Any:
    """Settle any value."""
    while inspect.isawaitable(value):
        value = await value
    if isinstance(value, ByteReceiveStream):
        return await _read(value, limits.stream_bytes, context)
    if isinstance(value, AsyncIterator):
        return await _drained_async(value, limits.items)
    return settle_here(value, limits)


def _drained(iterator: Iterator[Any], limit: int) -> list[Any]:
    items: list[Any] = []
    try:
        for item in iterator:
            if len(items) >= limit:
                raise _endless(limit)
            items.append(item)
    finally:
        close = getattr(iterator, "close", None)
        if callable(close):
            close()
    return items


async def _drained_async(iterator: AsyncIterator[Any], limit: int) -> list[Any]:
    items: list[Any] = []
    try:
        async for item in iterator:
            if len(items) >= limit:
                raise _endless(limit)
            items.append(item)
    finally:
        close = getattr(iterator, "aclose", None)
        if callable(close):
            await close()
    return items


async def _read(stream: ByteReceiveStream, limit: int, context: Context) -> bytes:
    read = bytearray()
    try:
        while True:
            try:
                read += await stream.receive()
            except EndOfStream:
                return bytes(read)
            if len(read) > limit:
                raise ToolError(f"the stream has more than {limit} bytes (Limits.stream_bytes)")
    finally:
        if not context.keeps(stream):
            await stream.aclose()


def _endless(limit: int) -> ToolError:
    return ToolError(f"the method yields more than {limit} items (Limits.items)")
