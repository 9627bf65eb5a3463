"""A server process seen from its pipes, without any client of ours."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

SERVER = Path(__file__).with_name("server.py")
SECONDS = 20


class Process:
    """Runs `server.py` (or another command); a context manager that leaves no process behind."""

    def __init__(
        self,
        *arguments: str,
        command: list[str] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
    ) -> None:
        self.popen = subprocess.Popen(
            command or [sys.executable, str(SERVER), *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "", **(env or {})},
            cwd=cwd,
        )
        self.raw: list[bytes] = []
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []
        self._readers = [threading.Thread(target=self._read_errors, daemon=True)]
        if stdout == subprocess.PIPE:
            self._readers.append(threading.Thread(target=self._read, daemon=True))
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        for reader in self._readers:
            reader.join(SECONDS)
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if pipe is not None and not pipe.closed:
                with suppress(BrokenPipeError):
                    pipe.close()

    def _end(self) -> None:
        if self.popen.stdin is not None and not self.popen.stdin.closed:
            with suppress(BrokenPipeError):
                self.popen.stdin.close()
        try:
            self.popen.wait(1)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait(SECONDS)

    def send(self, message: bytes | dict[str, Any] | list[Any], *, end: bytes = b"\n") -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.write(data + end)

    def write(self, data: bytes) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(data)
        self.popen.stdin.flush()

    def receive(self) -> Any:
        """Return the next message; fails if the line is none."""
        return json.loads(self._lines.get(timeout=SECONDS))

    def receive_all(self, count: int) -> dict[Any, Any]:
        """Return the next messages by id."""
        messages = [self.receive() for _ in range(count)]
        return {message.get("id"): message for message in messages}

    def ask(self, method: str, params: dict[str, Any] | None = None, id: Any = "ask") -> Any:
        """Send a request and return the next message."""
        self.send(request(id, method, params))
        return self.receive()

    def initialize(self, version: str = "2025-11-25") -> Any:
        answer = self.ask("initialize", hello(version), id="initialize")
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def close(self) -> None:
        """End the server's input."""
        assert self.popen.stdin is not None
        self.popen.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def wait(self) -> int:
        """Return the exit code."""
        code = self.popen.wait(SECONDS)
        for reader in self._readers:
            reader.join(SECONDS)
        return code

    def rest(self) -> list[Any]:
        """Return the messages that nobody has received, once the process has ended."""
        self.wait()
        messages = []
        while not self._lines.empty():
            messages.append(json.loads(self._lines.get()))
        return messages

    @property
    def stderr(self) -> str:
        self.wait()
        return b"".join(self._errors).decode()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            self.raw.append(line)
            self._lines.put(line)

    def _read_errors(self) -> None:
        assert self.popen.stderr is not None
        for line in self.popen.stderr:
            self._errors.append(line)


def request(id: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def call(id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(id, "tools/call", {"name": tool, "arguments": arguments})


def cancel(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


def hello(version: str = "2025-11-25") -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def text(answer: dict[str, Any]) -> str:
    (block,) = answer["result"]["content"]
    return str(block["text"])


def when(marker: Path, content: str) -> None:
    """Wait until a tool has written this into its marker."""
    deadline = time.monotonic() + SECONDS
    while not marker.exists() or marker.read_text() != content:
        assert time.monotonic() < deadline, f"{marker} never said {content!r}"
        time.sleep(0.01)
