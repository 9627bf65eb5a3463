"""URI templates: made into URIs, and found again in them.

Rule: matching is the inverse of expanding. It looks at every character a fixed number of times, whatever the URI, and
decodes only what it has split. A value that could lead out of its place (`..`, a slash where one segment is meant, NUL)
does not match. Variables of the query are optional and come in any order; everything else must be there.

Source: RFC 6570, levels 1 to 3, and `*` (a tail of segments in a path, repeated keys in a query).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote, unquote, unquote_to_bytes

from .uri_parts import Expression, Literal, Part, normal_uri, parsed

Value: TypeAlias = str | list[str]
Values: TypeAlias = dict[str, Value]

_UNRESERVED: Final = "-._~"
_RESERVED: Final = "-._~:/?#[]@!$&'()*+,;="
_LONGEST: Final = 1_000_000  # characters of a URI; longer ones would hold up everybody else


@dataclass(frozen=True, slots=True)
class _Capture:
    """A variable in the path: which characters end it, whether it takes as much as it can, how it is read."""

    name: str
    stops: str
    greedy: bool
    tail: bool


class UriTemplate:
    """One template. `variables` are its names as written, in their order.

    Raises:
        DefinitionError: the text is no template, or one that could not be matched; the message names it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        parts = parsed(text)
        self.variables = tuple(name for part in parts if isinstance(part, Expression) for name in part.names)
        self._parts = parts
        self._path = _tokens([part for part in parts if not part.in_query])
        self._query = {
            name: name in part.exploded
            for part in parts
            if isinstance(part, Expression) and part.in_query
            for name in part.names
        }
        literals = "".join(part.normal for part in parts if isinstance(part, Literal))
        self._fixed = _fixed(parts)
        self._has_fragment = "#" in literals or any(isinstance(p, Expression) and p.operator == "#" for p in parts)
        self.rank = (-len(unquote_to_bytes(literals)), len(self.variables))

    @property
    def query_variables(self) -> frozenset[str]:
        """The variables that a URI may leave out."""
        return frozenset(self._query)

    def expand(self, values: Mapping[str, str | Sequence[str]]) -> str:
        """Return the URI for some values; a query variable without one is left out, any other is empty."""
        uri, asks = "", False
        for part in self._parts:
            piece = part.text if isinstance(part, Literal) else _expanded(part, values)
            if part.in_query and piece:
                piece, asks = piece if asks else "?" + piece[1:], True  # `{&b}` is the first where `{?a}` has no value
            uri += piece
        return uri

    def match(self, uri: str) -> Values | None:
        """Return the values of the variables in a URI, decoded, or None if it is not of this template."""
        text = normal_uri(uri) if len(uri) <= _LONGEST else None
        if text is None or ("#" in text and not self._has_fragment):
            return None
        before, hash_mark, fragment = text.partition("#")
        path, mark, query = before.partition("?")
        if mark and not (self._query or self._fixed):
            return None
        captured = _captured(self._path, path + hash_mark + fragment)
        if captured is None:
            return None
        found = _decoded(captured)
        asked = _read_query(query.split("&") if query else [], self._fixed, self._query)
        return None if found is None or asked is None else {**found, **asked}

    def __repr__(self) -> str:
        return f"UriTemplate({self.text!r})"


def _fixed(parts: list[Part]) -> list[str]:
    """Return what the query must hold, as it stands in the template."""
    return [
        pair for part in parts if isinstance(part, Literal) and part.in_query for pair in part.normal[1:].split("&")
    ]


def _tokens(parts: list[Part]) -> list[str | _Capture]:
    tokens: list[str | _Capture] = []
    for part in parts:
        if isinstance(part, Literal):
            tokens.append(part.normal)
            continue
        for index, name in enumerate(part.names):
            lead = part.lead if index == 0 else part.separator
            if lead:
                tokens.append(lead)
            tokens.append(_Capture(name, part.stops, part.greedy, part.tail))
    return tokens


def _captured(tokens: list[str | _Capture], text: str) -> list[tuple[_Capture, str]] | None:
    """Return what each capture takes. First it is found, from the end, where the rest of the tokens can match."""
    if tokens and isinstance(tokens[0], str) and not text.startswith(tokens[0]):
        return None
    feasible = [bytearray(len(text) + 1) for _ in range(len(tokens) + 1)]
    feasible[-1][len(text)] = 1
    for index in range(len(tokens) - 1, -1, -1):
        token, after, here = tokens[index], feasible[index + 1], feasible[index]
        if isinstance(token, str):
            place = text.find(token)
            while place >= 0:
                here[place] = after[place + len(token)]
                place = text.find(token, place + 1)
        else:
            reachable = 0
            for place in range(len(text) - 1, -1, -1):
                reachable = 0 if text[place] in token.stops else (reachable or after[place + 1])
                here[place] = reachable
    return _chosen(tokens, text, feasible) if feasible[0][0] else None


def _chosen(tokens: list[str | _Capture], text: str, feasible: list[bytearray]) -> list[tuple[_Capture, str]]:
    taken = []
    place = 0
    for index, token in enumerate(tokens):
        if isinstance(token, str):
            place += len(token)
            continue
        end = len(text)
        for stop in token.stops:
            found = text.find(stop, place)
            end = found if 0 <= found < end else end
        after = feasible[index + 1]
        until = after.rfind(1, place + 1, end + 1) if token.greedy else after.find(1, place + 1, end + 1)
        taken.append((token, text[place:until]))
        place = until
    return taken


def _decoded(captured: list[tuple[_Capture, str]]) -> Values | None:
    values: Values = {}
    for capture, text in captured:
        try:
            value = unquote(text, errors="strict")
        except UnicodeDecodeError:
            return None
        segments = value.replace("\\", "/").split("/")
        if "\0" in value or ".." in segments or "." in segments:
            return None
        if not capture.tail and len(segments) > 1 and "/" in capture.stops:
            return None
        values[capture.name] = value
    return values


def _read_query(pairs: list[str], fixed: list[str], variables: Mapping[str, bool]) -> Values | None:
    for pair in fixed:
        if pair not in pairs:
            return None
        pairs.remove(pair)
    values: Values = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        try:
            name, value = unquote(name, errors="strict"), unquote(text, errors="strict")
        except UnicodeDecodeError:
            return None
        if name not in variables:
            return None
        several = values.setdefault(name, []) if variables[name] else None
        if isinstance(several, list):
            several.append(value)
        elif name in values:
            return None
        else:
            values[name] = value
    return values


def _expanded(part: Expression, values: Mapping[str, str | Sequence[str]]) -> str:
    safe = _RESERVED if part.operator in ("+", "#") else _UNRESERVED + ("/" if part.tail else "")
    pieces = []
    for name in part.names:
        value = values.get(name)
        if value is None:
            continue
        items = [value] if isinstance(value, str) else list(value)
        if part.in_query:
            pieces += [f"{name}={quote(item, safe=safe)}" for item in items]
        else:
            pieces.append("/".join(quote(item, safe=safe) for item in items))
    return part.lead + part.separator.join(pieces) if pieces else ""
