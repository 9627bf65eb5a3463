"""A real uvicorn on a free port of the loopback interface, in a thread with its own loop; and a client made of a socket."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from mcpconnect import McpServer
from mcpconnect.transports.http.serve import _uvicorn
from tests.wire import NEWEST, PATIENCE, K

HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


class Running:
    """A server that runs."""

    def __init__(self, server: McpServer, host: str, **options: Any) -> None:
        self.uvicorn = _uvicorn(server, host, 0, options)
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        wait_until(lambda: self.uvicorn.started or not self._thread.is_alive())
        self.address = self.uvicorn.servers[0].sockets[0].getsockname()
        self.port: int = self.address[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def _run(self) -> None:
        try:
            self.uvicorn.run()
        except BaseException as failure:
            self.failure = failure

    def begin_stop(self) -> None:
        self.uvicorn.should_exit = True

    def stop(self) -> float:
        """Stop, and return how many seconds that took."""
        began = time.monotonic()
        self.begin_stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the server does not stop"
        if self.failure is not None:
            raise self.failure
        return time.monotonic() - began


def wait_until(condition: Any) -> None:
    """Wait until a condition holds that nobody tells of."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.001)


@contextmanager
def running(server: McpServer, host: str = "127.0.0.1", **options: Any) -> Iterator[Running]:
    """Serve until the block ends."""
    served = Running(server, host, **options)
    try:
        yield served
    finally:
        served.stop()


class Socket:
    """A connection; everything that the server wrote is in `received`."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.received = b""

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def request(
        self, method: str, body: bytes = b"", headers: dict[str, str] | None = None, path: str = "/mcp"
    ) -> None:
        lines = [f"{method} {path} HTTP/1.1", "host: localhost", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in {**HEADERS, **(headers or {})}.items()]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def until(self, text: bytes) -> bytes:
        """Read until a text came, and return all that came behind the last one."""
        while text not in self.received:
            piece = self.socket.recv(65536)
            assert piece, f"the connection ended behind {self.received!r}"
            self.received += piece
        before, _, self.received = self.received.partition(text)
        return before + text

    def rest(self) -> bytes:
        """Read until the server closes the connection."""
        with suppress(ConnectionResetError):
            while piece := self.socket.recv(65536):
                self.received += piece
        return self.received


def modern(name: str, arguments: Any = None, **meta: Any) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a call in the per-request era."""
    whole = {f"{K}protocolVersion": NEWEST, f"{K}clientCapabilities": {}, **meta}
    params = {"name": name, "arguments": arguments or {}, "_meta": whole}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    return body, {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call", "mcp-name": name}


def handshake(version: str = "2025-11-25") -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def call(name: str, arguments: Any = None, *, id: Any = 1, token: Any = None) -> dict[str, Any]:
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    params = {"name": name, "arguments": arguments or {}, **meta}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
