"""What the HTTP transport lets one choose. Bounds stand in `Limits`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

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
        allowed_origins: Web pages that may call, such as `https://app.example.com`; they are answered with CORS
            headers. Pages of the server's own host and of the loopback interface always may.
        sse_path: Where the transport of the oldest revision (HTTP with SSE) is offered, such as `/sse`.
        health: A path that answers `ok`, such as `/health`.

    Raises:
        DefinitionError: a path does not begin with a slash.
    """

    path: str = "/mcp"
    stateless: bool = False
    json_response: bool = False
    allowed_hosts: Collection[str] = ()
    allowed_origins: Collection[str] = ()
    sse_path: str | None = None
    health: str | None = None

    def __post_init__(self) -> None:
        for name in ("path", "sse_path", "health"):
            value = getattr(self, name)
            if value is not None and not value.startswith("/"):
                raise DefinitionError(f"{name}={value!r}: a path begins with a slash")
        for name in ("allowed_hosts", "allowed_origins"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise DefinitionError(f"{name}={value!r}: a collection of texts, such as [{value!r}]")
            object.__setattr__(self, name, frozenset(entry.lower().rstrip("/") for entry in value))
