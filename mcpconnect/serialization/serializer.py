"""The serializer: one configuration, one set of plans, and what is compiled from them.

Rule: an object of this class may be used from any number of threads. Plans are built when a type is first met;
everything else (dump functions, loaders, schemas) when first used, so that registering hundreds of tools is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from ..errors import DefinitionError, LoadError
from .config import SerializerConfig
from .custom import CustomSerializer, View
from .cycles import too_deep
from .dumping import DumpCompiler
from .jsonschema import Refs, SchemaPrinter
from .loader import Extra, Loader
from .parameters import Parameters, read_parameters, why_unreadable
from .plan import Node, OpaqueNode, walk
from .planner import Planner, type_name
from .text import decode, encode, encode_exactly


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
        self._loader = Loader(self._planner)
        self._loadable: dict[int, tuple[Any, Node]] = {}
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

    def json_schema(
        self, annotation: Any, *, view: View = "output", refs: Refs = "defs", additional: bool = False
    ) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of a type, as a new document.

        The input view says what strict loading takes, the output view what dumping promises. `refs="inline"` has no
        `$ref` at all; `additional` allows unknown members in the input view.

        Raises:
            DefinitionError: the type has no JSON form.
        """
        return self._print(self.plan(annotation), view, refs, additional)

    def parameters(
        self,
        function: Callable[..., Any],
        *,
        skip: Collection[str] = (),
        owner: type | None = None,
        descriptions: Mapping[str, str] | None = None,
    ) -> Parameters:
        """Return the parameters of a function, ready to load arguments.

        `skip` names those that are filled in otherwise (`self`, a context); `owner` is the class in whose body the
        function stands; `descriptions` are used where the annotation gives none.

        Raises:
            DefinitionError: naming the function, the parameter and the mend.
        """
        node = read_parameters(function, self._planner, skip=skip, owner=owner, descriptions=descriptions)
        return Parameters(node, self._loader, lambda record, extra, refs: self._print(record, "input", refs, extra))

    def _print(self, node: Node, view: View, refs: Refs, additional: bool) -> dict[str, Any]:
        def dump(value: Any, below: Node) -> Any:
            return self._values.function(below)(value)

        return SchemaPrinter(self.config, view, dump, refs=refs, additional=additional).document(node)

    # -- reading ------------------------------------------------------------------------------------------------------

    def load(self, annotation: Any, data: Any, *, strict: bool | None = None, extra: Extra = "refuse") -> Any:
        """Return the value of a type that a JSON value stands for.

        `strict` replaces the configuration's; `extra` says what becomes of unknown members of records.

        Raises:
            LoadError: with everything that is wrong.
            DefinitionError: the type cannot be loaded.
        """
        known = self._loadable.get(id(annotation))
        if known is None or known[0] is not annotation:
            known = _remember(self._loadable, annotation, self._plan_to_load(annotation))
        return self._loader.load(known[1], data, strict=self.config.strict if strict is None else strict, extra=extra)

    def loads(self, annotation: Any, data: bytes | str, *, strict: bool | None = None, extra: Extra = "refuse") -> Any:
        """Return the value of a type that a JSON text stands for; see `load`.

        Raises:
            LoadError: the text is no JSON, or what it says does not fit.
        """
        try:
            value = decode(data)
        except ValueError as error:
            raise LoadError([("", f"this is no JSON text: {error}")]) from None
        return self.load(annotation, value, strict=strict, extra=extra)

    def _plan_to_load(self, annotation: Any) -> Node:
        node = self.plan(annotation)
        for path, below in walk(node):
            if (reason := why_unreadable(below)) is not None:
                raise DefinitionError(f"{type_name(annotation)}{path} cannot be loaded: {reason}")
        return node

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
            raise too_deep(value, self._planner) from None
        if output is UNSET:
            encode(output)
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
                output = function(value)
                try:
                    text = encode_exactly(output)
                except (TypeError, ValueError):
                    text = encode(output)
            except RecursionError:
                raise too_deep(value, self._planner) from None
            return text if indent is None else msgspec.json.format(text, indent=indent)

        return write


def _remember(cache: dict[int, tuple[Any, Any]], annotation: Any, function: Any) -> tuple[Any, Any]:
    """Keep a compiled function by the identity of its annotation, which is the fastest key there is."""
    if len(cache) > _MOST_KEPT:  # annotations made anew for each call would fill the memory
        cache.clear()
    cache[id(annotation)] = (annotation, function)
    return cache.get(id(annotation), (annotation, function))


_MOST_KEPT = 4096
