"""Regular expressions that stand in a JSON Schema: what is published must be what is tested.

Rule: JSON Schema patterns are ECMA-262 and search anywhere. Python's `$` also matches before a final line feed, so a
pattern of ours is tested with an end that means the end. One that a user's own object tests is published as close as
ECMA can say it; a pattern with flags or syntax that ECMA lacks is not published.
"""

from __future__ import annotations

import re
from typing import Final

_PYTHON_ONLY: Final = re.compile(r"\(\?(?:P=|\(|[aiLmsux]+[-:)]|#|>)|[*+?}]\+")
_END_OR_SKIP: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


def tested(pattern: str) -> re.Pattern[str]:
    """Compile a published pattern so that `$` means the very end, as it does in ECMA-262."""
    return re.compile(_END_OR_SKIP.sub(lambda part: r"\Z" if part[0] == "$" else part[0], pattern))


def published(regex: re.Pattern[str], *, anchored: bool) -> str | None:
    """Return the ECMA form of a Python pattern, or `None` where there is none.

    `anchored` says that it is matched at the start of the text only, as marshmallow does.
    """
    if not isinstance(regex.pattern, str) or regex.flags & ~re.UNICODE or _PYTHON_ONLY.search(regex.pattern):
        return None
    text = regex.pattern.replace(r"\A", "^").replace(r"\Z", "$").replace("(?P<", "(?<")
    if not anchored or (text.startswith("^") and "|" not in text):
        return text
    return f"^(?:{text})"
