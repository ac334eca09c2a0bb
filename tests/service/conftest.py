from __future__ import annotations

import time
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from tests.index.clock import Clock


@pytest.fixture
def clock() -> Iterator[Clock]:
    """A clock that stands still until a test sets it."""
    with patch("time.time", Clock(time.time())) as clock:
        yield clock
