"""What the HTTP transport lets one choose. Bounds stand in `Limits`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...errors import DefinitionError


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The options of `server.asgi_app(…)` and `server.run("http", …)`.

    Args:
        path: Where the endpoint is, below the prefix that the app is mounted under; also served with a slash behind.
        stateless: Serve clients that shake hands without sessions: nothing is remembered between requests.
        json_response: Answer calls of such clients with plain JSON instead of an event stream.
        allowed_hosts: Names that the `Host` header may have, beside those of the loopback interface; `*.example.com`
            allows every name below, `*` every name.
        allowed_origins: Web pages that may call, such as `https://app.example.com`, or `*` for all; they are answered
            with CORS headers. Pages of the server's own origin and of the loopback interface always may.
        sse_path: Where the transport of the oldest revision (HTTP with SSE) is offered, such as `/sse`.
        health: A path that answers `ok`, such as `/health`.

    Raises:
        DefinitionError: a path does not begin with a slash, or stands twice; a host or an origin is not written as one.
    """

    path: str = "/mcp"
    stateless: bool = False
    json_response: bool = False
    allowed_hosts: Collection[str] = ()
    allowed_origins: Collection[str] = ()
    sse_path: str | None = None
    health: str | None = None

    def __post_init__(self) -> None:
        self._check_paths()
        for name in ("allowed_hosts", "allowed_origins"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise DefinitionError(f"{name}={value!r}: a collection of texts, such as [{value!r}]")
            object.__setattr__(self, name, frozenset(entry.lower().rstrip("/") for entry in value))
        for host in self.allowed_hosts:
            _check_host(host)
        for origin in self.allowed_origins:
            _check_origin(origin)

    def _check_paths(self) -> None:
        taken: dict[str, str] = {}
        for name in ("path", "sse_path", "health"):
            value = getattr(self, name)
            if value is None:
                continue
            if not value.startswith("/"):
                raise DefinitionError(f"{name}={value!r}: a path begins with a slash")
            if (other := taken.setdefault(value.rstrip("/"), name)) != name:
                raise DefinitionError(f"{name}={value!r}: that is the {other} already")


def _check_host(host: str) -> None:
    name = host.removeprefix("*.")
    if host == "*" or (name.startswith("[") and name.endswith("]")):
        return
    if not name or any(character in name for character in "*:/@[] ,"):
        raise DefinitionError(f"allowed_hosts: {host!r} is no host name; write it without scheme and port")


def _check_origin(origin: str) -> None:
    if origin == "*":
        return
    parts = urlsplit(origin)
    if not parts.scheme or not parts.netloc or parts.path or "*" in origin:
        raise DefinitionError(f"allowed_origins: {origin!r} is no origin; write it as https://app.example.com")
