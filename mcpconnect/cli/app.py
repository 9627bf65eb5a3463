"""The commands and their options; what they do stands in files of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from .._version import __version__
from ..errors import DefinitionError

app = typer.Typer(
    name="mcpconnect",
    help="Serve and try MCP servers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Target = Annotated[str, typer.Argument(metavar="FILE[:NAME]", help="The file, and the server object in it.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcpconnect {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command()
def run(
    target: Target,
    errors: Annotated[
        Literal["hidden", "message"] | None, typer.Option(help="Override what clients see of exceptions.")
    ] = None,
) -> None:
    """Serve a file's server over stdio."""
    from ..transports import take_over

    take_over()  # before the file is imported, so that nothing it prints gets between the messages
    from .loading import load_server

    try:
        server = load_server(target)
    except DefinitionError as error:
        sys.exit(f"error: {error}")
    if errors is not None:
        server.errors = errors
    server.run()


@app.command("try")
def try_(
    target: Target,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each call.")] = False,
    output: Annotated[Path, typer.Option(help="Where pictures and other files are saved.")] = Path("mcpconnect-output"),
    timeout: Annotated[float, typer.Option(help="Seconds that one request may take.")] = 60,
) -> None:
    """Start a file's server, call its tools as a client does, and show what comes back."""
    from .loading import split_target
    from .report import HumanReport, JsonReport
    from .trial import try_server

    path, _ = split_target(target)
    if not path.is_file():
        sys.exit(f"error: {path} is not a file")
    report = JsonReport() if json else HumanReport(output)
    raise typer.Exit(0 if try_server(target, report, timeout) else 1)
