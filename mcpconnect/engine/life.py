"""`Life`: what lives as long as a server serves: its lifespan, and what is provided once for it.

Rule: it begins before the first call and ends after the last one, whatever ends the server. What is entered is in the
hands of keepers, whose tasks outlive those of the calls.
"""

from __future__ import annotations

from typing import Any

import anyio
from anyio import CancelScope, current_time, get_cancelled_exc_class
from anyio.abc import TaskGroup

from ..context import Disposals, Keeper, Kept, Provided
from ..server import McpServer


class Life:
    """One time of serving. `begin` and `end` belong to one task."""

    def __init__(self, server: McpServer) -> None:
        self.provided = Provided(Disposals())
        self._seconds = server.limits.drain_seconds
        self._manager = server.open_lifespan()
        self._lifespan: Kept
        self._keeper = self.keeper()
        self._busy: set[Keeper] = set()
        self._tasks: TaskGroup

    def keeper(self) -> Keeper:
        """Return a keeper, which ends before the server does."""
        return Keeper(self._start, self._seconds)

    async def begin(self) -> Any:
        """Enter the lifespan; return what it gives."""
        self._tasks = await anyio.create_task_group().__aenter__()
        self._lifespan = Kept(self._manager, lambda _: None, _fail)
        try:
            return await self._keeper.enter(self._lifespan)
        except get_cancelled_exc_class() as error:
            await leave(self._tasks, error)
            raise
        except BaseException:
            await leave(self._tasks, None)
            raise

    async def end(self, error: BaseException | None) -> BaseException | None:
        """Leave everything, whatever ended the server; return what goes on from here: that error, or a later one."""
        with CancelScope(shield=True), anyio.move_on_after(self._seconds) as bound:
            await self.provided.disposals.aclose(seconds=self._seconds)
            try:
                await self._keeper.leave(self._lifespan, None)
            except Exception as failure:
                if current_time() < bound.deadline:
                    error = failure
        for keeper in list(self._busy):
            keeper.end(max(0.0, bound.deadline - current_time()))
        cancelled = error if isinstance(error, get_cancelled_exc_class()) else None
        ended = await leave(self._tasks, cancelled)
        return error if cancelled is None and ended is None else ended

    def _start(self, keeper: Keeper) -> None:
        self._tasks.start_soon(self._keep, keeper)

    async def _keep(self, keeper: Keeper) -> None:
        self._busy.add(keeper)
        try:
            await keeper.run()
        finally:
            self._busy.discard(keeper)


async def leave(tasks: TaskGroup, error: BaseException | None) -> BaseException | None:
    """Wait for the end of a group of tasks that was entered by hand; return the error that goes on from there."""
    try:
        taken = await tasks.__aexit__(
            None if error is None else type(error), error, getattr(error, "__traceback__", None)
        )
    except BaseException as raised:
        return raised
    return None if taken else error


def _fail(error: BaseException | None) -> None:
    """End the server: its lifespan has ended."""
    if error is not None:
        raise error
