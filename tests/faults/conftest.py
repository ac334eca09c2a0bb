"""An authority for the fault tests that speak TLS."""

from __future__ import annotations

import pytest

from tests.faults.authority import Authority


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A throw-away certificate authority for ``shop.test``."""
    return Authority(tmp_path_factory.mktemp("authority"), "shop.test")
