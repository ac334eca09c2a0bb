from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from aui_tui.index.cache import CacheFile, Leases
from aui_tui.index.reports import Reports
from tests.index.clock import NOW, Clock


@pytest.fixture(autouse=True, scope="module")
def _standing_clock(request: pytest.FixtureRequest) -> Iterator[Clock]:
    """Stop the clock, at the ``NOW`` of a module that has its own."""
    clock = Clock(getattr(request.module, "NOW", NOW))
    with patch("time.time", clock):
        yield clock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Reports]:
    """An empty index."""
    with closing(Reports(tmp_path / "index.db")) as opened:
        yield opened


@pytest.fixture
def clock(_standing_clock: Clock) -> Iterator[Clock]:
    """The clock that a test may set."""
    yield _standing_clock
    _standing_clock.now = NOW


@pytest.fixture
def limits(tmp_path: Path, clock: Clock) -> CacheFile:
    """The file of quotas and leases."""
    return CacheFile(tmp_path / "limits")


@pytest.fixture
def leases(limits: CacheFile) -> Leases:
    return Leases(limits)
