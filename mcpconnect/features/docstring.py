"""What a docstring says: the description, and a text for each parameter.

Rule: the parameter section leaves the description, so nothing is said twice. Google, NumPy and reST sections are read
by `docstring_parser`, which is only imported for a docstring that has one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

# A heading line of Google or NumPy style, or a field of reST.
_SECTION: Final = re.compile(
    r"^[ \t]*(?:(?:Args|Arguments|Parameters|Params|Returns|Yields|Raises|Examples?)[ \t]*(?::|\n[ \t]*-{3,})"
    r"|:(?:param|parameter|arg|argument|key|keyword|returns?|raises?|yields?)\b[^:\n]*:)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Docstring:
    """A description for the model, and one for each parameter that has any."""

    description: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_docstring(function: Any) -> Docstring:
    """Read the docstring of a function; indentation is cleaned, an empty one counts as none."""
    raw = getattr(function, "__doc__", None)
    text = inspect.cleandoc(raw) if isinstance(raw, str) else ""
    if not text:
        return Docstring()
    if not _SECTION.search(text):
        return Docstring(text)
    return _parsed(text)


def _parsed(text: str) -> Docstring:
    import docstring_parser

    try:
        parsed = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return Docstring(text)
    parts = [(parsed.description or "").strip()]
    if parsed.returns is not None and parsed.returns.description:
        parts.append(f"Returns: {parsed.returns.description}")
    parts += [f"Example:\n{example.description}" for example in parsed.examples if example.description]
    texts = {param.arg_name: param.description for param in parsed.params if param.description}
    return Docstring("\n\n".join(part for part in parts if part) or None, texts)
