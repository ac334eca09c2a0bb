"""A source that publishes an index and one card."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest

from aui_tui.model import codec
from aui_tui.service.remote.published import PublishedIndex
from tests.cards import RICH_OPEN
from tests.service.remote.reader import BODY, CARD, JSON, remote
from tests.service.remote.scripted import Said, Source, scripted


@pytest.fixture
def source() -> Iterator[Source]:
    with scripted() as running:
        running.say["/api/index.json"] = Said(body=BODY, fields={**JSON, "ETag": '"one"'})
        running.say[CARD] = Said(body=codec.encode_card(RICH_OPEN), fields={**JSON, "ETag": '"card"'})
        yield running


@pytest.fixture
async def service(source: Source) -> AsyncIterator[PublishedIndex]:
    """The client of that source."""
    async with aclosing(remote(source)) as opened:
        yield opened
