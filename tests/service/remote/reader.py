"""The client under test, and what its source says when nothing else is asked for."""

from __future__ import annotations

from aui_tui.model.query import Query
from aui_tui.service.remote.published import PublishedIndex
from tests.cards import INDEX, RICH_OPEN, encode_index
from tests.service.remote.scripted import Source

JSON = {"Content-Type": "application/json"}
BODY = encode_index(INDEX)
CARD = f"/api/site/{RICH_OPEN.host}.json"


def remote(source: Source | str) -> PublishedIndex:
    return PublishedIndex(source if isinstance(source, str) else source.url)


async def hosts(service: PublishedIndex, query: Query | None = None) -> list[str]:
    view = await service.index(query or Query())
    return [row.summary.host for row in view.ranked[:]]
