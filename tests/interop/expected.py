"""What the samples answer."""

TICKETS = [
    {"ticketId": 1, "title": "Conference", "price": "179.00"},
    {"ticketId": 2, "title": "Workshop", "price": "89.50"},
    {"ticketId": 3, "title": "Student", "price": "49.90"},
]
SHAPE = {
    "corner": {"X": 1, "Y": 2},
    "fill": "#ff8000",
    "price": "12.50 EUR",
    "sketch": "00ff",
    "drawnOn": 739617,
}
MOVED = {**SHAPE, "corner": {"X": 11, "Y": 22}}
EXPECTED = {
    "tickets.py": ["get_tickets", "seat_map", "free_seats", "opening_hours", "find_ticket", "buy_ticket"],
    "serialization.py": ["styles", "visible", "customer", "shape", "move"],
    "builder.py": ["texts", "images", "sound", "files", "links", "resource", "anything", "with_structure", "failure"],
}
