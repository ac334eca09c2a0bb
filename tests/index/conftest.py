from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from aui_tui.index.cache import Leases, SharedCache
from aui_tui.index.store import Store
from tests.index.clock import NOW, Clock


@pytest.fixture(autouse=True, scope="module")
def _standing_clock(request: pytest.FixtureRequest) -> Iterator[Clock]:
    """Stop the clock, at the ``NOW`` of a module that has its own."""
    clock = Clock(getattr(request.module, "NOW", NOW))
    with patch("time.time", clock):
        yield clock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty index."""
    with closing(Store(tmp_path / "index.db")) as opened:
        yield opened


@pytest.fixture
def clock(_standing_clock: Clock) -> Iterator[Clock]:
    """The clock that a test may set."""
    yield _standing_clock
    _standing_clock.now = NOW


@pytest.fixture
def shared(tmp_path: Path, clock: Clock) -> SharedCache:
    """The cache that processes share."""
    return SharedCache(tmp_path / "cache")


@pytest.fixture
def leases(shared: SharedCache) -> Leases:
    return Leases(shared)
