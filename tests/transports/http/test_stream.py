"""A stream keeps the order of its messages and is bounded, whoever writes and reads."""

import asyncio
import threading

import pytest

from mcpconnect.transports.http.replay import Replay
from mcpconnect.transports.http.stream import Stream

pytestmark = pytest.mark.anyio


def kept(stream: Stream) -> list[int]:
    return [number for number, _ in stream.messages]


async def test_the_oldest_messages_are_dropped_and_the_answer_never() -> None:
    stream = Stream(3, kept=True)
    for number in range(10):
        stream.send(b"%d" % number)
    stream.answer(b"answer")
    assert kept(stream) == [9, 10, 11]
    assert (stream.last, stream.reply, stream.closed) == (11, b"answer", True)
    assert stream.size == len(b"89answer")


async def test_the_bytes_are_bounded_too() -> None:
    stream = Stream(1000, kept=True)
    for letter in (b"a", b"b", b"c"):
        stream.send(letter * 3_000_000)
    assert kept(stream) == [3]
    stream.answer(b"x" * 50_000_000)
    assert kept(stream) == [4]
    assert stream.size == 50_000_000


async def test_nothing_follows_the_answer() -> None:
    closings: list[Stream] = []
    stream = Stream(10, on_closed=closings.append)
    stream.answer(b"answer")
    stream.send(b"late")
    stream.answer(b"later")
    stream.answer(None)
    assert [message for _, message in stream.after(0)] == [b"answer"]
    assert closings == [stream]
    assert stream.only_reply


async def test_a_stream_that_is_kept_can_be_read_again() -> None:
    for again in (True, False):
        stream = Stream(10, kept=again)
        stream.send(b"one")
        stream.send(b"two")
        assert [message for _, message in stream.after(1)] == [b"two"]
        assert [message for _, message in stream.after(0)] == ([b"one", b"two"] if again else [])
        assert stream.size == (6 if again else 0)
        stream.send(b"three")
        assert [number for number, _ in stream.after(2)] == [3]


async def test_a_change_is_told_once_while_nobody_has_read_of_it_and_nothing_else_is_left_out() -> None:
    stream = Stream(10, kept=True)
    for message in (b"x", b"x", b"y", b"x", b"x"):
        stream.send(message, change=True)
    assert [message for _, message in stream.messages] == [b"x", b"y"]
    stream.delivered = 2
    stream.send(b"x", change=True)
    assert stream.last == 3
    stream.reader = object()
    stream.send(b"x", change=True)
    assert stream.last == 4
    stream.reader = None
    stream.send(b"x")
    stream.send(b"x")
    assert stream.last == 6


async def test_messages_from_threads_keep_their_order_and_wake_the_reader() -> None:
    stream = Stream(10_000)
    seen: list[bytes] = []

    def write() -> None:
        for number in range(2000):
            stream.send(b"%d" % number)
        stream.answer(b"end")

    thread = threading.Thread(target=write)
    thread.start()
    after = 0
    async with asyncio.timeout(20):
        while not (stream.closed and after == stream.last):
            for number, message in stream.after(after):
                after = number
                seen.append(message)
            if not stream.closed:
                await stream.changed()
    thread.join()
    assert seen == [b"%d" % number for number in range(2000)] + [b"end"]


async def test_everybody_who_waits_is_woken_also_if_one_gave_up() -> None:
    stream = Stream(10)
    waiting = [asyncio.ensure_future(stream.changed()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    stream.poke()
    async with asyncio.timeout(20):
        await asyncio.gather(*waiting[1:])


def test_writing_after_the_loop_has_ended_does_nothing() -> None:
    async def make() -> Stream:
        return Stream(10)

    stream = asyncio.run(make())
    thread = threading.Thread(target=stream.answer, args=(b"late",))
    thread.start()
    thread.join()
    assert stream.last == 0


async def test_what_waits_for_clients_is_bounded_for_the_whole_process() -> None:
    dropped: list[Stream] = []
    replay = Replay(10_000)
    streams = []
    for _ in range(5):
        stream = Stream(10, kept=True)
        stream.answer(b"x" * 2000)
        replay.add(stream, dropped.append)
        streams.append(stream)
    assert dropped == streams[:2]
    replay.remove(streams[2])
    replay.remove(streams[2])
    replay.remove(streams[0])
    assert len(replay) == 2
    big = Stream(10, kept=True)
    big.answer(b"x" * 20_000)
    replay.add(big, dropped.append)
    assert len(replay) == 0
    assert dropped == [*streams[:2], *streams[3:], big]
    last = Stream(10, kept=True)
    last.answer(b"x" * 9_000)
    replay.add(last, dropped.append)
    assert len(replay) == 1, "the bytes of the others were given back"
