"""`ToolCall`: the steps of one `tools/call`, from bound arguments to finished bytes.

Rule: each step is a function of what it is given; the runner decides in which thread it runs, and `failures` what an
exception becomes.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ..content import UNSET, Block, TextContent, ToolResult
from ..context import Context
from ..errors import ProtocolError
from ..features.tool import ToolFeature
from ..protocol import names
from ..protocol.jsonrpc import encode_result
from ..protocol.revision import Shape
from ..protocol.wire import dump
from .exchange import Exchange
from .failures import error_result, refused, timed_out, too_long, tool_failure
from .job import Prepare


class ToolCall:
    """One call of a tool by one peer."""

    __slots__ = ("_arguments", "_context", "_exchange", "_feature", "_peer", "_server", "threaded", "timeout")

    def __init__(self, exchange: Exchange, feature: ToolFeature, context: Context) -> None:
        self._exchange = exchange
        self._server = exchange.server
        self._peer = exchange.peer
        self._feature = feature
        self._context = context
        self._arguments: dict[str, Any] = {}
        self.threaded = feature.threaded
        self.timeout = feature.timeout

    @property
    def prepare(self) -> Prepare | None:
        """What has to be awaited before the method is called, if there is something."""
        return self._feature.prepare

    def bind(self, arguments: dict[str, Any]) -> None:
        """Load the arguments.

        Raises:
            LoadError: they do not fit.
        """
        self._arguments = self._feature.bind(arguments, self._context)

    def begin(self) -> Any:
        """Call the user's method."""
        return self._feature.call(self._arguments)

    def finish(self, value: Any) -> bytes:
        """Return the answer for the settled value."""
        return self.answer(self._feature.convert(value, self._context.keeps))

    def fail(self, error: BaseException) -> bytes:
        """Return the answer for what the method, or the conversion of its value, raised."""
        feature, request = self._feature, self._exchange.request
        try:
            if (required := self._exchange.required(error)) is not None:
                return required
            return self.answer(tool_failure(error, feature.name, feature.shown_errors, self._server.errors, request.id))
        except ProtocolError as refusal:
            return refused(refusal, request.id, self._peer)

    def expire(self) -> bytes:
        """Return the answer for a call that took too long."""
        return self.answer(timed_out(self._feature.name, self.timeout or 0))

    def wind_down(self) -> None:
        """Go on: a tool's call ends by itself."""

    def answer(self, result: ToolResult) -> bytes:
        """Return the response that carries a result, in the peer's shape."""
        shape: Shape = {
            "resultType": "complete",
            "content": [dump(block) for block in self._blocks(result)],
            "_meta": {**(result.meta or {}), names.SERVER_INFO: self._server.implementation},
        }
        if result.is_error:
            shape["isError"] = True
        if result.structured is not UNSET:
            structured = result.structured
            shape["structuredContent"] = (
                structured if type(structured) is Raw else self._server.serializer.dump(structured)
            )
        wrap = self._feature.wraps and not result.is_error
        data = encode_result(self._exchange.request.id, self._peer.revision.lower(names.TOOLS_CALL, shape, wrap=wrap))
        limit = self._server.limits.result_bytes
        if limit is not None and len(data) > limit and not result.is_error:
            return self.answer(error_result(f"the result of {self._feature.name} is too long{too_long(data, limit)}"))
        return data

    def _blocks(self, result: ToolResult) -> tuple[Block, ...]:
        """Return the result's blocks; the data itself where a short text stands for data that this revision lacks."""
        data = result.structured
        if self._feature.brief and type(data) is Raw and not self._peer.revision.has(names.STRUCTURED):
            return (TextContent(bytes(data).decode()),)
        return result.content
