from __future__ import annotations

import pytest

from mcpconnect.protocol import Peer
from mcpconnect.protocol.revisions import LATEST


def test_a_peer_says_who_it_is():
    peer = Peer.of(LATEST, {"name": "demo", "version": "0.1", "more": 1}, {"sampling": {}})
    assert (peer.name, peer.version, peer.revision) == ("demo", "0.1", LATEST)


@pytest.mark.parametrize("junk", [None, 5, "x", [1], {"name": 5, "version": None}])
def test_what_a_peer_says_wrongly_reads_as_not_given(junk):
    peer = Peer.of(LATEST, junk, junk if not isinstance(junk, dict) else None)
    assert (peer.name, peer.version) == ("", "")
    assert not peer.can("sampling")


def test_capabilities_are_asked_by_path():
    peer = Peer.of(
        LATEST, None, {"elicitation": {"form": {}, "url": None}, "roots": False, "tools": {"listChanged": True}}
    )
    assert peer.can("elicitation")
    assert peer.can("elicitation", "form")
    assert peer.can("tools", "listChanged")
    assert not peer.can("elicitation", "url")
    assert not peer.can("roots")
    assert not peer.can("tools", "listChanged", "deeper")
