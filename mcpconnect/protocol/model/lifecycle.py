"""How a connection begins: `initialize` (with a handshake) and `server/discover` (without).

`initialize` ended with the handshake; its newest shape is that of the last revision that had it.

Source: the schema's pages *Initialize* and *Discover*.
"""

from __future__ import annotations

from dataclasses import dataclass

from .common import CacheableResult, Implementation, Result, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCapability:
    """The server has tools, or prompts; with `list_changed` it says when the list changes."""

    list_changed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcesCapability:
    """The server has resources; with `subscribe` it says when one of them changes."""

    subscribe: bool | None = None
    list_changed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCapabilities:
    """What a server can do; a member that is `None` is not offered."""

    tools: ListCapability | None = None
    prompts: ListCapability | None = None
    resources: ResourcesCapability | None = None
    completions: Settings | None = None
    logging: Settings | None = None
    experimental: dict[str, Settings] | None = None
    extensions: dict[str, Settings] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializeResult(Result):
    """The answer to `initialize`."""

    protocol_version: str
    capabilities: ServerCapabilities
    server_info: Implementation
    instructions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverResult(CacheableResult):
    """The answer to `server/discover`."""

    supported_versions: tuple[str, ...]
    capabilities: ServerCapabilities
    instructions: str | None = None
