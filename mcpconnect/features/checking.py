"""What of a server cannot be said in a revision: by feature and place.

Rule: nothing is known here of any revision. A definition is lowered as it would be for a client, and compared with what
it was; so is one block of each kind that a method declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, get_args

from .._typing import class_of, resolve_hints
from ..content import AudioContent, Block, EmbeddedResource, ImageContent, ResourceLink, TextContent, TextResource
from ..protocol import names
from ..protocol.revision import Revision
from ..protocol.revisions import SUPPORTED, find
from ..protocol.wire import dump
from .catalog import Catalog
from .offered import Offered

_BLOCKS: Final[tuple[Block, ...]] = (
    TextContent("text"),
    ImageContent(b"image", "image/png"),
    AudioContent(b"audio", "audio/wav"),
    ResourceLink("https://example.org/", "link"),
    EmbeddedResource(TextResource("text", "text://x")),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a revision cannot say: which feature, where it is declared, what becomes of it."""

    revision: str
    kind: str
    name: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.revision}: {self.kind} {self.name}: {self.text} ({self.where})"


def findings(catalog: Catalog, version: str | None) -> Iterator[Finding]:
    """Yield what of a server's features a revision cannot say; without one, any that is older than the newest.

    Raises:
        ValueError: there is no such revision.
    """
    revisions = SUPPORTED[1:] if version is None else [find(version)]
    for revision in revisions:
        if revision is None:
            raise ValueError(f"no revision {version!r}; there are {', '.join(each.version for each in SUPPORTED)}")
        yield from _findings(catalog, revision)


def _findings(catalog: Catalog, revision: Revision) -> Iterator[Finding]:
    lists: tuple[tuple[str, Any, str, str, str], ...] = (
        ("tool", catalog.tools, names.TOOLS_LIST, "tools", names.TOOLS_CALL),
        ("prompt", catalog.prompts, names.PROMPTS_LIST, "prompts", names.PROMPTS_GET),
        ("resource", catalog.resources, names.RESOURCES_LIST, "resources", ""),
        ("resource template", catalog.templates, names.TEMPLATES_LIST, "resourceTemplates", ""),
    )
    for kind, registry, listing, member, calling in lists:
        for feature in registry:
            texts = [*_of_definition(feature, revision, listing, member)]
            if calling:
                texts += _of_blocks(feature, revision)
            for text in texts:
                yield Finding(revision.version, kind, feature.name, feature.where, text)


def _of_definition(feature: Any, revision: Revision, listing: str, member: str) -> Iterator[str]:
    newest = dump(feature.definition)
    lowered = revision.lower(listing, {member: [newest]})[member][0]
    for key, value in newest.items():
        if key not in lowered:
            yield f"{key} is left out"
        elif lowered[key] != value:
            yield f"{key} is {_change(key, value, lowered[key])}"


def _change(key: str, newest: Any, lowered: Any) -> str:
    if key == "outputSchema" and "result" in lowered.get("properties", {}):
        return "wrapped: results are objects with the member result"
    if isinstance(newest, dict) and isinstance(lowered, dict):
        gone = ", ".join(sorted(newest.keys() - lowered.keys()))
        return f"sent without {gone}" if gone else "sent in another form"
    return "sent in another form"


def _of_blocks(feature: Offered, revision: Revision) -> Iterator[str]:
    declared = set(_classes(resolve_hints(feature.source.function, feature.source.owner).get("return")))
    for block in _BLOCKS:
        if type(block) in declared:
            result = revision.lower(names.TOOLS_CALL, {"content": [dump(block)]})
            sent = result["content"][0]["type"]
            if sent != block.type:
                yield f"{type(block).__name__} is sent as a block of the type {sent}"


def _classes(annotation: Any) -> Iterator[type]:
    cls = class_of(annotation)
    if cls is not None:
        yield cls
    for argument in get_args(annotation):
        yield from _classes(argument)
