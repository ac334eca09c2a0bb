from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aui_tui.index.cache import CacheFile, Leases
from aui_tui.index.reports import Reports
from tests.index.clock import NOW, Clock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Reports]:
    """An empty index."""
    with closing(Reports(tmp_path / "index.db", clock=lambda: NOW)) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits(tmp_path: Path, clock: Clock) -> CacheFile:
    """The file of quotas and leases."""
    return CacheFile(tmp_path / "limits", clock=clock)


@pytest.fixture
def leases(limits: CacheFile) -> Leases:
    return Leases(limits)
