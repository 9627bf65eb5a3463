"""Forms that a schema of one's own describes: every shape of choice arrives as it is written, and is read back."""

from typing import Any

import pytest

from mcpconnect import Context, tool
from tests.interaction.test_asking import connecting, conversed, text
from tests.wire import NEWEST, serving

pytestmark = pytest.mark.anyio

TITLED = [{"const": "fish", "title": "Fish of the day"}, {"const": "vegan", "title": "Without animals"}]
CHOICES: dict[str, dict[str, Any]] = {
    "legacy": {"type": "string", "enum": ["fish", "vegan"], "enumNames": ["Fish of the day", "Without animals"]},
    "untitled": {"type": "string", "enum": ["fish", "vegan"], "default": "fish"},
    "titled": {"type": "string", "oneOf": TITLED},
    "several": {"type": "array", "items": {"type": "string", "enum": ["fish", "vegan"]}, "maxItems": 1},
    "several_titled": {"type": "array", "items": {"anyOf": TITLED}, "minItems": 1},
}
SINGLE = ("legacy", "untitled", "titled")
FORM = {"type": "object", "properties": CHOICES, "required": ["titled"]}
FILLED = {name: "vegan" if name in SINGLE else ["vegan"] for name in CHOICES}


@tool
async def choose(ctx: Context) -> str:
    answer = await ctx.elicit("What do you eat?", FORM)
    assert answer.content == FILLED
    return str(answer.action)


@pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])
async def test_138_every_shape_of_choice_arrives_as_it_is_written_and_is_read_back(revision: str) -> None:
    asked: list[Any] = []

    def filled(method: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params["requestedSchema"])
        return {"action": "accept", "content": FILLED}

    async with connecting(revision, serving(choose)) as wire:
        assert text(await conversed(wire, "choose", filled)) == "accept"
    assert asked == [FORM]
