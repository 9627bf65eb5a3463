"""URIs that content needs: a new one for what has none, a name for what has only a URI.

Rule: a file's folders never appear in a URI that leaves the server by itself.
"""

from __future__ import annotations

import binascii
from urllib.parse import quote, unquote, urlsplit
from uuid import uuid4

from .mime import extension


def attachment_uri(mime: str, name: str | None = None) -> str:
    """Return a new URI for embedded data: `attachment://` with a unique host and a file name."""
    return f"attachment://{uuid4().hex}/{quote(name) if name else 'data' + extension(mime)}"


def data_url(mime: str, data: bytes) -> str:
    """Return a `data:` URL that carries the bytes."""
    return f"data:{mime.replace(' ', '')};base64,{binascii.b2a_base64(data, newline=False).decode('ascii')}"


def last_part(uri: str) -> str:
    """Return the last part of a URI's path, decoded; else its host, else the URI itself.

    Query and fragment do not count, nor does a slash at the end; a file name stays as it is (`report.v2`).
    """
    try:
        parts = urlsplit(uri)
    except ValueError:  # such as an unclosed bracket in the host
        return uri
    if parts.scheme == "data":
        return "data"
    segments = [segment for segment in parts.path.split("/") if segment]
    return unquote(segments[-1]) if segments else parts.netloc or uri
