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

    subscriptions: int = 1000
    """Resources that one connection may subscribe to."""

    answer_seconds: float = 600
    """How long a call waits for the client's answer to a question; people take their time."""

    rounds: int = 20
    """How often one call may ask for more, in the era in which it ends for every question."""

    state_seconds: float = 60 * 60
    """How long a client may take to answer, in that era, before what it brings back is too old."""

    states: int = 100_000
    """How many used states one process remembers, so that none serves twice; the oldest are forgotten first."""

    items: int = 1_000_000
    """Items taken from an iterator or generator that a method returns, so that an endless one ends."""

    result_bytes: int | None = None
    """One result; hosts refuse what is too long for them, and some cannot go on after it. `None` is no limit."""

    stream_bytes: int = 256 * 1024 * 1024
    """Bytes read from a stream that a method returns."""

    body_bytes: int = 16 * 1024 * 1024
    """The body of one HTTP request; anybody on the network may send one."""

    body_seconds: float = 30
    """How long the body of an HTTP request may take to arrive, so that slow senders hold nothing for long."""

    keepalive_seconds: float = 15
    """How long an event stream may be silent before a comment is sent, so that proxies do not cut it."""

    stream_messages: int = 1024
    """Messages that one event stream keeps for a client that does not read or may come back; older ones are dropped."""

    replay_bytes: int = 64 * 1024 * 1024
    """Answers that one process keeps for clients that went away before they had them; the oldest are dropped."""

    header_bytes: int = 64 * 1024
    """The headers of one HTTP request."""

    sessions: int = 10_000
    """Sessions that one process remembers; the one that was idle longest makes room for a new one."""

    session_idle_seconds: float = 30 * 60
    """How long a session may be idle before the process forgets what it knows of it."""

    session_seconds: float = 7 * 24 * 60 * 60
    """How old a session may become at all; the time of its birth stands in its id."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0):
                raise ValueError(f"Limits.{field.name} must be a number above 0, got {value!r}")
