"""The serializer at work: three case styles, visibility, include rules, and custom serializers made in three ways.

Each tool takes a class of its own and shows one rule. What goes out under these rules can come back in under them,
and the schemas that clients see say the same.
"""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from marshmallow import Schema, fields, post_load

from mcpconnect import Case, CustomSerializer, Include, McpServer, SerializerConfig, Tool, Visibility, tool
from mcpconnect.serialization import Format, Ignore, IncludeIf, Name, Rule, Serializer, Use


@dataclass
class Customer:
    """Members under different rules."""

    first_name: str
    loyalty_points: int = 0
    nick_name: Annotated[str | None, IncludeIf(Include.NOT_NONE)] = None
    tags: Annotated[list[str], IncludeIf(Include.NOT_EMPTY)] = field(default_factory=list)
    customer_id: Annotated[int, Name("id")] = 7
    password: Annotated[str, Ignore] = "secret"
    _segment: str = "gold"


@dataclass(frozen=True)
class Money:
    """An amount, on the wire as one text: `12.50 EUR`."""

    amount: Decimal
    currency: str


def money_from(text: str) -> Money:
    """Read `12.50 EUR`."""
    amount, _, currency = text.partition(" ")
    if not currency:
        raise ValueError("expected an amount and a currency, such as 12.50 EUR")
    return Money(Decimal(amount), currency)


@dataclass(frozen=True)
class Color:
    """A color, on the wire as `#rrggbb`."""

    red: int
    green: int
    blue: int


class HexColor(fields.Field[Color]):
    """A marshmallow field that writes `#rrggbb`."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str:
        return f"#{value.red:02x}{value.green:02x}{value.blue:02x}"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Color:
        digits = str(value).removeprefix("#")
        return Color(int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))


@dataclass
class Point:
    """A place on a plane."""

    x: int
    y: int


class PointSchema(Schema):
    """A marshmallow schema for a whole class."""

    x = fields.Integer(required=True, data_key="X")
    y = fields.Integer(required=True, data_key="Y")

    @post_load
    def make(self, data: dict[str, Any], **kwargs: Any) -> Point:
        """Build the point."""
        return Point(**data)


@dataclass
class Shape:
    """A record whose members all have serializers of their own."""

    corner: Point
    fill: Color
    price: Money
    sketch: Annotated[bytes, Format("hex")] = b"\x00\xff"
    drawn_on: Annotated[date, Use(CustomSerializer(lambda day: day.toordinal(), date.fromordinal))] = date(2026, 1, 1)


CONFIG = SerializerConfig(
    case=Case.CAMEL,
    rules={Point: Rule(include=Include.ALWAYS)},
    serializers={
        Money: CustomSerializer(lambda money: f"{money.amount} {money.currency}", money_from, {"type": "string"}),
        Color: HexColor(),
        Point: PointSchema,
    },
)
ADA = Customer("Ada", 12, tags=["early"])


class SerializationTool(Tool):
    """Looks at one customer and one shape in different ways."""

    @tool
    def styles(self) -> dict[str, Any]:
        """The same customer in three case styles."""
        styles = (Case.CAMEL, Case.SNAKE, Case.PASCAL)
        return {style.name: Serializer(CONFIG.replace(case=style)).dump(ADA) for style in styles}

    @tool
    def visible(self) -> dict[str, Any]:
        """The same customer with its protected member shown."""
        shown = CONFIG.replace(visibility={Visibility.PUBLIC, Visibility.PROTECTED})
        return {"customer": Serializer(shown).dump(ADA)}

    @tool
    def customer(self) -> Customer:
        """A customer under the server's own rules."""
        return ADA

    @tool
    def shape(self) -> Shape:
        """A shape written by custom serializers of all three kinds."""
        return Shape(Point(1, 2), Color(255, 128, 0), Money(Decimal("12.50"), "EUR"))

    @tool
    def move(self, shape: Shape, by: Point) -> Shape:
        """Take a shape as `shape` writes it, and give it back moved."""
        shape.corner = Point(shape.corner.x + by.x, shape.corner.y + by.y)
        return shape


server = McpServer("serialization", version="1.0.0", serializer=CONFIG)
server.register(SerializationTool)

if __name__ == "__main__":
    server.run()
