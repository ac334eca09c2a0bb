"""What fault tests share: a clock that a busy machine does not distort, and an authority for those that speak TLS."""

from __future__ import annotations

import pytest

from tests.clocks import working_clock
from tests.faults.authority import Authority

__all__ = ["working_clock"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A throw-away certificate authority for ``shop.test``."""
    return Authority(tmp_path_factory.mktemp("authority"), "shop.test")
