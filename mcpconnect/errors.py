"""Every exception of the package, in one tree.

    McpConnectError
    ├── DefinitionError       a class or a registration cannot be served (raised by `register`)
    ├── SerializationError    a value has no JSON form (carries the path)
    ├── LoadError             data does not fit a type (carries every path and reason)
    ├── ToolError             a tool failed in a way the model may read
    ├── PeerError             the client answered our question with an error, or not at all
    ├── ClientError           the peer broke the protocol, answered with an error, or went away (client side)
    └── ProtocolError         answered as a JSON-RPC error
        ├── ParseError · InvalidRequest · MethodNotFound · InvalidParams · InternalError
        └── ResourceNotFound · UnsupportedVersion · MissingCapability · UrlElicitationRequired ·
            HeaderMismatch

Rule: nothing here knows a wire code. A revision's own table (`protocol.revision`) turns a kind into its code.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, ClassVar


class McpConnectError(Exception):
    """The root of everything this package raises."""


class DefinitionError(McpConnectError):
    """A class, a method or a setting cannot be served; the message names the place and the mend."""


class SerializationError(McpConnectError):
    """A value cannot be written as JSON.

    `path` is the place inside the value, such as `$.items[3].price`; `reason` says what is wrong there.
    """

    def __init__(self, reason: str, path: str = "$") -> None:
        self.reason = reason
        self.path = path
        super().__init__(reason if path == "$" else f"{path}: {reason}")

    def within(self, step: str) -> SerializationError:
        """Return the same error seen from one level further out (`step` is `.name` or `[3]`)."""
        return type(self)(self.reason, "$" + step + self.path[1:])


class LoadError(McpConnectError):
    """Data does not fit the type it is loaded into.

    `problems` holds every `(path, reason)` found, in the order of the members; a path is `city` or `items[3].price`,
    and empty for the value as a whole. The text has one line for each, `path: reason`, written for a model.
    """

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{path}: {reason}" if path else reason for path, reason in self.problems))


class ToolError(McpConnectError):
    """A tool failed, and the model may read why: the text becomes an `isError` result."""


class ClientError(McpConnectError):
    """The other side of a client broke the protocol, answered with a JSON-RPC error, or went away.

    `code` and `data` are those of the JSON-RPC error, where there was one.
    """

    def __init__(self, message: str, code: int | None = None, data: Any = None) -> None:
        self.code = code
        self.data = data
        super().__init__(message)


class PeerError(McpConnectError):
    """The client answered a question with an error, with something that does not fit, or not in time.

    `code` and `data` are those of the JSON-RPC error, where there was one.
    """

    def __init__(self, message: str, code: int | None = None, data: Any = None) -> None:
        self.code = code
        self.data = data
        super().__init__(message)


class ProtocolError(McpConnectError):
    """Answered as a JSON-RPC error with this message, code and data.

    Raise it with a `code` of your own (outside -32768…-32000), or raise one of the kinds below, whose code
    follows from the revision that the client speaks.
    """

    kind: ClassVar[str | None] = None

    def __init__(self, message: str, *, code: int | None = None, data: Any = None) -> None:
        if code is None and self.kind is None:
            raise TypeError("ProtocolError needs code=…; its kinds (InvalidParams, …) bring their own")
        self.message = message
        self.code = code
        self.data = data
        super().__init__(message)


class ParseError(ProtocolError):
    """The bytes are not JSON."""

    kind = "parse-error"


class InvalidRequest(ProtocolError):  # noqa: N818 - the specification's name
    """JSON, but not a message that the protocol allows here."""

    kind = "invalid-request"


class MethodNotFound(ProtocolError):  # noqa: N818 - the specification's name
    """The method does not exist in this revision, or the server does not offer it."""

    kind = "method-not-found"


class InvalidParams(ProtocolError):  # noqa: N818 - the specification's name
    """The method exists, its parameters are wrong."""

    kind = "invalid-params"


class InternalError(ProtocolError):
    """The server failed; the details stand in its log."""

    kind = "internal-error"


class ResourceNotFound(ProtocolError):  # noqa: N818 - the specification's name
    """No resource has this URI."""

    kind = "resource-not-found"


class UnsupportedVersion(ProtocolError):  # noqa: N818 - the specification's name
    """The request names a protocol version that the server does not speak."""

    kind = "unsupported-version"


class MissingCapability(ProtocolError):  # noqa: N818 - the specification's name
    """The operation needs a capability that the client did not declare."""

    kind = "missing-capability"

    @classmethod
    def of(cls, *path: str) -> MissingCapability:
        """Return the error that names a capability by its path, such as `of("elicitation", "url")`."""
        required: dict[str, Any] = {}
        for step in reversed(path):
            required = {step: required}
        return cls(f"the client cannot do {'.'.join(path)}", data={"requiredCapabilities": required})


class UrlElicitationRequired(ProtocolError):  # noqa: N818 - the specification's name
    """The user has to open a page first; then the client may call again.

    `more` are further pages, each a message and a URL. `ids` are what `ctx.elicitation_complete(id)` tells the client
    later, `id` is the first. The client of a revision that has no such error gets a plain refusal; there
    `ctx.elicit(url=…)` asks. One that opens no pages is told what it lacks (`MissingCapability`).
    """

    kind = "url-elicitation-required"

    def __init__(self, message: str, url: str, *more: tuple[str, str]) -> None:
        pages = [
            {"mode": "url", "elicitationId": secrets.token_urlsafe(12), "url": url, "message": message}
            for message, url in ((message, url), *more)
        ]
        self.ids = tuple(page["elicitationId"] for page in pages)
        self.id = self.ids[0]
        super().__init__(message, data={"elicitations": pages})


class HeaderMismatch(ProtocolError):  # noqa: N818 - the specification's name
    """An HTTP header is missing, malformed, or says something else than the body."""

    kind = "header-mismatch"
