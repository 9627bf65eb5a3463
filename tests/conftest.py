"""Fixtures for every test."""

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run `@pytest.mark.anyio` tests on both backends."""
    backend: str = request.param
    return backend
