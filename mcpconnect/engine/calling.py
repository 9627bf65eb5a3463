"""The operations that run the user's code: a tool, a prompt, a resource, a completion.

Rule: everything that can be refused is refused here, before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from ..errors import InvalidParams, LoadError, ProtocolError, ResourceNotFound
from ..features.completing import Completing
from ..features.completion import CompletionArgument, CompletionContext, PromptRef, Ref, TemplateRef
from ..features.lookup import Found
from ..features.resource import TemplateFeature, template_key
from .exchange import Exchange, Result, Running
from .failures import bad_arguments, internal
from .listing import has_resources, offer
from .middleware import surround
from .plaincall import CompleteCall, PromptCall, ReadCall
from .toolcall import ToolCall


def call_tool(exchange: Exchange) -> Result:
    """Find the tool and bind its arguments."""
    name = exchange.text("name", "the name of a tool")
    arguments = exchange.arguments()
    feature = exchange.seen(exchange.server.tools.get(name))
    if feature is None:
        raise InvalidParams(f"Unknown tool: {name[:200]}")
    context, disposals = exchange.context(name)
    call = ToolCall(exchange, feature, context)
    try:
        call.bind(arguments)
    except LoadError as error:
        return call.answer(bad_arguments(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # loading runs code of the user, too: custom serializers, `__post_init__`
        return call.fail(error)
    if feature.guards and exchange.guarded != name:  # which so hear only of arguments that fit
        return surround(exchange, feature.guards, call_tool, name, guarded=name)
    return Running(call, context, disposals)


def get_prompt(exchange: Exchange) -> Result:
    """Find the prompt and bind its arguments."""
    offer(exchange, len(exchange.server.prompts) > 0)
    name = exchange.text("name", "the name of a prompt")
    feature = exchange.seen(exchange.server.prompts.get(name))
    if feature is None:
        raise InvalidParams(f"Unknown prompt: {name[:200]}", data={"name": name[:200]})
    context, disposals = exchange.context(name)
    arguments = exchange.arguments()
    bound = guarded(exchange, name, lambda: feature.bind(arguments, context))
    return Running(PromptCall(exchange, feature, bound, context), context, disposals)


def read_resource(exchange: Exchange) -> Result:
    """Find what the URI means and bind its variables."""
    offer(exchange, has_resources(exchange))
    uri, found = named_resource(exchange)
    context, disposals = exchange.context(found.feature.name, uri)
    feature, values = found.feature, found.values or {}
    if isinstance(feature, TemplateFeature):
        template = feature
        bound = guarded(exchange, feature.name, lambda: template.bind(uri, values, context))
    else:
        bound = feature.bind(context)
    return Running(ReadCall(exchange, feature, bound, context, uri), context, disposals)


def named_resource(exchange: Exchange) -> tuple[str, Found]:
    """Return the URI among the parameters, and what it means.

    Raises:
        ResourceNotFound: it means nothing that this client may see.
    """
    uri = exchange.text("uri", "the URI of a resource")
    exchange.seen(None)  # what would refuse a hidden resource refuses one that is not there, too
    found = exchange.server.catalog.find_resource(uri, exchange.sees)
    if found is None:
        raise ResourceNotFound(f"no resource {uri[:500]}", data={"uri": uri})
    return uri, found


def complete(exchange: Exchange) -> Result:
    """Find the argument that is completed, and who completes it."""
    offer(exchange, exchange.server.catalog.completes)
    ref, completing = _reference(exchange)
    argument = _argument(exchange.params.get("argument"))
    chosen = _chosen(exchange.params.get("context"))
    if not completing.knows(argument.name):
        raise InvalidParams(f"there is no argument {argument.name[:100]!r}")
    context, disposals = exchange.context(ref.name if isinstance(ref, PromptRef) else ref.uri)
    completer = completing.completers.get(argument.name)
    return Running(CompleteCall(exchange, completer, ref, argument, chosen, context), context, disposals)


def guarded(exchange: Exchange, name: str, bind: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what `bind` gives.

    Raises:
        ProtocolError: the arguments are refused, or code of the user failed on them.
    """
    try:
        return bind()
    except (ProtocolError, KeyboardInterrupt):
        raise
    except BaseException as error:  # loading runs code of the user, too: custom serializers, `__post_init__`
        raise internal(error, name, exchange.request.id) from None


def _reference(exchange: Exchange) -> tuple[Ref, Completing]:
    ref = exchange.params.get("ref")
    if not isinstance(ref, dict):
        raise InvalidParams("ref must be an object")
    kind, name, uri = ref.get("type"), ref.get("name"), ref.get("uri")
    if kind == "ref/prompt" and isinstance(name, str) and name:
        prompt = exchange.seen(exchange.server.prompts.get(name))
        if prompt is None:
            raise InvalidParams(f"Unknown prompt: {name[:200]}")
        return PromptRef(name), prompt.completing
    if kind == "ref/resource" and isinstance(uri, str) and uri:
        template = exchange.seen(exchange.server.templates.get(template_key(uri)))
        if template is None:
            raise InvalidParams(f"Unknown resource template: {uri[:200]}")
        return TemplateRef(template.template.text), template.completing
    raise InvalidParams("ref must be of the type ref/prompt with a name, or ref/resource with a uri")


def _argument(argument: Any) -> CompletionArgument:
    if not isinstance(argument, dict):
        raise InvalidParams("argument must be an object")
    name, value = argument.get("name"), argument.get("value")
    if not isinstance(name, str) or not name:
        raise InvalidParams("argument.name must be a text")
    if not isinstance(value, str):
        raise InvalidParams("argument.value must be a text")
    return CompletionArgument(name, value)


def _chosen(context: Any) -> CompletionContext:
    if context is None:
        return CompletionContext()
    arguments = context.get("arguments") if isinstance(context, dict) else context
    if arguments is None:
        return CompletionContext()
    if not isinstance(arguments, dict) or not all(isinstance(value, str) for value in arguments.values()):
        raise InvalidParams("context.arguments must be an object of texts")
    return CompletionContext(MappingProxyType(dict(arguments)))
