"""`@resource`; a brace in the URI makes it a template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..content import Annotations, CacheControl, Icon
from ..errors import DefinitionError
from .declare import Declaration, F, attach, declared


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDeclaration(Declaration):
    """What `@resource` was given; `size` is in bytes."""

    decorator: ClassVar[str] = "@resource"

    uri: str
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    cache: CacheControl | None = None

    @property
    def is_template(self) -> bool:
        """Whether the URI has variables."""
        return "{" in self.uri or "}" in self.uri


def resource(
    uri: str,
    /,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    size: int | None = None,
    annotations: Annotations | None = None,
    icons: Iterable[Icon] = (),
    meta: Mapping[str, Any] | None = None,
    cache: CacheControl | None = None,
    tags: Iterable[str] = (),
    enabled: bool = True,
) -> Callable[[F], F]:
    """Declare a method or function as a resource, or with a brace in the URI as a template by RFC 6570.

    Args:
        uri: Where it is read, such as `config://app` or `users://{user_id}{?fields}`; variables are parameters.
        name: The resource's name; the function's own by default.
        title: A name for people.
        description: What it holds; the docstring without its parameter section by default.
        mime_type: The type of what it holds; text, bytes and pictures have a type of their own.
        size: Its size in bytes, where it is known (not for templates).
        annotations: For whom it is, how important, how recent.
        icons: Pictures for the resource.
        meta: The resource's `_meta`.
        cache: How long a client may keep what it read.
        tags: Labels for enabling and disabling.
        enabled: Whether the resource is there from the start.

    Raises:
        DefinitionError: the URI is none, or what is decorated is no function.
    """
    if not isinstance(uri, str) or not uri:
        raise DefinitionError("@resource needs a URI: @resource('config://app')")
    options = {
        "uri": uri,
        "mime_type": mime_type,
        "size": size,
        "annotations": annotations,
        "cache": cache,
        "name": name,
        "title": title,
        "description": description,
        "icons": icons,
        "meta": meta,
        "tags": tags,
        "enabled": enabled,
    }
    declaration = declared(ResourceDeclaration, options)
    return lambda decorated: attach(decorated, declaration)
