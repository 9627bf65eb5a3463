"""What a client answers when a server asks it: while a call runs, or by calling again.

Source: the specification's pages *Elicitation*, *Sampling*, *Roots* and *Multi Round-Trip Requests*.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from ..errors import ClientError
from ..protocol.jsonrpc import Request, encode_error, encode_result

OnQuestion: TypeAlias = Callable[[str, dict[str, Any]], Any]
"""Takes the method and the parameters of a question; returns the result, a JSON object, or something to await for it.

A `ClientError` that it raises refuses the question, with its code."""

_INTERNAL: Final = -32603


async def reply_to(request: Request, on_question: OnQuestion) -> bytes:
    """Return the response to a question that came as a request."""
    try:
        return encode_result(request.id, await answer_of(request.method, request.params, on_question))
    except ClientError as refusal:
        return encode_error(request.id, refusal.code or _INTERNAL, str(refusal), refusal.data)
    except Exception as error:
        return encode_error(request.id, _INTERNAL, f"{type(error).__name__}: {error}")


async def more_params(result: dict[str, Any], params: Mapping[str, Any], on_question: OnQuestion) -> dict[str, Any]:
    """Return the parameters to call again with, after a result that asks.

    Raises:
        ClientError: the result is malformed, or a question is refused.
    """
    asked = result.get("inputRequests", {})
    if not isinstance(asked, dict):
        raise ClientError("the server asks in a way that cannot be read: inputRequests is no object")
    given = {}
    for key, question in asked.items():
        method = question.get("method") if isinstance(question, dict) else None
        if not isinstance(method, str):
            raise ClientError(f"the server asks in a way that cannot be read: {key!r} has no method")
        given[key] = await answer_of(method, question.get("params") or {}, on_question)
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return {**params, "inputResponses": given, **state}


async def answer_of(method: str, params: dict[str, Any], on_question: OnQuestion) -> dict[str, Any]:
    """Return what `on_question` answers.

    Raises:
        TypeError: that is no object.
    """
    answer = on_question(method, params)
    if inspect.isawaitable(answer):
        answer = await answer
    if not isinstance(answer, Mapping):
        raise TypeError(f"the answer to {method} is a JSON object, not {type(answer).__name__}")
    return dict(answer)
