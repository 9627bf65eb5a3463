"""2024-11-05 against 2025-03-26: no batches, no audio, no annotations on tools, no `completions` capability."""

from __future__ import annotations

from ...content.uris import attachment_uri
from .. import names
from ..revision import Shape
from .steps import by_type, drop, each, inside
from .v2025_03_26 import V2025_03_26


def _audio_as_resource(audio: Shape) -> Shape:
    """Embed the sound as a resource."""
    mime = audio["mimeType"]
    resource = {"uri": attachment_uri(mime), "mimeType": mime, "blob": audio["data"]}
    block = {"type": "resource", "resource": resource}
    return {**block, "annotations": audio["annotations"]} if "annotations" in audio else block


_silent_block = by_type({"audio": _audio_as_resource})

V2024_11_05 = V2025_03_26.before(
    "2024-11-05",
    without={names.BATCHING, names.SAMPLE_AUDIO},
    lower={
        names.PROGRESS: drop("message"),
        names.INITIALIZE: inside("capabilities", drop("completions")),
        names.TOOLS_LIST: each("tools", drop("annotations")),
        names.TOOLS_CALL: each("content", _silent_block),
        names.PROMPTS_GET: each("messages", inside("content", _silent_block)),
    },
)
