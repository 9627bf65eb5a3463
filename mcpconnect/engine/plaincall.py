"""The calls that answer with a JSON-RPC error when they fail: prompts, resources, completions.

Rule: a protocol error keeps its text; anything else shows an id, under which the log has the traceback. A person or a
program reads it, not a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..content import ResourceResult
from ..context import Context
from ..errors import InternalError, ProtocolError, ResourceNotFound
from ..features.completing import Completer
from ..features.completion import CompletionArgument, CompletionContext, Ref, normalized
from ..features.offered import Offered
from ..features.prompt import PromptFeature
from ..features.providers import ask
from ..features.resource import ResourceFeature, TemplateFeature
from ..protocol.jsonrpc import encode_result
from ..protocol.model import CompleteResult, Completion
from ..protocol.revision import Shape
from ..protocol.wire import dump
from .exchange import Exchange
from .failures import internal, leaves, refused, too_long
from .job import Prepare


class PlainCall:
    """A call of a feature that is no tool."""

    timeout: float | None = None
    prepare: Prepare | None = None

    def __init__(self, exchange: Exchange, name: str, threaded: bool, context: Context) -> None:
        self._exchange = exchange
        self._name = name
        self._context = context
        self.threaded = threaded

    def fail(self, error: BaseException) -> bytes:
        """Return the error for what the user's code raised."""
        try:
            if (required := self._exchange.required(error)) is not None:
                return required
        except ProtocolError as too_often:
            error = too_often
        request_id = self._exchange.request.id
        refusal = next((cause for cause in leaves(error) if isinstance(cause, ProtocolError)), None)
        return refused(refusal or internal(error, self._name, request_id), request_id, self._exchange.peer)

    def expire(self) -> bytes:
        """Return the error of a call that took too long."""
        return self.fail(TimeoutError("the call took too long"))

    def wind_down(self) -> None:
        """Go on: the call ends by itself."""

    def answer(self, result: Shape) -> bytes:
        """Return the response that carries a result of the newest shape.

        Raises:
            InternalError: it is longer than results may be.
        """
        data = encode_result(self._exchange.request.id, self._exchange.lowered(result))
        limit = self._exchange.server.limits.result_bytes
        if limit is not None and len(data) > limit:
            raise InternalError(f"the result is too long{too_long(data, limit)}")
        return data


class PromptCall(PlainCall):
    """`prompts/get`."""

    def __init__(self, exchange: Exchange, feature: PromptFeature, bound: Mapping[str, Any], context: Context) -> None:
        super().__init__(exchange, feature.name, feature.threaded, context)
        self.prepare = feature.prepare
        self._feature = feature
        self._bound = bound

    def begin(self) -> Any:
        """Call the user's method."""
        return self._feature.call(self._bound)

    def finish(self, value: Any) -> bytes:
        """Return the answer for the settled value."""
        return self.answer({"resultType": "complete", **dump(self._feature.convert(value, self._context.keeps))})


class ReadCall(PlainCall):
    """`resources/read`."""

    def __init__(
        self,
        exchange: Exchange,
        feature: ResourceFeature | TemplateFeature,
        bound: Mapping[str, Any],
        context: Context,
        uri: str,
    ) -> None:
        super().__init__(exchange, feature.name, feature.threaded, context)
        self.prepare = feature.prepare
        self._feature = feature
        self._bound = bound
        self._uri = uri

    def begin(self) -> Any:
        """Call the user's method."""
        feature: Offered = self._feature
        return feature.call(self._bound)

    def finish(self, value: Any) -> bytes:
        """Return the answer for the settled value.

        Raises:
            ResourceNotFound: the value says that there is no such resource.
        """
        result = self._feature.convert(value, self._uri, self._context.keeps)
        if result is None:
            raise ResourceNotFound(f"no resource {self._uri[:500]}", data={"uri": self._uri})
        return self.answer(self._shape(result))

    def _shape(self, result: ResourceResult) -> Shape:
        # The most specific hint holds as a whole; nothing is merged.
        cache = result.cache or self._feature.cache or self._exchange.server.cache
        shape: Shape = {
            "resultType": "complete",
            "contents": [dump(part) for part in result.contents],
            "ttlMs": cache.ttl_ms,
            "cacheScope": cache.scope,
        }
        if result.meta is not None:
            shape["_meta"] = result.meta
        return shape


class CompleteCall(PlainCall):
    """`completion/complete`."""

    def __init__(
        self,
        exchange: Exchange,
        completer: Completer | None,
        ref: Ref,
        argument: CompletionArgument,
        chosen: CompletionContext,
        context: Context,
    ) -> None:
        super().__init__(
            exchange, f"the completion of {argument.name}", completer is not None and completer.threaded, context
        )
        self.prepare = None if completer is None else completer.prepare
        self._completer = completer
        self._ref = ref
        self._argument = argument
        self._chosen = chosen

    def begin(self) -> Any:
        """Ask the argument's own completer, or else the providers."""
        if self._completer is not None:
            return self._completer.answer(self._argument.value, self._chosen)
        return ask(self._exchange.server.completions, self._ref, self._argument, self._chosen)

    def finish(self, value: Any) -> bytes:
        """Return the answer for the completer's settled answer; nobody's answer is an empty one."""
        if value is None and self._completer is None:
            completion = Completion(values=())
        else:
            completion = normalized(value, self._exchange.server.serializer)
        return self.answer(dump(CompleteResult(completion=completion)))
