"""Who may call: the checks of `Host` and `Origin` that keep web pages from reaching a server on this machine.

Rule: both are compared whole, never by prefix; a refusal says which setting to change, and repeats nothing of what the
client sent.

Source: the specification's page *Transports, Security Warning*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from .settings import HttpSettings

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})

BAD_HOST: Final = "this host name is not allowed; name it in allowed_hosts"
BAD_ORIGIN: Final = "web pages of this origin are not allowed; name it in allowed_origins"


def refusal(headers: Mapping[str, str], settings: HttpSettings) -> tuple[int, str] | None:
    """Return the status and the reason for which a request is refused, or None if it may pass."""
    host = _host_name(headers.get("host", ""))
    if host is None or not _allowed_host(host, settings):
        return 421, BAD_HOST
    origin = headers.get("origin")
    if origin is not None and not _allowed_origin(origin, host, settings):
        return 403, BAD_ORIGIN
    return None


def _host_name(header: str) -> str | None:
    """Return the name in a `Host` header without its port; an IPv6 address keeps its brackets."""
    name = header.strip().lower()
    if name.startswith("["):
        address, bracket, port = name.partition("]")
        valid = bracket and (not port or (port.startswith(":") and port[1:].isdigit()))
        return address + bracket if valid else None
    name, colon, port = name.partition(":")
    if not name or (colon and not port.isdigit()) or any(character in name for character in "@/\\ ,"):
        return None
    return name.rstrip(".")


def _allowed_host(host: str, settings: HttpSettings) -> bool:
    allowed = settings.allowed_hosts
    if host in _LOOPBACK or host in allowed or "*" in allowed:
        return True
    return any(entry.startswith("*.") and host.endswith(entry[1:]) for entry in allowed)


def _allowed_origin(origin: str, host: str, settings: HttpSettings) -> bool:
    allowed = settings.allowed_origins
    if origin.lower().rstrip("/") in allowed or "*" in allowed:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.path or parts.query or parts.fragment:
        return False
    return (name := _host_name(parts.netloc)) is not None and (name == host or name in _LOOPBACK)
