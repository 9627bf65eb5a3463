"""Trying a server out: launch it, list what it offers, call what can be called.

Rule: everything goes through the client, as a host would see it; nothing here looks into the server's process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

from ..client import CallResult, Client
from ..content.schema_check import SchemaCheck
from ..errors import ClientError, DefinitionError
from ..protocol.model import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call that will be made. `bare` says that the tool requires no argument, so that the call must not fail."""

    tool: ToolDefinition
    arguments: dict[str, Any]
    bare: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server lists."""

    tools: list[ToolDefinition]
    prompts: list[PromptDefinition]
    resources: list[ResourceDefinition]
    templates: list[TemplateDefinition]


class Report(Protocol):
    """Shows what happens, as it happens."""

    def server(self, client: Client, offer: Offer) -> None:
        """Show who answered, and what it offers."""

    def skipped(self, tool: ToolDefinition, missing: list[str]) -> None:
        """Show a tool that was not called, and the arguments that have no example."""

    def call(self, attempt: Attempt, result: CallResult, milliseconds: float) -> None:
        """Show a call and its result."""

    def problem(self, text: str) -> None:
        """Show what is wrong with the server."""

    def end(self, calls: int, good: bool) -> None:
        """Show the sum of it all."""


def try_server(target: str, report: Report, timeout: float) -> bool:
    """Launch the server of `FILE[:NAME]`, try everything, and say whether all was well."""
    command = [sys.executable, "-m", "mcpconnect", "run", target, "--errors", "message"]
    return anyio.run(_try_all, command, report, timeout)


async def _try_all(command: list[str], report: Report, timeout: float) -> bool:
    good, calls = True, 0
    try:
        async with Client.stdio(command, timeout=timeout) as client:
            offer = await _offer(client)
            tools = offer.tools
            report.server(client, offer)
            for problem in _schema_problems(tools):
                report.problem(problem)
                good = False
            for tool in tools:
                if missing := _without_example(tool):
                    report.skipped(tool, missing)
                for attempt in () if missing else attempts(tool):
                    calls += 1
                    good = await _attempt(client, attempt, report) and good
    except (ClientError, TimeoutError) as error:
        report.problem(str(error) or "the server does not answer")
        good = False
    report.end(calls, good)
    return good


async def _offer(client: Client) -> Offer:
    has_prompts, has_resources = "prompts" in client.capabilities, "resources" in client.capabilities
    return Offer(
        await client.list_tools() if "tools" in client.capabilities else [],
        await client.list_prompts() if has_prompts else [],
        await client.list_resources() if has_resources else [],
        await client.list_templates() if has_resources else [],
    )


async def _attempt(client: Client, attempt: Attempt, report: Report) -> bool:
    before = time.perf_counter()
    try:
        result = await client.call_tool(attempt.tool.name, attempt.arguments)
    except ClientError as error:
        if error.code is None:
            raise  # the server itself is broken, not this one call
        report.problem(f"{attempt.tool.name}: {error}")
        return not attempt.bare
    report.call(attempt, result, (time.perf_counter() - before) * 1000)
    return not (attempt.bare and result.is_error)


def attempts(tool: ToolDefinition) -> Iterator[Attempt]:
    """Yield the calls for a tool: as many as its longest list of examples, or one without arguments."""
    examples = {name: schema["examples"] for name, schema in _properties(tool).items() if _has_examples(schema)}
    bare = not tool.input_schema.get("required")
    for index in range(max(map(len, examples.values()), default=1)):
        yield Attempt(tool, {name: given[min(index, len(given) - 1)] for name, given in examples.items()}, bare)


def _without_example(tool: ToolDefinition) -> list[str]:
    properties = _properties(tool)
    return [name for name in tool.input_schema.get("required", ()) if not _has_examples(properties.get(name))]


def _properties(tool: ToolDefinition) -> dict[str, Any]:
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _has_examples(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("examples"), list) and bool(schema["examples"])


def _schema_problems(tools: list[ToolDefinition]) -> Iterator[str]:
    for tool in tools:
        for member, schema in (("inputSchema", tool.input_schema), ("outputSchema", tool.output_schema)):
            if schema is not None:
                try:
                    SchemaCheck(schema)
                except DefinitionError as error:
                    yield f"{tool.name}: {member} does not compile: {error}"
