"""Values to results: the conversion table with its order of decision.

Ready-made results → the user's encoders → the tool's own content type → a custom serializer → the rows (`rows.py`) →
the server's content type. Rule: all of this is decided once per class of value and kept as a route; a call looks its
route up and takes it. Encoders that come or go later make the converter forget its routes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import SerializationError
from ..limits import Limits
from .blocks import BLOCKS, BlobResource, Block, TextResource
from .builder import ContentList, ToolResultBuilder
from .builtin import JsonText
from .content_type import ContentType
from .declared import OPEN, Declared, Shape
from .encoders import Encoder, EncoderRegistry
from .kinds import MEDIA, Kind, is_scalar_class, kind_of
from .messages import PromptMessage, PromptResult, ResourceResult
from .results import UNSET, ToolResult
from .rows import EMPTY_LIST, Keep, Route, Rows, never
from .structured import Structure, encoded, well_formed

if TYPE_CHECKING:
    from ..serialization import Serializer

_READY = (ToolResult, ContentList, *BLOCKS)
_EMBEDDED = (TextResource, BlobResource)
_FOREIGN = (*_EMBEDDED, PromptMessage, PromptResult, ResourceResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all conversions of one tool share. `own` is the tool's content type, `default` the server's."""

    serializer: Serializer
    encoders: EncoderRegistry
    own: ContentType | None
    default: ContentType
    limits: Limits


