"""Who may call: the checks of `Host` and `Origin` that keep web pages from reaching a server on this machine.

Rule: both are compared whole, never by prefix; a refusal says which setting to change, and repeats nothing of what the
client sent.

Source: the specification's page *Transports, Security Warning*.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from .settings import HttpSettings

LOOPBACK_PAGES: Final = r"https?://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?"
"""The origins of pages on this machine, as a regular expression."""

BAD_HOST: Final = "this host name is not allowed; name it in allowed_hosts"
BAD_ORIGIN: Final = "web pages of this origin are not allowed; name it in allowed_origins"

_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\s@/\\,:\[\]]+)(?::\d+)?", re.ASCII)
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


def refusal(headers: Mapping[str, str], settings: HttpSettings) -> tuple[int, str] | None:
    """Return the status and the reason for which a request is refused, or None if it may pass."""
    authority = headers.get("host", "").lower()
    host = _host_name(authority)
    if host is None or not _allowed_host(host, settings):
        return 421, BAD_HOST
    origin = headers.get("origin")
    if origin is not None and not _allowed_origin(origin, authority, settings):
        return 403, BAD_ORIGIN
    return None


def _host_name(authority: str) -> str | None:
    """Return the name in `name` or `name:port`; an IPv6 address keeps its brackets."""
    match = _AUTHORITY.fullmatch(authority)
    return match[1].removesuffix(".") if match else None


def _allowed_host(host: str, settings: HttpSettings) -> bool:
    allowed = settings.allowed_hosts
    if host in _LOOPBACK or host in allowed or "*" in allowed or _is_loopback(host):
        return True
    return any(entry.startswith("*.") and host.endswith(entry[1:]) for entry in allowed)


def _is_loopback(host: str) -> bool:
    if host in _LOOPBACK:
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _allowed_origin(origin: str, authority: str, settings: HttpSettings) -> bool:
    allowed = settings.allowed_origins
    origin = origin.lower()
    if origin in allowed or "*" in allowed:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}":
        return False
    host = _host_name(parts.netloc)
    return host is not None and (parts.netloc == authority or _is_loopback(host))
