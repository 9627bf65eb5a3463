"""Encoders and content types: changing what values become, without touching what returns them.

One class of the user's own is presented in tools, prompts and resources; a whole table becomes one text; data is YAML;
pictures are WebP; and a content type of the user's own writes CSV.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from PIL import Image

from mcpconnect import (
    YAML_TEXT,
    ContentFormatter,
    ContentType,
    Encoder,
    ImageContentType,
    McpServer,
    PromptMessage,
    ResourceResult,
    Serializer,
    TextContent,
    TextResource,
    Tool,
    prompt,
    resource,
    tool,
)


@dataclass(frozen=True)
class Temperature:
    """A temperature; an encoder says how it reads."""

    celsius: float


@dataclass(frozen=True)
class Reading:
    """What a station measured."""

    station: str
    celsius: float


class ReadableTemperature(Encoder[Temperature]):
    """Writes a temperature for people, in every kind of result."""

    def supports(self, value: Temperature) -> bool:
        """Leave what is no temperature to the others."""
        return value.celsius > -273.15

    def encode(self, value: Temperature) -> Any:
        """Return the text."""
        return TextContent(f"{value.celsius:.1f} °C")


class CsvFormatter(ContentFormatter):
    """Writes rows of one call as CSV."""

    def begin(self) -> None:
        """Start with nothing."""
        self._text = io.StringIO()

    def format(self, value: Any) -> None:
        """Add a row for each record."""
        rows: Sequence[Any] = value if isinstance(value, list) else [value]
        writer = csv.writer(self._text)
        writer.writerow(field.name for field in fields(rows[0]))
        writer.writerows(astuple(row) for row in rows)

    def finish(self) -> TextContent:
        """Return the text."""
        return TextContent(self._text.getvalue())


class CsvText(ContentType):
    """Presents records as CSV."""

    def formatter(self, serializer: Serializer) -> ContentFormatter:
        """Return a formatter for one call."""
        return CsvFormatter()


READINGS = [Reading("Bern", 14.5), Reading("Rome", 23.0)]


class WeatherTool(Tool):
    """The same values in different clothes."""

    @tool
    def temperature(self) -> Temperature:
        """An encoder writes it."""
        return Temperature(21.46)

    @tool(content_type=YAML_TEXT)
    def as_yaml(self) -> list[Reading]:
        """Data as YAML."""
        return READINGS

    @tool(content_type=CsvText())
    def as_csv(self) -> list[Reading]:
        """Data as CSV, by a content type of our own."""
        return READINGS

    @tool(content_type=ImageContentType("image/webp"))
    def sky(self) -> Image.Image:
        """A picture as WebP."""
        return Image.new("RGB", (24, 24), "skyblue")

    @prompt
    def explain(self) -> list[str | Temperature]:
        """The encoder works in prompts, too."""
        return ["Is this warm?", Temperature(21.46)]

    @resource("weather://now")
    def now(self) -> Temperature:
        """And in resources, where another encoder is nearer."""
        return Temperature(21.46)


def as_contents(value: Temperature) -> ResourceResult:
    """Write a temperature as the contents of a resource."""
    return ResourceResult(TextResource(f"{value.celsius}", mime_type="text/x-celsius"))


def as_messages(value: Temperature) -> PromptMessage:
    """Let the assistant say a temperature."""
    return PromptMessage("assistant", TextContent(f"It has {value.celsius:.1f} °C."))


server = McpServer("encoders", version="1.0.0")
server.encoders.add(Temperature, ReadableTemperature())
server.encoders.add(Temperature, as_contents, kinds={"resource"})
server.encoders.add(Temperature, as_messages, kinds={"prompt"})
server.register(WeatherTool)

if __name__ == "__main__":
    server.run()
