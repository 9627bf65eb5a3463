"""Over stdio there is one session, that of the process's one client."""

import signal
import sys
from pathlib import Path

import pytest

from tests.transports.stdio.process import Process

PROGRAM = """
from mcpconnect import McpServer, Session, tool

class Cart(Session):
    def __init__(self):
        self.items = []

    def close(self):
        import sys
        print("closed with", len(self.items), file=sys.stderr, flush=True)

server = McpServer("shop", session=Cart)

@server.register
@tool
def put(item: str, cart: Cart) -> str:
    cart.items.append(item)
    return ", ".join(cart.items)

server.run()
"""


def test_the_session_lives_from_the_first_call_to_the_end_of_the_process(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(PROGRAM)
    with Process(command=[sys.executable, str(file)]) as process:
        process.initialize()
        for item, expected in (("pear", "pear"), ("plum", "pear, plum")):
            answer = process.ask("tools/call", {"name": "put", "arguments": {"item": item}}, id=item)
            assert answer["result"]["content"][0]["text"] == expected
        process.close()
        assert process.wait() == 0
        assert "closed with 2" in process.stderr


STOPPED = """
import sys, time
from contextlib import asynccontextmanager
from mcpconnect import Context, Limits, McpServer, Session, tool

def say(*words):
    print(*words, file=sys.stderr, flush=True)

@asynccontextmanager
async def life(server):
    yield "state"
    say("lifespan left")

class Cart(Session):
    async def aclose(self):
        say("session closed")

server = McpServer("shop", session=Cart, lifespan=life, limits=Limits(drain_seconds=0.3))

@server.register
@tool
def wait(cart: Cart, context: Context) -> str:
    say("waiting")
    until = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < until and not (context.cancelled and sys.argv[3] == "watchful"):
        time.sleep(0.01)
    say("method over")
    return ""

server.run(backend=sys.argv[1])
"""


@pytest.mark.parametrize("end", ["signal", "input"])
@pytest.mark.parametrize(
    ("seconds", "kind", "order"),
    [
        ("20", "watchful", ["waiting", "method over", "session closed", "lifespan left"]),
        ("20", "deaf", ["waiting", "session closed", "lifespan left"]),
    ],
)
def test_a_method_in_a_thread_outlives_nothing_that_it_uses_if_it_listens(
    tmp_path: Path, backend: str, end: str, seconds: str, kind: str, order: list[str]
) -> None:
    file = tmp_path / "shop.py"
    file.write_text(STOPPED)
    with Process(command=[sys.executable, str(file), backend, seconds, kind]) as process:
        process.initialize()
        process.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}})
        assert process.ask("ping")["result"] == {}
        process.signal(signal.SIGTERM) if end == "signal" else process.close()
        assert process.wait() == 0
        assert process.stderr.split("\n")[:-1] == order
