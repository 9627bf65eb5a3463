from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from mcpconnect import Limits, McpServer
from mcpconnect.transports.stdio import Descriptors, serve_stdio
from tests.transports.stdio.process import Process, call, cancel, hello, request, text, when


@pytest.fixture(params=["asyncio", "trio"])
def backend(request) -> str:
    return request.param


@pytest.fixture
def marker(tmp_path) -> Path:
    return tmp_path / "marker"


@pytest.mark.fault(189)
def test_only_messages_reach_stdout_and_everything_else_stderr(backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call(1, "noisy"))
        assert text(server.receive()) == "quiet"
        server.close()
        assert server.wait() == 0
        for line in server.raw:
            assert json.loads(line)["jsonrpc"] == "2.0"
        for said in ("while the module is imported", "by a tool", "by a tool", "descriptor 1", "original stdout"):
            assert said in server.stderr


@pytest.mark.fault(189)
def test_a_flush_while_the_module_is_imported_is_harmless_after_take_over(tmp_path):
    module = tmp_path / "loud.py"
    module.write_text(
        "import os\nprint('loud', flush=True)\nos.write(1, b'louder\\n')\nimport mcpconnect\nserver = mcpconnect.McpServer('loud')\n"
    )
    program = "from mcpconnect.transports import run_stdio, take_over; take_over(); import loud; run_stdio(loud.server)"
    with Process(command=[sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}) as server:
        assert server.ask("ping")["result"] == {}
        server.close()
        assert server.wait() == 0
        assert server.stderr.split() == ["loud", "louder"]


@pytest.mark.fault(190)
def test_children_neither_eat_the_input_nor_write_into_the_output(backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call(1, "child"))
        server.send(call(2, "echo", text="next"))
        answers = server.receive_all(2)
        assert (text(answers[1]), text(answers[2])) == ("done", "next")
        server.close()
        assert server.wait() == 0
        assert server.stderr.count("says hi") == 2
        assert "''" in server.stderr  # what the child read: nothing


@pytest.mark.fault(191)
@pytest.mark.parametrize(
    "env", [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}], ids=str
)
def test_the_stream_is_utf8_whatever_the_locale_says(env):
    with Process("asyncio", env=env) as server:
        server.initialize()
        words = "Łódź 日本 🎉"
        server.send(json.dumps(call(1, "echo", text=words), ensure_ascii=False).encode())
        assert text(server.receive()) == words


@pytest.mark.fault(192)
def test_carriage_returns_are_accepted_and_never_written(backend):
    with Process(backend) as server:
        server.send(request(1, "initialize", hello()), end=b"\r\n")
        server.receive()
        server.send(call(2, "echo", text="a\r\nb"), end=b"\r\n")
        assert text(server.receive()) == "a\r\nb"
        server.send(b"\r\n\r\n   \r\n", end=b"")
        assert server.ask("ping")["result"] == {}
        for line in server.raw:
            assert line.endswith(b"}\n")
            assert b"\r" not in line


