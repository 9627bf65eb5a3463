"""Every bound of the server in one place, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the server refuses, stops or waits for. Pass changed ones to `McpServer(limits=Limits(threads=8))`.

    Sizes are in bytes, times in seconds. The table in `docs/reference/limits.md` gives each reason at length.
    """

    message_bytes: int = 64 * 1024 * 1024
    """One incoming message; a longer one is answered with an error and skipped without being kept."""

    depth: int = 128
    """Nesting of arrays and objects in an incoming message; deeper ones could exhaust the interpreter's stack."""

    batch: int = 100
    """Messages in one JSON-RPC batch, so that one line cannot start any number of calls."""

    concurrent_calls: int = 1000
    """Calls that run at once on one connection; one more is answered with an error."""

    threads: int = 40
    """Worker threads for synchronous methods, for the whole server."""

    drain_seconds: float = 5
    """How long running calls may go on after the input ended or a signal came."""

    tool_seconds: float | None = None
    """Time limit of a tool that sets none itself (`@tool(timeout=…)`); `None` is no limit."""

    items: int = 1_000_000
    """Items taken from an iterator or generator that a method returns, so that an endless one ends."""

    stream_bytes: int = 256 * 1024 * 1024
    """Bytes read from a stream that a method returns."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0):
                raise ValueError(f"Limits.{field.name} must be a number above 0, got {value!r}")
