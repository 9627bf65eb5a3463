"""Asking the client: its user by a form, its model by a prompt. One method body serves clients of every revision.

Clients that speak 2026-07-28 get the question as the result of the call, and call again with the answer; then the
method runs again from its start. So what has an effect stands after the last question.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from marshmallow import validate

from mcpconnect import McpServer, MissingCapability, Param, Tool, tool


class Meal(Enum):
    """What is served."""

    FISH = "fish"
    VEGAN = "vegan"


@dataclass
class Booking:
    """What the form asks for; each member is a field of it."""

    guests: Annotated[int, "How many people", validate.Range(min=1, max=12)]
    meal: Meal = Meal.VEGAN
    window: Annotated[bool, Param(title="By the window")] = False


BOOKED: list[Booking] = []


class RestaurantTool(Tool):
    """A restaurant that asks before it does something."""

    @tool
    async def book_table(self, day: Annotated[str, Param(description="When", examples=["Friday"])]) -> str:
        """Book a table; the user fills in the rest."""
        try:
            answer = await self.ctx.elicit(f"A table for {day}. For whom?", Booking)
        except MissingCapability:
            return "This client cannot show forms. Call us: +41 31 000 00 00."
        if answer.action == "cancel":
            return "Nothing was booked; the user closed the form."
        if not answer or answer.content is None:
            return "Nothing was booked; the user does not want to."
        booking = answer.content
        BOOKED.append(booking)  # after the last question, so that it happens once
        place = "by the window" if booking.window else "inside"
        return f"Booked for {day}: {booking.guests} guests, {booking.meal.value}, {place}."

    @tool
    def recommend(self, mood: Annotated[str, Param(examples=["hungry"])]) -> str:
        """Recommend a dish; the client's own model writes the text. A method that is not `async` asks by `ctx.sync`."""
        if not self.ctx.client.can("sampling"):
            return "Try the trout."
        said = self.ctx.sync.sample(f"Recommend a dish to somebody who is {mood}, in one sentence.", max_tokens=100)
        return said.text

    @tool(read_only=True)
    def bookings(self) -> list[Booking]:
        """List what was booked."""
        return BOOKED


server = McpServer("restaurant", version="1.0.0")
server.register(RestaurantTool)

if __name__ == "__main__":
    server.run()
