"""Whether a decorator or a server was given values of the right kind.

Rule: what is wrong is refused where it was given. Later it would fail a whole list, or the handshake, of every client.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ..content import ContentType, Icon
from ..errors import DefinitionError, SerializationError
from ..limits import Limits
from ..protocol.wire import WIRE
from ..serialization import Serializer, SerializerConfig

Kind = tuple[type | tuple[type, ...], str]
TEXT: Final[Kind] = (str, "a text")
FLAG: Final[Kind] = (bool, "True or False")
OBJECT: Final[Kind] = (Mapping, "a mapping")
CONTENT_TYPE: Final[Kind] = (ContentType, "a ContentType such as YAML_TEXT")
ICONS: Final[Kind] = (Icon, "an Icon, or several")
SERVER: Final[dict[str, Kind]] = {
    **dict.fromkeys(("version", "title", "description", "instructions", "website_url"), TEXT),
    "icons": ICONS,
    "content_type": CONTENT_TYPE,
    "serializer": ((Serializer, SerializerConfig), "a SerializerConfig or a Serializer"),
    "limits": (Limits, "a Limits"),
}
"""The settings of a server."""


def check_kinds(where: str, given: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
    """Refuse values that are not of their kind; `None` stands for "not given", a tuple or set for its items.

    Raises:
        DefinitionError: naming `where` and the option.
    """
    for name, (classes, words) in kinds.items():
        value = given[name]
        items = value if isinstance(value, (tuple, frozenset)) else (value,)
        if value is not None and not all(isinstance(item, classes) for item in items):
            raise DefinitionError(f"{where}({name}={value!r}): {name} is {words}")


def check_meta(where: str, meta: Mapping[str, Any] | None) -> None:
    """Refuse a `_meta` that has no JSON form.

    Raises:
        DefinitionError: naming the part.
    """
    try:
        WIRE.dump(meta, Mapping[str, Any] | None)
    except SerializationError as error:
        raise DefinitionError(f"{where}(meta=…): {error}") from None


def is_positive(value: object) -> bool:
    """Whether a value is a finite number above 0."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def one_of(setting: str, value: object, *allowed: str) -> None:
    """Refuse a value that is none of those allowed.

    Raises:
        DefinitionError: naming the setting and what it may be.
    """
    if value not in allowed:
        raise DefinitionError(f"{setting}={value!r}: one of {', '.join(map(repr, allowed))}")


def check_identity(name: object, version: object, page_size: object) -> None:
    """Refuse what a server cannot do without.

    Raises:
        DefinitionError: naming the setting.
    """
    if not name or not isinstance(name, str):
        raise DefinitionError("McpServer needs a name, a text")
    if version is None:
        raise DefinitionError("McpServer(version=None): version is a text")
    if type(page_size) is not int or page_size < 1:
        raise DefinitionError(f"McpServer(page_size={page_size!r}): a page has at least one entry")
