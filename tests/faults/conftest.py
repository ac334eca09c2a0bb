"""One parser for all fault tests: its worker starts once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from aui_tui.engine.parser_pool import Parser
from tests.faults.authority import Authority


@pytest.fixture(scope="session")
def parser() -> Iterator[Parser]:
    """The worker that reads what the broken servers send."""
    found = Parser()
    yield found
    asyncio.run(found.aclose())


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A throw-away certificate authority for ``shop.test``."""
    return Authority(tmp_path_factory.mktemp("authority"), "shop.test")
