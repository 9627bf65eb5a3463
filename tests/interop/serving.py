"""Servers in processes of their own, reached over HTTP; and the tools of other makes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EVERYTHING = ROOT / "samples" / "everything.py"
PATIENCE = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens at the port; fail if the process ends before."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"nothing listens at port {port}")


@contextmanager
def process(
    command: list[str], port: int, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends."""
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    try:
        wait_for(port, running)
        yield running
    finally:
        running.terminate()
        try:
            running.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


@contextmanager
def serving(
    file: Path = EVERYTHING, *options: str, port: int | None = None, secret: str | None = None
) -> Iterator[str]:
    """Serve a file over HTTP and give the URL of its endpoint."""
    chosen = port or free_port()
    command = [sys.executable, "-m", "mcpconnect", "run", str(file), "--http", "--port", str(chosen), *options]
    with process(command, chosen, {"TEST_SECRET": secret} if secret else None):
        yield f"http://127.0.0.1:{chosen}/mcp"


def node() -> str:
    """Return a Node of version 22, which came with the other tools; skip where they are not installed."""
    program = HERE / "node_modules" / "node" / "bin" / "node"
    if not program.exists():
        _skip("the clients for Node are not installed: npm install --prefix tests/interop")
    return str(program)


def nginx() -> str:
    """Return nginx; skip where it is not installed."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        _skip("nginx is not installed")
    assert program is not None
    return program


def _skip(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def proxied(folder: Path, ports: list[int], prefix: str = "/api") -> Iterator[str]:
    """Put nginx before servers, without affinity and with a prefix, and give the URL of the endpoint behind it."""
    port = free_port()
    upstream = "\n".join(f"server 127.0.0.1:{each};" for each in ports)
    configuration = f"""
        daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
        events {{ worker_connections 4096; }}
        http {{
            access_log off;
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
            upstream servers {{ {upstream} keepalive 64; }}
            server {{
                listen 127.0.0.1:{port};
                location {prefix}/ {{
                    proxy_pass http://servers/;
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                    proxy_set_header Host $host;
                }}
            }}
        }}
    """
    file = folder / "nginx.conf"
    file.write_text(configuration, encoding="utf-8")
    with process([nginx(), "-c", str(file), "-p", str(folder)], port):
        yield f"http://127.0.0.1:{port}{prefix}/mcp"
