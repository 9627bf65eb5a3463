"""`McpServer`: identity, settings and what is offered.

Rule: no I/O and no loop here. The engine reads a server, transports serve it; only `run` and `serve` reach for a
transport, inside their bodies.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from .content import JSON_TEXT, CacheControl, ContentType, EncoderRegistry, Icon, media_serializer
from .context import Handlers, Hub, MiddlewareStack, Providers, Sealer, Secret, Session, given_secrets
from .features.catalog import Catalog
from .features.checking import Finding, findings
from .features.checks import SERVER, check_identity, check_kinds, one_of
from .features.files import FileSource, directory_resources, existing_file, file_resource
from .features.resource import key_of
from .features.settings import FeatureSettings
from .features.visibility import Rule, Visibility
from .limits import Limits
from .protocol.model import Implementation
from .protocol.wire import dump
from .serialization import Serializer, SerializerConfig

T = TypeVar("T")
ASGIApp: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]
Lifespan: TypeAlias = Callable[["McpServer"], AbstractAsyncContextManager[Any]]


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
        secret: What seals session ids and the state of questions: at least 16 bytes, the same in every process that
            serves the same clients; one or several, of which the first seals. Random for each process by default.
        serializer: How values become JSON and back; a `SerializerConfig` or a `Serializer`.
        content_type: How values that are no text, image or block are presented.
        structured: Which results have structured content beside the text: `"records"` and their like, `"all"`, or
            `"none"`. A tool's own `structured=` wins.
        errors: What a model sees of an exception that is no `ToolError`: its class (`"hidden"`), or its message too
            (`"message"`). The traceback stands in the log, under the id that both show.
        strict_arguments: Refuse text for numbers and booleans and other forms that models send.
        extra_arguments: Whether unknown arguments are an error (`"refuse"`) or left out (`"ignore"`).
        schema_refs: Whether a schema keeps definitions used twice in `$defs`, or repeats them (`"inline"`).
        page_size: How many entries one page of a list has.
        lifespan: An async context manager that takes the server; entered once before the first request and left at the
            end. What it yields is `ctx.state`.
        session: The class of the object that each client's session has; a subclass of `Session`.
        cache: How long clients of the newest revision may keep lists and resources that say nothing themselves.
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
        secret: Secret | Iterable[Secret] | None = None,
        serializer: Serializer | SerializerConfig | None = None,
        content_type: ContentType = JSON_TEXT,
        structured: Literal["records", "all", "none"] = "records",
        errors: Literal["hidden", "message"] = "hidden",
        strict_arguments: bool = False,
        extra_arguments: Literal["refuse", "ignore"] = "refuse",
        schema_refs: Literal["defs", "inline"] = "defs",
        page_size: int = 1000,
        cache: CacheControl | None = None,
        lifespan: Lifespan | None = None,
        session: type[Session] | None = None,
        limits: Limits | None = None,
    ) -> None:
        one_of("structured", structured, "records", "all", "none")
        one_of("errors", errors, "hidden", "message")
        one_of("extra_arguments", extra_arguments, "refuse", "ignore")
        one_of("schema_refs", schema_refs, "defs", "inline")
        check_identity(name, version, page_size)
        self.name = name
        self.version = version
        self.title = title
        self.description = description
        self.instructions = instructions
        self.website_url = website_url
        self.icons = (icons,) if isinstance(icons, (str, Icon)) else tuple(icons)
        self.has_own_secret = secret is not None
        self.secret = given_secrets(secret)
        self._sealers: dict[str, Sealer] = {}
        self.errors = errors
        self.page_size = page_size
        self._lifespan = lifespan
        self.cache = cache or CacheControl(0)
        self.limits = Limits() if limits is None else limits
        check_kinds("McpServer", {**vars(self), "content_type": content_type, "serializer": serializer}, SERVER)
        self.serializer = _serializer(serializer)
        self.encoders = EncoderRegistry()
        self.hub = Hub()
        self.providers = Providers(session)
        self.on = Handlers()
        self.middleware = MiddlewareStack()
        self.visibility = Visibility()
        settings = FeatureSettings(
            serializer=self.serializer,
            encoders=self.encoders,
            content_type=content_type,
            structured=structured,
            strict_arguments=strict_arguments,
            extra_arguments=extra_arguments,
            schema_refs=schema_refs,
            limits=self.limits,
            providers=self.providers,
        )
        self.catalog = Catalog(settings, self.hub)
        self.tools = self.catalog.tools
        self.prompts = self.catalog.prompts
        self.resources = self.catalog.resources
        self.templates = self.catalog.templates
        self.completions = self.catalog.completions

    def sealer(self, purpose: str) -> Sealer:
        """Return what seals with this server's secret for one purpose."""
        if purpose not in self._sealers:
            self._sealers[purpose] = Sealer(self.secret, purpose)
        return self._sealers[purpose]

    def open_lifespan(self) -> AbstractAsyncContextManager[Any]:
        """Return the context manager of one time of serving."""
        return nullcontext() if self._lifespan is None else self._lifespan(self)

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
        self.catalog.register(thing, prefix, factory)
        return thing

    def add_file(
        self,
        path: str | Path,
        *,
        uri: str | None = None,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
    ) -> None:
        """Offer a file as a resource, under its `file:` URI by default; it is read anew each time.

        Raises:
            DefinitionError: there is no such file, or the URI is taken.
        """
        file = FileSource(existing_file(path), mime_type)
        options = {"name": name or file.path.name, "title": title, "description": description}
        self.register(file_resource(file, uri or file.path.as_uri(), self.limits, **options))

    def add_directory(self, path: str | Path, *, uri_prefix: str, pattern: str = "**/*") -> None:
        """Offer the files of a directory that match a pattern, as they are now; each is read anew each time.

        Raises:
            DefinitionError: there is no such directory, the pattern leads out of it, or a URI is taken.
        """
        self.catalog.register_all(directory_resources(Path(path).resolve(), pattern, uri_prefix, self.limits))

    def resource_updated(self, uri: str) -> None:
        """Tell those who subscribed to a resource, in any spelling of its URI, that it has changed; from any thread."""
        self.hub.publish(f"resource:{key_of(uri)}")

    def unregister(self, thing: Any) -> None:
        """Take back what was registered: by name or URI, or all of a class, an instance or a function.

        Raises:
            DefinitionError: nothing of that kind is registered.
        """
        self.catalog.unregister(thing)

    def enable(self, *names: str, tags: Iterable[str] = ()) -> None:
        """Show and serve the features of these names, or with one of these tags.

        Raises:
            DefinitionError: a name is not registered.
        """
        self.catalog.switch(names, tags, True)

    def disable(self, *names: str, tags: Iterable[str] = ()) -> None:
        """Neither list nor serve the features of these names, or with one of these tags; they stay registered.

        Raises:
            DefinitionError: a name is not registered.
        """
        self.catalog.switch(names, tags, False)

    def visible(self, rule: Rule) -> Rule:
        """Hide the features for which a rule says no from the client of a request: `rule(feature, context)`."""
        return self.visibility.add(rule)

    def check(self, revision: str | None = None) -> list[Finding]:
        """Return what of this server cannot be said in a revision; without one, in any that is older than the newest.

        Raises:
            ValueError: there is no such revision.
        """
        return list(findings(self.catalog, revision))

    def run(
        self,
        transport: Literal["stdio", "http"] = "stdio",
        *,
        backend: Literal["asyncio", "trio"] = "asyncio",
        **options: Any,
    ) -> None:
        """Serve until the input ends or a signal comes. Owns the process; see `serve` for those who own the loop.

        Raises:
            DefinitionError: no such transport.
        """
        one_of("transport", transport, "stdio", "http")
        if transport == "http":
            from .transports.http import run_http

            run_http(self, backend=backend, **options)
        else:
            from .transports.stdio import run_stdio

            run_stdio(self, backend=backend, **options)

    async def serve(self, transport: Literal["stdio", "http"] = "stdio", **options: Any) -> None:
        """Serve on the loop that runs, until the input ends or the task is cancelled.

        Raises:
            DefinitionError: no such transport.
        """
        one_of("transport", transport, "stdio", "http")
        if transport == "http":
            from .transports.http import serve_http

            await serve_http(self, **options)
        else:
            from .transports.stdio import serve_stdio

            await serve_stdio(self, **options)

    def asgi_app(self, **options: Any) -> ASGIApp:
        """Return the ASGI application that serves this server over HTTP; the options are those of `HttpSettings`.

        It needs no lifespan of its host, and may be mounted under any prefix.

        Raises:
            DefinitionError: an option has a value that it cannot have, or the extra `http` is not installed.
        """
        from .transports.http import asgi_app

        return asgi_app(self, **options)


def _serializer(given: Serializer | SerializerConfig | None) -> Serializer:
    if isinstance(given, Serializer):
        return Serializer(given.config, media=media_serializer)
    return Serializer(given, media=media_serializer)
