"""Questions about annotations and callables, for every package."""

from .callables import innermost
from .forms import (
    MISSING,
    Missing,
    class_of,
    has_qualifier,
    is_new_type,
    is_qualifier,
    is_type_alias,
    is_union,
    strip_annotated,
    substitute,
    type_arguments,
    union_members,
)
from .hints import Unresolved, alias_value, is_optional, own_hints, resolve_hints

__all__ = [
    "MISSING",
    "Missing",
    "Unresolved",
    "alias_value",
    "class_of",
    "has_qualifier",
    "innermost",
    "is_new_type",
    "is_optional",
    "is_qualifier",
    "is_type_alias",
    "is_union",
    "own_hints",
    "resolve_hints",
    "strip_annotated",
    "substitute",
    "type_arguments",
    "union_members",
]
