from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from mcpconnect import Limits, McpServer
from mcpconnect.transports.stdio import Descriptors, serve_stdio
from mcpconnect.transports.stdio.ending import Watch, on_signal
from tests.transports.stdio.process import Process, call, hello, request, text, when


@pytest.mark.fault(194)
@pytest.mark.parametrize("begun", [False, True])
def test_an_idle_server_ends_with_its_input(begun, backend):
    with Process(backend) as server:
        server.initialize() if begun else server.ask("ping")
        before = time.monotonic()
        server.close()
        assert server.wait() == 0
        assert time.monotonic() - before < 2
        assert "Traceback" not in server.stderr


def conversation(calls: int) -> bytes:
    messages = [request(0, "initialize", hello()), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    messages += [call(number + 1, ("echo", "echo_async")[number % 2], text=f"{number}") for number in range(calls)]
    return b"\n".join(json.dumps(message).encode() for message in messages)  # and no line end behind the last one


@pytest.mark.fault(195)
@pytest.mark.parametrize("way", ["file", "pipe"])
@pytest.mark.parametrize("calls", [3, 300])
def test_everything_is_answered_before_the_server_ends(way, calls, tmp_path, backend):
    file = tmp_path / "input"
    file.write_bytes(conversation(calls))
    with (
        file.open("rb") as opened,
        Process(backend, stdin=opened.fileno() if way == "file" else subprocess.PIPE) as server,
    ):
        if way == "pipe":
            server.write(file.read_bytes())
            server.close()
        answers = server.rest()
        assert server.wait() == 0
    assert sorted(answer["id"] for answer in answers) == list(range(calls + 1))
    assert all(text(answer) == str(answer["id"] - 1) for answer in answers if answer["id"])


@pytest.mark.fault(195)
def test_the_output_may_be_a_file(tmp_path, backend):
    source, target = tmp_path / "input", tmp_path / "output"
    source.write_bytes(conversation(20))
    with (
        source.open("rb") as read,
        target.open("wb") as written,
        Process(backend, stdin=read.fileno(), stdout=written.fileno()) as server,
    ):
        assert server.wait() == 0
    answers = [json.loads(line) for line in target.read_bytes().splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(21))


def test_a_server_may_have_no_input_at_all(backend):
    with Process(backend, stdin=subprocess.DEVNULL) as server:
        assert server.wait() == 0


def test_calls_that_run_when_the_input_ends_are_finished(marker, backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call(1, "wait", marker=str(marker), seconds=0.5))
        server.send(call(2, "block", marker=str(marker) + "2", seconds=0.5))
        server.close()
        assert {message["id"] for message in server.rest()} == {1, 2}
        assert server.wait() == 0


def test_calls_that_run_longer_than_the_drain_time_are_abandoned(marker, backend):
    with Process(backend, "0.2") as server:
        server.initialize()
        server.send(call(1, "wait", marker=str(marker)))
        server.send(call(2, "block", marker=str(marker) + "2"))
        when(marker, "begun")
        when(Path(str(marker) + "2"), "begun")
        before = time.monotonic()
        server.close()
        assert server.wait() == 0
        assert time.monotonic() - before < 4
        assert server.rest() == []
        assert marker.read_text() == "torn down"
        assert "Traceback" not in server.stderr


@pytest.mark.fault(200)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("busy", [None, "wait", "block"])
def test_one_signal_ends_the_server_quietly(number, busy, marker, backend):
    with Process(backend, "0.3") as server:
        server.initialize()
        if busy:
            server.send(call(1, busy, marker=str(marker)))
            when(marker, "begun")
        before = time.monotonic()
        server.signal(number)
        assert server.wait() == 0
        assert time.monotonic() - before < 4
        assert "Traceback" not in server.stderr
        if busy == "wait":
            assert marker.read_text() == "torn down"


@pytest.mark.fault(200)
def test_a_call_that_ends_soon_after_a_signal_is_answered(marker, backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call(1, "wait", marker=str(marker), seconds=0.3))
        when(marker, "begun")
        server.signal(signal.SIGTERM)
        assert [text(message) for message in server.rest()] == ["waited"]
        assert server.wait() == 0


@pytest.mark.fault(200)
@pytest.mark.parametrize("numbers", [(signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)])
def test_a_second_signal_waits_for_no_call(numbers, marker, backend):
    with Process(backend, "30") as server:
        server.initialize()
        server.send(call(1, "wait", marker=str(marker)))
        when(marker, "begun")
        for number in numbers:  # two of one kind might reach the process as one
            server.signal(number)
        assert server.wait() == 0
        assert marker.read_text() == "torn down"
        assert server.rest() == []
        assert "Traceback" not in server.stderr


def test_an_interrupt_inside_a_call_ends_the_server(backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call(1, "interrupt"))
        assert server.wait() == 130


@pytest.mark.fault(200)
def test_a_call_that_blocks_the_loop_cannot_keep_the_process_alive(marker, backend):
    with Process(backend, "0.1") as server:
        server.initialize()
        server.send(call(1, "hog", marker=str(marker)))
        when(marker, "begun")
        server.signal(signal.SIGTERM)
        assert server.wait() == 1
        assert "by force" in server.stderr


@pytest.mark.fault(202)
@pytest.mark.parametrize("input_too", [True, False])
def test_a_client_that_goes_away_ends_the_server_quietly(input_too, backend):
    reading, writing = os.pipe()
    with Process(backend, stdout=writing) as server:
        os.close(writing)
        server.send(request(0, "initialize", hello()))
        assert os.read(reading, 10_000).endswith(b"}\n")
        server.send(call(1, "big", letter="x", size=30_000_000))
        assert os.read(reading, 10_000)  # the result is being written
        os.close(reading)
        if input_too:
            server.close()
        assert server.wait() == 0
        assert "Traceback" not in server.stderr
        assert "BrokenPipe" not in server.stderr


def test_a_server_can_serve_its_process_on_somebody_s_loop(backend):
    program = f"import anyio, mcpconnect; anyio.run(mcpconnect.McpServer('own').serve, backend={backend!r})"
    with Process(command=[sys.executable, "-c", program]) as server:
        assert server.ask("ping")["result"] == {}
        server.close()
        assert server.wait() == 0


def test_signals_are_left_alone_outside_the_main_thread(backend):
    def in_thread() -> None:
        anyio.run(undisturbed, backend=backend)

    async def undisturbed() -> None:
        with on_signal(nothing, nothing, Watch(1)):
            assert signal.getsignal(signal.SIGTERM) is before

    def nothing() -> None: ...

    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(in_thread).result(10)


@pytest.mark.anyio
async def test_those_who_own_the_loop_can_serve_and_cancel():
    stdin, stdout = os.pipe(), os.pipe()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_serve, Descriptors(stdin[0], stdout[1]))
            os.write(stdin[1], b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            await anyio.wait_readable(stdout[0])
            assert json.loads(os.read(stdout[0], 1000))["id"] == 1
            tasks.cancel_scope.cancel()
    assert os.get_blocking(stdin[0])
    for descriptor in (*stdin, *stdout):
        os.close(descriptor)


async def _serve(descriptors: Descriptors) -> None:
    await serve_stdio(McpServer("own-loop"), descriptors=descriptors)


@pytest.mark.anyio
async def test_a_client_that_does_not_read_cannot_keep_the_server_from_ending():
    stdin, stdout = os.pipe(), os.pipe()
    server = McpServer("slow-client", limits=Limits(drain_seconds=0.1))
    writer = threading.Thread(target=_ping_and_close, args=(stdin[1], 40_000))
    writer.start()
    with anyio.fail_after(20):
        await serve_stdio(server, descriptors=Descriptors(stdin[0], stdout[1]))
    writer.join(5)
    for descriptor in (stdin[0], *stdout):
        os.close(descriptor)


def _ping_and_close(descriptor: int, count: int) -> None:
    data = memoryview(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * count)
    while data:
        data = data[os.write(descriptor, data) :]
    os.close(descriptor)


@pytest.mark.anyio
async def test_a_client_that_sends_and_does_not_read_is_stopped_and_served_when_it_does():
    stdin, stdout = os.pipe(), os.pipe()
    count, answer = 60_000, len(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    server = McpServer("late-reader", limits=Limits(message_bytes=1000))
    writer = threading.Thread(target=_ping_and_close, args=(stdin[1], count))
    received = 0
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_serve_until_the_end, server, Descriptors(stdin[0], stdout[1]))
            writer.start()
            while received < count * answer:
                await anyio.wait_readable(stdout[0])
                received += len(os.read(stdout[0], 1 << 20))
    writer.join(5)
    assert received == count * answer
    for descriptor in (stdin[0], *stdout):
        os.close(descriptor)


async def _serve_until_the_end(server: McpServer, descriptors: Descriptors) -> None:
    await serve_stdio(server, descriptors=descriptors)


@pytest.mark.parametrize("way", ["task", "thread"])
def test_a_question_that_nobody_can_answer_any_more_fails_at_once(way, backend):
    server_file = Path(__file__).parents[2] / "interaction" / "asking_server.py"
    with Process(command=[sys.executable, str(server_file), *backend.split()]) as server:
        hi = {**hello(), "capabilities": {"elicitation": {}}}
        server.ask("initialize", hi, id="initialize")
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.send(call("call", f"book_in_{way}"))
        assert server.receive()["method"] == "elicitation/create"
        before = time.monotonic()
        server.close()
        assert server.wait() == 0
        assert time.monotonic() - before < 3, "it does not wait for what cannot come"
        (answer,) = [message for message in server.rest() if message.get("id") == "call"]
        assert "cannot answer" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("how", ["def", "async def"])
@pytest.mark.parametrize("where", ["method", "deferred"])
def test_an_interrupt_in_a_method_ends_the_server(how, where, backend, tmp_path):
    program = tmp_path / "server.py"
    program.write_text(f"""
from mcpconnect import Context, McpServer, tool

def interrupt():
    raise KeyboardInterrupt

server = McpServer("test")

@server.register
@tool
{how} work(context: Context) -> None:
    {"interrupt()" if where == "method" else "context.defer(interrupt)"}

server.run(backend={backend!r})
""")
    with Process(command=[sys.executable, str(program)]) as server:
        server.initialize()
        server.send(call(1, "work"))
        assert server.wait() == 130


def test_a_second_signal_ends_a_server_whose_lifespan_hangs_at_the_start(backend, tmp_path, marker):
    program = tmp_path / "server.py"
    program.write_text(f"""
import anyio, pathlib
from contextlib import asynccontextmanager
from mcpconnect import McpServer

@asynccontextmanager
async def lifespan(server):
    pathlib.Path({str(marker)!r}).write_text("begun")
    await anyio.sleep_forever()
    yield

McpServer("test", lifespan=lifespan).run(backend={backend!r})
""")
    with Process(command=[sys.executable, str(program)]) as server:
        when(marker, "begun")
        for number in (signal.SIGINT, signal.SIGTERM):  # two of one kind might reach the process as one
            server.signal(number)
        assert server.wait() == 0
        assert "Traceback" not in server.stderr
