"""Very many calls, five hundred at a time, in both eras: nothing is mixed up, and nothing of them is kept."""

import gc
import tracemalloc
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcpconnect
from mcpconnect import Limits
from mcpconnect.engine import threads as engine_threads
from tests.interaction.conversing import Gate, Reader, Waiting
from tests.wire import NEWEST, K, Wire, connected, serving

BATCHES = 20
EACH = 250  # calls of each of the two clients in a batch
KINDS = (
    "thread",
    "hold",
    "ask",
    "thread",
    "hold",
    "ask_thread",
    "thread",
    "hold",
    "cancelled hold",
    "cancelled thread",
)


class Client:
    """One client: starts many calls, goes on with all of them, and reads what comes of it."""

    def __init__(self, wire: Wire, tools: Waiting) -> None:
        self.wire = wire
        self.tools = tools
        self.modern = wire.revision == NEWEST

    async def batch(self, first: int) -> None:
        """Make the calls with the numbers from `first` on."""
        self.wire.messages.clear()
        self.wire.traffic.clear()
        self.reader = Reader(self.wire.messages)
        numbers = range(first, first + EACH)
        cancelled = {n for n in numbers if KINDS[n % len(KINDS)].startswith("cancelled")}
        started = {n: self._request(KINDS[n % len(KINDS)].split()[-1], n, n not in cancelled) for n in numbers}
        # Half of them are cancelled at once, whether they run yet or wait for a thread.
        for n in sorted(cancelled)[::2]:
            self._cancel(started[n])
        asking = {n for n in numbers if "ask" in KINDS[n % len(KINDS)]}
        await self._until(lambda: asking <= self.reader.questions.keys())
        for n in sorted(cancelled)[1::2]:
            self._cancel(started[n])
        for n in numbers:
            if n in asking:
                started[n] = self._answer(started[n], n)
            self.tools.gates[n].open()
        awaited = {started[n] for n in numbers if n not in cancelled}
        await self._until(lambda: awaited <= self.reader.answered)
        assert self.reader.answered - awaited == ({*self.reader.numbers} - awaited) - self.reader.cancelled
        assert self.wire.connection.live == 0

    def forget(self) -> None:
        """Keep nothing of a batch that is over."""
        self.wire.messages.clear()
        self.wire.traffic.clear()
        self.reader = Reader(self.wire.messages)
        self.tools.gates.clear()
        self.tools.contexts.clear()

    def _request(self, kind: str, n: int, ends: bool, **more: Any) -> int:
        gate = self.tools.gates.setdefault(n, Gate())
        meta: dict[str, Any] = {"progressToken": n}
        if self.modern:
            meta |= {f"{K}logLevel": "info", f"{K}clientCapabilities": {"elicitation": {}}}
        request_id = self.wire._id + 1
        self.reader.numbers[request_id], self.reader.kinds[request_id] = n, kind
        if more:
            self.reader.expected[request_id] = f"{kind} {n}: accept {-n}"
        elif ends and not kind.startswith("ask"):
            self.reader.expected[request_id] = f"{kind} {n}"
            gate.open()
        self.wire.start("tools/call", {"name": kind, "arguments": {"n": n}, "_meta": meta, **more})
        return request_id

    def _answer(self, request_id: int, n: int) -> int:
        kind, reply = self.reader.kinds[request_id], {"action": "accept", "content": {"n": -n}}
        if self.modern:
            name, state = self.reader.questions[n]
            self.reader.silent.discard(n)
            return self._request(kind, n, True, inputResponses={name: reply}, requestState=state)
        self.reader.expected[request_id] = f"{kind} {n}: accept {-n}"
        self.wire.send({"jsonrpc": "2.0", "id": self.reader.questions[n], "result": reply})
        return request_id

    def _cancel(self, request_id: int) -> None:
        params = {"requestId": request_id}
        self.wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        self.reader.cancel(request_id)

    async def _until(self, condition: Any) -> None:
        def read() -> bool:
            self.reader.read()
            found: bool = condition()
            return found

        await self.wire.until(read)


def entries() -> int:
    """Return how many things all containers hold together.

    A text or a number in a list is no object for the garbage collector, but an entry of that list.
    """
    gc.collect()
    return sum(len(thing) for thing in gc.get_objects() if isinstance(thing, (dict, list, set, deque, tuple)))


def traced() -> int:
    """Return how much memory the package holds of what it took since tracing began.

    Threads come and go, and whoever watches them, as a measurement of coverage does, takes memory for each.
    """
    gc.collect()
    ours = tracemalloc.Filter(True, f"{Path(mcpconnect.__file__).parent}/*")
    threads = tracemalloc.Filter(False, engine_threads.__file__)
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces((ours, threads)).traces)


@pytest.fixture
def tracing() -> Iterator[None]:
    yield
    tracemalloc.stop()


@pytest.mark.anyio
@pytest.mark.usefixtures("tracing")
async def test_ten_thousand_calls_leave_nothing_and_mix_nothing_up() -> None:
    tools = Waiting()
    # Few threads and remembered states, so that there are soon as many as there may be.
    server = serving(tools, limits=Limits(concurrent_calls=EACH, threads=100, states=100))
    sizes: dict[int, int] = {}
    memory: dict[int, int] = {}
    async with (
        connected(server, "2025-11-25", capabilities={"elicitation": {}}) as one,
        connected(server, NEWEST) as two,
    ):
        clients = [Client(one, tools), Client(two, tools)]
        for batch in range(BATCHES):
            async with anyio.create_task_group() as both:
                for place, client in enumerate(clients):
                    both.start_soon(client.batch, (2 * batch + place) * EACH + 1)
            for client in clients:
                client.forget()
            if batch in (4, 15):
                sizes[batch] = entries()
            if batch == 16:
                tracemalloc.start()  # slows everything down, so it is only for the last calls
            if batch in (17, 19):
                memory[batch] = traced()
    assert sizes[15] - sizes[4] < 1500, "something of each of 5500 calls is kept"
    assert memory[19] - memory[17] < 30_000, "something of each of 1000 calls is kept"
