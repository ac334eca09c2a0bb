"""Crawls of a real site on loopback, into a real index."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import pytest

from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.target import parse
from aui_tui.service.crawl.listing import BadRow, ListedHost
from aui_tui.service.crawl.work import CrawlSettings, Here
from aui_tui.service.local import LocalService
from tests.faults.site import Site


def access_to(port: int) -> ScanPolicy:
    """Return an access that leads every name to the site on ``port``."""
    return ScanPolicy(connect_to=(ConnectTo("", 80, "127.0.0.1", port),))


def rows(urls: Iterable[str]) -> list[ListedHost]:
    return [ListedHost(line, url, parse(url, allow_private=True).site) for line, url in enumerate(urls, 1)]


def hosts(count: int) -> list[str]:
    return [f"http://h{number}.test" for number in range(count)]


async def grouped(found: Sequence[ListedHost | BadRow], size: int = 10) -> AsyncIterator[list[ListedHost | BadRow]]:
    for start in range(0, len(found), size):
        yield list(found[start : start + size])


def settings_of(service: LocalService) -> CrawlSettings:
    return CrawlSettings.of(service.access, base_url="http://127.0.0.1", keys="names")


def homepages(site: Site) -> Counter[str]:
    """Return how often each host's homepage was asked for."""
    return Counter(asked.field("host") for asked in site.asked if asked.path == "/")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as found:
        yield found


@pytest.fixture
async def service(tmp_path: Path, site: Site) -> AsyncIterator[LocalService]:
    found = LocalService(tmp_path / "data", access=access_to(site.port))
    yield found
    await found.aclose()


@pytest.fixture
async def workers(service: LocalService) -> AsyncIterator[Here]:
    """Scans in this process."""
    async with Here(settings_of(service)) as found:
        yield found
