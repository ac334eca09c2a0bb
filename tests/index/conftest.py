from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aui_tui.index.cache import DiskCache, Leases
from tests.index.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits(tmp_path: Path) -> Iterator[DiskCache]:
    """The file of quotas and leases."""
    disk = DiskCache(tmp_path / "limits", evict=False)
    yield disk
    disk.close()


@pytest.fixture
def leases(limits: DiskCache, clock: Clock) -> Leases:
    return Leases(limits, clock=clock)
