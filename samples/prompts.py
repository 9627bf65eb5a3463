"""Prompts: texts that people pick, with arguments that are typed, described and completed while they are typed.

A code review whose language is completed from an enum, and a greeting whose city is completed depending on the country
that was chosen before.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated

from PIL import Image

from mcpconnect import Complete, CompletionResult, McpServer, PromptMessage, Tool, complete, matching, prompt

CITIES = {
    "France": ["Lille", "Lyon", "Paris"],
    "Italy": ["Milan", "Naples", "Rome"],
    "Switzerland": ["Basel", "Bern", "Lugano"],
}


class Language(Enum):
    """Languages that are reviewed."""

    PYTHON = "python"
    RUST = "rust"
    TYPESCRIPT = "typescript"


class ReviewPrompts(Tool, prefix="review"):
    """Prompts about code."""

    @prompt(title="Code review")
    def code(
        self,
        code: Annotated[str, "The code to review"],
        language: Annotated[Language, "Its language", Complete(Language)] = Language.PYTHON,
        max_findings: Annotated[int, "How many findings at most"] = 5,
    ) -> list[PromptMessage]:
        """Review some code."""
        return [
            PromptMessage.user(f"Review this {language.value} code. Name at most {max_findings} findings."),
            PromptMessage.user(f"```{language.value}\n{code}\n```"),
            PromptMessage.assistant("I will look at correctness first, then at clarity."),
        ]

    @prompt
    def color(self, name: Annotated[str, Complete(["red", "green", "blue"])]) -> list[PromptMessage]:
        """Ask what a color is used for; shows the color."""
        return PromptMessage.user(["What is this color used for in diffs?", Image.new("RGB", (16, 16), name)])


class TravelPrompts(Tool):
    """Prompts about places."""

    @prompt
    def greeting(self, country: str, city: str) -> str:
        """Greet somebody from a city."""
        return f"Write a greeting for somebody from {city}, {country}."

    @complete("greeting", "country")
    def countries(self, typed: str) -> CompletionResult:
        """Complete the country."""
        return matching(CITIES, typed, casefold=True)

    @complete("greeting", "city")
    async def cities(self, typed: str, chosen: Mapping[str, str]) -> CompletionResult:
        """Complete the city: those of the country that was chosen, or all."""
        known = CITIES.get(chosen.get("country", ""), [city for cities in CITIES.values() for city in cities])
        return matching(known, typed, casefold=True)


server = McpServer("prompts", version="1.0.0")
server.register(ReviewPrompts)
server.register(TravelPrompts)

if __name__ == "__main__":
    server.run()
