"""How a conversation begins: `initialize`, `server/discover`, `ping`.

Source: the specification's pages *Lifecycle* and *Discovery*.
"""

from __future__ import annotations

from ..context.levels import rank_of
from ..protocol.model import (
    DiscoverResult,
    InitializeResult,
    ListCapability,
    ResourcesCapability,
    ServerCapabilities,
)
from ..protocol.revisions import PER_REQUEST
from ..protocol.wire import dump
from ..server import McpServer
from .exchange import Exchange, Result


def initialize(exchange: Exchange) -> Result:
    """Answer the handshake."""
    exchange.peer = exchange.lifecycle.shake_hands(exchange.params)
    server = exchange.server
    result = InitializeResult(
        protocol_version=exchange.peer.revision.version,
        capabilities=capabilities(server),
        server_info=server.identity,
        instructions=server.instructions,
    )
    return dump(result)


def discover(exchange: Exchange) -> Result:
    """Tell what the server is and can do, without a handshake."""
    server = exchange.server
    result = DiscoverResult(
        supported_versions=tuple(revision.version for revision in PER_REQUEST),
        capabilities=capabilities(server),
        instructions=server.instructions,
        ttl_ms=server.cache.ttl_ms,
        cache_scope=server.cache.scope,
    )
    return dump(result)


def ping(_: Exchange) -> Result:
    """Show that the server is alive."""
    return {}


def set_level(exchange: Exchange) -> Result:
    """Let this connection hear log messages from a level on."""
    exchange.lifecycle.log_rank = rank_of(exchange.params.get("level"))
    return {}


def capabilities(server: McpServer) -> ServerCapabilities:
    """Return what the server can do now. Tools are always there, since one may be registered at any time."""
    catalog = server.catalog
    readable = len(catalog.resources) + len(catalog.templates) > 0
    return ServerCapabilities(
        tools=ListCapability(list_changed=True),
        prompts=ListCapability(list_changed=True) if len(catalog.prompts) else None,
        resources=ResourcesCapability(subscribe=True, list_changed=True) if readable else None,
        logging={},
        completions={} if catalog.completes else None,
    )
