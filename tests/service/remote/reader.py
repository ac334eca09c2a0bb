"""The client under test, and what its source says when nothing else is asked for."""

from __future__ import annotations

from typing import Any

from aui_tui.model.query import Query
from aui_tui.service.remote.client import RemoteService
from tests.cards import INDEX, RICH_OPEN, encode_index
from tests.service.remote.scripted import Source

JSON = {"Content-Type": "application/json"}
BODY = encode_index(INDEX)
CARD = f"/api/site/{RICH_OPEN.host}.json"


def remote(source: Source | str, **options: Any) -> RemoteService:
    return RemoteService(source if isinstance(source, str) else source.url, **options)


async def hosts(service: RemoteService, query: Query | None = None) -> list[str]:
    view = await service.index(query or Query())
    return [row.summary.host for row in view.ranked[:]]
