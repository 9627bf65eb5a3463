"""Arguments that an HTTP header repeats (`x-mcp-header`), so that proxies can route by them.

Rule: clients drop a tool whose annotation breaks the specification's rules, so it is refused when it is registered.

Source: the specification's page *Transports, Streamable HTTP*, custom headers from tool parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ..errors import DefinitionError

MIRRORED: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def annotated_headers(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that a schema names, by the argument that each repeats."""
    properties = schema.get("properties")
    found = {}
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if isinstance(inner, dict) and MIRRORED in inner:
            found[name] = inner[MIRRORED]
    return found


def check_headers(headers: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    """Check the names of headers and the types of the arguments that they repeat.

    Raises:
        DefinitionError: a name is no header's, or stands twice, or the argument is no text, integer or boolean.
    """
    seen: set[str] = set()
    for argument, header in headers.items():
        place = f"{where}: the header {header!r} of the parameter {argument!r}"
        if not isinstance(header, str) or not _TOKEN.fullmatch(header):
            raise DefinitionError(f"{place} is no name of a header: letters, digits and -")
        if header.lower() in seen:
            raise DefinitionError(f"{place} is there already; header names do not differ by case")
        if schema["properties"][argument].get("type") not in ("string", "integer", "boolean"):
            raise DefinitionError(f"{place} can only repeat a text, an integer or a boolean")
        seen.add(header.lower())
