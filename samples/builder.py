"""Every way to put a result together by hand: one tool for each method of the builder.

A tool that returns a `ContentList` (what `ToolResultBuilder.build()` gives) says exactly what the model receives.
"""

import io
import wave
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from mcpconnect import ContentList, McpServer, TextResource, Tool, ToolResultBuilder, tool


@dataclass
class Measurement:
    """What a sensor said."""

    sensor: str
    celsius: float


def beep() -> bytes:
    """Return a tenth of a second of silence, as a WAV file."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(b"\x80" * 800)
    return buffer.getvalue()


class BuilderTool(Tool):
    """Results made of blocks."""

    @tool
    def texts(self) -> ContentList:
        """Two texts, in this order."""
        return ToolResultBuilder().add_text("first").add_text("second").build()

    @tool
    def images(self) -> ContentList:
        """A picture from Pillow, one from bytes and one from base64 text."""
        picture = Image.new("RGB", (8, 8), "teal")
        stream = io.BytesIO()
        picture.save(stream, "PNG")
        tiny = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        return (
            ToolResultBuilder()
            .add_image("image/png", picture)
            .add_image("image/png", stream.getvalue())
            .add_image("image/png", tiny)
            .build()
        )

    @tool
    def sound(self) -> ContentList:
        """A short sound."""
        return ToolResultBuilder().add_audio("audio/wav", beep()).build()

    @tool
    def files(self) -> ContentList:
        """A file's bytes, and bytes that have neither type nor URI."""
        return (
            ToolResultBuilder()
            .add_blob("text/x-python", Path(__file__), uri="file:///samples/builder.py")
            .add_blob(None, b"\x00\x01\x02")
            .build()
        )

    @tool
    def links(self) -> ContentList:
        """A link with a description, and one with a name of its own."""
        return (
            ToolResultBuilder()
            .add_link("text/html", "https://example.org/receipts/7", "The receipt")
            .add_link("application/pdf", "https://example.org/map.pdf", name="Map of the hall")
            .build()
        )

    @tool
    def resource(self) -> ContentList:
        """A text that comes as a resource of its own."""
        notes = TextResource("# Notes\n", uri="notes://today", mime_type="text/markdown")
        return ToolResultBuilder().add_resource(notes).build()

    @tool
    def anything(self) -> ContentList:
        """Values that are converted as if a tool had returned them."""
        return ToolResultBuilder().add(42).add(Measurement("roof", 21.5)).add(Image.new("L", (4, 4), 128)).build()

    @tool
    def with_structure(self) -> ContentList:
        """A text for the model, data for the program beside it, and metadata."""
        return (
            ToolResultBuilder()
            .add_text("The roof has 21.5 °C.")
            .structured({"sensor": "roof", "celsius": 21.5})
            .meta({"example.org/source": "sensors"})
            .build()
        )

    @tool
    def failure(self, reason: str) -> ContentList:
        """An error that the model reads."""
        return ToolResultBuilder().add_text(f"It did not work: {reason}").as_error().build()


server = McpServer("builder", version="1.0.0")
server.register(BuilderTool)

if __name__ == "__main__":
    server.run()
