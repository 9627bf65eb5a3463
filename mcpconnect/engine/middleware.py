"""Operations with something around them: the server's middleware, and the guards of a tool.

Rule: nothing of this is on the path of a call that has neither. Inside, the operation is what it always is; its
finished answer is opened again, because somebody wants to look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw

from ..context import Context, Disposals, Middleware, Next, Operation, RunContext
from ..errors import ProtocolError
from ..protocol import names
from ..protocol.jsonrpc import Request, encode_result
from ..protocol.wire import dump
from .exchange import Exchange, Result, Running
from .failures import tool_failure
from .job import Call
from .plaincall import PlainCall


def surround(
    exchange: Exchange,
    layers: Iterable[Middleware],
    operation: Callable[[Exchange], Result],
    feature: str,
    *,
    guarded: bool = False,
) -> Running:
    """Return the call that runs an operation inside some layers, outermost first."""
    context, disposals = exchange.context(feature)
    inside = replace(exchange, guarded=guarded, sent=exchange.sent or exchange.request)
    return Running(_Surrounded(inside, tuple(layers), operation, context), context, disposals)


class _Surrounded(PlainCall):
    """An operation inside layers."""

    def __init__(
        self,
        exchange: Exchange,
        layers: tuple[Middleware, ...],
        operation: Callable[[Exchange], Result],
        context: Context,
    ) -> None:
        super().__init__(exchange, exchange.request.method, False, context)
        self._layers = layers
        self._operation = operation
        self._inner: Call | None = None

    async def begin(self) -> dict[str, Any]:
        """Go through the layers; return the result."""
        go: Next = self._operate
        for layer in reversed(self._layers):
            go = partial(self._step, layer, go)
        return await go(Operation(self._exchange.request.method, self._exchange.params, self._context))

    def finish(self, value: Any) -> bytes:
        """Return the answer that carries the result.

        Raises:
            TypeError: a middleware returned no result.
        """
        if not isinstance(value, Mapping):
            raise TypeError(f"a middleware returned {type(value).__name__}, not the result: return await next(call)")
        return encode_result(self._exchange.request.id, dict(value))

    def wind_down(self) -> None:
        """Let what is inside end soon."""
        if self._inner is not None:
            self._inner.wind_down()

    async def _step(self, layer: Middleware, go: Next, operation: Operation) -> dict[str, Any]:
        try:
            return await layer(operation, go)
        except Exception as error:
            exchange = self._exchange
            if operation.method != names.TOOLS_CALL:
                raise
            # What stands around a tool fails as the tool does; the layers outside see such a result.
            name = operation.context.feature
            failed = tool_failure(error, name, (), exchange.server.errors, exchange.request.id)
            blocks = [dump(block) for block in failed.content]
            return exchange.lowered({"resultType": "complete", "content": blocks, "isError": True})

    async def _operate(self, operation: Operation) -> dict[str, Any]:
        exchange = self._exchange
        request = Request(exchange.request.id, exchange.request.method, dict(operation.params))
        made = RunContext(self._context, disposals := Disposals()), disposals
        result = self._operation(replace(exchange, request=request, made=made))
        self._context.feature, self._context.uri = made[0].feature, made[0].uri
        if isinstance(result, Running):
            self._inner = result.call
            runtime = self._context.runtime
            assert runtime is not None  # a call runs
            return _opened(await runtime.run(result.call, result.context, result.disposals))
        if isinstance(result, bytes):
            return _opened(result)
        return dict(msgspec.json.decode(result)) if isinstance(result, Raw) else exchange.lowered(result)


def _opened(answer: bytes) -> dict[str, Any]:
    """Return the result in a finished answer, or raise its error."""
    message = msgspec.json.decode(answer)
    if "error" in message:
        error = message["error"]
        raise ProtocolError(error["message"], code=error["code"], data=error.get("data"))
    result: dict[str, Any] = message["result"]
    return result
