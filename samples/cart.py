"""A shopping cart, twice: in a typed session, and under a handle.

A session belongs to a client that shook hands (revisions up to 2025-11-25); it is injected by its annotation. Clients
of 2026-07-28 have none: there a tool returns a handle, and the model passes it to the other tools.
"""

from typing import Annotated

from mcpconnect import Handles, McpServer, Param, Session, Tool, tool

Item = Annotated[str, Param(description="What to buy", examples=["pear"])]


class ShoppingSession(Session):
    """What one client has put into its cart."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def close(self) -> None:
        """Forget the cart when the client is gone."""
        self.items.clear()


class SessionCartTool(Tool, prefix="session"):
    """The cart of the client that calls."""

    session: ShoppingSession

    @tool
    def add(self, item: Item) -> str:
        """Put something into your cart."""
        self.session.items.append(item)
        return f"{len(self.session.items)} in your cart"

    @tool
    def pay(self, reference: Annotated[str, Param(examples=["today's lunch"])]) -> str:
        """Pay for everything in your cart."""
        paid = ", ".join(self.session.items) or "nothing"
        self.session.items.clear()
        return f"Paid for {paid} ({reference})."


CARTS: Handles[list[str]] = Handles(seconds=30 * 60, what="cart")


class HandleCartTool(Tool, prefix="cart"):
    """Carts that stand under handles."""

    @tool
    def open(self) -> str:
        """Open a cart; the other tools take the handle that this returns."""
        return CARTS.open([])

    @tool
    def add(self, cart: str, item: Item) -> str:
        """Put something into a cart."""
        items = CARTS.get(cart)
        items.append(item)
        return f"{len(items)} in the cart"

    @tool
    def pay(self, cart: str) -> str:
        """Pay for everything in a cart, which ends it."""
        return f"Paid for {', '.join(CARTS.close(cart)) or 'nothing'}."


server = McpServer("cart", version="1.0.0", session=ShoppingSession)
server.register(SessionCartTool)
server.register(HandleCartTool)

if __name__ == "__main__":
    server.run()
