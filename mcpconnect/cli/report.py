"""Showing a trial: for people, with tables and saved pictures, or for programs, one JSON object for each call."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..client import CallResult, Client
from ..content import (
    UNSET,
    AudioContent,
    BlobResource,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from ..content.mime import extension
from ..protocol.model import PromptDefinition, ToolDefinition
from ..protocol.wire import dump
from .trial import Attempt, Offer

_PIPE_WIDTH = 120  # columns, where the output is no terminal


class JsonReport:
    """One line for each call: name, arguments, blocks, milliseconds, is_error; what is wrong goes to stderr."""

    def server(self, client: Client, offer: Offer) -> None:
        """Print nothing: the calls are the output."""

    def skipped(self, tool: ToolDefinition, missing: list[str]) -> None:
        """Say on stderr which tool was not called."""
        print(f"{tool.name} was not called: no example for {', '.join(missing)}", file=sys.stderr)

    def call(self, attempt: Attempt, result: CallResult, milliseconds: float) -> None:
        """Print the call."""
        line: dict[str, Any] = {
            "name": attempt.tool.name,
            "arguments": attempt.arguments,
            "blocks": [block if isinstance(block, dict) else dump(block) for block in result.content],
            "milliseconds": round(milliseconds, 3),
            "is_error": result.is_error,
        }
        if result.structured is not UNSET:
            line["structured"] = result.structured
        sys.stdout.write(msgspec.json.encode(line).decode() + "\n")

    def problem(self, text: str) -> None:
        """Say on stderr what is wrong."""
        print(f"error: {text}", file=sys.stderr)

    def end(self, calls: int, good: bool) -> None:
        """Print nothing."""


class HumanReport:
    """Tables, texts and links on the console; pictures, sounds and other bytes in files under `folder`."""

    def __init__(self, folder: Path, console: Console | None = None) -> None:
        self._folder = folder
        self._console = console or Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)
        self._files = 0

    def server(self, client: Client, offer: Offer) -> None:
        """Show who answered, and tables of what it offers."""
        server = client.server
        name = f"{server.name} {server.version}" if server else "a server without a name"
        self._console.print(f"[bold]{escape(name)}[/] speaks {client.revision.version}")
        self._list("tools", ("Tool", "Parameters"), [(t.name, _parameters(t), t.description) for t in offer.tools])
        prompts = [(each.name, _arguments(each), each.description) for each in offer.prompts]
        self._list("prompts", ("Prompt", "Arguments"), prompts)
        resources = [(each.uri, each.mime_type or "", each.description) for each in offer.resources]
        self._list("resources", ("Resource", "Type"), resources)
        templates = [(each.uri_template, each.mime_type or "", each.description) for each in offer.templates]
        self._list("resource templates", ("Template", "Type"), templates)

    def skipped(self, tool: ToolDefinition, missing: list[str]) -> None:
        """Say which tool was not called."""
        self._console.print(f"\n[dim]{escape(tool.name)}: not called, no example for {escape(', '.join(missing))}[/]")

    def call(self, attempt: Attempt, result: CallResult, milliseconds: float) -> None:
        """Show a call and the blocks that came back."""
        arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in attempt.arguments.items())
        self._console.print(
            f"\n[bold cyan]{escape(attempt.tool.name)}[/]({escape(arguments)})  [dim]{milliseconds:.1f} ms[/]"
            + ("  [bold red]error[/]" if result.is_error else "")
        )
        for block in result.content:
            self._block(block, attempt.tool.name)
        if not result.content:
            self._console.print("  (no content)", style="dim")

    def problem(self, text: str) -> None:
        """Show what is wrong."""
        self._console.print(f"[bold red]error:[/] {escape(text)}")

    def end(self, calls: int, good: bool) -> None:
        """Show the sum."""
        verdict = "[green]all well[/]" if good else "[bold red]something is wrong[/]"
        self._console.print(f"\n{calls} calls, {verdict}")

    def _list(self, title: str, heads: tuple[str, str], rows: list[tuple[str, str, str | None]]) -> None:
        if rows:
            table = Table(*heads, "Description", title=f"{len(rows)} {title}", title_justify="left")
            for name, detail, description in rows:
                lines = (description or "").splitlines()
                table.add_row(escape(name), escape(detail), escape(lines[0] if lines else ""))
            self._console.print(table)

    def _block(self, block: Any, name: str) -> None:
        match block:
            case TextContent(text=text):
                self._text(text)
            case ImageContent() | AudioContent():
                self._save(block.data, block.mime_type, name)
            case EmbeddedResource(resource=BlobResource() as resource):
                self._save(resource.blob, resource.mime_type or "", name)
            case EmbeddedResource(resource=resource):
                self._console.print(f"  resource {escape(str(resource.uri))}", style="dim")
                self._text(resource.text)  # type: ignore[union-attr] # the blob was handled above
            case ResourceLink():
                words = " – ".join(part for part in (block.name, block.description) if part)
                self._console.print(f"  link {escape(block.uri)}  {escape(words)}")
            case _:
                self._console.print(f"  {escape(json.dumps(block))}")

    def _text(self, text: str) -> None:
        rows = _rows(text)
        if rows is None:
            self._console.print(Text(text, overflow="fold"), soft_wrap=True)
            return
        columns = list(dict.fromkeys(column for row in rows for column in row))
        table = Table(*map(escape, columns))
        for row in rows:
            table.add_row(*(escape(_cell(row.get(column, ""))) for column in columns))
        self._console.print(table)

    def _save(self, data: bytes, mime: str, name: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._files += 1
        path = self._folder / f"{self._files:02d}_{name}{extension(mime)}"
        path.write_bytes(data)
        self._console.print(f"  {escape(mime)}, {len(data):,} bytes: {escape(str(path))}", soft_wrap=True)


def _arguments(prompt: PromptDefinition) -> str:
    return ", ".join(each.name if each.required else f"{each.name}?" for each in prompt.arguments or ())


def _parameters(tool: ToolDefinition) -> str:
    required = tool.input_schema.get("required", ())
    properties = tool.input_schema.get("properties") or {}
    return ", ".join(name if name in required else f"{name}?" for name in properties)


def _rows(text: str) -> list[dict[str, Any]] | None:
    """Return the records of a text that is a JSON list of objects."""
    if not text.lstrip().startswith("["):
        return None
    try:
        rows = json.loads(text)
    except ValueError:
        return None
    return rows if rows and all(isinstance(row, dict) for row in rows) else None


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
