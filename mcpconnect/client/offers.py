"""What a client asks of lists, prompts and resources: requests whose results are read into objects.

Rule: lists are followed through all their pages; a server that goes round in circles is told so.

Sources: the specification's pages *Tools*, *Prompts*, *Resources*, *Completion*, *Pagination*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ..content import PromptResult, ResourceResult
from ..errors import ClientError
from ..features.completion import PromptRef, TemplateRef
from ..protocol import names
from ..protocol.model import Completion, PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition
from .results import (
    read_completion,
    read_prompt,
    read_prompt_result,
    read_resource_definition,
    read_resource_result,
    read_template,
    read_tool,
)


class Offers(ABC):
    """The requests of a client that need nothing but `request`."""

    @abstractmethod
    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Send any request and return its result as it is."""

    async def list_tools(self) -> list[ToolDefinition]:
        """Return the tools of all pages."""
        return [read_tool(tool) for tool in await self._all_pages(names.TOOLS_LIST, "tools")]

    async def list_prompts(self) -> list[PromptDefinition]:
        """Return the prompts of all pages."""
        return [read_prompt(prompt) for prompt in await self._all_pages(names.PROMPTS_LIST, "prompts")]

    async def list_resources(self) -> list[ResourceDefinition]:
        """Return the resources of all pages."""
        return [read_resource_definition(each) for each in await self._all_pages(names.RESOURCES_LIST, "resources")]

    async def list_templates(self) -> list[TemplateDefinition]:
        """Return the resource templates of all pages."""
        return [read_template(each) for each in await self._all_pages(names.TEMPLATES_LIST, "resourceTemplates")]

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Return a prompt's messages."""
        result = await self.request(names.PROMPTS_GET, {"name": name, "arguments": dict(arguments or {})})
        return read_prompt_result(result)

    async def read_resource(self, uri: str) -> ResourceResult:
        """Return the contents under a URI."""
        return read_resource_result(await self.request(names.RESOURCES_READ, {"uri": uri}))

    async def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, chosen: Mapping[str, str] | None = None
    ) -> Completion:
        """Return completions of an argument's text; `chosen` are the arguments that are known already."""
        if isinstance(ref, PromptRef):
            target = {"type": "ref/prompt", "name": ref.name}
        else:
            target = {"type": "ref/resource", "uri": ref.uri}
        params: dict[str, Any] = {"ref": target, "argument": {"name": argument, "value": value}}
        if chosen is not None:
            params["context"] = {"arguments": dict(chosen)}
        return read_completion(await self.request(names.COMPLETE, params))

    async def subscribe(self, uri: str) -> None:
        """Hear when a resource changes (revisions with a handshake)."""
        await self.request(names.SUBSCRIBE, {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        """Hear of a resource no more."""
        await self.request(names.UNSUBSCRIBE, {"uri": uri})

    async def _all_pages(self, method: str, member: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        seen: set[str] = set()
        params: dict[str, Any] = {}
        while True:
            page = await self.request(method, params)
            items, cursor = page.get(member), page.get("nextCursor")
            if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
                raise ClientError(f"the result of {method} has no list `{member}` of objects")
            entries += items
            if cursor is None:
                return entries
            if not isinstance(cursor, str) or cursor in seen:
                raise ClientError(f"{method} goes round in circles: the cursor {cursor!r} came before")
            seen.add(cursor)
            params = {"cursor": cursor}
