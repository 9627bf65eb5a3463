"""One of everything: the server that the official conformance suite is run against.

`mcpconnect run samples/everything.py --http` serves it at http://127.0.0.1:8000/mcp. The names and texts are those that
the suite asks for.
"""

import asyncio
import base64
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcpconnect import (
    AudioContent,
    Complete,
    ContentList,
    Elicit,
    EmbeddedResource,
    ImageContent,
    McpServer,
    MissingCapability,
    Param,
    PromptMessage,
    Question,
    Roots,
    Sample,
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


@dataclass
class Name:
    """Who it is."""

    name: str


@dataclass
class Color:
    """What color."""

    color: str


@dataclass
class Consent:
    """Yes or no."""

    ok: bool


@dataclass
class Context:
    """What it is about."""

    context: str


@dataclass
class User:
    """Whom to register."""

    username: str
    email: str


@dataclass
class Defaults:
    """A form where everything is filled in already."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


CHOICES = ["one", "two", "three"]
TITLED = [{"const": choice, "title": choice.title()} for choice in CHOICES]
ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": CHOICES},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": CHOICES, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": CHOICES}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


class LiveTool(Tool):
    """Questions and logs of a call that runs."""

    @tool
    async def test_tool_with_logging(self) -> str:
        """Log three times."""
        for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await self.ctx.log("info", text)
            await asyncio.sleep(0.05)
        return "Logged."

    @tool
    async def test_sampling(self, prompt: str) -> str:
        """Ask the client's model."""
        return f"LLM response: {(await self.ctx.sample(prompt, max_tokens=100)).text}"

    @tool
    async def test_elicitation(self, message: str) -> str:
        """Ask the client's user."""
        answer = await self.ctx.elicit(message, User)
        return f"User response: {answer.action}, {answer.content}"

    @tool
    async def test_elicitation_sep1034_defaults(self) -> str:
        """Ask with defaults."""
        answer = await self.ctx.elicit("Please check these", Defaults)
        return f"User response: {answer.action}, {answer.content}"

    @tool
    async def test_elicitation_sep1330_enums(self) -> str:
        """Ask for choices of every kind."""
        answer = await self.ctx.elicit("Please choose", ENUMS)
        return f"User response: {answer.action}, {answer.content}"


class RoundsTool(Tool):
    """Calls that end with a question and run again with its answer."""

    @tool
    async def test_input_required_result_elicitation(self) -> str:
        """Ask for a name."""
        answers = await self.ctx.ask(user_name=Elicit("What is your name?", Name))
        name = answers["user_name"]
        return f"Hello, {name.content.name}!" if name else "Hello, whoever you are!"

    @tool
    async def test_input_required_result_sampling(self) -> str:
        """Ask the client's model."""
        question = Sample("What is the capital of France?", max_tokens=100)
        return f"The client says: {(await self.ctx.ask(capital_question=question))['capital_question'].text}"

    @tool
    async def test_input_required_result_list_roots(self) -> str:
        """Ask for the client's roots."""
        roots = (await self.ctx.ask(client_roots=Roots()))["client_roots"]
        return ", ".join(root.uri for root in roots) or "no roots"

    @tool
    async def test_input_required_result_request_state(self) -> str:
        """Ask for consent; the state travels with the client."""
        return "state-ok" if (await self.ctx.ask(confirm=Elicit("All right?", Consent)))["confirm"] else "no"

    @tool
    async def test_input_required_result_tampered_state(self) -> str:
        """Ask for consent; a state that was changed is refused."""
        return "done" if (await self.ctx.ask(confirm=Elicit("All right?", Consent)))["confirm"] else "no"

    @tool
    async def test_input_required_result_multiple_inputs(self) -> str:
        """Ask three things at once."""
        answers = await self.ctx.ask(
            user_name=Elicit("What is your name?", Name),
            greeting=Sample("Generate a greeting", max_tokens=50),
            client_roots=Roots(),
        )
        return f"{answers['greeting'].text} {answers['user_name'].content}, {len(answers['client_roots'])} roots"

    @tool
    async def test_input_required_result_multi_round(self) -> str:
        """Ask one thing after the other."""
        first = (await self.ctx.ask(step1=Elicit("What is your name?", Name)))["step1"]
        second = (await self.ctx.ask(step2=Elicit("Which color do you like?", Color)))["step2"]
        return f"{first.content} {second.content}"

    @tool
    async def test_input_required_result_capabilities(self) -> str:
        """Ask only what the client can answer."""
        questions: dict[str, Question[Any]] = {}
        if self.ctx.client.can("sampling"):
            questions["greeting"] = Sample("Generate a greeting", max_tokens=50)
        if self.ctx.client.can("elicitation"):
            questions["user_name"] = Elicit("What is your name?", Name)
        return f"{len(await self.ctx.ask(**questions))} answers"

    @prompt
    async def test_input_required_result_prompt(self) -> str:
        """A prompt that asks before it says something."""
        answer = (await self.ctx.ask(user_context=Elicit("What is it about?", Context)))["user_context"]
        return f"Please explain: {answer.content.context}" if answer else "Please explain."


server = McpServer("everything", version="1.0.0", title="Everything", instructions="For testing clients and servers.")
server.register(ContentTool)
server.register(RunningTool)
server.register(LiveTool)
server.register(RoundsTool)
server.register(PromptTool)
server.register(ResourceTool)

if __name__ == "__main__":
    server.run()
