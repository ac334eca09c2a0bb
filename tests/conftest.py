"""What holds for every test, and the parser that those of the engine share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import settings

from aui_tui.scan.parser_pool import Parser

settings.register_profile("project", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=300)
settings.load_profile("project")


@pytest.fixture(scope="session")
def parser() -> Iterator[Parser]:
    """The worker that reads what servers send; it starts once."""
    found = Parser()
    yield found
    asyncio.run(found.aclose())
