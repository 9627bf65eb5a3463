"""Names that clients and hosts accept.

Rule: what the specification forbids is refused; what known hosts refuse is warned of, since one such name can make a
host drop the whole list of tools.
"""

from __future__ import annotations

import re
import warnings
from typing import Final

from ..errors import DefinitionError

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_HOST_LIMIT: Final = 64


def composed(prefix: str | None, name: str) -> str:
    """Return the name that clients see."""
    return f"{prefix}_{name}" if prefix else name


def check_name(name: str, prefix: str | None, where: str) -> None:
    """Check a composed name.

    Raises:
        DefinitionError: the specification's rule for tool names does not allow it.
    """
    if not _NAME.fullmatch(name):
        part = f"; shorten the prefix {prefix!r} or the name" if prefix and len(name) > 128 else ""
        raise DefinitionError(
            f"{where}: the name {name!r} is not allowed: 1 to 128 of the characters A-Z a-z 0-9 _ - .{part}"
        )
    if len(name) > _HOST_LIMIT:
        part = f"; shorten the prefix {prefix!r} or the name" if prefix else ""
        _warn(where, f"the name {name!r} has {len(name)} characters, some hosts refuse more than {_HOST_LIMIT}{part}")
    if "." in name:
        _warn(where, f"the name {name!r} has a dot, which some hosts refuse; use _")
    if name.startswith("_"):
        _warn(where, f"the name {name!r} starts with _, which collides with the prefixes of some hosts")


def check_key(key: str, where: str) -> None:
    """Warn of a property key that model providers refuse."""
    if not _KEY.fullmatch(key):
        _warn(where, f"the parameter {key!r} is refused by some hosts: 1 to 64 of A-Z a-z 0-9 _ . -")


def _warn(where: str, text: str) -> None:
    warnings.warn(f"{where}: {text}", UserWarning, stacklevel=2)
