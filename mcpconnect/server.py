"""`McpServer`: identity, settings and what is offered.

Rule: no I/O and no loop here. The engine reads a server, transports serve it; only `run` and `serve` reach for a
transport, inside their bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Final, Literal, TypeVar

from .content import JSON_TEXT, ContentType, EncoderRegistry, Icon, media_serializer
from .context import Hub
from .errors import DefinitionError
from .features.checks import CONTENT_TYPE, ICONS, TEXT, Kind, check_kinds
from .features.collect import collect
from .features.registry import Registry
from .features.settings import FeatureSettings
from .features.tool import ToolFeature
from .limits import Limits
from .protocol.model import Implementation
from .protocol.wire import dump
from .serialization import Serializer, SerializerConfig

T = TypeVar("T")


class McpServer:
    """A server: what it is called, how it presents values, and the tools it offers.

    Args:
        name: The programmatic name that clients see.
        version: Your server's version.
        title: A name for people.
        description: What the server is for.
        instructions: How a model should use the server.
        website_url: Where to read more.
        icons: Pictures for the server.
        serializer: How values become JSON and back; a `SerializerConfig` or a `Serializer`.
        content_type: How values that are no text, image or block are presented.
        structured: Which results have structured content beside the text: `"records"` and their like, `"all"`, or
            `"none"`. A tool's own `structured=` wins.
        errors: What a model sees of an exception that is no `ToolError`: its class (`"hidden"`), or its message too
            (`"message"`). The traceback stands in the log, under the id that both show.
        strict_arguments: Refuse text for numbers and booleans and other forms that models send.
        extra_arguments: Whether unknown arguments are an error (`"refuse"`) or left out (`"ignore"`).
        schema_refs: Whether a schema keeps definitions used twice in `$defs`, or repeats them (`"inline"`).
        page_size: How many tools one page of a list has.
        limits: Bounds on what a client may send and a call may take.

    Raises:
        DefinitionError: a setting has a value that it cannot have.
    """

    def __init__(
        self,
        name: str,
        version: str = "0",
        *,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Iterable[Icon] = (),
        serializer: Serializer | SerializerConfig | None = None,
        content_type: ContentType = JSON_TEXT,
        structured: Literal["records", "all", "none"] = "records",
        errors: Literal["hidden", "message"] = "hidden",
        strict_arguments: bool = False,
        extra_arguments: Literal["refuse", "ignore"] = "refuse",
        schema_refs: Literal["defs", "inline"] = "defs",
        page_size: int = 1000,
        limits: Limits | None = None,
    ) -> None:
        _one_of("structured", structured, "records", "all", "none")
        _one_of("errors", errors, "hidden", "message")
        _one_of("extra_arguments", extra_arguments, "refuse", "ignore")
        _one_of("schema_refs", schema_refs, "defs", "inline")
        if type(page_size) is not int or page_size < 1:
            raise DefinitionError(f"McpServer(page_size={page_size!r}): a page has at least one entry")
        if not name or not isinstance(name, str):
            raise DefinitionError("McpServer needs a name, a text")
        if version is None:
            raise DefinitionError("McpServer(version=None): version is a text")
        self.name = name
        self.version = version
        self.title = title
        self.description = description
        self.instructions = instructions
        self.website_url = website_url
        self.icons = (icons,) if isinstance(icons, (str, Icon)) else tuple(icons)
        self.errors = errors
        self.page_size = page_size
        self.limits = Limits() if limits is None else limits
        check_kinds("McpServer", {**vars(self), "content_type": content_type, "serializer": serializer}, _KINDS)
        self.serializer = _serializer(serializer)
        self.encoders = EncoderRegistry()
        self.hub = Hub()
        self.tools: Registry[ToolFeature] = Registry("tool", lambda: self.hub.publish("tools"))
        self._settings = FeatureSettings(
            serializer=self.serializer,
            encoders=self.encoders,
            content_type=content_type,
            structured=structured,
            strict_arguments=strict_arguments,
            extra_arguments=extra_arguments,
            schema_refs=schema_refs,
            limits=self.limits,
        )

    @cached_property
    def identity(self) -> Implementation:
        """What the server calls itself."""
        return Implementation(
            name=self.name,
            version=self.version,
            title=self.title,
            description=self.description,
            website_url=self.website_url,
            icons=self.icons or None,
        )

    @cached_property
    def implementation(self) -> dict[str, Any]:
        """The identity in its newest wire form."""
        return dump(self.identity)

    def register(self, thing: T, *, prefix: str | None = None, factory: Callable[[], Any] | None = None) -> T:
        """Offer the decorated methods of a class or an instance, or a decorated function; return it.

        A class is instantiated for each call, by `factory` or without arguments; an instance is shared by all.
        `prefix` stands before the names, instead of the class's own. A failed registration changes nothing.

        Raises:
            DefinitionError: something about the class cannot be served; the message names the place and the mend.
        """
        sources = collect(thing, factory)
        self.tools.add([ToolFeature(source, prefix, self._settings) for source in sources])
        return thing

    def unregister(self, thing: Any) -> None:
        """Take back what was registered: by name, or all of a class, an instance or a function.

        Raises:
            DefinitionError: nothing of that kind is registered.
        """
        if not self.tools.remove(lambda feature: feature.came_from(thing)):
            raise DefinitionError(f"{thing!r} is not registered")

    def enable(self, *names: str, tags: Iterable[str] = ()) -> None:
        """Show and serve the features of these names, or with one of these tags.

        Raises:
            DefinitionError: a name is not registered.
        """
        self._switch(names, tags, True)

    def disable(self, *names: str, tags: Iterable[str] = ()) -> None:
        """Neither list nor serve the features of these names, or with one of these tags; they stay registered.

        Raises:
            DefinitionError: a name is not registered.
        """
        self._switch(names, tags, False)

    def run(
        self, transport: Literal["stdio"] = "stdio", *, backend: Literal["asyncio", "trio"] = "asyncio", **options: Any
    ) -> None:
        """Serve until the input ends or a signal comes. Owns the process; see `serve` for those who own the loop.

        Raises:
            DefinitionError: no such transport.
        """
        from .transports.stdio import run_stdio

        _one_of("transport", transport, "stdio")
        run_stdio(self, backend=backend, **options)

    async def serve(self, transport: Literal["stdio"] = "stdio", **options: Any) -> None:
        """Serve on the loop that runs, until the input ends or the task is cancelled.

        Raises:
            DefinitionError: no such transport.
        """
        from .transports.stdio import serve_stdio

        _one_of("transport", transport, "stdio")
        await serve_stdio(self, **options)

    def _switch(self, names: tuple[str, ...], tags: Iterable[str], enabled: bool) -> None:
        known = {feature.name for feature in self.tools}
        if missing := [name for name in names if name not in known]:
            raise DefinitionError(f"not registered: {', '.join(missing)}")
        if isinstance(tags, str):
            raise DefinitionError(f"tags={tags!r}: tags is a collection of texts, such as {{{tags!r}}}")
        wanted = frozenset(tags)
        self.tools.enable(lambda feature: feature.name in names or not wanted.isdisjoint(feature.tags), enabled)


_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("version", "title", "description", "instructions", "website_url"), TEXT),
    "icons": ICONS,
    "content_type": CONTENT_TYPE,
    "serializer": ((Serializer, SerializerConfig), "a SerializerConfig or a Serializer"),
    "limits": (Limits, "a Limits"),
}


def _serializer(given: Serializer | SerializerConfig | None) -> Serializer:
    if isinstance(given, Serializer):
        return Serializer(given.config, media=media_serializer)
    return Serializer(given, media=media_serializer)


def _one_of(setting: str, value: object, *allowed: str) -> None:
    if value not in allowed:
        raise DefinitionError(f"{setting}={value!r}: one of {', '.join(map(repr, allowed))}")
