"""The serializer: one configuration, one set of plans, and what is compiled from them.

Rule: an object of this class may be used from any number of threads. Plans are built when a type is first met;
everything else (dump functions, loaders, schemas) when first used, so that registering hundreds of tools is cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..errors import DefinitionError
from .config import SerializerConfig
from .custom import CustomSerializer
from .cycles import too_deep
from .dumping import DumpCompiler
from .plan import Node, OpaqueNode, walk
from .planner import Planner, type_name
from .text import encode, encode_exactly


class Serializer:
    """Converts between Python values and JSON by one set of rules, and describes types as JSON Schema.

    `media` is asked for a serializer of each class after the user's own and before the built-in kinds; it is how a
    package on top adds classes such as pictures.
    """

    def __init__(
        self,
        config: SerializerConfig | None = None,
        *,
        media: Callable[[type], CustomSerializer | None] | None = None,
    ) -> None:
        self.config = SerializerConfig() if config is None else config
        self._planner = Planner(self.config, media)
        self._values = DumpCompiler(self._planner)
        self._structs = DumpCompiler(self._planner, self._values)
        self._writers: dict[int, tuple[Any, Callable[[Any], bytes]]] = {}
        self._dumpers: dict[int, tuple[Any, Callable[[Any], Any]]] = {}

    def plan(self, annotation: Any) -> Node:
        """Return the plan of a type.

        Raises:
            DefinitionError: the type, or one inside it, has no JSON form or does not resolve.
        """
        node = self._planner.node(annotation)
        for path, below in walk(node):
            if isinstance(below, OpaqueNode):
                place = f"{type_name(annotation)}{path}"
                raise DefinitionError(f"{place}: {below.reason}" if path else below.reason)
        return node

    def is_custom(self, cls: type) -> bool:
        """Whether a serializer of the user's (`serializers`, or `use` of a rule) holds for the class."""
        return self._planner.custom_for(cls) is not None

    # -- writing ------------------------------------------------------------------------------------------------------

    def dump(self, value: Any, annotation: Any = Any) -> Any:
        """Return the JSON value (dict, list, str, int, float, bool, None) of a value.

        Raises:
            SerializationError: with the path of the part that cannot be written.
        """
        known = self._dumpers.get(id(annotation))
        if known is None or known[0] is not annotation:
            function = self._values.function(self._planner.node(annotation))
            known = _remember(self._dumpers, annotation, function)
        try:
            output = known[1](value)
        except RecursionError:
            raise too_deep(value) from None
        return output

    def dumps(self, value: Any, annotation: Any = Any) -> bytes:
        """Return the JSON text of a value in UTF-8: what encoding `dump(value)` gives, made faster.

        Raises:
            SerializationError: with the path of the part that cannot be written.
        """
        return self.writer(annotation)(value)

    def writer(self, annotation: Any = Any) -> Callable[[Any], bytes]:
        """Return the function behind `dumps` for one type, compiled once."""
        known = self._writers.get(id(annotation))
        if known is None or known[0] is not annotation:
            known = _remember(self._writers, annotation, self._make_writer(annotation))
        return known[1]

    def _make_writer(self, annotation: Any) -> Callable[[Any], bytes]:
        node = self._planner.node(annotation)
        function, indent = self._structs.function(node), self.config.indent

        def write(value: Any) -> bytes:
            try:
                text = encode_exactly(function(value))
            except UnicodeEncodeError:
                text = encode(self._values.function(node)(value))
            except RecursionError:
                raise too_deep(value) from None
            return text if indent is None else msgspec.json.format(text, indent=indent)

        return write


def _remember(cache: dict[int, tuple[Any, Any]], annotation: Any, function: Any) -> tuple[Any, Any]:
    """Keep a compiled function by the identity of its annotation, which is the fastest key there is."""
    if len(cache) > _MOST_KEPT:  # annotations made anew for each call would fill the memory
        cache.clear()
    cache[id(annotation)] = (annotation, function)
    return cache.get(id(annotation), (annotation, function))


_MOST_KEPT = 4096
