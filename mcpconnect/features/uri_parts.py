"""Reading a URI template, and the one spelling under which URIs are compared.

Rule: what a template cannot say without doubt is refused when it is read: two variables without anything between them,
a name that stands twice, a brace without its partner.

Source: RFC 6570, section 2; RFC 3986, section 6.2.2 (normalisation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias
from urllib.parse import quote

from ..errors import DefinitionError

_OPERATORS: Final = "+#./?&"
_NAME: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_LEGAL: Final = "!#$%&'()*+,/:;=?@[]~-._"
_AS_WRITTEN: Final = "!#$%&'()*+,/:;=?@[]~-._|\\^`{}<>\""


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands in the URI as it is; `normal` is the spelling that is compared."""

    text: str
    normal: str
    in_query: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """What stands in braces. `exploded` are the names with a `*`: a tail in a path, a repeated key in a query."""

    operator: str
    names: tuple[str, ...]
    exploded: frozenset[str]

    @property
    def in_query(self) -> bool:
        """Whether the variables are keys of the query."""
        return self.operator in ("?", "&")

    @property
    def lead(self) -> str:
        """What stands before the first value."""
        return self.operator if self.operator in ("#", ".", "/", "?", "&") else ""

    @property
    def separator(self) -> str:
        """What stands between two values."""
        return {"?": "&", "&": "&", ".": ".", "/": "/"}.get(self.operator, ",")

    @property
    def tail(self) -> bool:
        """Whether the value may hold several segments of a path."""
        return bool(self.exploded) and not self.in_query

    @property
    def greedy(self) -> bool:
        """Whether the value takes as much as it can."""
        return self.tail or self.operator in ("+", "#")

    @property
    def stops(self) -> str:
        """The characters that the value cannot hold without being escaped."""
        if self.greedy:
            return ""
        return "/." if self.operator == "." else "/," if len(self.names) > 1 and not self.operator else "/"


Part: TypeAlias = Literal | Expression


def parsed(text: str) -> list[Part]:
    """Return the parts of a template.

    Raises:
        DefinitionError: it is none, or one that could not be matched.
    """
    parts: list[Part] = []
    rest = text
    while rest:
        literal, brace, rest = rest.partition("{")
        if "}" in literal:
            raise _malformed(text, "a } without its {")
        before, mark, query = literal.partition("?")
        if before:
            parts.append(_literal(text, before))
        if mark:
            parts.append(_literal(text, mark + query, in_query=True))
        if brace:
            inside, closing, rest = rest.partition("}")
            if not closing:
                raise _malformed(text, "a { without its }")
            parts.append(_expression(text, inside))
    _check(text, parts)
    return parts


def normal_uri(uri: str) -> str | None:
    """Return the spelling under which a URI is compared, or None if its escapes are broken.

    Escapes of what needs none are undone, the others are in capitals, and what may not stand in a URI is escaped.
    """
    if _BROKEN_ESCAPE.search(uri):
        return None
    try:
        return _ESCAPE.sub(_normal_escape, quote(uri, safe=_AS_WRITTEN))
    except UnicodeEncodeError:
        return None


def legal_uri(uri: str, also: str = "") -> str:
    """Return a URI or (`also="{}"`) a template as it may be sent: what may not stand in it is escaped, nothing else."""
    return _BROKEN_ESCAPE.sub("%25", quote(uri, safe=_LEGAL + also, errors="replace"))


def _normal_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _literal(text: str, literal: str, in_query: bool = False) -> Literal:
    normal = normal_uri(literal)
    if normal is None:
        raise _malformed(text, "a % without two digits")
    return Literal(normal, normal, in_query)


def _expression(text: str, inside: str) -> Expression:
    operator = inside[:1] if inside[:1] in _OPERATORS else ""
    names = []
    exploded = set()
    for written in inside[len(operator) :].split(","):
        name = written.removesuffix("*")
        if not _NAME.fullmatch(name):
            raise _malformed(text, f"{{{inside}}}: {written!r} is no name of a variable (letters, digits, _ and .)")
        names.append(name)
        if name != written:
            exploded.add(name)
    if exploded - {names[-1]} and operator not in ("?", "&"):
        raise _malformed(text, f"{{{inside}}}: a * before the last name could not be matched")
    return Expression(operator, tuple(names), frozenset(exploded))


def _check(text: str, parts: list[Part]) -> None:
    names = [name for part in parts if isinstance(part, Expression) for name in part.names]
    if len(set(names)) != len(names):
        raise _malformed(text, "a variable stands twice")
    for part, following in pairwise(parts):
        if isinstance(part, Expression) and isinstance(following, Expression) and not following.lead:
            raise _malformed(text, "two variables without anything between them")
    _check_query(text, parts)


def _check_query(text: str, parts: list[Part]) -> None:
    """Refuse what does not keep to the order: path, one `?`, then only `{&…}`."""
    asks = False
    for part in parts:
        begins = part.in_query and (isinstance(part, Literal) or part.operator == "?")
        if asks and (begins or not part.in_query):
            raise _malformed(text, "nothing but {&name} can follow the beginning of the query")
        if part.in_query and not (asks or begins):
            raise _malformed(text, "{&name} needs a query before it: {?name}, or ?key=value")
        if isinstance(part, Literal) and part.in_query and "#" in part.normal:
            raise _malformed(text, "nothing but {&name} can follow the beginning of the query")
        asks = asks or part.in_query


def _malformed(text: str, why: str) -> DefinitionError:
    return DefinitionError(f"the URI template {text!r} cannot be served: {why}")
