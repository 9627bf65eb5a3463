"""One serializer for everything: names, visibility, include rules and custom serializers, set once."""

from .config import ISO, NAME, UNIX, VALUE, Include, IncludeContext, Members, SerializerConfig, Visibility
from .custom import CustomSerializer, DumpContext, LoadContext
from .markers import OMIT, EnumNames, Format, Ignore, IncludeIf, Name, Param, Raw, Rule, Unwrap, Use
from .naming import Case, wire_name
from .parameters import Parameters
from .serializer import Serializer
from .text import decode, encode

__all__ = [
    "ISO",
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
    "Members",
    "Name",
    "Param",
    "Parameters",
    "Raw",
    "Rule",
    "Serializer",
    "SerializerConfig",
    "Unwrap",
    "Use",
    "Visibility",
    "decode",
    "encode",
    "wire_name",
]
