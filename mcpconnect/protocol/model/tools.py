"""How tools are listed. Results of calls are `content.ToolResult`.

Source: the schema's page *Tools*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...content.annotations import Icon, Meta
from .common import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnnotations:
    """Hints about what a tool does. The protocol's defaults: it writes, destroys, and reaches the open world."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One tool of a list. The schemas are JSON Schema; the root of `input_schema` is `type: object`."""

    name: str
    input_schema: dict[str, Any]
    title: str | None = None
    description: str | None = None
    icons: tuple[Icon, ...] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    meta: Meta = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListToolsResult(Page):
    """The answer to `tools/list`."""

    tools: tuple[ToolDefinition, ...]
