"""A server in a subprocess, spoken to over its stdin and stdout.

Rule: what the client starts it also ends: it closes the server's input, waits, asks (SIGTERM), waits, and kills. The
server's stderr is the client's own unless said otherwise.

Source: the specification's pages *Transports, stdio* and *Lifecycle, Shutdown*.
"""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

import anyio
from anyio import BrokenResourceError, CancelScope, ClosedResourceError, EndOfStream
from anyio.abc import Process

from ..errors import ClientError
from ..transports.stdio.lines import Lines, TooLong


class StdioTransport:
    """Launches `command` and speaks to it, a message a line.

    `stderr` is what `subprocess` takes (`None`: the client's own). `patience` is how many seconds each step of ending
    the server may take; `message_bytes` is the longest message that is accepted from it.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stderr: int | IO[Any] | None = None,
        patience: float = 6.0,
        message_bytes: int = 256 * 1024 * 1024,
    ) -> None:
        self._command = list(command)
        self._env = env
        self._cwd = cwd
        self._stderr = stderr
        self._patience = patience
        self._lines = Lines(message_bytes)
        self._received: deque[bytes | TooLong] = deque()
        self._sending = anyio.Lock()
        self._process: Process

    @property
    def exit_code(self) -> int | None:
        """The server's exit code, once it has ended (negative: the signal that ended it)."""
        return self._process.returncode

    async def __aenter__(self) -> StdioTransport:
        try:
            self._process = await anyio.open_process(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=self._env,
                cwd=self._cwd,
            )
        except OSError as error:
            raise ClientError(f"cannot start the server {self._command[0]!r}: {error}") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with CancelScope(shield=True):
            assert self._process.stdin is not None
            with suppress(BrokenResourceError, OSError):  # the server closed its side first
                await self._process.stdin.aclose()
            for end in (self._process.terminate, self._process.kill):
                if await self._ended(self._patience):
                    break
                end()
            await self._process.aclose()

    async def send(self, message: bytes) -> None:
        """Send one message. Raises ClientError if the server has gone."""
        assert self._process.stdin is not None
        try:
            async with self._sending:
                await self._process.stdin.send(message + b"\n")
        except (BrokenResourceError, ClosedResourceError, OSError):
            raise ClientError(await self._epitaph()) from None

    async def receive(self) -> bytes:
        """Return the next message, waiting for it. Raises ClientError if the server has gone."""
        assert self._process.stdout is not None
        while not self._received:
            try:
                self._received += self._lines.feed(await self._process.stdout.receive())
            except (EndOfStream, BrokenResourceError, ClosedResourceError, OSError):
                raise ClientError(await self._epitaph()) from None
        line = self._received.popleft()
        if isinstance(line, TooLong):
            raise ClientError("the server sent a message that is too long")
        return line

    async def _epitaph(self) -> str:
        if not await self._ended(1):
            return "the server closed the connection"
        return f"the server ended (exit code {self._process.returncode})"

    async def _ended(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self._process.returncode is not None
