"""What prompts and resources borrow from the conversion of tools: the rows of the table, without encoders.

Rule: encoders are asked by the caller, because here they may return messages or contents, too.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, get_args

from .._typing import class_of
from ..errors import DefinitionError
from .blocks import BLOCKS
from .converter import Converter, Settings
from .declared import OPEN, Declared, declare
from .kinds import MEDIA, kind_of

Classes = tuple[type, ...]


def inner_converter(
    annotation: Any, settings: Settings, own: Classes, foreign: Classes, who: str
) -> tuple[Declared, Converter]:
    """Return what an annotation declares, and the converter of its values to blocks.

    Raises DefinitionError if it names what `who` cannot return.
    """
    for cls in foreign:
        if _names(annotation, (cls,)):
            raise DefinitionError(f"{who} cannot return a {cls.__name__}")
    declared = OPEN if _names(annotation, own) else declare(annotation)
    return declared, Converter(declared, settings)


def is_itemwise(declared: Declared) -> bool:
    """Tell whether a declared list is converted item by item."""
    return declared.itemwise


def holds(values: Collection[Any], own: Classes, _: Converter) -> bool:
    """Tell whether a list holds something ready-made or a medium; asked once for each class in it."""
    classes = {type(value): value for value in values}
    return any(issubclass(cls, (*own, *BLOCKS)) or kind_of(value) in MEDIA for cls, value in classes.items())


def _names(annotation: Any, classes: Classes) -> bool:
    cls = class_of(annotation)
    if cls is not None and issubclass(cls, classes):
        return True
    return any(_names(argument, classes) for argument in get_args(annotation))
