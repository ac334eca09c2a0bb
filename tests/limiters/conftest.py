"""One analyser for all tests of limits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from aui_tui.engine.parser_pool import Analyser


@pytest.fixture(scope="session")
def analyser() -> Iterator[Analyser]:
    """The worker that reads pages."""
    found = Analyser()
    yield found
    asyncio.run(found.aclose())
