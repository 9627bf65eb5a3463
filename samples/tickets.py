"""Sells conference tickets: every kind of return value in one small server.

Run it under a host with `python samples/tickets.py`, or look at it with `mcpconnect try samples/tickets.py`.
It shows text and numbers, records, a picture drawn with Pillow, a result made of several blocks, and an error that
the model can repair by itself.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

from marshmallow import validate
from PIL import Image, ImageDraw

from mcpconnect import Case, ContentList, McpServer, Param, SerializerConfig, Tool, ToolError, ToolResultBuilder, tool

ROWS, SEATS = 5, 12
TAKEN = {(0, 3), (0, 4), (2, 7), (3, 1), (4, 11)}


@dataclass
class Ticket:
    """One kind of ticket."""

    ticket_id: Annotated[int, "The number to buy it by"]
    title: str
    price: Annotated[Decimal, "In euros"]


class TicketTool(Tool):
    """A new TicketTool serves each call: what must live longer stands outside."""

    tickets: ClassVar[list[Ticket]] = [
        Ticket(1, "Conference", Decimal("179.00")),
        Ticket(2, "Workshop", Decimal("89.50")),
        Ticket(3, "Student", Decimal("49.90")),
    ]

    @tool(read_only=True)
    def get_tickets(self) -> list[Ticket]:
        """List the tickets on sale."""
        return self.tickets

    @tool(read_only=True)
    def seat_map(self) -> Image.Image:
        """Draw the hall: free seats in green, taken ones in red."""
        image = Image.new("RGB", (SEATS * 20 + 10, ROWS * 20 + 10), "white")
        draw = ImageDraw.Draw(image)
        for row in range(ROWS):
            for seat in range(SEATS):
                left, top = 10 + seat * 20, 10 + row * 20
                color = "firebrick" if (row, seat) in TAKEN else "seagreen"
                draw.rectangle((left, top, left + 13, top + 13), fill=color)
        return image

    @tool(read_only=True)
    def free_seats(self) -> int:
        """Count the free seats."""
        return ROWS * SEATS - len(TAKEN)

    @tool(read_only=True)
    def opening_hours(self) -> str:
        """Tell when the ticket office is open."""
        return "Monday to Friday, 9:00 to 17:00"

    @tool(read_only=True)
    def find_ticket(self, title: Annotated[str, Param(description="Words of the title", examples=["work"])]) -> Ticket:
        """Find a ticket by its title."""
        for ticket in self.tickets:
            if title.lower() in ticket.title.lower():
                return ticket
        raise ToolError(f"No ticket has {title!r} in its title. There are: {self._titles()}")

    @tool(destructive=False)
    async def buy_ticket(
        self,
        ticket_id: Annotated[int, Param(description="Ticket to buy", examples=[1]), validate.Range(min=1)],
        quantity: Annotated[int, "How many", validate.Range(min=1, max=10)] = 1,
    ) -> ContentList:
        """Purchase a ticket and return the confirmation."""
        ticket = next((ticket for ticket in self.tickets if ticket.ticket_id == ticket_id), None)
        if ticket is None:
            raise ToolError(f"There is no ticket {ticket_id}: call get_tickets and take an id from its answer.")
        total = ticket.price * quantity
        return (
            ToolResultBuilder()
            .add_text(f"Purchase completed: {quantity} × {ticket.title}, {total} €.")
            .add_image("image/png", self.seat_map())
            .add_link("text/html", f"https://tickets.example/receipts/{ticket_id}", "Receipt")
            .build()
        )

    def _titles(self) -> str:
        return ", ".join(ticket.title for ticket in self.tickets)


server = McpServer(
    "tickets",
    version="1.0.0",
    instructions="List the tickets first; buy by ticket id.",
    serializer=SerializerConfig(case=Case.CAMEL),
)
server.register(TicketTool)

if __name__ == "__main__":
    server.run()
