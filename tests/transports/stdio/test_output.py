from __future__ import annotations

import os
import threading

import anyio
import pytest

from mcpconnect.transports.stdio.output import Output, PollOutput, ThreadOutput, open_output

pytestmark = pytest.mark.anyio


def nobody() -> None:
    raise AssertionError("the reader is still there")


def drain(descriptor: int, into: list[bytes]) -> threading.Thread:
    def read() -> None:
        while piece := os.read(descriptor, 1 << 20):
            into.append(piece)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


async def sent(output: Output, bound: int = 0) -> None:
    with anyio.fail_after(10):
        await output.below(bound)


async def test_messages_leave_as_lines_in_their_order():
    reading, writing = os.pipe()
    async with open_output(writing, nobody) as output:
        assert isinstance(output, PollOutput)
        output.put(b"one")
        output.put(b"two")
        assert output.waiting == 8
        output.flush()
        assert os.read(reading, 100) == b"one\ntwo\n"
        output.write(b"three")
        await sent(output)
        assert os.read(reading, 100) == b"three\n"
    assert os.get_blocking(writing)
    os.close(reading)
    os.close(writing)


async def test_what_the_loop_writes_in_one_turn_leaves_in_one_system_call(monkeypatch):
    reading, writing = os.pipe()
    calls = []
    writev = os.writev
    monkeypatch.setattr(os, "writev", lambda fd, buffers: calls.append(len(buffers)) or writev(fd, buffers))
    async with open_output(writing, nobody) as output:
        for number in range(50):
            output.write(b"%d" % number)
        await sent(output)
    assert calls == [50]
    assert os.read(reading, 10_000).count(b"\n") == 50
    os.close(reading)
    os.close(writing)


@pytest.mark.fault(201)
async def test_large_messages_from_many_threads_arrive_whole():
    reading, writing = os.pipe()
    received: list[bytes] = []
    messages = [bytes([65 + number]) * 1_000_003 for number in range(10)]
    async with open_output(writing, nobody) as output:
        threads = [threading.Thread(target=output.write, args=(message,)) for message in messages[:7]]
        for thread in threads:
            thread.start()
        for message in messages[7:]:
            output.write(message)
        for thread in threads:
            thread.join(5)  # nobody waits for the reader, which has not begun
            assert not thread.is_alive()
        reader = drain(reading, received)
        await sent(output)
    os.close(writing)
    reader.join(5)
    assert sorted(b"".join(received).splitlines()) == messages
    os.close(reading)


async def test_a_thread_s_messages_keep_their_order_while_the_pipe_is_full():
    reading, writing = os.pipe()
    received: list[bytes] = []
    async with open_output(writing, nobody) as output:

        def talk() -> None:
            for number in range(2000):
                output.write(b"%d " % number + b"x" * 5000)

        await anyio.to_thread.run_sync(talk)
        assert output.waiting > 1_000_000
        reader = drain(reading, received)
        await sent(output)
    os.close(writing)
    reader.join(5)
    assert [int(line.split()[0]) for line in b"".join(received).splitlines()] == list(range(2000))
    os.close(reading)


async def test_waiting_for_room_ends_when_there_is_some():
    reading, writing = os.pipe()
    received: list[bytes] = []
    async with open_output(writing, nobody) as output:
        output.put(b"x" * 5_000_000)
        output.flush()
        output.flush()  # the pipe is full, which is no reason to try again
        assert output.waiting > 1_000_000
        reader = drain(reading, received)
        await sent(output, bound=100_000)
        await sent(output)
    os.close(writing)
    reader.join(5)
    assert sum(map(len, received)) == 5_000_001
    os.close(reading)


@pytest.mark.fault(202)
@pytest.mark.parametrize("where", ["loop", "thread"])
async def test_a_reader_that_has_gone_is_told_once_and_nothing_is_kept(where):
    reading, writing = os.pipe()
    gone: list[bool] = []
    told = anyio.Event()

    def on_gone() -> None:
        gone.append(True)
        told.set()

    async with open_output(writing, on_gone) as output:
        os.close(reading)
        if where == "loop":
            output.write(b"x" * 10)
        else:
            await anyio.to_thread.run_sync(output.write, b"x" * 10_000)
        with anyio.fail_after(5):
            await told.wait()
        output.write(b"more")
        await anyio.to_thread.run_sync(output.write, b"more")
        await sent(output)
        assert output.waiting == 0
    assert gone == [True]
    os.close(writing)


async def test_a_file_is_written_by_a_thread(tmp_path):
    file = tmp_path / "out"
    with file.open("wb") as opened:
        async with open_output(opened.fileno(), nobody) as output:
            assert isinstance(output, ThreadOutput)
            output.put(b"one")
            output.flush()
            await anyio.to_thread.run_sync(output.write, b"x" * 3_000_000)
            await sent(output)
            assert output.waiting == 0
    assert file.read_bytes() == b"one\n" + b"x" * 3_000_000 + b"\n"


async def test_a_thread_tells_that_the_reader_has_gone():
    reading, writing = os.pipe()
    os.close(reading)
    told = anyio.Event()
    output = ThreadOutput(writing, told.set)
    output.write(b"x")
    with anyio.fail_after(5):
        await told.wait()
    output.write(b"more")
    await sent(output)
    output.close()
    os.close(writing)
