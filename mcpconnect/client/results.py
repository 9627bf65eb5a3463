"""What a server's results are read into.

Rule: a server of another make may say more than we know, so unknown members are ignored and unknown blocks stay the
JSON objects they are; but what the specification requires must be there, or it is a `ClientError` that names it.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias, TypeVar

from ..content import (
    UNSET,
    Annotations,
    AudioContent,
    BlobResource,
    Block,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResource,
)
from ..errors import ClientError
from ..protocol.model import Implementation, ToolAnnotations, ToolDefinition
from ..serialization.naming import Case, style_name

Json: TypeAlias = dict[str, Any]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a tool answered. `content` holds blocks; one of a type that is not known here is its JSON object.

    `structured` is `content.UNSET` where there is none; it is in the revision's form (wrapped below the newest).
    """

    content: tuple[Block | Json, ...]
    structured: Any = UNSET
    is_error: bool = False
    meta: Json | None = None

    @property
    def text(self) -> str:
        """The texts among the blocks, a line each."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))


def read_call_result(result: Json) -> CallResult:
    """Read the result of `tools/call`. Raises ClientError if it is none."""
    blocks = result.get("content")
    if not isinstance(blocks, list):
        raise ClientError("a tool's result has no `content` list")
    return CallResult(
        tuple(_block(block) for block in blocks),
        result.get("structuredContent", UNSET),
        result.get("isError", False) is True,
        result.get("_meta"),
    )


def read_tool(tool: Json) -> ToolDefinition:
    """Read one entry of `tools/list`. Raises ClientError if it is none."""
    known = {**tool, "annotations": _part(ToolAnnotations, tool.get("annotations")), "icons": _icons(tool)}
    return _record(ToolDefinition, known)


def read_implementation(info: Any) -> Implementation | None:
    """Read what a server calls itself, if it does."""
    if not isinstance(info, dict) or not isinstance(info.get("name"), str):
        return None
    return _record(Implementation, {"version": "", **info, "icons": _icons(info)})


def _block(block: Any) -> Block | Json:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        raise ClientError(f"a content block is an object with a `type`, not {block!r}"[:300])
    read = _BLOCKS.get(block["type"])
    if read is None:
        return block
    try:
        return read(block, {"annotations": _part(Annotations, block.get("annotations")), "meta": block.get("_meta")})
    except (KeyError, ValueError, TypeError) as error:
        raise ClientError(f"a {block['type']!r} block is malformed: {error!r}") from error


def _text(block: Json, common: Json) -> Block:
    return TextContent(_str(block, "text"), **common)


def _image(block: Json, common: Json) -> Block:
    return ImageContent(_bytes(block, "data"), _str(block, "mimeType"), **common)


def _audio(block: Json, common: Json) -> Block:
    return AudioContent(_bytes(block, "data"), _str(block, "mimeType"), **common)


def _link(block: Json, common: Json) -> Block:
    more = {name: block.get(name) for name in ("title", "description", "size")}
    return ResourceLink(
        _str(block, "uri"), _str(block, "name"), mime_type=block.get("mimeType"), icons=_icons(block), **more, **common
    )


def _embedded(block: Json, common: Json) -> Block:
    resource = block["resource"]
    about = {"uri": _str(resource, "uri"), "mime_type": resource.get("mimeType"), "meta": resource.get("_meta")}
    if "text" in resource:
        return EmbeddedResource(TextResource(_str(resource, "text"), **about), **common)
    return EmbeddedResource(BlobResource(_bytes(resource, "blob"), **about), **common)


_BLOCKS: Final[Mapping[str, Callable[[Json, Json], Block]]] = {
    "text": _text,
    "image": _image,
    "audio": _audio,
    "resource_link": _link,
    "resource": _embedded,
}


def _str(block: Json, member: str) -> str:
    value = block[member]
    if not isinstance(value, str):
        raise TypeError(f"`{member}` is no text")
    return value


def _bytes(block: Json, member: str) -> bytes:
    return binascii.a2b_base64(_str(block, member), strict_mode=True)


def _icons(owner: Json) -> tuple[Icon, ...] | None:
    icons = owner.get("icons")
    return tuple(_record(Icon, icon) for icon in icons) if isinstance(icons, list) else None


def _part(record: type[Record], value: Any) -> Record | None:
    return _record(record, value) if isinstance(value, dict) else None


def _record(record: type[Record], members: Json) -> Record:
    """Make a record of the members that it knows; names on the wire are the camel case of its own."""
    known = {}
    for field in fields(record):  # type: ignore[arg-type] # every record here is a dataclass
        wire = "_meta" if field.name == "meta" else style_name(field.name, Case.CAMEL)
        if wire in members:
            known[field.name] = members[wire]
    try:
        return record(**known)
    except (TypeError, ValueError) as error:
        raise ClientError(f"a {record.__name__} is malformed: {error}") from error
