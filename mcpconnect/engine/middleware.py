"""Operations with something around them: the server's middleware, and the guards of a tool.

Rule: nothing of this is on the path of a call that has neither. Inside, the operation is what it always is; its
finished answer is opened again, because somebody wants to look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import anyio
from msgspec import Raw

from ..content import ToolResult
from ..context import Context, InputRequired, Middleware, Next, Operation
from ..errors import InternalError, ProtocolError
from ..protocol import exact, names
from ..protocol.jsonrpc import Request, encode_result
from ..protocol.revision import Shape
from ..protocol.wire import dump
from .asking import as_sent
from .exchange import Exchange, Result, Running
from .failures import error_result, leaves, too_long, tool_failure
from .job import Call
from .plaincall import PlainCall

_BOUNDED: Final = frozenset((names.TOOLS_CALL, names.PROMPTS_GET, names.RESOURCES_READ, names.COMPLETE))


def surround(
    exchange: Exchange,
    layers: Iterable[Middleware],
    operation: Callable[[Exchange], Result],
    feature: str,
    *,
    guarded: str | None = None,
) -> Running:
    """Return the call that runs an operation inside some layers, outermost first.

    `guarded` names the tool whose guards the layers are.
    """
    context, disposals = exchange.context(feature)
    inside = replace(exchange, guarded=guarded, sent=exchange.sent or as_sent(exchange.request, exchange.peer))
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
            InternalError: the result is longer than results may be.
        """
        if not isinstance(value, Mapping):
            raise TypeError(f"a middleware returned {type(value).__name__}, not the result: return await next(call)")
        request, limit = self._exchange.request, self._exchange.server.limits.result_bytes
        data = encode_result(request.id, dict(value), exact.encode)
        if limit is None or len(data) <= limit or not _is_bounded(request.method, value):
            return data
        text = f"the result of {self._context.feature} is too long{too_long(data, limit)}"
        if request.method != names.TOOLS_CALL:
            raise InternalError(text)
        return encode_result(request.id, self._failure(error_result(text)))

    def fail(self, error: BaseException) -> bytes:
        """Return the answer for what the layers raised."""
        if self._exchange.request.method != names.TOOLS_CALL or _holds(error, InputRequired):
            return super().fail(error)
        try:
            return encode_result(self._exchange.request.id, self._failed(error))
        except ProtocolError as refused:
            return super().fail(refused)

    def wind_down(self) -> None:
        """Let what is inside end soon."""
        if self._inner is not None:
            self._inner.wind_down()

    async def _step(self, layer: Middleware, go: Next, operation: Operation) -> dict[str, Any]:
        try:
            return await layer(operation, go)
        except BaseException as error:
            ends = (InputRequired, KeyboardInterrupt, anyio.get_cancelled_exc_class())
            if self._exchange.request.method != names.TOOLS_CALL or _holds(error, *ends):
                raise
            return self._failed(error)  # what stands around a tool fails as the tool does; layers outside see that

    def _failed(self, error: BaseException) -> Shape:
        exchange = self._exchange
        mode = exchange.server.errors
        return self._failure(tool_failure(error, self._context.feature, (), mode, exchange.request.id))

    def _failure(self, failed: ToolResult) -> Shape:
        blocks = [dump(block) for block in failed.content]
        return self._exchange.lowered({"resultType": "complete", "content": blocks, "isError": True})

    async def _operate(self, operation: Operation) -> dict[str, Any]:
        exchange = self._exchange
        if operation.method != exchange.request.method or operation.context is not self._context:
            raise TypeError("next goes on with this call: replace its parameters (call.with_params), and nothing else")
        request = Request(exchange.request.id, exchange.request.method, dict(operation.params))
        inside, context = exchange.inside(request)
        result = self._operation(inside)
        self._context.feature, self._context.uri = context.feature, context.uri
        if isinstance(result, Running):
            self._inner = result.call
            runtime = self._context.runtime
            assert runtime is not None  # a call runs
            return _opened(await runtime.run(result.call, result.context, result.disposals))
        if isinstance(result, bytes):
            return _opened(result)
        return dict(exact.decode(result)) if isinstance(result, Raw) else exchange.lowered(result)


def _opened(answer: bytes) -> dict[str, Any]:
    """Return the result in a finished answer, or raise its error."""
    message = exact.decode(answer)
    if "error" in message:
        error = message["error"]
        raise ProtocolError(error["message"], code=error["code"], data=error.get("data"))
    result: dict[str, Any] = message["result"]
    return result


def _is_bounded(method: str, result: Mapping[str, Any]) -> bool:
    """Say whether a result is one of those that have to be short: not a list, an error or a question."""
    complete = result.get("resultType", "complete") == "complete"
    return method in _BOUNDED and complete and result.get("isError") is not True


def _holds(error: BaseException, *kinds: type[BaseException]) -> bool:
    """Say whether an exception is, or as a group contains, one of these kinds."""
    return any(isinstance(cause, kinds) for cause in leaves(error))
