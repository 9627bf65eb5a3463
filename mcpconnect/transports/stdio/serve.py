"""Serving over stdin and stdout: UTF-8 JSON, one message a line.

Rule: one task reads and hands each line to the connection, several lines for each read; answers leave through one
output. The end of the input lets running calls finish within `Limits.drain_seconds`. Nothing is queued in between.

Source: the specification's page *Transports, stdio*.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, Literal

import anyio
from anyio import CancelScope
from anyio.lowlevel import checkpoint

from ...context import DirectChannel
from ...engine.connection import Connection, Outcome
from ...engine.runner import Runner
from ...errors import InvalidRequest
from ...limits import Limits
from ...protocol.refusal import Refused
from ...server import McpServer
from .descriptors import Descriptors, release, take_over
from .ending import Watch, on_signal
from .input import Input, open_input
from .lines import Lines, TooLong
from .output import Output, open_output

_TURN: Final = 64  # lines handled before other tasks get their turn


def run_stdio(server: McpServer, *, backend: Literal["asyncio", "trio"] = "asyncio") -> None:
    """Serve on this process's stdin and stdout until the input ends or a signal comes; then return.

    Takes the descriptors over, if `take_over()` has not been called before.
    """
    descriptors = take_over()
    watch = Watch(2 * server.limits.drain_seconds + 2)
    try:
        anyio.run(partial(_serve_process, server, descriptors, watch), backend=backend)
    except (KeyboardInterrupt, BaseExceptionGroup) as error:
        if isinstance(error, BaseExceptionGroup) and error.split(KeyboardInterrupt)[1] is not None:
            raise
        sys.exit(130)
    finally:
        watch.end()
        release(descriptors)


async def serve_stdio(server: McpServer, *, descriptors: Descriptors | None = None) -> None:
    """Serve until the input ends or the task is cancelled, on the loop that runs; signals are the caller's business.

    `descriptors` default to the process's own, which are taken over.
    """
    taken = take_over() if descriptors is None else descriptors
    try:
        await _Service(server, taken).run()
    finally:
        if descriptors is None:
            release(taken)


async def _serve_process(server: McpServer, descriptors: Descriptors, watch: Watch) -> None:
    service = _Service(server, descriptors, watch.begin)
    with on_signal(service.reading.cancel, service.abandon, watch):
        await service.run()


class _Service:
    """One server on two descriptors. Cancelling `reading` is like the end of the input."""

    def __init__(self, server: McpServer, descriptors: Descriptors, ending: Callable[[], None] | None = None) -> None:
        self.reading = CancelScope()
        self._serving = CancelScope()
        self._runner = Runner(server)
        self._server = server
        self._descriptors = descriptors
        self._ending = ending

    async def run(self) -> None:
        with self._serving:
            async with (
                open_input(self._descriptors.input) as source,
                open_output(self._descriptors.output, self.abandon) as sink,
                self._runner as runner,
            ):
                channel = DirectChannel(sink.write, lambda: sink.waiting)
                connection = Connection(self._server, channel, runner.runtime)
                try:
                    with self.reading:
                        await _Reader(source, sink, connection, runner, self._server.limits).run()
                    connection.wind_down()
                    await self._finish(sink)
                finally:
                    connection.close()

    def abandon(self) -> None:
        """Stop at once, without answers to what runs."""
        self._runner.cancel_all()
        self._serving.cancel()

    async def _finish(self, sink: Output) -> None:
        if self._ending is not None:
            self._ending()
        seconds = self._server.limits.drain_seconds
        with anyio.move_on_after(seconds):
            await self._runner.drain(seconds)
            await sink.below(0)


class _Reader:
    """Reads lines until there are no more, and has each one handled."""

    def __init__(self, source: Input, sink: Output, connection: Connection, runner: Runner, limits: Limits) -> None:
        self._source = source
        self._sink = sink
        self._connection = connection
        self._runner = runner
        self._limit = limits.message_bytes
        self._lines = Lines(limits.message_bytes)

    async def run(self) -> None:
        while piece := await self._source.read():
            await self._handle(self._lines.feed(piece))
            if self._sink.waiting > self._limit:  # a client that sends and does not read
                await self._sink.below(self._limit)
        await self._handle(self._lines.end())
        self._connection.hear_no_more()

    async def _handle(self, lines: Iterable[bytes | TooLong]) -> None:
        for count, line in enumerate(lines, 1):
            self._receive(line)
            if count % _TURN == 0:
                self._sink.flush()
                await checkpoint()
        self._sink.flush()

    def _receive(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            error = InvalidRequest(f"Invalid request: the message is longer than {self._limit} bytes")
            outcome: Outcome = self._connection.refuse(Refused(error))
        else:
            outcome = self._connection.receive(line)
        if isinstance(outcome, bytes):
            self._sink.put(outcome)
        elif outcome is not None:
            self._runner.start(*outcome)
