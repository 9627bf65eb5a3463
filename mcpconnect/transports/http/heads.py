"""Bounds on the head of a request (its first line and headers), which applications see only when it is whole.

Rule: a head that is too long or too slow is answered and its connection closed. uvicorn with h11 bounds the length by
itself; with httptools it bounds neither.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ...limits import Limits

_REFUSAL = b"HTTP/1.1 %b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedHeads(HttpToolsProtocol):
    """The protocol of one connection; `limits` is set by a subclass."""

    limits: Limits

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._in_head = True
        self._head_bytes = 0
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's own type
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._end_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass the bytes on, and count those of a head that is not whole."""
        began_in_head = self._in_head
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data) if began_in_head else 0  # before that, it may be a body for the most part
            if self._head_bytes > self.limits.header_bytes:
                self._refuse(b"431 Request Header Fields Too Large")
            else:
                self._wait()

    def on_message_begin(self) -> None:
        """Note that a head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Note that the head is whole."""
        self._in_head = False
        self._head_bytes = 0
        self._end_waiting()
        super().on_headers_complete()

    def _wait(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(self.limits.body_seconds, self._refuse, b"408 Request Timeout")

    def _end_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _refuse(self, status: bytes) -> None:
        self._end_waiting()
        if not self.transport.is_closing():
            self.transport.write(_REFUSAL % status)
            self.transport.close()
