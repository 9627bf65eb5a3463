from dataclasses import dataclass

import pytest

from mcpconnect import AudioContent, McpServer, ResourceLink, Tool, prompt, resource, tool


@dataclass
class Row:
    x: int


class Offers(Tool):
    @tool(title="Rows", read_only=True)
    def rows(self) -> list[Row]: ...

    @tool
    def plain(self, x: int) -> str: ...

    @tool
    def sounds(self) -> list[AudioContent | ResourceLink]: ...

    @prompt(title="A prompt")
    def ask(self) -> str: ...

    @resource("text://x", title="A text")
    def text(self) -> str: ...

    @resource("text://{x}")
    def template(self, x: str) -> str: ...


def said(revision: str | None) -> set[tuple[str, str]]:
    server = McpServer("test")
    server.register(Offers)
    return {(finding.name, finding.text) for finding in server.check(revision)}


def test_the_newest_revision_can_say_everything() -> None:
    assert said("2026-07-28") == set()


def test_what_an_older_revision_cannot_say_is_named_by_feature() -> None:
    assert said("2025-11-25") == {("rows", "outputSchema is wrapped: results are objects with the member result")}
    assert said("2025-03-26") == {
        ("rows", "outputSchema is left out"),
        ("rows", "title is left out"),
        ("sounds", "ResourceLink is sent as a block of the type text"),
        ("ask", "title is left out"),
        ("text", "title is left out"),
    }
    assert ("sounds", "AudioContent is sent as a block of the type resource") in said("2024-11-05")


def test_without_a_revision_all_older_ones_are_checked() -> None:
    server = McpServer("test")
    server.register(Offers)
    found = server.check()
    assert {finding.revision for finding in found} == {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
    assert all(finding.where.startswith(f"{__name__}.Offers.") for finding in found)
    assert str(found[0]).startswith("2025-11-25: tool rows: outputSchema is wrapped")


def test_an_unknown_revision_is_refused() -> None:
    with pytest.raises(ValueError, match="no revision '1999-01-01'"):
        said("1999-01-01")
