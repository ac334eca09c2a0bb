"""One parser for all tests of limits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from aui_tui.engine.parser_pool import Parser


@pytest.fixture(scope="session")
def parser() -> Iterator[Parser]:
    """The worker that reads pages."""
    found = Parser()
    yield found
    asyncio.run(found.aclose())
