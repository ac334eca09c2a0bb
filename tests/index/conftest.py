from __future__ import annotations

from pathlib import Path

import pytest

from aui_tui.index.cache import CacheFile, Leases
from tests.index.clock import Clock


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
