"""What a server decides for all its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..content import ContentType, EncoderRegistry
from ..context import Providers
from ..limits import Limits
from ..serialization import Serializer


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSettings:
    """The parts of a server's settings that its features need when they are registered."""

    serializer: Serializer
    encoders: EncoderRegistry
    content_type: ContentType
    structured: Literal["records", "all", "none"]
    strict_arguments: bool
    extra_arguments: Literal["refuse", "ignore"]
    schema_refs: Literal["defs", "inline"]
    limits: Limits
    providers: Providers
