import io
import logging

import anyio
import pytest

from mcpconnect.context import Disposals


def test_the_last_thing_deferred_goes_first() -> None:
    gone: list[str] = []
    disposals = Disposals()
    disposals.add(lambda: gone.append("first"))
    disposals.add(lambda: gone.append("second"))
    assert disposals.close() is None
    assert gone == ["second", "first"]
    assert not disposals


def test_a_thing_with_close_is_closed() -> None:
    stream = io.BytesIO(b"x")
    disposals = Disposals()
    disposals.add(stream)
    disposals.close()
    assert stream.closed


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_awaitables_are_awaited_in_order(backend: str) -> None:
    gone: list[str] = []

    class Connection:
        async def aclose(self) -> None:
            await anyio.lowlevel.checkpoint()
            gone.append("connection")

    async def body() -> None:
        disposals = Disposals()
        disposals.add(lambda: gone.append("outermost"))
        disposals.add(Connection())
        disposals.add(lambda: gone.append("innermost"))
        pending = disposals.close()
        assert pending is not None
        assert gone == ["innermost"]
        await disposals.aclose(pending)

    anyio.run(body, backend=backend)
    assert gone == ["innermost", "connection", "outermost"]


def test_a_failure_is_logged_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    gone: list[str] = []
    disposals = Disposals()
    disposals.add(lambda: gone.append("reached"))
    disposals.add(lambda: 1 / 0)
    with caplog.at_level(logging.WARNING, "mcpconnect.calls"):
        disposals.close()
    assert gone == ["reached"]
    assert [record.event for record in caplog.records] == ["defer-failed"]  # type: ignore[attr-defined]


def test_something_that_cannot_be_closed_is_refused() -> None:
    with pytest.raises(TypeError, match="close"):
        Disposals().add(5)


def test_a_kept_stream_is_known_by_identity() -> None:
    one, other = io.BytesIO(), io.BytesIO()
    disposals = Disposals()
    disposals.keep(one)
    assert disposals.keeps(one)
    assert not disposals.keeps(other)