class Converter:
    """Turns values into results; one for a tool's return type, and further ones for the items of its lists.

    `brief` leaves one line in the place of a text that the structured content repeats.
    """

    def __init__(
        self, declared: Declared, settings: Settings, structure: Structure | None = None, *, brief: bool = False
    ) -> None:
        self._declared = declared
        self._settings = settings
        self._structure = structure
        self._brief = brief
        self._rows = Rows(declared, settings.serializer, settings.limits, structure)
        self._routes: dict[type, Route] = {}
        self._version = settings.encoders.version

    def __call__(self, value: Any, keep: Keep = never) -> ToolResult:
        """Return the result for a value. A stream in it is read and closed unless `keep(stream)` says otherwise.

        Raises SerializationError for what has no form, or breaks the tool's own output schema.
        """
        if self._version != self._settings.encoders.version:
            self._forget()
        route = self._routes.get(type(value)) or self._choose(value)
        return route(value, keep)

    def _forget(self) -> None:
        version = self._settings.encoders.version
        self._routes = {}
        self._version = version

    def _choose(self, value: Any) -> Route:
        routes = self._routes  # a change meanwhile makes another dictionary, so that this route is not kept too long
        routes[type(value)] = route = self._route(value)
        return route

    # -- the order of decision ----------------------------------------------------------------------------------------

    def _route(self, value: Any, used: tuple[Encoder[Any], ...] = ()) -> Route:
        cls = type(value)
        if issubclass(cls, _READY):
            return self._rows.block if issubclass(cls, BLOCKS) and self._structure is None else self._ready
        if issubclass(cls, _FOREIGN):
            raise SerializationError(
                f"a tool embeds a {cls.__name__}: EmbeddedResource({cls.__name__}(…))"
                if issubclass(cls, _EMBEDDED)
                else f"a {cls.__name__} is what a prompt or a resource returns, not a tool"
            )
        if issubclass(cls, ToolResultBuilder):
            raise SerializationError("a ToolResultBuilder is no result yet: return what its build() gives")
        kind = kind_of(value)
        route = self._by_content(cls, kind)
        registry = self._settings.encoders
        if kind is Kind.LIST and registry:
            route = self._through_item_encoders(route)
        if encoders := [encoder for encoder in registry.find(cls, "tool") if encoder not in used]:
            route = self._through_encoders(encoders, used, route)
        return _closing(route) if kind is Kind.STREAM else route

    def _by_content(self, cls: type, kind: Kind) -> Route:
        own = self._settings.own
        if self._brief and kind in {Kind.LIST, Kind.DATA}:
            return self._rows.brief
        if own is not None and own.takes_everything:
            everything = self._rows.formatted(own, may_be_scalar=False)
            return self._structured(self._item_by_item if kind is Kind.LIST else everything)
        if own is not None and kind in {Kind.LIST, Kind.DATA}:
            presented = self._presented(own, cls)
            return self._unless_blocks(presented) if kind is Kind.LIST else presented
        if self._settings.serializer.is_custom(cls):
            return self._presented(self._settings.default, cls)
        if kind is Kind.LIST:
            return self._list(cls)
        row = self._rows.direct(cls, kind)
        return self._presented(self._settings.default, cls) if row is None else self._structured(row)

    def _list(self, cls: type) -> Route:
        if self._declared.itemwise:
            return self._structured(self._item_by_item)
        presented = self._presented(self._settings.default, cls)
        declared_as_data = self._declared.shape is Shape.DATA and self._declared.item is not None
        return presented if declared_as_data else self._unless_blocks(presented)

    def _presented(self, content_type: ContentType, cls: type) -> Route:
        if type(content_type) is JsonText or is_scalar_class(cls):
            return self._rows.json
        custom = self._settings.serializer.is_custom(cls)
        return self._structured(self._rows.formatted(content_type, may_be_scalar=custom))

    # -- routes of several values -------------------------------------------------------------------------------------

    def _unless_blocks(self, route: Route) -> Route:
        """Return the route of an undeclared list: item by item if it holds a block or a medium, else as given."""
        by_item = self._structured(self._item_by_item)
        return lambda value, keep: by_item(value, keep) if _holds_blocks(value) else route(value, keep)

    def _through_item_encoders(self, route: Route) -> Route:
        by_item = self._structured(self._item_by_item)
        find = self._settings.encoders.find

        def items_or_all(value: Any, keep: Keep) -> ToolResult:
            encoded_items = any(find(cls, "tool") for cls in set(map(type, value)))
            return by_item(value, keep) if encoded_items else route(value, keep)

        return items_or_all

    def _item_by_item(self, value: Any, keep: Keep) -> ToolResult:
        return _joined(value, self._items, keep) if len(value) else EMPTY_LIST

    @cached_property
    def _items(self) -> Converter:
        """The conversion of a list's items; None among them is null."""
        item = self._declared.item or OPEN
        mime = item.mime or self._declared.mime
        return Converter(replace(item, nullable=True, mime=mime), self._settings)

    @cached_property
    def _entries(self) -> Converter:
        """The conversion of what stands in a `ContentList`."""
        return Converter(replace(OPEN, nullable=True), self._settings)

    @cached_property
    def _encoded(self) -> Converter:
        """The conversion of what encoders return."""
        return Converter(OPEN, self._settings)

    # -- results made by others ---------------------------------------------------------------------------------------

    def _through_encoders(self, encoders: list[Encoder[Any]], used: tuple[Encoder[Any], ...], fallback: Route) -> Route:
        def encode(value: Any, keep: Keep) -> ToolResult:
            for encoder in encoders:
                if encoder.supports(value):
                    return self._completed(self._made(encoder.encode(value), keep, (*used, encoder)), value)
            return fallback(value, keep)

        return encode

    def _made(self, made: Any, keep: Keep, used: tuple[Encoder[Any], ...]) -> ToolResult:
        """Return the result for what an encoder made; each encoder once in a row, or two could go round for ever."""
        if isinstance(made, _READY):
            return self._opened(made, keep)
        made = list(made) if isinstance(made, Iterator) else made
        return self._encoded._route(made, used)(made, keep)

    def _ready(self, value: Any, keep: Keep) -> ToolResult:
        return self._completed(self._opened(value, keep))

    def _opened(self, value: Any, keep: Keep) -> ToolResult:
        """Return a ready-made result as a `ToolResult`, its structured content as it was given."""
        if isinstance(value, ToolResult):
            return value
        if isinstance(value, ContentList):
            content = _joined(value, self._entries, keep).content
            return ToolResult(content, value.structured, value.is_error, value.meta)
        return ToolResult((value,))

    def _completed(self, result: ToolResult, value: Any = UNSET) -> ToolResult:
        """Return a ready-made result with its structured content encoded, and present where it is promised."""
        structure = self._structure
        if isinstance(result.structured, msgspec.Raw):
            result = replace(result, structured=well_formed(result.structured))
        given = result.structured
        if structure is None:
            unencoded = given is not UNSET and not isinstance(given, msgspec.Raw)
            return replace(result, structured=encoded(self._settings.serializer, given)) if unencoded else result
        if result.is_error:  # an error has no data that could match the schema
            return replace(result, structured=UNSET) if given is not UNSET else result
        given = value if given is UNSET else given
        if given is UNSET:
            raise SerializationError("output mismatch: the tool has an output schema, the result no structured content")
        return replace(result, structured=structure.content(structure.encode(given)))

    def _structured(self, route: Route) -> Route:
        """Return a route that adds the structured content of the value; encoded first, because it may not match."""
        structure = self._structure
        if structure is None:
            return route

        def with_structure(value: Any, keep: Keep) -> ToolResult:
            data = structure.encode(value)
            return replace(route(value, keep), structured=structure.content(data))

        return with_structure


def _joined(values: Collection[Any], convert: Converter, keep: Keep) -> ToolResult:
    """Return one result with the blocks of all values. If one fails, the streams behind it are closed as well."""
    blocks: list[Block] = []
    failed = False
    remaining = iter(values)
    try:
        for value in remaining:
            result = convert(value, keep)
            blocks.extend(result.content)
            failed = failed or result.is_error
    except BaseException:
        for value in remaining:
            if kind_of(value) is Kind.STREAM and not keep(value):
                value.close()
        raise
    return ToolResult(tuple(blocks), is_error=failed)


def _holds_blocks(values: Collection[Any]) -> bool:
    """Tell whether a list holds a block, a ready-made result or a medium; asked once for each class in it."""
    classes = {type(value): value for value in values}
    return any(issubclass(cls, (*_READY, *_FOREIGN)) or kind_of(value) in MEDIA for cls, value in classes.items())


def _closing(route: Route) -> Route:
    def close_after(value: Any, keep: Keep) -> ToolResult:
        try:
            return route(value, keep)
        finally:
            if not keep(value):
                value.close()

    return close_after
