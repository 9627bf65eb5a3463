from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def backend(request) -> str:
    return request.param


@pytest.fixture
def marker(tmp_path) -> Path:
    return tmp_path / "marker"
