"""2025-06-18 against 2025-11-25: no icons, an error always has an `id` member, and streams do not resume."""

from __future__ import annotations

from .. import names
from .steps import by_type, drop, each, inside
from .v2025_11_25 import V2025_11_25

_plain = drop("icons")

V2025_06_18 = V2025_11_25.before(
    "2025-06-18",
    without={names.ANONYMOUS_ERRORS, names.RESUMING},
    lower={
        names.INITIALIZE: inside("serverInfo", drop("icons", "description", "websiteUrl")),
        names.TOOLS_LIST: each("tools", drop("icons", "execution")),
        names.TOOLS_CALL: each("content", by_type({"resource_link": _plain})),
    },
)
