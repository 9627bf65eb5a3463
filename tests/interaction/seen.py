"""What a client sees of one value that a tool returns: its definition, its content, and that they agree.

Rule: whatever is tested with this, text, structured value and schema are compared, so that no test can pass while they
contradict each other.
"""

from __future__ import annotations

import base64
import inspect
import io
import json
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
from PIL import Image

from mcpconnect import tool
from tests.wire import NEWEST, connected, serving

UNSAID = inspect.Signature.empty


@dataclass
class Seen:
    """A tool's definition, and the result of calling it."""

    definition: dict[str, Any]
    result: dict[str, Any]

    @property
    def content(self) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = self.result["content"]
        return content

    @property
    def kinds(self) -> list[str]:
        return [block["type"] for block in self.content]

    @property
    def texts(self) -> list[str]:
        return [block["text"] for block in self.content if block["type"] == "text"]

    @property
    def text(self) -> str:
        (block,) = self.content
        text: str = block["text"]
        return text

    @property
    def data(self) -> Any:
        """The only text read as JSON."""
        return json.loads(self.text)

    @property
    def structured(self) -> Any:
        return self.result["structuredContent"]

    @property
    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = self.definition["outputSchema"]
        return schema

    @property
    def is_error(self) -> bool:
        return self.result.get("isError", False) is True

    def picture(self, number: int = 0) -> Image.Image:
        """Return a picture as a client decodes it; its format is what the MIME type says."""
        block = self.content[number]
        image = Image.open(io.BytesIO(base64.b64decode(block["data"], validate=True)))
        assert block["mimeType"] == f"image/{(image.format or '').lower()}"
        image.load()
        return image

    def check(self) -> None:
        """Check that structured content is there where it was promised, fits its schema, and says what the text says."""
        if self.is_error or "outputSchema" not in self.definition:
            assert "structuredContent" not in self.result
            return
        jsonschema_rs.Draft202012Validator(self.schema, validate_formats=True).validate(self.structured)
        if self.kinds == ["text"]:
            structured = self.structured
            if isinstance(structured, dict) and set(structured) == {"result"}:
                structured = structured["result"]
            assert structured == (self.text if isinstance(structured, str) else self.data)


async def seen(
    value: Any,
    annotation: Any = UNSAID,
    *,
    revision: str = "2025-11-25",
    server: dict[str, Any] | None = None,
    **options: Any,
) -> Seen:
    """Return what a client sees of a tool that is declared to return `annotation` and returns `value`.

    `options` go to `@tool`, `server` holds the server's settings.
    """

    def method() -> Any:
        return value

    if annotation is not UNSAID:
        method.__annotations__["return"] = annotation
    else:
        method.__annotations__.pop("return")
    offered = tool(name="t", **options)(method)
    async with connected(serving(offered, **(server or {})), revision) as wire:
        definition = (await wire.tools())["t"]
        assert isinstance(definition["inputSchema"]["properties"], dict)
        first, second = await wire.call("t"), await wire.call("t")
        strict_json(*(data for sender, data in wire.traffic if sender == "server"))
    outcome = Seen(definition, first)
    outcome.check()
    if not outcome.is_error and "resource" not in outcome.kinds:  # these may have a new id or URI each time
        assert first == second, "the second call takes the route that the first one chose"
    return outcome


def strict_json(*messages: bytes) -> None:
    """Check that every message is UTF-8 and JSON as RFC 8259 wants it, without a key twice."""
    for data in messages:
        json.loads(data.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_distinct)


def _refuse(token: str) -> Any:
    raise AssertionError(f"{token} is no JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    assert len(made) == len(pairs), f"a key twice: {pairs}"
    return made


def bare(structured: Any, revision: str) -> Any:
    """Return the structured content of a type that may be no object: revisions before the newest wrap it."""
    if revision == NEWEST:
        return structured
    assert set(structured) == {"result"}
    return structured["result"]
