"""The conversion of one tool: planned from its return annotation and settings when it is registered.

Rule: whatever can be wrong with them is a DefinitionError here, so that a call can only fail for its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._typing import class_of
from ..errors import DefinitionError
from ..limits import Limits
from .builtin import JSON_TEXT
from .content_type import ContentType
from .converter import Converter, Settings
from .declared import declare
from .encoders import EncoderRegistry
from .mime import canonical
from .pictures import WRITABLE, picture_class
from .structured import Policy, Refs, Wish, plan_structure

if TYPE_CHECKING:
    from ..serialization import Serializer


class ToolConverter(Converter):
    """The conversion of one tool, made at registration and shared by all its calls.

    `annotation` is the resolved return annotation, `mime` the type of its media if `Mime` does not stand beside it.
    Raises DefinitionError for an annotation that no tool can return, for `structured=` without a JSON form, and for
    an output schema that does not compile.
    """

    def __init__(
        self,
        annotation: Any,
        *,
        serializer: Serializer,
        encoders: EncoderRegistry,
        content_type: ContentType | None = None,
        default_content_type: ContentType = JSON_TEXT,
        structured: Wish = None,
        policy: Policy = "records",
        output_schema: Mapping[str, Any] | None = None,
        mime: str | None = None,
        refs: Refs = "defs",
        limits: Limits | None = None,
    ) -> None:
        declared = declare(annotation)
        if mime is not None:
            declared = replace(declared, mime=canonical(mime))
        _check_picture_type(annotation, declared.mime)
        for used in (content_type, default_content_type):
            if used is not None:
                used.check()
        structure = plan_structure(
            declared, serializer, wish=structured, policy=policy, output_schema=output_schema, refs=refs
        )
        settings = Settings(
            serializer=serializer,
            encoders=encoders,
            own=content_type,
            default=default_content_type,
            limits=limits or Limits(),
        )
        super().__init__(declared, settings, structure, brief=structured == "only")

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of the structured content in the newest shape; None if the tool has none."""
        return None if self._structure is None else self._structure.schema


def _check_picture_type(annotation: Any, mime: str | None) -> None:
    cls, picture = class_of(annotation), picture_class()
    if mime and cls and picture and issubclass(cls, picture) and mime not in WRITABLE:
        raise DefinitionError(f"a picture cannot be written as {mime}; possible are {', '.join(WRITABLE)}")
