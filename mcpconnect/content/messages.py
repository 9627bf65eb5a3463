"""What getting a prompt or reading a resource ends in, before a revision gives it its wire form.

Rule: these results are finished: frozen, and made only of blocks and contents.

Source: the specification's pages *Prompts* and *Resources*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, overload

from .annotations import Meta
from .blocks import BLOCKS, BlobResource, Block, EmbeddedResource, ImageContent, TextContent, TextResource
from .cache import CacheControl
from .pictures import is_picture

Role: TypeAlias = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a conversation: who says it, and one block."""

    role: Role
    content: Block

    def __post_init__(self) -> None:
        if self.role not in ("user", "assistant"):
            raise ValueError(f"a role is 'user' or 'assistant', not {self.role!r}")
        if not isinstance(self.content, BLOCKS):
            object.__setattr__(self, "content", as_block(self.content))

    @overload
    @classmethod
    def user(cls, content: list[Any] | tuple[Any, ...], /) -> list[PromptMessage]: ...

    @overload
    @classmethod
    def user(cls, content: Any, /) -> PromptMessage: ...

    @classmethod
    def user(cls, content: Any, /) -> PromptMessage | list[PromptMessage]:
        """Return what the user says: one message for a text, block, picture, bytes or stream, several for a list.

        Raises TypeError for anything else.
        """
        return _said("user", content)

    @overload
    @classmethod
    def assistant(cls, content: list[Any] | tuple[Any, ...], /) -> list[PromptMessage]: ...

    @overload
    @classmethod
    def assistant(cls, content: Any, /) -> PromptMessage: ...

    @classmethod
    def assistant(cls, content: Any, /) -> PromptMessage | list[PromptMessage]:
        """Return what the assistant says; see `user`."""
        return _said("assistant", content)


@dataclass(frozen=True, slots=True)
class PromptResult:
    """What a prompt ends in. `messages` may be given as one message, a text, or any iterable of these.

    Raises TypeError for what is no message.
    """

    messages: tuple[PromptMessage, ...]
    description: str | None = None
    meta: Meta = None

    def __init__(self, messages: Any = (), description: str | None = None, meta: dict[str, Any] | None = None) -> None:
        object.__setattr__(self, "messages", tuple(_messages(messages)))
        object.__setattr__(self, "description", description)
        object.__setattr__(self, "meta", meta)


@dataclass(frozen=True, slots=True)
class ResourceResult:
    """What reading ends in. `contents` may be one or any iterable of them; those without a URI take the requested one.

    Raises TypeError for what is no contents.
    """

    contents: tuple[TextResource | BlobResource, ...]
    meta: Meta = None
    cache: CacheControl | None = None

    def __init__(
        self,
        contents: TextResource | BlobResource | Iterable[TextResource | BlobResource],
        meta: dict[str, Any] | None = None,
        cache: CacheControl | None = None,
    ) -> None:
        parts = (contents,) if isinstance(contents, (TextResource, BlobResource)) else tuple(contents)
        for part in parts:
            if not isinstance(part, (TextResource, BlobResource)):
                raise TypeError(f"contents are TextResource or BlobResource, not {type(part).__name__}")
        object.__setattr__(self, "contents", parts)
        object.__setattr__(self, "meta", meta)
        object.__setattr__(self, "cache", cache)


def as_block(part: Any) -> Block:
    """Return the block for a text, a block, a picture, bytes or a stream.

    Raises TypeError for anything else.
    """
    if isinstance(part, BLOCKS):
        return part
    if isinstance(part, str):
        return TextContent(part)
    if is_picture(part):
        return ImageContent.of(part)
    if isinstance(part, (TextResource, BlobResource)):
        return EmbeddedResource(part)
    if isinstance(part, (bytes, bytearray, memoryview)) or hasattr(part, "read"):
        return EmbeddedResource.of(part)
    raise TypeError(f"a message holds a text, a block, a picture or bytes, not {type(part).__name__}")


def _said(role: Role, content: Any) -> PromptMessage | list[PromptMessage]:
    if isinstance(content, (list, tuple)):
        return [PromptMessage(role, as_block(part)) for part in content]
    return PromptMessage(role, as_block(content))


def _messages(messages: Any) -> Iterable[PromptMessage]:
    if isinstance(messages, PromptMessage):
        yield messages
    elif isinstance(messages, (str, *BLOCKS)):
        yield PromptMessage("user", as_block(messages))
    elif isinstance(messages, Iterable):
        for message in messages:
            yield from _messages(message)
    else:
        raise TypeError(f"a prompt's result consists of messages, not of {type(messages).__name__}")
