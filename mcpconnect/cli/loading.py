"""From `FILE[:NAME]` to the server object.

Rule: the file is imported as Python would import it from its own folder; whatever it prints or raises is the user's to
see, and every error says what to mend.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from ..errors import DefinitionError
from ..server import McpServer


def split_target(target: str) -> tuple[Path, str | None]:
    """Split `FILE[:NAME]`; a drive letter is no separator."""
    file, separator, name = target.rpartition(":")
    if separator and name.isidentifier() and file:
        return Path(file), name
    return Path(target), None


def load_server(target: str) -> McpServer:
    """Import the file and return the server it means.

    Raises:
        DefinitionError: the file is not there, or it is not clear which object is the server.
    """
    path, name = split_target(target)
    if not path.is_file():
        raise DefinitionError(f"{path} is not a file")
    return _choose(_imported(path), path, name)


def _imported(path: Path) -> ModuleType:
    path = path.resolve()
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"mcpconnect_file_{id(path)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DefinitionError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # postponed annotations are resolved through it
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def _choose(module: ModuleType, path: Path, name: str | None) -> McpServer:
    servers = {key: value for key, value in vars(module).items() if isinstance(value, McpServer)}
    if name is not None:
        if name in servers:
            return servers[name]
        raise DefinitionError(f"{path} has no server named {name!r}; it has {_listed(servers)}")
    if "server" in servers:
        return servers["server"]
    distinct = {id(server): server for server in servers.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if not servers:
        raise DefinitionError(f"{path} has no McpServer: make one, such as server = McpServer('name')")
    raise DefinitionError(f"{path} has several servers: say which, {path}:NAME with one of {_listed(servers)}")


def _listed(servers: dict[str, McpServer]) -> str:
    return ", ".join(servers) or "none"
