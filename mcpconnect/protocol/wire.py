"""`WIRE`: the serializer of the protocol's own records.

Rule: its settings are the protocol's (camel case, nothing for `None`) and fixed; the user's settings never reach it.
Names of a user's own, such as properties in a schema or keys of `_meta`, are data and stay as they are.
"""

from __future__ import annotations

from typing import Any, Final

from ..serialization import Case, Include, Serializer, SerializerConfig

WIRE: Final = Serializer(SerializerConfig(case=Case.CAMEL, include=Include.NOT_NONE))


def dump(record: object) -> dict[str, Any]:
    """Return a record of `protocol.model` or `content` as a JSON object in the newest shape."""
    dumped: dict[str, Any] = WIRE.dump(record)
    return dumped
