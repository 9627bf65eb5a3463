from __future__ import annotations

import fcntl
import json
import os
import sys

import pytest

from tests.transports.stdio.process import SERVER, Process, call, request, text


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


@pytest.mark.fault(203)
def test_files_of_the_working_directory_are_not_read(tmp_path, backend):
    for name in (".env", "mcp.json", "settings.json", "pyproject.toml"):
        (tmp_path / name).write_bytes(b"\xff\x00\xfe=\x80\n")
    with Process(backend, cwd=tmp_path) as server:
        assert server.initialize()["result"]["serverInfo"]["name"] == "stdio-tests"


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


@pytest.mark.parametrize("closed", ["2>&-", "0<&- 2>&-"])
def test_closed_descriptors_do_not_let_anything_into_the_stream(closed, backend):
    shell = f"exec {sys.executable} {SERVER} {backend} {closed}"
    with Process(command=["sh", "-c", shell]) as server:
        if "0<" not in closed:
            server.initialize()
            server.send(call(1, "noisy"))
            assert text(server.receive()) == "quiet"
            server.close()
        assert server.wait() == 0
        for line in server.raw:
            assert json.loads(line)["jsonrpc"] == "2.0"
