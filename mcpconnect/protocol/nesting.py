"""How deeply a JSON text is nested, counted on the bytes, before anything is decoded.

Rule: sound for any bytes (brackets inside strings do not count) and made of calls that run at C speed, because a
hostile message may be as long as the limit allows. Asked only about messages with more brackets than the limit.
"""

from __future__ import annotations

_FOLD = bytes.maketrans(b"{}", b"[]")
_IRRELEVANT = bytes(set(range(256)) - set(b'[]{}"'))


def structure(data: bytes) -> bytes:
    """Return the brackets of `data` that stand outside strings, in order, braces written as square brackets."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Removing neighbouring quotes never changes which of the other bytes stand inside a string, and leaves few of them.
    brackets_and_quotes = data.translate(_FOLD, _IRRELEVANT).replace(b'""', b"")
    return b"".join(brackets_and_quotes.split(b'"')[::2])


def nested_deeper(data: bytes, limit: int) -> bool:
    """Say whether arrays and objects in `data` are nested more than `limit` levels deep."""
    brackets = structure(data)
    for _ in range(limit):
        outer = brackets.replace(b"[]", b"")  # takes the innermost level away, everywhere at once
        if len(outer) == len(brackets):
            return brackets.count(b"[") > limit  # nothing closes any more: it is not JSON, but may still be deep
        brackets = outer
    return b"[" in brackets
