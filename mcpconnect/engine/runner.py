"""How jobs run: a task for each asynchronous one, a worker thread for each synchronous one.

Rule: this is the only file that decides it. A synchronous job never touches the loop: its thread calls, converts,
encodes and answers. Only what turns out to be awaitable goes back to a task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from math import inf
from types import TracebackType
from typing import Any, TypeVar

import anyio
from anyio import CancelScope, current_effective_deadline, get_cancelled_exc_class
from anyio.abc import TaskGroup

from ..context import Disposals, Provided, Runtime
from ..server import McpServer
from .backend import Wake, leave_loop, loop_waker
from .job import Job
from .settle import needs_loop, settle, settle_here
from .threads import Threads

T = TypeVar("T")
Begin = Callable[[], Any]
Step = Callable[[], Coroutine[Any, Any, None]]


class Runner:
    """Runs jobs within the server's lifespan until it is left; an async context manager of the loop's thread.

    `runtime` is what the contexts of its jobs are given.
    """

    def __init__(self, server: McpServer) -> None:
        self._limits = server.limits
        self._threads = Threads(self._limits.threads)
        self._lifespan = server.open_lifespan()
        self.runtime = Runtime(self.in_thread, self.put_away, Provided(Disposals()))
        self._jobs: set[Job] = set()
        self._tasks: TaskGroup
        self._wake: Wake
        self._closing = False
        self._draining = False
        self._news = anyio.Event()
        self._handed: deque[tuple[Job, Step]] = deque()

    async def __aenter__(self) -> Runner:
        self._wake = loop_waker()
        self.runtime.state = await self._lifespan.__aenter__()
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._take_over)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self.cancel_all()
        self._threads.close()
        try:
            return await self._tasks.__aexit__(kind, error, trace)
        finally:
            # What a cancellation ends has to be closed all the same.
            with CancelScope(shield=True), anyio.move_on_after(self._limits.drain_seconds):
                await self.runtime.provided.disposals.aclose()
                await self._lifespan.__aexit__(None, None, None)

    def put_away(self, disposals: Disposals) -> None:
        """Close things; leaving the runner waits for that."""
        self._tasks.start_soon(self._close, disposals)

    async def _close(self, disposals: Disposals, pending: Awaitable[Any] | None = None) -> None:
        with CancelScope(shield=True), anyio.move_on_after(self._limits.drain_seconds):
            await disposals.aclose(pending)

    def start(self, *jobs: Job) -> None:
        """Run jobs; each answers where its reply leads."""
        for job in jobs:
            self._jobs.add(job)
            job.ended.append(self._forget)
            if job.call.timeout is not None:
                self._tasks.start_soon(self._watch, job, job.call.timeout)
            if job.call.threaded:
                self._threads.submit(partial(job.variables.run, self._in_thread, job))
            else:
                self._spawn(job, partial(self._in_task, job, job.call.begin))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run something in a worker thread, for a call that the loop runs; one that is cancelled does not wait."""
        outcome: Future[T] = Future()
        done = anyio.Event()
        variables = copy_context()

        def run() -> None:
            try:
                variables.run(leave_loop)
                outcome.set_result(variables.run(work))
            except BaseException as error:
                outcome.set_exception(error)
            self._wake(done.set)

        self._threads.submit(run)
        await done.wait()
        return outcome.result()

    async def drain(self, seconds: float) -> bool:
        """Wait until every job is answered, at most so long; say whether that is so."""
        self._draining = True
        with anyio.move_on_after(seconds):
            while self._jobs:
                await self._news.wait()
        return not self._jobs

    def cancel_all(self) -> None:
        """Cancel what runs, without answers; a thread that is busy is left alone."""
        self._closing = True
        for job in list(self._jobs):
            job.cancel("the server is shutting down")
        self._tasks.cancel_scope.cancel()

    def _forget(self, job: Job) -> None:
        self._jobs.discard(job)
        if self._draining:
            self._wake(self._tell)

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def _spawn(self, job: Job, step: Step) -> None:
        # The task starts with the context variables of the call, which a worker thread may still be leaving.
        job.variables.copy().run(partial(self._tasks.start_soon, step))

    async def _watch(self, job: Job, seconds: float) -> None:
        with CancelScope() as scope:
            job.ended.append(lambda _: self._wake(scope.cancel))
            if not job.done:
                await anyio.sleep(seconds)
                job.expire()

    async def _in_task(self, job: Job, begin: Begin) -> None:
        data: bytes | None = None
        try:
            with CancelScope() as scope:
                job.scope = scope
                if not job.done:
                    data = await self._outcome(job, begin, scope)
        finally:
            job.scope = None
            await self._end(job, data)

    async def _outcome(self, job: Job, begin: Begin, scope: CancelScope) -> bytes:
        try:
            return job.call.finish(await settle(begin(), self._limits, job.context))
        except get_cancelled_exc_class() as error:
            if scope.cancel_called or self._closing or current_effective_deadline() == -inf:
                job.context.failed(error)
                raise
            return job.fail(error)  # the method cancelled itself: its caller waits all the same
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return job.fail(error)

    async def _end(self, job: Job, data: bytes | None, pending: Awaitable[Any] | None = None) -> None:
        if pending is not None or job.disposals:
            await self._close(job.disposals, pending)
        if data is not None:
            job.answer(data)

    def _in_thread(self, job: Job) -> None:
        if job.done:
            return
        leave_loop()
        try:
            self._run_here(job)
        except KeyboardInterrupt as error:  # the loop is where it ends the server
            self._hand_over(job, partial(_raise, error))

    def _run_here(self, job: Job) -> None:
        try:
            value = job.call.begin()
            if needs_loop(value):
                self._hand_over(job, partial(self._in_task, job, lambda: value))
                return
            data = job.call.finish(settle_here(value, self._limits))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            data = job.fail(error)
        pending = job.disposals.close()
        if pending is None:
            job.answer(data)
        else:
            self._hand_over(job, partial(self._end, job, data, pending))

    def _hand_over(self, job: Job, step: Step) -> None:
        self._handed.append((job, step))
        self._wake(self._tell)

    async def _take_over(self) -> None:
        # A callback of the loop cannot start tasks of a task group, so this permanent task does it.
        while True:
            while self._handed:
                self._spawn(*self._handed.popleft())
            await self._news.wait()


async def _raise(error: BaseException) -> None:
    raise error