@pytest.mark.fault(143)
@pytest.mark.fault(193)
@pytest.mark.parametrize("line", [b"NOT JSON", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}'])
@pytest.mark.parametrize("version", [None, "2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_line_that_is_no_json_is_answered_and_survived(line, version, backend):
    with Process(backend) as server:
        if version is not None:
            server.initialize(version)
        server.send(line)
        answer = server.receive()
        assert answer["error"]["code"] == -32700
        assert ("id" in answer) == (version != "2025-11-25")
        assert answer.get("id") is None
        assert server.ask("ping")["result"] == {}


@pytest.mark.fault(144)
@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b"[]", None),
        (b'"x"', None),
        (b"5", None),
        (b'{"id":1}', 1),
        (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":[1]}', 2),
        (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":null}', 2),
    ],
)
def test_json_of_the_wrong_shape_is_answered_and_survived(line, id):
    with Process() as server:
        server.initialize()
        server.send(line)
        answer = server.receive()
        assert answer["error"]["code"] in (-32600, -32602)
        assert answer.get("id") == id
        assert server.ask("ping")["result"] == {}
        server.close()
        assert "Traceback" not in server.stderr


@pytest.mark.fault(145)
def test_deep_nesting_is_answered_and_survived(backend):
    with Process(backend) as server:
        server.initialize()
        server.send(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}")
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (7, -32600)
        assert server.ask("ping")["result"] == {}


@pytest.mark.fault(151)
def test_a_batch_where_there_are_none_is_refused_and_survived(backend):
    with Process(backend) as server:
        server.initialize("2025-06-18")
        server.send([request(1, "ping"), request(2, "ping")])
        assert server.receive()["error"]["code"] == -32600
        assert server.ask("ping")["result"] == {}


def test_a_batch_is_answered_as_one_line(backend):
    with Process(backend) as server:
        server.initialize("2025-03-26")
        server.send([call(1, "echo", text="a"), cancel(9), request(2, "ping"), call(3, "echo_async", text="b"), 5])
        answers = server.receive()
        assert {answer["id"] for answer in answers} == {1, 2, 3, None}
        server.send([cancel(9)])
        assert server.ask("ping")["result"] == {}


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


@pytest.mark.fault(196)
def test_large_messages_pass_in_both_directions(backend):
    def seconds(size: int) -> float:
        before = time.monotonic()
        server.send(call(1, "echo", text="x" * size))
        assert text(server.receive()) == "x" * size
        return time.monotonic() - before

    with Process(backend) as server:
        server.initialize()
        seconds(1024)
        small = min(seconds(1024 * 1024) for _ in range(3))
        assert min(seconds(5 * 1024 * 1024) for _ in range(3)) < 25 * small


@pytest.mark.fault(197)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_pieces_in_which_a_message_arrives_do_not_matter(size, backend):
    with Process(backend) as server:
        server.initialize()
        data = b"".join(json.dumps(call(id, "echo", text="Łódź")).encode() + b"\n" for id in (1, 2))
        for start in range(0, len(data), size):
            server.write(data[start : start + size])
        answers = server.receive_all(2)
        assert [text(answers[id]) for id in (1, 2)] == ["Łódź", "Łódź"]


@pytest.mark.fault(198)
@pytest.mark.parametrize("escaped", [False, True])
def test_unicode_s_line_separators_do_not_end_a_line(escaped):
    words = "a\u2028b\u0085c\u2029d\u000be"
    with Process() as server:
        server.initialize()
        message = json.dumps(call(1, "echo", text=words), ensure_ascii=escaped)
        server.send((message if escaped else message.replace("\\u000b", "\\u000B")).encode())
        assert text(server.receive()) == words


@pytest.mark.fault(199)
def test_a_lone_surrogate_is_an_error_and_survived(backend):
    with Process(backend) as server:
        server.initialize()
        server.send(
            b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\\ud800"}}}'
        )
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (3, -32600)
        assert server.ask("ping")["result"] == {}


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
def test_a_second_interrupt_ends_at_once_and_quietly(marker, backend):
    with Process(backend, "30") as server:
        server.initialize()
        server.send(call(1, "wait", marker=str(marker)))
        when(marker, "begun")
        server.signal(signal.SIGINT)
        before = time.monotonic()
        while server.popen.poll() is None and time.monotonic() - before < 10:
            time.sleep(0.1)
            server.signal(signal.SIGINT)
        assert server.wait() in (130, -signal.SIGINT)
        assert "Traceback" not in server.stderr


@pytest.mark.fault(200)
def test_a_call_that_blocks_the_loop_cannot_keep_the_process_alive(marker, backend):
    with Process(backend, "0.1") as server:
        server.initialize()
        server.send(call(1, "hog", marker=str(marker)))
        when(marker, "begun")
        server.signal(signal.SIGTERM)
        assert server.wait() == 1
        assert "by force" in server.stderr


@pytest.mark.fault(201)
def test_large_results_of_parallel_calls_do_not_mix(backend):
    with Process(backend) as server:
        server.initialize()
        for number in range(10):
            server.send(call(number, "big", letter="abcdefghij"[number], size=1024 * 1024))
        answers = server.receive_all(10)
        for number in range(10):
            assert text(answers[number]) == "abcdefghij"[number] * (1024 * 1024)


@pytest.mark.fault(202)
def test_a_client_that_goes_away_ends_the_server_quietly(backend):
    with Process(backend) as server:
        stdin, stdout = server.popen.stdin, server.popen.stdout
        server.initialize()
        os.close(os.dup(stdout.fileno()))
        reader = server._readers.pop()
        server.send(call(1, "big", letter="x", size=30_000_000))
        descriptor = os.open(os.devnull, os.O_RDWR)
        os.dup2(descriptor, stdin.fileno())
        os.dup2(descriptor, stdout.fileno())  # both pipes are gone, whatever their Python objects think
        os.close(descriptor)
        usage = os.times().children_user
        assert server.popen.wait(10) == 0
        assert os.times().children_user - usage < 5
        reader.join(5)
        assert "Traceback" not in server.stderr
        assert "BrokenPipe" not in server.stderr


@pytest.mark.fault(203)
def test_files_of_the_working_directory_are_not_read(tmp_path, backend):
    for name in (".env", "mcp.json", "settings.json", "pyproject.toml"):
        (tmp_path / name).write_bytes(b"\xff\x00\xfe=\x80\n")
    with Process(backend, cwd=tmp_path) as server:
        assert server.initialize()["result"]["serverInfo"]["name"] == "stdio-tests"


@pytest.mark.fault(237)
@pytest.mark.parametrize("together", [True, False])
def test_a_cancelled_call_is_torn_down_and_never_answered(together, marker, backend):
    with Process(backend) as server:
        server.initialize()
        slow = call("slow", "wait", marker=str(marker))
        if together:
            server.write(b"".join(json.dumps(message).encode() + b"\n" for message in (slow, cancel("slow"))))
        else:
            server.send(slow)
            when(marker, "begun")
            server.send(cancel("slow"))
            when(marker, "torn down")
        server.send(call(2, "echo", text="next"))
        assert text(server.receive()) == "next"
        server.close()
        assert server.rest() == []


@pytest.mark.fault(238)
def test_cancelling_what_does_not_run_is_ignored(backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call(1, "echo", text="a"))
        server.receive()
        for id in (1, "1", "initialize", "unknown", None, True, 1.5, [1], {"a": 1}):
            server.send(cancel(id))
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled"})
        assert server.ask("ping")["result"] == {}


@pytest.mark.fault(239)
def test_a_blocked_call_that_was_cancelled_does_not_stop_others_and_its_result_is_dropped(marker, backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call("slow", "block", marker=str(marker), seconds=0.5))
        when(marker, "begun")
        server.send(cancel("slow"))
        for number in range(50):
            server.send(call(number, "echo", text=str(number)))
        answers = server.receive_all(50)
        assert [text(answers[number]) for number in range(50)] == [str(number) for number in range(50)]
        when(marker, "over")
        server.close()
        assert server.rest() == []


@pytest.mark.fault(246)
def test_requests_right_behind_the_handshake_are_answered(backend):
    with Process(backend) as server:
        lines = [request(1, "initialize", hello()), request(2, "tools/list"), call(3, "echo", text="a")]
        server.write(b"".join(json.dumps(message).encode() + b"\n" for message in lines))
        answers = server.receive_all(3)
        assert len(answers[2]["result"]["tools"]) == 5
        assert text(answers[3]) == "a"


@pytest.mark.fault(247)
def test_before_the_handshake_a_ping_is_answered_and_anything_else_told_what_is_missing(backend):
    with Process(backend) as server:
        assert "initialize" in server.ask("tools/list")["error"]["message"]
        assert server.ask("ping")["result"] == {}
        assert server.initialize()["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.fault(248)
def test_a_change_of_the_list_is_told_once(backend):
    with Process(backend) as server:
        assert server.initialize()["result"]["capabilities"]["tools"] == {"listChanged": True}
        server.send(call(1, "grow"))
        messages = [server.receive(), server.receive()]
        methods = [message.get("method") for message in messages if "method" in message]
        assert methods == ["notifications/tools/list_changed"]
        server.close()
        assert server.rest() == []


@pytest.mark.fault(146)
def test_unknown_notifications_are_never_answered(backend):
    with Process(backend) as server:
        server.initialize()
        for params in ({"params": {}}, {"params": [1]}, {"params": None}, {}):
            server.send({"jsonrpc": "2.0", "method": "notifications/foo", **params})
            server.send({"jsonrpc": "2.0", "method": "tools/list", **params})
        assert server.ask("ping")["id"] == "ask"


def test_a_line_that_is_too_long_is_answered_and_skipped(backend):
    with Process(backend, "5", "5000") as server:
        server.initialize()
        server.send(call(1, "echo", text="x" * 100_000))
        answer = server.receive()
        assert answer["error"]["code"] == -32600
        assert "5000 bytes" in answer["error"]["message"]
        assert "id" not in answer
        assert text(server.ask("tools/call", {"name": "echo", "arguments": {"text": "next"}})) == "next"


def test_a_client_may_write_much_before_it_reads_anything(backend):
    with Process(backend, stdout=(pipe := os.pipe())[1]) as server:
        os.close(pipe[1])
        server.send(request(0, "initialize", hello()))
        for number in range(60):
            server.send(call(number + 1, ("echo", "echo_async")[number % 2], text="x" * 200_000))
        server.send(request(61, "ping"))
        with os.fdopen(pipe[0], "rb") as stdout:
            ids = [json.loads(stdout.readline())["id"] for _ in range(62)]
        assert sorted(ids) == list(range(62))


def test_calls_run_side_by_side_while_one_blocks(marker, backend):
    with Process(backend) as server:
        server.initialize()
        server.send(call("slow", "block", marker=str(marker), seconds=0.5))
        when(marker, "begun")
        server.send(call(2, "echo", text="quick"))
        assert server.receive()["id"] == 2
        assert server.receive()["id"] == "slow"


def test_the_blocking_flag_of_the_pipes_is_put_back(backend):
    stdin, stdout = os.pipe(), os.pipe()
    with Process(backend, stdin=stdin[0], stdout=stdout[1]) as server:
        os.write(stdin[1], json.dumps(request(1, "ping")).encode() + b"\n")
        os.read(stdout[0], 1000)
        assert not os.get_blocking(stdin[0])
        assert not os.get_blocking(stdout[1])
        os.close(stdin[1])
        assert server.wait() == 0
        assert os.get_blocking(stdin[0])
        assert os.get_blocking(stdout[1])
    for descriptor in (stdin[0], *stdout):
        os.close(descriptor)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a pipe grow")
def test_pipes_are_given_room():
    with Process() as server:
        server.ask("ping")
        for pipe in (server.popen.stdin, server.popen.stdout):
            assert fcntl.fcntl(pipe.fileno(), fcntl.F_GETPIPE_SZ) == 1024 * 1024


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
    for _ in range(3000):
        await anyio.lowlevel.checkpoint()
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
