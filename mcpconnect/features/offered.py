"""`Offered`: what every feature of a server is: a declared method, its place, and how a call reaches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Signature
from typing import Any, TypeVar

from .._typing import resolve_hints
from ..errors import DefinitionError
from .collect import Source
from .docstring import read_docstring
from .names import check_name, composed
from .needs import Needs, Prepare
from .settings import FeatureSettings

C = TypeVar("C")


class Offered:
    """A feature. `key` is what its registry knows it by, `names` all that the user may call it; `where` is its place.

    The place is one in the user's code, for errors.
    """

    def __init__(self, source: Source, settings: FeatureSettings, name: str, key: str | None = None) -> None:
        declaration = source.declaration
        self.source = source
        self.name = name
        self.key = name if key is None else key
        self.names = frozenset((name, self.key))
        self.where = source.where
        self.enabled = declaration.enabled
        self.tags = declaration.tags
        self.threaded = not source.is_async
        docstring = read_docstring(source.documented)
        self.description = docstring.description if declaration.description is None else declaration.description
        needs = Needs(source, settings.providers)
        self._needs = None if needs.empty else needs
        self.parameter_texts: Mapping[str, str] = docstring.parameters

    def came_from(self, thing: Any) -> bool:
        """Say whether `thing` is this feature's name, or what was registered and gave it."""
        return thing in self.names if isinstance(thing, str) else self.source.origin is thing

    @property
    def prepare(self) -> Prepare | None:
        """What has to be awaited before `call`, if there is something."""
        return None if self._needs is None else self._needs.preparing(self.threaded)

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the method, on a new instance where a class was registered."""
        if self._needs is None:
            return self.source.reach()(**arguments)
        return self._needs.call(arguments)


def offered_name(source: Source, prefix: str | None) -> str:
    """Return the checked name of a tool or a prompt.

    Raises:
        DefinitionError: the name is not allowed.
    """
    if prefix is None:
        prefix = getattr(source.owner, "__mcp_prefix__", None)
    name = composed(prefix, source.name if source.declaration.name is None else source.declaration.name)
    check_name(name, prefix, source.where)
    return name


def converter(make: Callable[..., C], source: Source, settings: FeatureSettings, **more: Any) -> C:
    """Return what `make` makes to convert a method's values, from its return annotation and the server's settings.

    Raises:
        DefinitionError: a feature of this kind cannot return that; the message names the method.
    """
    annotation = resolve_hints(source.function, source.owner).get("return", Signature.empty)
    try:
        return make(
            annotation,
            serializer=settings.serializer,
            encoders=settings.encoders,
            default_content_type=settings.content_type,
            limits=settings.limits,
            **more,
        )
    except DefinitionError as error:
        raise DefinitionError(f"{source.where}: {error}") from error
