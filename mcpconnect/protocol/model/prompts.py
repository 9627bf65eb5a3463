"""How prompts are listed. Results of `prompts/get` are `content.PromptResult`.

Source: the schema's page *Prompts*.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...content.annotations import Icon, Meta
from .common import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt; its value is always text."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDefinition:
    """One prompt of a list."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] | None = None
    icons: tuple[Icon, ...] | None = None
    meta: Meta = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPromptsResult(Page):
    """The answer to `prompts/list`."""

    prompts: tuple[PromptDefinition, ...]
