"""Handles: which values make room, who gets a value that is closed, and what cannot be kept."""

import threading
from typing import Any

import pytest

from mcpconnect import Handles, ToolError


def test_the_one_unused_for_longest_makes_room() -> None:
    handles: Handles[str] = Handles(limit=3)
    first, second, third = (handles.open(name) for name in ("first", "second", "third"))
    assert handles.get(first) == "first"
    fourth = handles.open("fourth")
    with pytest.raises(ToolError):
        handles.get(second)
    assert [handles.get(each) for each in (third, first, fourth)] == ["third", "first", "fourth"]
    handles.open("fifth")
    with pytest.raises(ToolError):
        handles.get(third)
    assert len(handles) == 3


def test_one_caller_alone_closes_a_handle_even_if_another_comes_between(monkeypatch: pytest.MonkeyPatch) -> None:
    handles: Handles[str] = Handles()
    handle = handles.open("value")
    got: list[str] = []
    lock = threading.Lock()

    def close() -> None:
        try:
            got.append(handles.close(handle))
        except ToolError:
            got.append("gone")

    class LetsAnotherIn:
        def __enter__(self) -> None:
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()
            if not got:
                got.append("another:")
                close()

    monkeypatch.setattr(handles, "_lock", LetsAnotherIn())
    close()
    assert sorted(got) == ["another:", "gone", "value"]


@pytest.mark.parametrize("settings", [{"limit": 0}, {"limit": -1}, {"seconds": 0}, {"seconds": -1.0}])
def test_what_keeps_nothing_is_refused(settings: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Handles(**settings)
