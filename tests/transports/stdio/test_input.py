from __future__ import annotations

import os
import socket
import subprocess
import sys

import anyio
import pytest

from mcpconnect.transports.stdio.input import PIECE, PollInput, ThreadInput, open_input

pytestmark = pytest.mark.anyio


async def everything(descriptor: int) -> bytes:
    with anyio.fail_after(10):
        async with open_input(descriptor) as source:
            read = b""
            while piece := await source.read():
                read += piece
            return read


async def test_a_pipe_is_polled_and_its_flag_put_back():
    reading, writing = os.pipe()
    async with open_input(reading) as source:
        assert isinstance(source, PollInput)
        assert not os.get_blocking(reading)
        os.write(writing, b"abc")
        assert await source.read() == b"abc"
        os.close(writing)
        assert await source.read() == b""
    assert os.get_blocking(reading)
    os.close(reading)


async def test_more_than_one_piece_is_read_whole(tmp_path):
    data = os.urandom(3 * PIECE + 17)
    reading, writing = os.pipe()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, lambda: (write_all(writing, data), os.close(writing)))
        assert await everything(reading) == data
    os.close(reading)
    file = tmp_path / "input"
    file.write_bytes(data)
    with file.open("rb") as opened:
        assert await everything(opened.fileno()) == data


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


async def test_a_socket_is_polled():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"abc")
        async with open_input(ours.fileno()) as source:
            assert isinstance(source, PollInput)
            assert await source.read() == b"abc"


async def test_the_null_device_ends_at_once():
    null = os.open(os.devnull, os.O_RDONLY)
    async with open_input(null) as source:
        assert isinstance(source, ThreadInput)
        assert await source.read() == b""
    os.close(null)


async def test_a_terminal_is_read_by_a_thread_and_a_hang_up_ends_it():
    ours, theirs = os.openpty()
    with anyio.fail_after(5):
        async with open_input(theirs) as source:
            assert isinstance(source, ThreadInput)
            os.write(ours, b"abc\n")
            assert await source.read() == b"abc\n"
            os.close(ours)
            assert await source.read() == b""
    os.close(theirs)


async def test_waiting_for_a_terminal_can_be_given_up():
    ours, theirs = os.openpty()
    async with open_input(theirs) as source:
        with anyio.move_on_after(0.05) as scope:
            await source.read()
    assert scope.cancelled_caught
    os.close(ours)
    os.close(theirs)


async def test_a_descriptor_that_fails_has_ended():
    reading, writing = os.pipe()
    os.close(writing)
    source = PollInput(reading)
    assert await source.read() == b""
    source._more = True  # as after a full piece
    os.close(reading)
    assert await source.read() == b""


async def test_nothing_to_read_after_a_full_piece_waits():
    reading, writing = os.pipe()
    async with open_input(reading) as source:
        source._more = True
        with anyio.move_on_after(0.05) as scope:
            await source.read()
        assert scope.cancelled_caught
        os.write(writing, b"x")
        assert await source.read() == b"x"
    os.close(reading)
    os.close(writing)


def test_a_thread_that_still_reads_does_not_keep_the_process_alive():
    program = """
import anyio, os
from mcpconnect.transports.stdio.input import ThreadInput
async def main():
    source = ThreadInput(os.openpty()[1])
    with anyio.move_on_after(0.05):
        await source.read()
anyio.run(main)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=20, check=False).returncode == 0
