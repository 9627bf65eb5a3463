"""2025-03-26 against 2025-06-18: batches, but no structured content, resource links, titles or `_meta` on parts."""

from __future__ import annotations

import msgspec

from .. import names
from ..revision import Shape
from .steps import by_type, chain, drop, each, inside
from .v2025_06_18 import V2025_06_18


def _title_as_hint(tool: Shape) -> Shape:
    """Keep a tool's title where this revision has one: among the annotations."""
    if "title" not in tool:
        return tool
    return {**tool, "annotations": {"title": tool["title"], **tool.get("annotations", {})}}


def _link_as_text(link: Shape) -> Shape:
    text = {"type": "text", "text": f"{link.get('title') or link['name']}: {link['uri']}"}
    return {**text, "annotations": link["annotations"]} if "annotations" in link else text


def _structured_as_text(result: Shape) -> Shape:
    """Leave structured content out; it usually repeats a text block, and becomes one if there is none."""
    if "structuredContent" not in result:
        return result
    result = result.copy()
    value = result.pop("structuredContent")
    if not any(block["type"] == "text" for block in result["content"]):
        result["content"] = [*result["content"], {"type": "text", "text": msgspec.json.encode(value).decode()}]
    return result


_plain_block = chain(
    drop("_meta"),
    inside("annotations", drop("lastModified")),
    by_type({"resource_link": _link_as_text, "resource": inside("resource", drop("_meta"))}),
)
_untitled = drop("title", "_meta")
_plain_resource = chain(_untitled, inside("annotations", drop("lastModified")))

V2025_03_26 = V2025_06_18.before(
    "2025-03-26",
    without={names.STRUCTURED, names.ELICIT},
    also={names.BATCHING},
    lower={
        names.INITIALIZE: inside("serverInfo", drop("title")),
        names.TOOLS_LIST: each("tools", chain(_title_as_hint, drop("title", "outputSchema", "_meta"))),
        names.TOOLS_CALL: chain(each("content", _plain_block), _structured_as_text),
        names.PROMPTS_LIST: each("prompts", chain(_untitled, each("arguments", drop("title")))),
        names.PROMPTS_GET: each("messages", inside("content", _plain_block)),
        names.SAMPLE: each("messages", inside("content", _plain_block)),
        names.RESOURCES_LIST: each("resources", _plain_resource),
        names.TEMPLATES_LIST: each("resourceTemplates", _plain_resource),
        names.RESOURCES_READ: each("contents", drop("_meta")),
    },
)
