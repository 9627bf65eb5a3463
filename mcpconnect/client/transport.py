"""What a client needs of a transport: whole messages out, whole messages in.

Rule: a transport knows nothing of JSON-RPC. `transports.MemoryLink` is one, `client.stdio.StdioTransport` is another.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol


class Transport(Protocol):
    """A way to one server; an async context manager that opens and closes it."""

    async def __aenter__(self) -> Any:
        """Open the way."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close it, politely."""
        ...

    async def send(self, message: bytes) -> None:
        """Send one message. Raises ClientError if the server has gone."""
        ...

    async def receive(self) -> bytes:
        """Return the next message, waiting for it. Raises ClientError if the server has gone."""
        ...
