"""One of everything: the server that the official conformance suite is run against.

`mcpconnect run samples/everything.py --http` serves it at http://127.0.0.1:8000/mcp. The names and texts are those that
the suite asks for.
"""

import asyncio
import base64
import json
from typing import Annotated, Any

from everything_asking import LiveTool, RoundsTool

from mcpconnect import (
    AudioContent,
    Complete,
    ContentList,
    EmbeddedResource,
    ImageContent,
    McpServer,
    MissingCapability,
    Param,
    PromptMessage,
    TextResource,
    Tool,
    ToolError,
    ToolResultBuilder,
    prompt,
    resource,
    tool,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
SCHEMA: dict[str, Any] = json.loads("""
{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
 "$defs": {"address": {"$anchor": "addressDef", "type": "object",
           "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
 "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
   "contactMethod": {"type": "string", "enum": ["phone", "email"]},
   "phone": {"type": "string"}, "email": {"type": "string"}},
 "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
 "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
 "then": {"required": ["phone"]}, "else": {"required": ["email"]},
 "additionalProperties": false}
""")


class ContentTool(Tool):
    """Every kind of content."""

    @tool
    def test_simple_text(self) -> str:
        """Return a text."""
        return "This is a simple text response for testing."

    @tool
    def test_image_content(self) -> ImageContent:
        """Return a picture."""
        return ImageContent(base64.b64decode(PNG), "image/png")

    @tool
    def test_audio_content(self) -> AudioContent:
        """Return a sound."""
        return AudioContent(base64.b64decode(WAV), "audio/wav")

    @tool
    def test_embedded_resource(self) -> EmbeddedResource:
        """Return a resource inside the result."""
        text = "This is an embedded resource content."
        return EmbeddedResource(TextResource(text, "test://embedded-resource", "text/plain"))

    @tool
    def test_multiple_content_types(self) -> ContentList:
        """Return a text, a picture and a resource."""
        data = TextResource('{"test":"data","value":123}', "test://mixed-content-resource", "application/json")
        return (
            ToolResultBuilder()
            .add_text("Multiple content types test:")
            .add_image("image/png", PNG)
            .add_resource(data)
            .build()
        )

    @tool
    def test_error_handling(self) -> str:
        """Fail in a way that the model may read."""
        raise ToolError("This tool intentionally returns an error for testing")

    @tool(input_schema=SCHEMA)
    def json_schema_2020_12_tool(self, **arguments: Any) -> str:
        """Take arguments by a schema that uses much of JSON Schema 2020-12."""
        return f"Got {', '.join(arguments) or 'nothing'}."

    @tool
    def test_x_mcp_header(self, region: Annotated[str, Param(header="Region")] = "") -> str:
        """Take an argument that a header repeats."""
        return f"Region: {region}"


class RunningTool(Tool):
    """What a call can do while it runs."""

    @tool
    async def test_tool_with_progress(self) -> str:
        """Report progress three times."""
        for value in (0, 50, 100):
            await self.ctx.progress(value, 100)
            await asyncio.sleep(0.05)
        return "Done."

    @tool
    async def test_reconnection(self) -> str:
        """End the stream early; the client comes back for the result."""
        await self.ctx.end_stream(retry_ms=100)
        await asyncio.sleep(0.2)
        return "You came back."

    @tool
    def test_missing_capability(self) -> str:
        """Need a client that can sample."""
        if not self.ctx.client.can("sampling"):
            raise MissingCapability("sampling is required", data={"requiredCapabilities": {"sampling": {}}})
        return "The client can sample."

    @tool
    async def test_streaming_elicitation(self) -> str:
        """Send something before the result, if the client wants to hear of progress."""
        await self.ctx.progress(1, 2, "half")
        return "Nothing was asked."

    @tool
    async def test_logging_tool(self) -> str:
        """Write to the server's own log."""
        await self.ctx.log("info", "the logging tool was called")
        return "Logged."

    @tool
    async def test_trigger_tool_change(self) -> str:
        """Change the list of tools for a moment."""

        @tool(name="test_dummy", description="There for a moment.")
        def dummy() -> str:
            return "dummy"

        server.register(dummy)
        server.unregister(dummy)
        return "Changed."


class PromptTool(Tool):
    """Every kind of prompt."""

    @prompt
    def test_simple_prompt(self) -> str:
        """A prompt without arguments."""
        return "This is a simple prompt for testing."

    @prompt
    def test_prompt_with_arguments(
        self,
        arg1: Annotated[str, "First test argument", Complete(["test1", "test2", "other"])],
        arg2: Annotated[str, "Second test argument"],
    ) -> str:
        """A prompt with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @prompt
    def test_prompt_with_embedded_resource(
        self, resource_uri: Annotated[str, Param(name="resourceUri", description="The URI of the resource")]
    ) -> list[PromptMessage]:
        """A prompt that holds a resource."""
        text = TextResource("Embedded resource content for testing.", resource_uri, "text/plain")
        return PromptMessage.user([text, "Please process the embedded resource above."])

    @prompt
    def test_prompt_with_image(self) -> list[PromptMessage]:
        """A prompt that holds a picture."""
        picture = ImageContent(base64.b64decode(PNG), "image/png")
        return PromptMessage.user([picture, "Please analyze the image above."])

    @tool
    async def test_trigger_prompt_change(self) -> str:
        """Change the list of prompts for a moment."""

        @prompt(name="test_dummy_prompt", description="There for a moment.")
        def dummy() -> str:
            return "dummy"

        server.register(dummy)
        server.unregister(dummy)
        return "Changed."


class ResourceTool(Tool):
    """Every kind of resource."""

    @resource("test://static-text", mime_type="text/plain")
    def static_text(self) -> str:
        """A text."""
        return "This is the content of the static text resource."

    @resource("test://static-binary", mime_type="image/png")
    def static_binary(self) -> bytes:
        """Some bytes."""
        return base64.b64decode(PNG)

    @resource("test://watched-resource", mime_type="text/plain")
    def watched(self) -> str:
        """A resource to subscribe to."""
        return "Watch me."

    @resource("test://template/{id}/data", mime_type="application/json")
    def template(self, id: str) -> dict[str, Any]:
        """A resource for every id."""
        return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


server = McpServer("everything", version="1.0.0", title="Everything", instructions="For testing clients and servers.")
server.register(ContentTool)
server.register(RunningTool)
server.register(LiveTool)
server.register(RoundsTool)
server.register(PromptTool)
server.register(ResourceTool)

if __name__ == "__main__":
    server.run()
