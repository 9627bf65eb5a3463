"""Resources: what a client can read under a URI, and templates for many URIs at once.

Texts, records, pictures and bytes each get the right form and type; a template's variables are typed parameters; files
and a directory are served without any way out of it; and those who subscribed hear of changes.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from PIL import Image

from mcpconnect import CacheControl, Complete, Context, McpServer, Tool, resource, tool

HERE = Path(__file__).parent


@dataclass
class Note:
    """A note."""

    title: str
    text: str


NOTES = {1: Note("Groceries", "Milk, bread"), 2: Note("Ideas", "A serializer for everything")}


class NoteResources(Tool):
    """Notes to read and to change."""

    @resource("notes://all", title="All notes", cache=CacheControl(60_000, "public"))
    def all_notes(self) -> list[Note]:
        """Every note, as JSON."""
        return list(NOTES.values())

    @resource("notes://{note_id}{?field}")
    def note(self, note_id: int, field: Annotated[str, Complete(["title", "text"])] = "") -> str | Note | None:
        """One note, or one of its fields."""
        note = NOTES.get(note_id)
        if note is None or not field:
            return note
        return asdict(note).get(field)

    @resource("notes://{note_id}/cover", mime_type="image/png")
    def cover(self, note_id: int) -> Image.Image | None:
        """A picture for a note."""
        return Image.new("RGB", (32, 32), "tan") if note_id in NOTES else None

    @resource("notes://readme", mime_type="text/markdown")
    async def readme(self, ctx: Context) -> str:
        """What this is."""
        return f"# Notes\n\nYou read {ctx.uri}.\n"

    @resource("notes://seal", mime_type="application/octet-stream")
    def seal(self) -> bytes:
        """A few bytes."""
        return b"\x00\x01\xfe\xff"

    @tool
    def change_note(self, note_id: int, text: str) -> str:
        """Change a note; those who subscribed to it hear of it."""
        NOTES[note_id].text = text
        server.resource_updated(f"notes://{note_id}")
        return "Changed."

    @tool(read_only=True)
    def count_notes(self) -> int:
        """Count the notes."""
        return len(NOTES)


server = McpServer("resources", version="1.0.0")
server.register(NoteResources)
server.add_file(__file__, uri="source://resources.py", description="The source of this server")
server.add_directory(HERE, uri_prefix="samples://", pattern="*.py")

if __name__ == "__main__":
    server.run()
