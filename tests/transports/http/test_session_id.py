"""What the id of a session holds."""

import base64
import struct
from typing import Any

import pytest

from mcpconnect.context import Sealer
from mcpconnect.protocol.peer import Peer
from mcpconnect.protocol.revisions import SUPPORTED
from mcpconnect.transports.http.session_id import new_id, owner_digest, read_id

SEALER = Sealer("a secret of more than sixteen bytes", "session")


@pytest.mark.parametrize("revision", SUPPORTED, ids=lambda revision: revision.version)
def test_an_id_tells_the_client_again(revision: Any) -> None:
    capabilities = {
        "roots": {"listChanged": True},
        "sampling": {"tools": {}},
        "elicitation": {},
        "tasks": {"cancel": {}},
    }
    text = new_id(SEALER, Peer(revision, {"name": "client", "version": "1.2.3"}, capabilities), "ada")
    facts = read_id(SEALER, text)
    assert facts is not None
    assert facts.peer.revision is revision
    assert (facts.peer.name, facts.peer.version) == ("client", "1.2.3")
    assert facts.peer.capabilities == capabilities
    assert facts.owner == owner_digest("ada") != owner_digest("bob")


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"roots": {}},
        {"sampling": {"context": {}, "tools": {}}},
        {"elicitation": {"form": {}, "url": {}}},
        {"tasks": {"list": {}}},
    ],
)
def test_capabilities_stay_what_they_are(capabilities: dict[str, Any]) -> None:
    facts = read_id(SEALER, new_id(SEALER, Peer(SUPPORTED[1], {}, capabilities)))
    assert facts is not None
    assert facts.peer.capabilities == capabilities
    assert facts.peer.client_info == {}


@pytest.mark.parametrize("name", ["", "a" * 500, "ü" * 100, "日本語クライアント", "with\0nul"])
def test_an_id_is_short_visible_ascii_whatever_the_client_is_called(name: str) -> None:
    peer = Peer(SUPPORTED[1], {"name": name, "version": name}, {})
    text = new_id(SEALER, peer)
    assert len(text) <= 96
    assert all("!" <= character <= "~" for character in text)
    facts = read_id(SEALER, text)
    assert facts is not None
    assert peer.name.replace("\0", "").startswith(facts.peer.name)


def test_no_two_ids_are_equal_and_an_id_shows_nothing() -> None:
    peer = Peer(SUPPORTED[1], {"name": "visible", "version": "1"}, {})
    ids = {new_id(SEALER, peer) for _ in range(1000)}
    assert len(ids) == 1000
    assert len({text[:8] for text in ids}) > 990, "not even its beginning repeats"
    assert not any(b"visible" in base64.urlsafe_b64decode(text + "==") for text in ids)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        b"\x02" + b"\0" * 40,
        struct.pack(">BIBH8s10s", 1, 0, 200, 0, b"", b"") + b"name\x001",
        struct.pack(">BIBH8s10s", 1, 0, 5, 0, b"", b"") + b"name\x001",
    ],
)
def test_what_is_sealed_but_no_id_of_ours_is_none(data: bytes) -> None:
    assert read_id(SEALER, SEALER.seal(data)) is None


def test_what_was_sealed_for_another_purpose_is_none() -> None:
    other = Sealer("a secret of more than sixteen bytes", "state")
    assert read_id(SEALER, new_id(other, Peer(SUPPORTED[1], {}, {}))) is None
