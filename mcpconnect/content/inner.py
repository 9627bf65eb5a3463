"""What prompts and resources borrow from the conversion of tools: the rows of the table, without encoders.

Rule: encoders are asked by the caller, because here they may return messages or contents, too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, get_args

from .._typing import class_of
from ..errors import DefinitionError
from .blocks import BLOCKS
from .converter import Converter, Settings
from .declared import OPEN, Declared, declare
from .kinds import MEDIA, Kind, kind_of
from .pictures import WRITABLE
from .rows import Keep

Classes = tuple[type, ...]


def inner_converter(
    annotation: Any, settings: Settings, own: Classes, foreign: Classes, who: str, mime: str | None = None
) -> tuple[Declared, Converter]:
    """Return what an annotation declares, and the converter of its values to blocks.

    `mime` is the type of pictures where the annotation names none.
    Raises DefinitionError if it names what `who` cannot return.
    """
    for cls in foreign:
        if names(annotation, (cls,)):
            raise DefinitionError(f"{who} cannot return a {cls.__name__}")
    settings.default.check()
    declared = OPEN if names(annotation, own) else declare(annotation)
    if declared.mime is None and mime in WRITABLE:
        declared = replace(declared, mime=mime)
    return declared, Converter(declared, settings)


def is_itemwise(declared: Declared) -> bool:
    """Tell whether a declared list is converted item by item."""
    return declared.itemwise


def holds(values: Collection[Any], own: Classes) -> bool:
    """Tell whether a list holds something ready-made or a medium; asked once for each class in it."""
    classes = {type(value): value for value in values}
    return any(issubclass(cls, (*own, *BLOCKS)) or kind_of(value) in MEDIA for cls, value in classes.items())


def close_streams(value: Any, keep: Keep) -> None:
    """Close a stream, or those in a list, whoever read them or failed to; unless they are kept."""
    if kind_of(value) is Kind.LIST and holds(value, ()):
        for item in value:
            close_streams(item, keep)
    elif kind_of(value) is Kind.STREAM and not keep(value):
        value.close()


def names(annotation: Any, classes: Classes) -> bool:
    """Tell whether an annotation speaks of one of these classes, at any depth."""
    cls = class_of(annotation)
    if cls is not None and issubclass(cls, classes):
        return True
    return any(names(argument, classes) for argument in get_args(annotation))
