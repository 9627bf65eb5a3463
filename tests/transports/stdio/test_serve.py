from __future__ import annotations

import json
import os
import time

import pytest

from tests.transports.stdio.process import Process, call, cancel, hello, request, text, when


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
@pytest.mark.fault(148)
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


@pytest.mark.fault(142)
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_methods_that_are_unknown_or_not_offered_are_told_as_such(version):
    with Process() as server:
        server.initialize(version)
        methods = [
            "totally/bogus",
            "completion/complete",
            "resources/list",
            "prompts/get",
            "server/",
            "",
        ]
        for method in methods:
            assert server.ask(method)["error"]["code"] == -32601, method


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


@pytest.mark.fault(201)
def test_large_results_of_parallel_calls_do_not_mix(backend):
    with Process(backend) as server:
        server.initialize()
        for number in range(10):
            server.send(call(number, "big", letter="abcdefghij"[number], size=1024 * 1024))
        answers = server.receive_all(10)
        for number in range(10):
            assert text(answers[number]) == "abcdefghij"[number] * (1024 * 1024)


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
