"""`Recorder`: a transport that keeps what went over it.

Rule: the recording is what was on the wire, byte for byte and in order; nothing is read into it.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Literal, NamedTuple

from ..client.transport import Transport


class Sent(NamedTuple):
    """One message and who sent it."""

    sender: Literal["client", "server"]
    data: bytes

    @property
    def json(self) -> Any:
        """The message as a JSON value. Raises ValueError if it is none."""
        return json.loads(self.data)


class Recorder:
    """Passes messages on and keeps them in `traffic`."""

    def __init__(self, transport: Transport) -> None:
        self.traffic: list[Sent] = []
        self._transport = transport

    async def __aenter__(self) -> Recorder:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, error, trace)

    async def send(self, message: bytes) -> None:
        """Send one message."""
        self.traffic.append(Sent("client", message))
        await self._transport.send(message)

    async def receive(self) -> bytes:
        """Return the next message."""
        message = await self._transport.receive()
        self.traffic.append(Sent("server", message))
        return message
