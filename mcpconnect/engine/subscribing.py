"""Hearing of changes: `resources/subscribe`, `resources/unsubscribe`, `subscriptions/listen`."""

from __future__ import annotations

from ..errors import InvalidParams
from ..features.resource import TemplateFeature, key_of
from .calling import guarded, named_resource
from .exchange import Exchange, Result, Running
from .listening import Listening
from .listing import has_resources, offer


def subscribe(exchange: Exchange) -> Result:
    """Tell this connection when a resource changes; doing so twice is no harm."""
    offer(exchange, has_resources(exchange))
    uri, found = named_resource(exchange)
    if isinstance(found.feature, TemplateFeature):
        template, values = found.feature, found.values or {}
        guarded(exchange, template.name, lambda: template.load(uri, values))
    subscribed = exchange.lifecycle.subscribed
    key = key_of(uri)
    if len(subscribed) >= exchange.server.limits.subscriptions and key not in subscribed:
        raise InvalidParams("too many subscriptions (Limits.subscriptions)")
    exchange.lifecycle.subscribed = subscribed | {key}
    return {}


def unsubscribe(exchange: Exchange) -> Result:
    """Tell this connection no more of a resource."""
    offer(exchange, has_resources(exchange))
    exchange.lifecycle.subscribed -= {key_of(exchange.text("uri", "the URI of a resource"))}
    return {}


def listen(exchange: Exchange) -> Result:
    """Open a subscription."""
    context, disposals = exchange.context(exchange.request.method)
    return Running(Listening(exchange.server, exchange.request, context), context, disposals)
