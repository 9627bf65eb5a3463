"""Reading a descriptor from the event loop: by readiness where it can be polled, by a thread elsewhere.

Rule: `read` returns what is there, empty bytes at the end, and never reads further than it was asked to, so that a
server that is busy stops the client instead of filling its memory. A descriptor that fails has ended.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Semaphore, Thread
from typing import Final, Protocol

import anyio
from anyio.lowlevel import checkpoint

from ...engine.backend import loop_waker
from .descriptors import can_be_polled, enlarge, non_blocking

PIECE: Final = 256 * 1024


class Input(Protocol):
    """Where messages come from."""

    async def read(self) -> bytes:
        """Return the next bytes, or none at the end."""
        ...


@asynccontextmanager
async def open_input(descriptor: int) -> AsyncIterator[Input]:
    """Open a descriptor for reading; it is not closed."""
    if not can_be_polled(descriptor):
        yield ThreadInput(descriptor)
        return
    enlarge(descriptor)
    with non_blocking(descriptor):
        yield PollInput(descriptor)


class PollInput:
    """Reads a pipe or a socket when it is ready."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._more = False

    async def read(self) -> bytes:
        """Return the next bytes, or none at the end."""
        while True:
            if self._more:
                await checkpoint()
            else:
                await anyio.wait_readable(self._descriptor)
            try:
                piece = os.read(self._descriptor, PIECE)
            except BlockingIOError:
                self._more = False
                continue
            except OSError:
                return b""
            self._more = len(piece) == PIECE  # waiting costs more than reading
            return piece


class ThreadInput:
    """Reads anything else in a thread, which is left behind when nobody waits for it any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._wake = loop_waker()
        self._wanted = Semaphore(0)
        self._piece: bytes | None = None
        self._read = anyio.Event()
        Thread(target=self._run, name="mcpconnect stdin", daemon=True).start()

    async def read(self) -> bytes:
        """Return the next bytes, or none at the end."""
        self._read = anyio.Event()
        self._wanted.release()
        await self._read.wait()
        assert self._piece is not None
        return self._piece

    def _run(self) -> None:
        while self._piece != b"":
            self._wanted.acquire()
            try:
                self._piece = os.read(self._descriptor, PIECE)
            except OSError:
                self._piece = b""
            self._wake(lambda: self._read.set())
