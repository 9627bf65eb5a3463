"""Constraints on values: marshmallow's validators, annotated_types and pydantic's `Field`, in one form.

Rule: one table per vocabulary says, for each class, which kinds of value it fits and how it is printed as JSON Schema.
A constraint on a kind that its row does not list is a definition error. Classes are found by name and module, so that
none of these packages is imported here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from .patterns import published, tested

ValueKind = str
"""`number`, `decimal`, `text`, `bytes`, `list`, `map`, `record`, `datetime`, …; `custom` fits every constraint."""

Keywords = Mapping[str, Any]
EVERYTHING: Final = "*"
_SIZED: Final = {"text": "Length", "list": "Items", "map": "Properties"}
_ORDERED: Final[Mapping[type, Sequence[ValueKind]]] = {
    int: ("number", "decimal"),
    float: ("number", "decimal"),
    Decimal: ("number", "decimal"),
    datetime: ("datetime",),
    date: ("date",),
    time: ("time",),
    timedelta: ("timedelta",),
    str: ("text",),
}


@dataclass(frozen=True, slots=True)
class Constraint:
    """A test of a loaded value. `check` raises with a text for the model; `kinds` gives the schema words per kind.

    `authored` says that the text is the author's own: it stays as it is. Any other gets behind it what came.
    """

    check: Callable[[Any], object]
    kinds: Mapping[ValueKind, Keywords]
    name: str
    authored: bool = False

    def fits(self, kind: ValueKind) -> bool:
        """Whether values of the kind can be tested."""
        return kind in self.kinds or EVERYTHING in self.kinds or kind == "custom"

    def keywords(self, kind: ValueKind) -> Keywords:
        """Return the JSON Schema words for values of the kind; none where JSON Schema cannot say it."""
        return self.kinds.get(kind) or self.kinds.get(EVERYTHING) or {}


class ConstraintError(ValueError):
    """A value breaks a constraint; the text is for the model."""


def constraints_of(extra: Any) -> Iterator[Constraint]:
    """Yield the constraints that one extra of an `Annotated` type stands for."""
    cls = type(extra)
    for base in cls.__mro__:
        module = base.__module__.partition(".")[0]
        if (module, base.__name__) in _READERS:
            authored = module == "marshmallow" and _has_own_text(extra)
            for constraint in _READERS[module, base.__name__](extra):
                yield replace(constraint, authored=True) if authored else constraint
            return
    if _is_group(extra):
        for part in extra:
            yield from constraints_of(part)


def _is_group(extra: Any) -> bool:
    return any(b.__name__ == "GroupedMetadata" and b.__module__ == "annotated_types" for b in type(extra).__mro__)


def _has_own_text(validator: Any) -> bool:
    stock = type(validator).__module__ == "marshmallow.validate"
    text = getattr(validator, "error", None)
    return not stock or text not in (None, getattr(validator, "default_message", None))


# -- marshmallow ------------------------------------------------------------------------------------------------------


def _range(v: Any) -> Iterator[Constraint]:
    low = ("minimum" if v.min_inclusive else "exclusiveMinimum", v.min)
    high = ("maximum" if v.max_inclusive else "exclusiveMaximum", v.max)
    yield Constraint(v, _ordered_kinds([low, high]), "Range")


def _length(v: Any) -> Iterator[Constraint]:
    low, high = (v.equal, v.equal) if v.equal is not None else (v.min, v.max)
    yield Constraint(v, _sized_kinds(low, high), "Length")


def _regexp(v: Any) -> Iterator[Constraint]:
    # marshmallow matches at the start of the text only.
    pattern = published(v.regex, anchored=True)
    yield Constraint(
        _restated(v, f"must match the pattern {v.regex.pattern}"),
        {"text": {"pattern": pattern} if pattern else {}},
        "Regexp",
    )


def _restated(validator: Any, text: str) -> Callable[[Any], object]:
    """Return the validator with a text that says what it wants; its own, if the author gave one."""
    if _has_own_text(validator):
        return validator  # type: ignore[no-any-return] # any validator is called so

    def check(value: Any) -> None:
        try:
            validator(value)
        except Exception:
            raise ConstraintError(text) from None

    return check


def _and(v: Any) -> Iterator[Constraint]:
    for part in v.validators:
        yield from constraints_of(part)


def _one_of(v: Any) -> Iterator[Constraint]:
    yield Constraint(v, {EVERYTHING: _listed("enum", v.choices)}, "OneOf")


def _none_of(v: Any) -> Iterator[Constraint]:
    words = _listed("enum", v.iterable)
    yield Constraint(
        _restated(v, f"must be none of: {', '.join(map(str, v.iterable))}"),
        {EVERYTHING: {"not": words} if words else {}},
        "NoneOf",
    )


def _equal(v: Any) -> Iterator[Constraint]:
    words = _listed("enum", [v.comparable])
    yield Constraint(v, {EVERYTHING: {"const": v.comparable} if words else {}}, "Equal")


def _contains_only(v: Any) -> Iterator[Constraint]:
    words = _listed("enum", v.choices)
    yield Constraint(v, {"list": {"items": words} if words else {}, "text": {}}, type(v).__name__)


def _contains_none_of(v: Any) -> Iterator[Constraint]:
    yield Constraint(v, {"list": {}, "text": {}}, type(v).__name__)


def _formatted(form: str) -> Callable[[Any], Iterator[Constraint]]:
    def read(v: Any) -> Iterator[Constraint]:
        yield Constraint(v, {"text": {"format": form}}, type(v).__name__)

    return read


def _unknown_validator(v: Any) -> Iterator[Constraint]:
    yield Constraint(v, {EVERYTHING: {}}, type(v).__name__)


# -- annotated_types and pydantic -------------------------------------------------------------------------------------


def _bound(
    attribute: str, word: str, holds: Callable[[Any, Any], bool], text: str
) -> Callable[[Any], Iterator[Constraint]]:
    def read(extra: Any) -> Iterator[Constraint]:
        limit = getattr(extra, attribute)
        check = _check(lambda value: holds(value, limit), f"must be {text} {limit}")
        yield Constraint(check, _ordered_kinds([(word, limit)]), type(extra).__name__)

    return read


def _multiple_of(extra: Any) -> Iterator[Constraint]:
    step = extra.multiple_of
    check = _check(lambda value: _is_multiple(value, step), f"must be a multiple of {step}")
    words = {"multipleOf": step} if isinstance(step, (int, float)) else {}
    yield Constraint(check, {"number": words, "decimal": {}, "timedelta": {}}, "MultipleOf")


def _is_multiple(value: Any, step: Any) -> bool:
    if isinstance(value, float) or isinstance(step, float):
        return math.isclose(value / step, round(value / step), rel_tol=0, abs_tol=1e-9)
    return bool(value % step == type(value % step)(0))


def _min_length(extra: Any) -> Iterator[Constraint]:
    low = extra.min_length
    yield Constraint(_check(lambda v: len(v) >= low, f"must have at least {low}"), _sized_kinds(low, None), "MinLen")


def _max_length(extra: Any) -> Iterator[Constraint]:
    high = extra.max_length
    yield Constraint(_check(lambda v: len(v) <= high, f"must have at most {high}"), _sized_kinds(None, high), "MaxLen")


def _predicate(extra: Any) -> Iterator[Constraint]:
    name = getattr(extra.func, "__name__", "") or "the condition"
    yield Constraint(_check(lambda v: bool(extra.func(v)), f"does not satisfy {name}"), {EVERYTHING: {}}, "Predicate")


def _pydantic_field(info: Any) -> Iterator[Constraint]:
    for part in info.metadata:
        yield from constraints_of(part)


def _pydantic_general(extra: Any) -> Iterator[Constraint]:
    pattern = vars(extra).get("pattern")
    if pattern is not None:
        text = getattr(pattern, "pattern", pattern)
        regex = tested(text)
        check = _check(lambda v: regex.search(v) is not None, f"must match the pattern {text}")
        words = published(re.compile(text), anchored=False)
        yield Constraint(check, {"text": {"pattern": words} if words else {}}, "pattern")


def _check(holds: Callable[[Any], bool], text: str) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        if not holds(value):
            raise ConstraintError(text)

    return check


# -- kinds and words --------------------------------------------------------------------------------------------------


def _ordered_kinds(bounds: Iterable[tuple[str, Any]]) -> dict[ValueKind, Keywords]:
    given = [(word, limit) for word, limit in bounds if limit is not None]
    kinds: set[ValueKind] | None = None
    for _, limit in given:
        fitting = next((set(names) for cls, names in _ORDERED.items() if type(limit) is cls), {"other"})
        kinds = fitting if kinds is None else kinds & fitting
    words = {word: float(limit) if isinstance(limit, Decimal) else limit for word, limit in given}
    return {kind: words if kind == "number" else {} for kind in kinds or {EVERYTHING}}


def _sized_kinds(low: int | None, high: int | None) -> dict[ValueKind, Keywords]:
    kinds: dict[ValueKind, Keywords] = {"bytes": {}}
    for kind, noun in _SIZED.items():
        words = {f"min{noun}": low, f"max{noun}": high}
        kinds[kind] = {word: limit for word, limit in words.items() if limit is not None}
    return kinds


def _listed(word: str, values: Iterable[Any]) -> Keywords:
    listed = list(values)
    return {word: listed} if all(v is None or type(v) in (str, int, float, bool) for v in listed) else {}


_READERS: Final[dict[tuple[str, str], Callable[[Any], Iterator[Constraint]]]] = {
    ("marshmallow", "Range"): _range,
    ("marshmallow", "Length"): _length,
    ("marshmallow", "Regexp"): _regexp,
    ("marshmallow", "And"): _and,
    ("marshmallow", "OneOf"): _one_of,
    ("marshmallow", "NoneOf"): _none_of,
    ("marshmallow", "Equal"): _equal,
    ("marshmallow", "ContainsOnly"): _contains_only,
    ("marshmallow", "ContainsNoneOf"): _contains_none_of,
    ("marshmallow", "Email"): _formatted("email"),
    ("marshmallow", "URL"): _formatted("uri"),
    ("marshmallow", "Validator"): _unknown_validator,
    ("annotated_types", "Gt"): _bound("gt", "exclusiveMinimum", lambda v, b: v > b, "above"),
    ("annotated_types", "Ge"): _bound("ge", "minimum", lambda v, b: v >= b, "at least"),
    ("annotated_types", "Lt"): _bound("lt", "exclusiveMaximum", lambda v, b: v < b, "below"),
    ("annotated_types", "Le"): _bound("le", "maximum", lambda v, b: v <= b, "at most"),
    ("annotated_types", "MultipleOf"): _multiple_of,
    ("annotated_types", "MinLen"): _min_length,
    ("annotated_types", "MaxLen"): _max_length,
    ("annotated_types", "Predicate"): _predicate,
    ("pydantic", "FieldInfo"): _pydantic_field,
    ("pydantic", "PydanticMetadata"): _pydantic_general,
}
