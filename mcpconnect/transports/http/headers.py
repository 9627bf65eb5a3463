"""What HTTP headers say about a message, and whether they agree with its body.

Rule: names compare without case, values exactly, after the white space around them is gone. A value that no header may
hold is wrapped as `=?base64?…?=`; anything that lacks the exact marks is itself. A header that stands twice is one
whose values are joined by commas, so it never equals what a single one has to be.

Sources: the specification's page *Transports, Streamable HTTP* (request headers, custom headers from tool parameters);
RFC 9110, section 5.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from ...errors import HeaderMismatch
from ...protocol import names
from ...protocol.jsonrpc import Request

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"
PARAMETER: Final = "mcp-param-"
LAST_EVENT: Final = "last-event-id"

NAMED: Final[Mapping[str, str]] = {names.TOOLS_CALL: "name", names.PROMPTS_GET: "name", names.RESOURCES_READ: "uri"}
"""The parameter that `Mcp-Name` repeats, by method."""

UNKNOWN_VERSION: Final = "MCP-Protocol-Version names no version that is spoken here"

_PREFIX, _SUFFIX = "=?base64?", "?="
_INTEGER: Final = re.compile(r"(-?\d{1,16})(?:\.0+)?", re.ASCII)  # within ±(2^53-1) no longer ones exist


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers of an ASGI scope by their names in small letters."""
    headers: dict[str, str] = {}
    for name_bytes, value_bytes in raw:
        name, value = name_bytes.decode("latin-1").lower(), value_bytes.decode("latin-1").strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def is_json(content_type: str | None) -> bool:
    """Say whether a `Content-Type` is JSON, whatever its parameters."""
    return content_type is not None and content_type.partition(";")[0].strip().lower() == "application/json"


@lru_cache(maxsize=256)
def accepts(accept: str | None, kind: str) -> bool:
    """Say whether an `Accept` header admits a media type; without a header everything is admitted.

    The most specific range decides: `text/event-stream;q=0, */*` admits everything but event streams.
    """
    if not accept:
        return True
    ranges: dict[str, bool] = {}
    for part in accept.lower().split(","):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        ranges[media] = not any(_is_zero(parameter) for parameter in parameters)
    for candidate in (kind, kind.partition("/")[0] + "/*", "*/*"):
        if candidate in ranges:
            return ranges[candidate]
    return False


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and value.strip().rstrip("0") in ("", "0.", ".")


def unwrap(value: str) -> str:
    """Return what a header's value stands for.

    Raises:
        HeaderMismatch: it is wrapped, but what is inside is no base64 of UTF-8.
    """
    if not (value.startswith(_PREFIX) and value.endswith(_SUFFIX) and len(value) >= len(_PREFIX) + len(_SUFFIX)):
        return value
    inner = value[len(_PREFIX) : -len(_SUFFIX)]
    try:
        data = binascii.a2b_base64(inner.encode("ascii"), strict_mode=True)
        if binascii.b2a_base64(data, newline=False).decode() == inner:  # one text has one form
            return data.decode()
    except ValueError:
        pass
    raise HeaderMismatch("a header's base64 value is malformed")


def check_version(headers: Mapping[str, str], meta: Mapping[str, Any]) -> None:
    """Check the version header of a per-request message against its `_meta`.

    Raises:
        HeaderMismatch: it is missing or says something else.
    """
    if headers.get(VERSION) != meta[names.PROTOCOL_VERSION]:
        raise HeaderMismatch("MCP-Protocol-Version must be there and repeat the version in _meta")


def check_routing(headers: Mapping[str, str], request: Request) -> None:
    """Check `Mcp-Method` and `Mcp-Name`.

    Raises:
        HeaderMismatch: one is missing, malformed, or says something else than the body.
    """
    if headers.get(METHOD) != request.method:
        raise HeaderMismatch("Mcp-Method must be there and repeat the method")
    parameter = NAMED.get(request.method)
    if parameter is not None:
        given = headers.get(NAME)
        if given is None or unwrap(given) != request.params.get(parameter):
            raise HeaderMismatch(f"Mcp-Name must be there and repeat params.{parameter}")


def check_parameters(headers: Mapping[str, str], mirrored: Mapping[str, str], arguments: Any) -> None:
    """Check `Mcp-Param-…` headers; `mirrored` gives the header's name for each mirrored argument.

    Raises:
        HeaderMismatch: an argument that is present has no header, or one that says something else.
    """
    for argument, header in mirrored.items():
        value = arguments.get(argument) if isinstance(arguments, dict) else None
        if value is None:
            continue
        given = headers.get(PARAMETER + header.lower())
        if given is None or not _says(unwrap(given), value):
            raise HeaderMismatch(f"Mcp-Param-{header} must be there and repeat the argument {argument!r}")


def _says(text: str, value: Any) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, (int, float)):
        integer = _INTEGER.fullmatch(text)
        return integer is not None and bool(int(integer[1]) == value)
    return bool(text == value)
