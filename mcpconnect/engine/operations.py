"""The one table of methods, and what each of them does.

Rule: an operation takes an exchange and gives a result in the newest shape, a result that is finished, or a call to
run. Whether the peer's revision knows the method is asked before, and lowering the shape happens after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Raw

from ..context import Channel, Context, Disposals
from ..errors import InvalidParams, LoadError
from ..protocol import names
from ..protocol.jsonrpc import Request
from ..protocol.model import (
    DiscoverResult,
    InitializeResult,
    ListToolsResult,
    ServerCapabilities,
    ToolsCapability,
)
from ..protocol.peer import Peer
from ..protocol.revision import Shape
from ..protocol.revisions import PER_REQUEST
from ..protocol.wire import dump
from ..server import McpServer
from .failures import bad_arguments
from .lifecycle import Lifecycle
from .listening import Listening
from .toolcall import ToolCall


@dataclass(slots=True)
class Exchange:
    """A request, who sent it, and the server that answers."""

    server: McpServer
    lifecycle: Lifecycle
    request: Request
    peer: Peer
    channel: Channel

    @property
    def params(self) -> dict[str, Any]:
        """The request's parameters."""
        return self.request.params

    def lowered(self, result: Shape) -> Shape:
        """Return a result in the peer's shape, with the server's identity where the revision has a place for it."""
        meta = {**result.get(names.META, {}), names.SERVER_INFO: self.server.implementation}
        return self.peer.revision.lower(self.request.method, {**result, names.META: meta})


@dataclass(slots=True)
class Running:
    """A call that is ready to run."""

    call: ToolCall | Listening
    context: Context
    disposals: Disposals


Result: TypeAlias = Shape | Raw | bytes | Running
"""The newest shape; a finished result; a finished message; a call to run."""

Operation: TypeAlias = Callable[[Exchange], Result]


def initialize(exchange: Exchange) -> Result:
    """Answer the handshake."""
    exchange.peer = exchange.lifecycle.shake_hands(exchange.params)
    result = InitializeResult(
        protocol_version=exchange.peer.revision.version,
        capabilities=ServerCapabilities(tools=ToolsCapability(list_changed=True)),
        server_info=exchange.server.identity,
        instructions=exchange.server.instructions,
    )
    return dump(result)


def discover(exchange: Exchange) -> Result:
    """Tell what the server is and can do, without a handshake."""
    result = DiscoverResult(
        supported_versions=tuple(revision.version for revision in PER_REQUEST),
        capabilities=ServerCapabilities(tools=ToolsCapability(list_changed=True)),
        instructions=exchange.server.instructions,
    )
    return dump(result)


def ping(_: Exchange) -> Result:
    """Show that the server is alive."""
    return {}


def list_tools(exchange: Exchange) -> Result:
    """Return a page of the tools; it is encoded once, until the list changes."""
    cursor = exchange.params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise InvalidParams("cursor must be a text")
    tools = exchange.server.tools

    def encoded() -> Raw:
        page = tools.page(cursor, exchange.server.page_size)
        result = ListToolsResult(tools=tuple(tool.definition for tool in page.items), next_cursor=page.next_cursor)
        return Raw(msgspec.json.encode(exchange.lowered(dump(result))))

    return tools.kept((exchange.peer.revision, cursor), encoded)


def call_tool(exchange: Exchange) -> Result:
    """Find the tool and bind its arguments."""
    params = exchange.params
    name = params.get("name")
    if not isinstance(name, str):
        raise InvalidParams("name must be the name of a tool")
    arguments = params.get("arguments")
    if arguments is None:
        arguments = {}
    elif not isinstance(arguments, dict):
        raise InvalidParams("arguments must be an object")
    feature = exchange.server.tools.get(name)
    if feature is None:
        raise InvalidParams(f"Unknown tool: {name[:200]}")
    disposals = Disposals()
    context = Context(exchange.request.id, exchange.peer, name, _meta(params), exchange.channel, disposals)
    call = ToolCall(exchange.server, feature, exchange.request, exchange.peer, context)
    try:
        call.bind(arguments)
    except LoadError as error:
        return call.answer(bad_arguments(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # loading runs code of the user, too: custom serializers, `__post_init__`
        return call.fail(error)
    return Running(call, context, disposals)


def listen(exchange: Exchange) -> Result:
    """Open a subscription."""
    request, disposals = exchange.request, Disposals()
    context = Context(request.id, exchange.peer, request.method, _meta(request.params), exchange.channel, disposals)
    return Running(Listening(exchange.server, request, context), context, disposals)


def _meta(params: dict[str, Any]) -> Mapping[str, Any]:
    meta = params.get(names.META, {})
    if not isinstance(meta, dict):
        raise InvalidParams("_meta must be an object")
    return meta


OPERATIONS: Final[Mapping[str, Operation]] = {
    names.INITIALIZE: initialize,
    names.DISCOVER: discover,
    names.PING: ping,
    names.TOOLS_LIST: list_tools,
    names.TOOLS_CALL: call_tool,
    names.LISTEN: listen,
}
