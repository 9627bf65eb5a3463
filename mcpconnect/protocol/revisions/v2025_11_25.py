"""2025-11-25: the newest revision with a handshake, against 2026-07-28."""

from __future__ import annotations

from .. import names
from ..revision import EVERY, Shape
from .steps import chain, drop, each, inside
from .structured import object_properties, wrap_schema, wrap_structured
from .v2026_07_28 import V2026_07_28

_strip_cache_hints = drop("ttlMs", "cacheScope")


def _strip_result(result: Shape) -> Shape:
    """Leave out what every result carries in the per-request era (on the path of each call, hence by hand)."""
    meta = result.get("_meta")
    if meta is not None and names.SERVER_INFO in meta:
        result = result.copy()
        if len(meta) == 1:
            del result["_meta"]
        else:
            result["_meta"] = {key: value for key, value in meta.items() if key != names.SERVER_INFO}
    if "resultType" in result:
        result = {name: value for name, value in result.items() if name != "resultType"}
    return result


V2025_11_25 = V2026_07_28.before(
    "2025-11-25",
    handshake=True,
    without={names.DISCOVER, names.LISTEN, names.ANY_STRUCTURED},
    also={
        names.INITIALIZE,
        names.INITIALIZED,
        names.PING,
        names.SUBSCRIBE,
        names.UNSUBSCRIBE,
        names.SET_LEVEL,
        names.RESUMING,
        names.ELICITATION_IDS,
    },
    codes={
        "resource-not-found": -32002,
        "url-elicitation-required": -32042,
        "missing-capability": -32600,  # no code of its own yet
        "unsupported-version": -32602,
    },
    lower={
        EVERY: _strip_result,
        names.INITIALIZE: inside("capabilities", drop("extensions")),
        names.TOOLS_LIST: chain(
            _strip_cache_hints,
            each(
                "tools",
                chain(
                    inside("inputSchema", object_properties),
                    inside("outputSchema", chain(wrap_schema, object_properties)),
                ),
            ),
        ),
        names.TOOLS_CALL: wrap_structured,
        names.PROMPTS_LIST: _strip_cache_hints,
        names.RESOURCES_LIST: _strip_cache_hints,
        names.TEMPLATES_LIST: _strip_cache_hints,
        names.RESOURCES_READ: _strip_cache_hints,
    },
)
