"""2025-06-18 against 2025-11-25: no icons, multiple choice, pages to open or tools in sampling; no resuming."""

from __future__ import annotations

from .. import names
from ..revision import Shape
from .steps import by_type, chain, drop, each, inside
from .v2025_11_25 import V2025_11_25


def _single_choice(form: Shape) -> Shape:
    """Leave out the fields where several of some choices may be taken."""
    fields = {name: field for name, field in form.get("properties", {}).items() if field.get("type") != "array"}
    required = [name for name in form.get("required", ()) if name in fields]
    return {**form, "properties": fields, **({"required": required} if "required" in form else {})}


_plain = drop("icons")
_plain_block = by_type({"resource_link": _plain})

V2025_06_18 = V2025_11_25.before(
    "2025-06-18",
    without={names.ANONYMOUS_ERRORS, names.ELICIT_URL, names.ELICITATION_IDS, names.RESUMING, names.SAMPLE_TOOLS},
    codes={"url-elicitation-required": -32600},  # not there yet
    lower={
        names.INITIALIZE: inside("serverInfo", drop("icons", "description", "websiteUrl")),
        names.TOOLS_LIST: each("tools", drop("icons", "execution")),
        names.TOOLS_CALL: each("content", _plain_block),
        names.PROMPTS_LIST: each("prompts", _plain),
        names.PROMPTS_GET: each("messages", inside("content", _plain_block)),
        names.RESOURCES_LIST: each("resources", _plain),
        names.TEMPLATES_LIST: each("resourceTemplates", _plain),
        names.ELICIT: chain(drop("mode"), inside("requestedSchema", _single_choice)),
    },
)
