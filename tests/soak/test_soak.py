"""The short soak: two thousand scans at concurrency 50 leave nothing behind."""

from __future__ import annotations

import pytest

from tests.soak.__main__ import run


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_thousand_scans_leave_nothing() -> None:
    result = run(2000, 50)
    print(result)
    assert (result.tasks, result.sockets, result.files, result.threads) <= (0, 0, 0, 0)
    assert result.clean
    assert result.outcomes["served"] > result.outcomes["inconclusive"] > 0
