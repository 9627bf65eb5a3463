"""2024-11-05 against 2025-03-26: no batches, no audio, no annotations on tools, no `completions` capability."""

from __future__ import annotations

from .. import names
from ..revision import Shape
from .steps import by_type, drop, each, inside
from .v2025_03_26 import V2025_03_26


def _audio_as_resource(audio: Shape) -> Shape:
    """Embed the sound as a resource; it has no address, and the member must be a URI."""
    resource = {"uri": "attachment:audio", "mimeType": audio["mimeType"], "blob": audio["data"]}
    block = {"type": "resource", "resource": resource}
    return {**block, "annotations": audio["annotations"]} if "annotations" in audio else block


V2024_11_05 = V2025_03_26.before(
    "2024-11-05",
    without={names.BATCHING},
    lower={
        names.INITIALIZE: inside("capabilities", drop("completions")),
        names.TOOLS_LIST: each("tools", drop("annotations")),
        names.TOOLS_CALL: each("content", by_type({"audio": _audio_as_resource})),
    },
)
