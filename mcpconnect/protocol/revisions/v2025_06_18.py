"""2025-06-18 against 2025-11-25: no icons, less about an implementation; an error always has an `id` member."""

from __future__ import annotations

from .. import names
from .steps import by_type, drop, each, inside
from .v2025_11_25 import V2025_11_25

_plain = drop("icons")
_plain_block = by_type({"resource_link": _plain})

V2025_06_18 = V2025_11_25.before(
    "2025-06-18",
    without={names.ANONYMOUS_ERRORS},
    lower={
        names.INITIALIZE: inside("serverInfo", drop("icons", "description", "websiteUrl")),
        names.TOOLS_LIST: each("tools", drop("icons", "execution")),
        names.TOOLS_CALL: each("content", _plain_block),
        names.PROMPTS_LIST: each("prompts", _plain),
        names.PROMPTS_GET: each("messages", inside("content", _plain_block)),
        names.RESOURCES_LIST: each("resources", _plain),
        names.TEMPLATES_LIST: each("resourceTemplates", _plain),
    },
)
