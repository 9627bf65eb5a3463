"""Values to prompt results: the conversion table's column for prompts.

Rule: the order of decision is that of tools: ready-made, the user's encoders, then the rows. What becomes a block there
is a message of the user here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import SerializationError
from ..limits import Limits
from ..serialization import Serializer
from .blocks import BLOCKS, BlobResource, TextResource
from .builder import ContentList
from .content_type import ContentType
from .converter import Settings
from .encoders import Encoder, EncoderRegistry
from .inner import close_streams, holds, inner_converter, is_itemwise
from .kinds import Kind, kind_of
from .messages import PromptMessage, PromptResult, ResourceResult
from .results import ToolResult
from .rows import Keep, never

_OWN = (PromptResult, PromptMessage)
_FOREIGN = (TextResource, BlobResource, ResourceResult)
_Used = tuple[Encoder[Any], ...]


class PromptConverter:
    """The conversion of one prompt, made at registration and shared by all its calls.

    Raises DefinitionError for an annotation that no prompt can return.
    """

    def __init__(
        self,
        annotation: Any,
        *,
        serializer: Serializer,
        encoders: EncoderRegistry,
        default_content_type: ContentType,
        limits: Limits,
    ) -> None:
        self._encoders = encoders
        settings = Settings(
            serializer=serializer, encoders=EncoderRegistry(), own=None, default=default_content_type, limits=limits
        )
        self._declared, self._blocks = inner_converter(annotation, settings, _OWN, _FOREIGN, "a prompt")

    def __call__(self, value: Any, keep: Keep = never) -> PromptResult:
        """Return the result for a value; see `ToolConverter`."""
        try:
            return self._convert(value, keep, ())
        finally:
            close_streams(value, keep)

    def _convert(self, value: Any, keep: Keep, used: _Used) -> PromptResult:
        if isinstance(value, _OWN):
            return value if isinstance(value, PromptResult) else PromptResult(value)
        if isinstance(value, _FOREIGN):
            raise SerializationError(f"a {type(value).__name__} is what a resource returns, not a prompt")
        if value is None:
            return PromptResult()
        if isinstance(value, ContentList):
            joined = _joined(self._convert(item, keep, used) for item in value)
            return PromptResult(joined.messages, joined.description, value.meta or joined.meta)
        if isinstance(value, (*BLOCKS, ToolResult)):
            result = self._blocks(value, keep)
            return PromptResult(result.content, None, result.meta)
        for encoder in self._encoders.find(type(value), "prompt"):
            if encoder not in used and encoder.supports(value):
                return self._convert(encoder.encode(value), keep, (*used, encoder))
        if kind_of(value) is Kind.LIST and self._by_item(value):
            return _joined(self._convert(item, keep, used) for item in value)
        return PromptResult(self._blocks(value, keep).content)

    def _by_item(self, values: Any) -> bool:
        if not len(values) or is_itemwise(self._declared) or holds(values, _OWN):
            return True
        classes = set(map(type, values))
        if list in classes and any(type(value) is list and holds(value, _OWN) for value in values):
            return True  # a list of messages is what `PromptMessage.user([…])` gives
        return any(self._encoders.find(cls, "prompt") for cls in classes)


def _joined(results: Iterable[PromptResult]) -> PromptResult:
    messages: list[PromptMessage] = []
    description, meta = None, None
    for result in results:
        messages.extend(result.messages)
        description = description or result.description
        meta = {**(meta or {}), **result.meta} if result.meta else meta
    return PromptResult(messages, description, meta)
