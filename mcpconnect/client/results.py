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
    PromptMessage,
    PromptResult,
    ResourceLink,
    ResourceResult,
    TextContent,
    TextResource,
)
from ..errors import ClientError
from ..protocol.model import (
    Completion,
    Implementation,
    PromptArgument,
    PromptDefinition,
    ResourceDefinition,
    TemplateDefinition,
    ToolAnnotations,
    ToolDefinition,
)
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
    if result.get("resultType") == "input_required":
        raise ClientError("the tool asks its client something, and this one answers nothing: on_question=…")
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


def read_prompt(prompt: Json) -> PromptDefinition:
    """Read one entry of `prompts/list`. Raises ClientError if it is none."""
    arguments = prompt.get("arguments")
    known = tuple(_record(PromptArgument, each) for each in arguments) if isinstance(arguments, list) else None
    return _record(PromptDefinition, {**prompt, "arguments": known, "icons": _icons(prompt)})


def read_resource_definition(resource: Json) -> ResourceDefinition:
    """Read one entry of `resources/list`. Raises ClientError if it is none."""
    return _record(ResourceDefinition, _annotated(resource))


def read_template(template: Json) -> TemplateDefinition:
    """Read one entry of `resources/templates/list`. Raises ClientError if it is none."""
    return _record(TemplateDefinition, _annotated(template))


def read_prompt_result(result: Json) -> PromptResult:
    """Read the result of `prompts/get`. Raises ClientError if it is none."""
    messages = result.get("messages")
    if not isinstance(messages, list):
        raise ClientError("a prompt's result has no `messages` list")
    return PromptResult(map(_message, messages), result.get("description"), result.get("_meta"))


def read_resource_result(result: Json) -> ResourceResult:
    """Read the result of `resources/read`. Raises ClientError if it is none."""
    contents = result.get("contents")
    if not isinstance(contents, list):
        raise ClientError("a resource's result has no `contents` list")
    try:
        return ResourceResult([_contents(part) for part in contents], result.get("_meta"))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise ClientError(f"the contents of a resource are malformed: {error!r}") from error


def read_completion(result: Json) -> Completion:
    """Read the result of `completion/complete`. Raises ClientError if it is none."""
    completion = result.get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ClientError("the result of a completion has no `values` of text")
    assert isinstance(completion, dict)
    return Completion(values=tuple(values), total=completion.get("total"), has_more=completion.get("hasMore"))


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


def _annotated(owner: Json) -> Json:
    return {**owner, "annotations": _part(Annotations, owner.get("annotations")), "icons": _icons(owner)}


def _message(message: Any) -> PromptMessage:
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        raise ClientError(f"a message is an object with a `role`, not {message!r}"[:300])
    block = _block(message.get("content"))
    if isinstance(block, dict):
        raise ClientError(f"a message holds a block of the unknown type {block.get('type')!r}")
    return PromptMessage(message["role"], block)


def _embedded(block: Json, common: Json) -> Block:
    return EmbeddedResource(_contents(block["resource"]), **common)


def _contents(resource: Json) -> TextResource | BlobResource:
    uri, mime, meta = _str(resource, "uri"), resource.get("mimeType"), resource.get("_meta")
    if "text" in resource:
        return TextResource(_str(resource, "text"), uri, mime, meta)
    return BlobResource(_bytes(resource, "blob"), uri, mime, meta)


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
