"""What stands beside a type in `Annotated`, gathered into one value.

Rule: later notes win over earlier ones, so a member's own beat those of an alias; constraints add up. What nobody here
understands stays in `metadata` for other packages (`Complete`, `Mime`, …). annotated_types and pydantic are recognised
by the module of the object's class and never imported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._typing import MISSING
from .config import IncludeRule
from .constraints import Constraint, constraints_of
from .markers import EnumNames, Format, Ignore, IncludeIf, Name, Param, Raw, Unwrap, Use

if TYPE_CHECKING:
    from .custom import Custom


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The meaning of everything written beside one type. `metadata` keeps all of it as it was written."""

    description: str | None = None
    title: str | None = None
    examples: tuple[Any, ...] = ()
    header: str | None = None
    deprecated: bool = False
    name: str | None = None
    include: IncludeRule | None = None
    ignore: bool = False
    form: str | None = None
    use: Custom | None = None
    enum_names: EnumNames | None = None
    unwrap: bool = False
    raw: bool = False
    default: Any = MISSING
    constraints: tuple[Constraint, ...] = ()
    metadata: tuple[Any, ...] = ()

    def described(self, text: str | None) -> Notes:
        """Return these notes with `text` as description where none was given."""
        return self if text is None or self.description is not None else dataclasses.replace(self, description=text)

    @property
    def changes_form(self) -> bool:
        """Whether they change the wire form of the type itself."""
        return self.form is not None or self.use is not None or self.enum_names is not None or self.raw


NO_NOTES = Notes()


def read_notes(extras: Iterable[Any]) -> Notes:
    """Gather the extras of an `Annotated` type, from the innermost to the outermost."""
    extras = tuple(extras)
    if not extras:
        return NO_NOTES
    found: dict[str, Any] = {}
    constraints: list[Constraint] = []
    for extra in extras:
        found.update(_read(extra))
        constraints.extend(constraints_of(extra))
    return Notes(constraints=tuple(constraints), metadata=extras, **found)


def _read(extra: Any) -> dict[str, Any]:
    match extra:
        case str():
            return {"description": extra}
        case Param():
            return _given(
                name=extra.name,
                title=extra.title,
                description=extra.description,
                examples=tuple(extra.examples),
                header=extra.header,
            )
        case Name():
            return {"name": extra.wire}
        case IncludeIf():
            return {"include": extra.when}
        case Format():
            return {"form": extra.form}
        case Use():
            return {"use": extra.serializer}
        case EnumNames():
            return {"enum_names": extra}
    if extra is Ignore or isinstance(extra, Ignore):
        return {"ignore": True}
    if extra is Unwrap or isinstance(extra, Unwrap):
        return {"unwrap": True}
    if extra is Raw or isinstance(extra, Raw):
        return {"raw": True}
    return _read_foreign(extra)


def _read_foreign(extra: Any) -> dict[str, Any]:
    cls = type(extra)
    module = cls.__module__.partition(".")[0]
    if module == "pydantic" and cls.__name__ == "FieldInfo":
        return _read_pydantic(extra)
    if module == "marshmallow" and hasattr(extra, "_deserialize"):
        return {"use": extra}
    if module in ("typing_extensions", "annotated_doc") and isinstance(getattr(extra, "documentation", None), str):
        return {"description": extra.documentation}
    return {}


def _read_pydantic(info: Any) -> dict[str, Any]:
    found = _given(
        name=info.serialization_alias or info.alias,
        title=info.title,
        description=info.description,
        examples=tuple(info.examples or ()),
        deprecated=bool(info.deprecated),
    )
    if type(info.default).__name__ != "PydanticUndefinedType" and info.default is not ...:
        found["default"] = info.default
    return found


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, (), False)}
