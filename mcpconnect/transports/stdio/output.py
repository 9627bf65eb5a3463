"""Writing messages to a descriptor from any thread, whole and in the order in which they were given.

Rule: whoever writes never waits for the client. Where the descriptor can be polled, what does not fit stays in front
(as a view that copies nothing) and one permanent task waits for room; elsewhere one thread does all the writing. A
client that has gone is told once, to `on_gone`, and what comes after that is dropped.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final, Protocol

import anyio

from ...engine.backend import loop_waker
from .descriptors import can_be_polled, enlarge, non_blocking

_BUFFERS: Final = 512  # what one system call takes everywhere (IOV_MAX is 1024 on Linux and macOS)
_COPY_BELOW: Final = 4096  # a short message is copied to get its line end; a long one gets it as a buffer of its own


class Output(Protocol):
    """Where messages go."""

    @property
    def waiting(self) -> int:
        """How many bytes are not written yet."""
        ...

    def put(self, message: bytes) -> None:
        """Queue a message; `flush` sends it. For the loop's own thread."""
        ...

    def flush(self) -> None:
        """Write what is queued, as far as there is room."""
        ...

    def write(self, message: bytes) -> None:
        """Send a message. For any thread."""
        ...

    async def below(self, bound: int) -> None:
        """Wait until at most so many bytes are waiting."""
        ...


@asynccontextmanager
async def open_output(descriptor: int, on_gone: Callable[[], None]) -> AsyncIterator[Output]:
    """Open a descriptor for writing; it is not closed. `on_gone` is called on the loop."""
    if not can_be_polled(descriptor):
        threaded = ThreadOutput(descriptor, on_gone)
        try:
            yield threaded
        finally:
            threaded.close()
        return
    enlarge(descriptor)
    with non_blocking(descriptor):
        async with anyio.create_task_group() as tasks:
            polled = PollOutput(descriptor, on_gone)
            tasks.start_soon(polled.run)
            try:
                yield polled
            finally:
                tasks.cancel_scope.cancel()


class _Progress:
    """Lets tasks of the loop wait for a number of bytes to shrink."""

    def __init__(self) -> None:
        self.bytes = 0
        self.gone = False
        self._moved = anyio.Event()

    def moved(self) -> None:
        """Tell those who wait. Belongs to the loop's thread."""
        self._moved.set()
        self._moved = anyio.Event()

    async def below(self, bound: int) -> None:
        while self.bytes > bound and not self.gone:
            await self._moved.wait()


class PollOutput:
    """Writes to a pipe or a socket without ever blocking."""

    def __init__(self, descriptor: int, on_gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._wake = loop_waker()
        self._loop_thread = threading.get_ident()
        self._lock = threading.Lock()  # held for system calls, too: they do not block
        self._queue: deque[bytes | memoryview] = deque()
        self._progress = _Progress()
        self._full = False
        self._news = anyio.Event()

    @property
    def waiting(self) -> int:
        """How many bytes are not written yet."""
        return self._progress.bytes

    def put(self, message: bytes) -> None:
        """Queue a message; `flush` sends it. For the loop's own thread."""
        with self._lock:
            self._append(message)

    def flush(self) -> None:
        """Write what is queued, as far as there is room."""
        with self._lock:
            if not self._full:
                self._drain()
        if self._full:
            self._news.set()

    def write(self, message: bytes) -> None:
        """Send a message. For any thread; messages from the loop's own go out together on its next turn."""
        if threading.get_ident() == self._loop_thread:
            self.put(message)
            self._news.set()
            return
        with self._lock:
            self._append(message)
            stuck_before = self._full
            if not stuck_before:
                self._drain()
        if self._full and not stuck_before:
            self._wake(lambda: self._news.set())

    async def below(self, bound: int) -> None:
        """Wait until at most so many bytes are waiting."""
        self._news.set()
        await self._progress.below(bound)

    async def run(self) -> None:
        """Write what the loop's thread was given and what found no room, for ever."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            with self._lock:
                self._drain()
            while self._full:
                await anyio.wait_writable(self._descriptor)
                with self._lock:
                    self._full = False
                    self._drain()
                self._progress.moved()
            self._progress.moved()

    def _append(self, message: bytes) -> None:
        if self._progress.gone:
            return
        if len(message) < _COPY_BELOW:
            self._queue.append(message + b"\n")
        else:
            self._queue += (message, b"\n")
        self._progress.bytes += len(message) + 1

    def _drain(self) -> None:
        while self._queue:
            try:
                written = os.writev(self._descriptor, list(islice(self._queue, _BUFFERS)))
            except BlockingIOError:
                self._full = True
                return
            except OSError:  # the reader has gone
                self._queue.clear()
                self._progress.bytes = 0
                self._progress.gone = True
                self._wake(self._on_gone)
                return
            self._progress.bytes -= written
            self._take_off(written)

    def _take_off(self, written: int) -> None:
        while written:
            first = self._queue[0]
            if len(first) > written:
                self._queue[0] = memoryview(first)[written:]
                return
            written -= len(first)
            self._queue.popleft()


class ThreadOutput:
    """Writes to a file, a console or a Windows pipe, which may block, in a thread of its own."""

    def __init__(self, descriptor: int, on_gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._wake = loop_waker()
        self._ready = threading.Condition()
        self._queue: list[bytes] = []
        self._progress = _Progress()
        self._closed = False
        threading.Thread(target=self._run, name="mcpconnect stdout", daemon=True).start()

    @property
    def waiting(self) -> int:
        """How many bytes are not written yet."""
        return self._progress.bytes

    def put(self, message: bytes) -> None:
        """Send a message."""
        self.write(message)

    def flush(self) -> None:
        """Do nothing: the thread writes as soon as it can."""

    def write(self, message: bytes) -> None:
        """Send a message. For any thread."""
        with self._ready:
            if not self._progress.gone:
                self._queue += (message, b"\n")
                self._progress.bytes += len(message) + 1
                self._ready.notify()

    async def below(self, bound: int) -> None:
        """Wait until at most so many bytes are waiting."""
        await self._progress.below(bound)

    def close(self) -> None:
        """Let the thread end, without waiting for a write that blocks."""
        with self._ready:
            self._closed = True
            self._ready.notify()

    def _run(self) -> None:
        while data := self._next():
            try:
                while data:
                    written = os.write(self._descriptor, data)
                    data = data[written:]
                    with self._ready:
                        self._progress.bytes -= written
            except OSError:
                with self._ready:
                    self._progress.gone = True
                self._wake(self._on_gone)
                return
            self._wake(self._progress.moved)

    def _next(self) -> memoryview:
        with self._ready:
            self._ready.wait_for(lambda: self._queue or self._closed)
            data = memoryview(b"".join(self._queue))
            self._queue.clear()
            return data
