"""What a return annotation promises, read once at registration.

Rule: the annotation decides what it can, the class of the value the rest. `Shape.OPEN` says that nothing is promised:
no annotation, `Any`, one that does not resolve, or a union in which media and data stand side by side. Awaitables are
looked through; iterators count as lists, because the engine drains them before content sees them.
"""

from __future__ import annotations

import collections.abc as abc
import inspect
import io
from collections import deque
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import IO, Annotated, Any, ForwardRef, TypeVar, get_args, get_origin

from .._typing import Unresolved, alias_value, is_type_alias, is_union, strip_annotated
from ..errors import DefinitionError
from ..serialization.notes import read_notes
from .blocks import BLOCKS, BlobResource, TextResource
from .builder import ContentList
from .messages import PromptMessage, PromptResult, ResourceResult
from .mime import Mime
from .pictures import picture_class
from .results import ToolResult


class Shape(Enum):
    """What the values of an annotation are."""

    OPEN = auto()
    NOTHING = auto()
    TEXT = auto()
    CONTENT = auto()
    MEDIA = auto()
    MIXED = auto()  # any of the three before
    ITEMS = auto()  # a list of these
    DATA = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A return annotation in the table's terms.

    `annotation` is what the serializer plans (`Any` where nothing is promised), `itemwise` says that a list becomes
    blocks item by item and `item` what it declares for them, `mime` is the type that `Mime` gives to media. `written`
    tells whether the author wrote anything at all, `formless` why it has no JSON form where that is known already.
    """

    shape: Shape
    annotation: Any = Any
    nullable: bool = False
    mime: str | None = None
    item: Declared | None = None
    itemwise: bool = False
    written: bool = True
    formless: str = ""


OPEN = Declared(shape=Shape.OPEN)
UNWRITTEN = Declared(shape=Shape.OPEN, written=False)

_BLOCKWISE = frozenset({Shape.TEXT, Shape.CONTENT, Shape.MEDIA, Shape.MIXED})
"""Shapes whose values become blocks of their own, also as items of a list."""

_PLANNED = frozenset({Shape.DATA, Shape.TEXT, Shape.ITEMS})
_AWAITED = (abc.Awaitable, abc.Coroutine)
_DRAINED = (abc.Iterator, abc.Generator, abc.AsyncIterator, abc.AsyncIterable, abc.AsyncGenerator)
_LISTS = (
    list,
    tuple,
    deque,
    abc.Sequence,
    abc.MutableSequence,
    abc.Collection,
    abc.Iterable,
    abc.ValuesView,
    *_DRAINED,
)

_BLOCKS_HAVE_NONE = "content and media become blocks and have no JSON form"
_DEEPEST = 6
"""The table never looks further into an annotation, and a recursive alias has no end."""


def declare(annotation: Any, depth: int = 0) -> Declared:
    """Read a return annotation.

    Raises DefinitionError if it names what only a prompt or a resource can return.
    """
    if annotation is inspect.Signature.empty:
        return UNWRITTEN
    bare, extras = _strip(annotation)
    if (get_origin(bare) or bare) in _AWAITED:
        awaited = get_args(bare)
        return declare(_noted(awaited[-1], extras), depth) if awaited else OPEN
    if depth > _DEEPEST:
        return Declared(shape=Shape.DATA, annotation=annotation)
    declared = _declare(bare, extras, depth + 1)
    notes = read_notes(extras)
    if notes.use is not None or notes.form is not None or notes.raw:
        declared = Declared(shape=Shape.DATA, annotation=annotation, nullable=declared.nullable)
    mime = next((extra.type for extra in reversed(extras) if isinstance(extra, Mime)), None)
    return replace(declared, mime=mime) if mime else declared


def _declare(bare: Any, extras: tuple[Any, ...], depth: int) -> Declared:
    if bare is None or bare is type(None):
        return Declared(shape=Shape.NOTHING, annotation=None)
    if isinstance(bare, Unresolved):
        return Declared(shape=Shape.OPEN, formless=bare.reason)
    if isinstance(bare, str | ForwardRef):
        return Declared(shape=Shape.OPEN, formless=f"{bare!r} is text and was not resolved")
    if bare is Any or bare is object or isinstance(bare, TypeVar):
        return OPEN
    if is_union(bare):
        return _union(bare, extras, depth)
    origin = get_origin(bare) or bare
    if origin in _LISTS:
        return _list(origin, get_args(bare), extras, depth)
    return _class(bare, origin, extras)


def _class(bare: Any, cls: Any, extras: tuple[Any, ...]) -> Declared:
    if isinstance(cls, type):
        if issubclass(cls, PromptMessage | PromptResult | ResourceResult):
            what = "resource" if issubclass(cls, ResourceResult) else "prompt"
            raise DefinitionError(f"{cls.__name__} is what a {what} returns, not a tool")
        if issubclass(cls, TextResource | BlobResource):
            raise DefinitionError(
                f"{cls.__name__} is what a resource returns; a tool embeds it: EmbeddedResource({cls.__name__}(…))"
            )
        if issubclass(cls, (ToolResult, ContentList, *BLOCKS)):
            return Declared(shape=Shape.CONTENT, formless=_BLOCKS_HAVE_NONE)
        if is_media_class(cls):
            return Declared(shape=Shape.MEDIA, formless=_BLOCKS_HAVE_NONE)
        if issubclass(cls, str) and not issubclass(cls, Enum):
            return Declared(shape=Shape.TEXT, annotation=_noted(bare, extras))
    return Declared(shape=Shape.DATA, annotation=_noted(bare, extras))


def is_media_class(cls: type) -> bool:
    """Tell whether the values of a class are bytes, streams or pictures."""
    picture = picture_class()
    streams = (bytes, bytearray, memoryview, io.IOBase, IO)
    return issubclass(cls, streams) or (picture is not None and issubclass(cls, picture))


def _union(bare: Any, extras: tuple[Any, ...], depth: int) -> Declared:
    members = [declare(member, depth) for member in get_args(bare)]
    real = [member for member in members if member.shape is not Shape.NOTHING]
    shape = _joined({member.shape for member in real})
    listing = next((member for member in real if member.itemwise), None)
    return Declared(
        shape=shape,
        annotation=_noted(bare, extras) if shape in _PLANNED else Any,
        nullable=len(real) < len(members) or any(member.nullable for member in real),
        mime=next((member.mime for member in real if member.mime), None),
        item=listing.item if listing else None,
        itemwise=listing is not None,
        formless=next((member.formless for member in real if member.formless), ""),
    )


def _joined(shapes: set[Shape]) -> Shape:
    """Return the shape of a union of these."""
    if len(shapes) == 1:
        return next(iter(shapes))
    if shapes <= {Shape.DATA, Shape.TEXT}:
        return Shape.DATA
    return Shape.MIXED if shapes <= _BLOCKWISE else Shape.OPEN


def _list(origin: Any, arguments: tuple[Any, ...], extras: tuple[Any, ...], depth: int) -> Declared:
    if not arguments:
        return OPEN
    if origin is tuple and arguments[-1] is not ...:
        return _fixed(arguments, extras, depth)
    item = declare(arguments[0], depth)
    container: Any = list if origin in _DRAINED else origin
    annotation = _noted(container[arguments[0]] if container is list else container[arguments], extras)
    if item.shape in _BLOCKWISE and (item.shape is not Shape.TEXT or not item.nullable):
        return Declared(
            shape=Shape.ITEMS, annotation=annotation, mime=item.mime, item=item, itemwise=True, formless=item.formless
        )
    if item.shape is Shape.OPEN:
        return Declared(
            shape=Shape.OPEN,
            annotation=Any if item.formless else annotation,
            mime=item.mime,
            item=item,
            formless=item.formless,
        )
    return Declared(shape=Shape.DATA, annotation=annotation, item=item)


def _fixed(arguments: tuple[Any, ...], extras: tuple[Any, ...], depth: int) -> Declared:
    items = [declare(argument, depth) for argument in arguments if argument != ()]
    shapes = {item.shape for item in items}
    formless = next((item.formless for item in items if item.formless), "")
    annotation = _noted(tuple[arguments], extras)  # type: ignore[valid-type] # made at run time
    if shapes == {Shape.TEXT} or shapes & {Shape.CONTENT, Shape.MEDIA, Shape.MIXED}:
        return Declared(shape=Shape.ITEMS, annotation=annotation, item=OPEN, itemwise=True, formless=formless)
    return OPEN if Shape.OPEN in shapes else Declared(shape=Shape.DATA, annotation=annotation)


def _strip(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the bare type behind notes and aliases, and the notes."""
    bare, extras = strip_annotated(annotation)
    while is_type_alias(bare):
        try:
            bare, inner = strip_annotated(alias_value(bare))
        except Exception:  # an alias is evaluated when it is asked for, and may name anything
            return Any, extras
        extras = (*inner, *extras)
    return bare, extras


def _noted(annotation: Any, extras: tuple[Any, ...]) -> Any:
    return Annotated[(annotation, *extras)] if extras else annotation
