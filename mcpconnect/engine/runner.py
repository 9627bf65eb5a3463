"""How jobs run: a task for each asynchronous one, a worker thread for each synchronous one.

Rule: this is the only file that decides it. A synchronous job never touches the loop: its thread calls, converts,
encodes and answers. Only what turns out to be awaitable goes back to a task.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextvars import copy_context
from functools import partial
from math import inf
from types import TracebackType
from typing import Any, Final, TypeVar

import anyio
from anyio import CancelScope, current_effective_deadline, get_cancelled_exc_class
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from ..context import Context, Disposals, Runtime, current
from ..server import McpServer
from .backend import Wake, leave_loop, loop_waker
from .handover import Handover, spawn
from .job import Call, Job, Prepare
from .life import Life, leave
from .settle import needs_loop, settle, settle_here
from .threads import Threads, Work

T = TypeVar("T")
Begin = Callable[[], Any]
_LAST_SECONDS: Final = 1.0  # for methods in threads to see that the server ends, when all waiting was in vain


class Runner:
    """Runs jobs within the server's life until it is left; an async context manager of the loop's thread.

    `runtime` is what the contexts of its jobs are given.
    """

    def __init__(self, server: McpServer) -> None:
        self._limits = server.limits
        self._threads = Threads(self._limits.threads)
        self._life = Life(server)
        self.runtime = Runtime(
            self.in_thread,
            self._threads.aside,
            lambda callback: self._wake(callback),
            self.put_away,
            self._inside,
            self._life.keeper,
            self._life.provided,
        )
        self._jobs: set[Job] = set()
        self._tasks: TaskGroup
        self._wake: Wake
        self._closing = False
        self._draining = False
        self._begun = False
        self._over = False
        self._news = anyio.Event()
        self._handover: Handover

    async def __aenter__(self) -> Runner:
        self._wake = loop_waker()
        self._handover = Handover(self._wake)
        self.runtime.state = await self._life.begin()
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._handover.serve, self._tasks)
        self._begun = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.cancel_all()
        going = await leave(self._tasks, error)
        with CancelScope(shield=True):
            # Methods in threads have just been told; what they use should outlive them.
            dropped = self._threads.close()
            await self._threads.settle(self._wake, min(_LAST_SECONDS, self._limits.drain_seconds))
            await self._clear(dropped)
        going = await self._life.end(going)
        if going is not None and going is not error:
            raise going
        return going is None

    async def _clear(self, dropped: Iterable[Work]) -> None:
        """Put away what calls left behind that no thread has taken, or whose thread has just come to its end."""
        for work in dropped:
            work()
        await self._handover.clear()
        for give_up in list(self.runtime.held):
            give_up()
        await self._handover.clear()
        self._over = True

    def put_away(self, disposals: Disposals) -> None:
        """Close things, from any thread; leaving the runner waits for that. Later than that nothing can be awaited."""
        if self._over:
            disposals.close()
            return
        self._handover.put(copy_context(), partial(self._close, disposals))

    async def _close(self, disposals: Disposals, pending: Awaitable[Any] | None = None) -> None:
        await disposals.aclose(pending, seconds=self._limits.drain_seconds)

    def start(self, *jobs: Job) -> None:
        """Run jobs; each answers where its reply leads."""
        for job in jobs:
            prepare = self._enlist(job)
            if not job.call.threaded:
                spawn(self._tasks, job.variables, partial(self._in_task, job, job.call.begin, prepare))
            elif prepare is not None:
                spawn(self._tasks, job.variables, partial(self._prepare, job, prepare))
            else:
                self._submit(job)

    def _enlist(self, job: Job) -> Prepare | None:
        """Take a job into the books; return what has to be awaited before it."""
        self._jobs.add(job)
        job.ended.append(self._forget)
        if job.call.timeout is not None:
            self._tasks.start_soon(self._watch, job, job.call.timeout)
        prepare = job.call.prepare
        if prepare is not None:
            job.context.provided.lost = job.lose
        return prepare

    async def _inside(self, call: Call, context: Context, disposals: Disposals) -> bytes:
        """Run a call inside of the one that runs here, in its task or else in a thread; return its answer."""
        answers: list[bytes | None] = []
        answered = anyio.Event()

        def reply(data: bytes | None) -> None:
            answers.append(data)
            self._wake(answered.set)

        outside = current.set(context)
        job = Job(call, context, disposals, reply)
        try:
            prepare = self._enlist(job)
            if not call.threaded:
                await self._in_task(job, call.begin, prepare)
            else:
                if prepare is None:
                    self._submit(job)
                else:
                    await self._prepare(job, prepare)
                await answered.wait()
        finally:
            current.reset(outside)
            job.cancel(context.cancel_reason or "what stands around it went on without it")  # unless it is answered
        await checkpoint()  # which ends what was cancelled
        (answer,) = answers
        if answer is None:
            raise RuntimeError("the call was ended")
        return answer

    def _submit(self, job: Job) -> None:
        self._threads.submit(partial(job.variables.run, self._in_thread, job))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run something in a worker thread, for a call that the loop runs; one that is cancelled does not wait."""
        return await self._threads.run(work, self._wake)

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
        if self._begun:
            self._tasks.cancel_scope.cancel()

    def _forget(self, job: Job) -> None:
        self._jobs.discard(job)
        if self._draining:
            self._wake(self._tell)

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def _watch(self, job: Job, seconds: float) -> None:
        with CancelScope() as scope:
            job.ended.append(lambda _: self._wake(scope.cancel))
            if not job.done:
                await anyio.sleep(seconds)
                job.expire()

    async def _prepare(self, job: Job, prepare: Prepare) -> None:
        """Provide what a synchronous method needs and cannot await; then it runs in a thread as any other."""
        failed: BaseException | None = None
        try:
            with CancelScope() as scope:
                job.scope = scope
                try:
                    if not job.done:
                        await prepare()
                except get_cancelled_exc_class() as error:
                    job.context.failed(error)
                    raise
        except BaseException as error:
            failed = error
        job.scope = None
        if failed is not None or job.done:
            await self._in_task(job, partial(_throw, failed))
        else:
            job.variables = copy_context()  # with what the providers have set
            self._submit(job)

    async def _in_task(self, job: Job, begin: Begin, prepare: Prepare | None = None) -> None:
        data: bytes | None = None
        try:
            with CancelScope() as scope:
                job.scope = scope
                try:
                    ended = None if job.done else await self._outcome(job, begin, prepare)
                finally:
                    if job.disposals:  # closed in here, since they may hold scopes that were entered in here
                        await self._close(job.disposals)
                if isinstance(ended, bytes):
                    data = ended
                elif ended is not None and not (scope.cancel_called or self._ending):
                    data = job.fail(ended)  # somebody else's scope, or itself: its caller waits all the same
        except Exception as error:  # a scope was left open, or not by who entered it
            data = job.fail(error)
        finally:
            job.scope = None
        if data is not None:
            job.answer(data)

    @property
    def _ending(self) -> bool:
        return self._closing or current_effective_deadline() == -inf

    async def _outcome(self, job: Job, begin: Begin, prepare: Prepare | None) -> bytes | BaseException:
        """Return the answer, or what cancelled the call."""
        try:
            if prepare is not None:
                await prepare()
            return job.call.finish(await settle(begin(), self._limits, job.context))
        except get_cancelled_exc_class() as error:
            job.context.failed(error)
            return error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return job.fail(error)

    async def _end(self, job: Job, data: bytes | None, pending: Awaitable[Any]) -> None:
        await self._close(job.disposals, pending)
        if data is not None:
            job.answer(data)

    def _in_thread(self, job: Job) -> None:
        leave_loop()
        try:
            self._run_here(job)
        except KeyboardInterrupt as error:  # the loop is where it ends the server
            self._handover.put(job.variables, partial(_raise, error))

    def _run_here(self, job: Job) -> None:
        data: bytes | None = None
        try:
            if not job.done:
                value = job.call.begin()
                if needs_loop(value):
                    self._handover.put(job.variables, partial(self._in_task, job, lambda: value))
                    return
                data = job.call.finish(settle_here(value, self._limits))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            data = job.fail(error)
        pending = job.disposals.close()
        if pending is not None:
            self._handover.put(job.variables, partial(self._end, job, data, pending))
        elif data is not None:
            job.answer(data)


async def _raise(error: BaseException) -> None:
    raise error


def _throw(error: BaseException | None) -> None:
    if error is not None:
        raise error
