"""The entry point, which says what is missing where the extra `cli` is not installed."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the arguments name."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"mcpconnect needs {error.name} for its commands: pip install 'mcpconnect[cli]'")
    app()
