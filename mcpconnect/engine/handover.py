"""`Handover`: what worker threads leave for the loop to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup

from .backend import Wake

Step = Callable[[], Coroutine[Any, Any, None]]


class Handover:
    """Steps that become tasks. A callback of the loop cannot start tasks of a task group, so a permanent task does."""

    def __init__(self, wake: Wake) -> None:
        self._wake = wake
        self._steps: deque[tuple[Context, Step]] = deque()
        self._news = anyio.Event()

    def put(self, variables: Context, step: Step) -> None:
        """Leave a step, from any thread; its task has the context variables of the call."""
        self._steps.append((variables, step))
        self._wake(self._tell)

    async def serve(self, tasks: TaskGroup) -> None:
        """Start what is left, until this is cancelled."""
        while True:
            while self._steps:
                spawn(tasks, *self._steps.popleft())
            await self._news.wait()

    async def clear(self) -> None:
        """Do what nobody has started."""
        while self._steps:
            async with anyio.create_task_group() as tasks:
                while self._steps:
                    spawn(tasks, *self._steps.popleft())

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()


def spawn(tasks: TaskGroup, variables: Context, step: Step) -> None:
    """Start a task with the context variables of a call, which a worker thread may still be leaving."""
    variables.copy().run(partial(tasks.start_soon, step))
