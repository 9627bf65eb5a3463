"""The four lists. Each page is encoded once for each revision, until the list changes.

Source: the specification's pages *Tools*, *Prompts*, *Resources* and *Pagination*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from ..errors import InvalidParams, MethodNotFound
from ..features.registry import Page, Registry
from ..protocol.model import ListPromptsResult, ListResourcesResult, ListTemplatesResult, ListToolsResult
from ..protocol.wire import dump
from .exchange import Exchange, Result
from .topics import LISTS

Made = Callable[..., Any]


def list_tools(exchange: Exchange) -> Result:
    """Return a page of the tools."""
    return _listed(exchange, exchange.server.tools, lambda made, **page: ListToolsResult(tools=made, **page))


def list_prompts(exchange: Exchange) -> Result:
    """Return a page of the prompts."""
    offer(exchange, len(exchange.server.prompts) > 0)
    return _listed(exchange, exchange.server.prompts, lambda made, **page: ListPromptsResult(prompts=made, **page))


def list_resources(exchange: Exchange) -> Result:
    """Return a page of the resources."""
    offer(exchange, has_resources(exchange))
    return _listed(
        exchange, exchange.server.resources, lambda made, **page: ListResourcesResult(resources=made, **page)
    )


def list_templates(exchange: Exchange) -> Result:
    """Return a page of the resource templates."""
    offer(exchange, has_resources(exchange))
    return _listed(
        exchange, exchange.server.templates, lambda made, **page: ListTemplatesResult(resource_templates=made, **page)
    )


def has_resources(exchange: Exchange) -> bool:
    """Say whether the server has resources or templates."""
    return len(exchange.server.resources) + len(exchange.server.templates) > 0


def offer(exchange: Exchange, offered: bool) -> None:
    """Refuse a method whose capability is not declared.

    Raises:
        MethodNotFound: the server does not offer it.
    """
    if not offered:
        raise MethodNotFound(f"the server does not offer {exchange.request.method}")


def _listed(exchange: Exchange, registry: Registry[Any], made: Made) -> Raw:
    cursor = exchange.params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise InvalidParams("cursor must be a text")
    server = exchange.server

    def encoded(shown: Callable[[Any], bool] | None = None) -> Raw:
        page: Page[Any] = registry.page(cursor, server.page_size, shown)
        result = made(
            tuple(feature.definition for feature in page.items),
            next_cursor=page.next_cursor,
            ttl_ms=server.cache.ttl_ms,
            cache_scope=server.cache.scope,
        )
        return Raw(msgspec.json.encode(exchange.lowered(dump(result))))

    if server.visibility:
        if exchange.lifecycle.sight is not None:
            exchange.lifecycle.sight.look(LISTS[exchange.request.method])
        return encoded(exchange.sees)
    return registry.kept((exchange.peer.revision, cursor), encoded)
