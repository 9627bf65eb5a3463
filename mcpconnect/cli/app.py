"""The commands and their options; what they do stands in files of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from .._version import __version__

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
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at.")] = 8000,
    path: Annotated[str, typer.Option(help="The path of the endpoint.")] = "/mcp",
    workers: Annotated[int, typer.Option(min=1, help="How many processes serve.")] = 1,
    reload: Annotated[bool, typer.Option("--reload", help="Start anew when a file changes.")] = False,
) -> None:
    """Serve a file's server over stdio, or over HTTP."""
    from . import serving

    if not http:
        serving.serve_stdio(target, errors)
    elif workers > 1 or reload:
        serving.serve_processes(target, errors, host=host, port=port, path=path, workers=workers, reload=reload)
    else:
        serving.serve_http(target, errors, host=host, port=port, path=path)


@app.command()
def check(
    target: Target,
    revision: Annotated[str | None, typer.Option(help="The revision's date; all older ones by default.")] = None,
) -> None:
    """Say what of a file's server cannot be said in older revisions of the protocol."""
    from .serving import loaded

    server = loaded(target, None)
    try:
        found = server.check(revision)
    except ValueError as error:
        sys.exit(f"error: {error}")
    for finding in found:
        typer.echo(str(finding))
    typer.echo(f"{len(found)} findings" if found else "everything can be said")


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
