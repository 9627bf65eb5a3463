import logging

import pytest

from mcpconnect.context import Hub


def test_every_listener_hears_each_topic_until_it_leaves() -> None:
    heard: list[tuple[str, str]] = []
    hub = Hub()
    leave = hub.subscribe(lambda topic: heard.append(("one", topic)))
    hub.subscribe(lambda topic: heard.append(("two", topic)))
    hub.publish("tools")
    leave()
    hub.publish("tools")
    assert heard == [("one", "tools"), ("two", "tools"), ("two", "tools")]
    assert len(hub) == 1


def test_a_failing_listener_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    def fail(topic: str) -> None:
        raise ValueError("no")

    hub = Hub()
    hub.subscribe(fail)
    hub.subscribe(heard.append)
    with caplog.at_level(logging.WARNING, "mcpconnect.hub"):
        hub.publish("tools")
    assert heard == ["tools"]
    assert caplog.records[0].event == "listener-failed"  # type: ignore[attr-defined]
