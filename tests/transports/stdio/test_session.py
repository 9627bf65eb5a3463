"""Over stdio there is one session, that of the process's one client."""

import sys
from pathlib import Path

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
