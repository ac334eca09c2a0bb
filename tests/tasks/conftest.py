from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aui_tui.tasks.browser import Browser, available


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests of a process."""
    missing = available()
    if missing:
        pytest.skip(f"needs {missing}")
    made = Browser()
    yield made
    await made.aclose()
