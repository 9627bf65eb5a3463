"""One serializer for everything: names, visibility, include rules and custom serializers, set once."""

from .._typing import MISSING
from .config import (
    ISO,
    NAME,
    UNIX,
    VALUE,
    Include,
    IncludeContext,
    Members,
    SerializerConfig,
    Visibility,
)
from .custom import CustomSerializer, DumpContext, LoadContext
from .markers import OMIT, EnumNames, Format, Ignore, IncludeIf, Name, Param, Raw, Rule, Unwrap, Use
from .naming import Case, wire_name
from .plan import Member, Node, bare

__all__ = [
    "ISO",
    "MISSING",
    "NAME",
    "OMIT",
    "UNIX",
    "VALUE",
    "Case",
    "CustomSerializer",
    "DumpContext",
    "EnumNames",
    "Format",
    "Ignore",
    "Include",
    "IncludeContext",
    "IncludeIf",
    "LoadContext",
    "Member",
    "Members",
    "Name",
    "Node",
    "Param",
    "Raw",
    "Rule",
    "SerializerConfig",
    "Unwrap",
    "Use",
    "Visibility",
    "bare",
    "wire_name",
]
