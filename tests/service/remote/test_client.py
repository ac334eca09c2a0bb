"""Scans through a published index: asked once, told with what is left and when the next one is free."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import msgspec
import pytest

from aui_tui.errors import BadValue, InvalidHost, NeverScanned, RateLimited, Unavailable
from aui_tui.model import codec
from aui_tui.model.options import ScanOptions
from aui_tui.model.query import Query
from aui_tui.service.remote.published import PublishedIndex
from tests.cards import INDEX, RICH_OPEN
from tests.index.clock import Clock
from tests.service.remote.reader import CARD, JSON, hosts, remote
from tests.service.remote.scripted import Said, Source


async def test_a_scan_is_asked_once_whatever_happens(source: Source, service: PublishedIndex) -> None:
    for said in (Said(503), Said(502), Said(raw=b""), Said(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")):
        source.say["/api/scan"] = said
        before = len(source.asked)
        with pytest.raises(Unavailable):
            await service.scan("a.example")
        assert len(source.asked) == before + 1


LIMITS: list[tuple[Said, int, str]] = [
    (
        Said(429, fields={"Retry-After": "720"}),
        720,
        "takes no more scans from here for now. The next one is free in 12 min.",
    ),
    (
        Said(429, b'{"detail":"Used up; free in 7 min 3 s."}', {"Retry-After": "423"}),
        423,
        "Used up; free in 7 min 3 s.",
    ),
    (Said(429, b"<html>slow down</html>", {"Retry-After": "90"}), 90, "The next one is free in 2 min."),
    (Said(429, b"Too many requests"), 3600, "It does not say when to try again."),
    (Said(429, fields={"Retry-After": "-5"}), 3600, "It does not say when"),
    (Said(429, fields={"Retry-After": "99999999999999"}), 3600, "It does not say when"),
]


@pytest.mark.parametrize(("said", "wait", "words"), LIMITS, ids=[words[:30] + str(wait) for _, wait, words in LIMITS])
async def test_a_429_says_when(source: Source, said: Said, wait: int, words: str, clock: Clock) -> None:
    source.say["/api/scan"] = said
    service = remote(source)
    with pytest.raises(RateLimited) as error:
        await service.scan("a.example")
    assert error.value.retry_after == wait
    assert error.value.reset_at == clock.now + wait
    assert words in str(error.value)
    assert len(source.asked) == 1
    await service.aclose()


async def test_scan_tells_source_age_and_what_is_left(source: Source, clock: Clock) -> None:
    fields = {**JSON, "RateLimit": '"scan";r=7;t=60', "RateLimit-Policy": '"scan";q=10;w=3600'}
    source.say["/api/scan"] = Said(body=codec.encode_card(RICH_OPEN), fields={**fields, "Cache-Status": "aui-tui; hit"})
    service = remote(source)
    assert await service.quota() is None
    answer = await service.scan("https://shop.example/ä?x=1&force=true#f", ScanOptions(force=True))
    assert source.paths() == ["/api/scan?url=https%3A%2F%2Fshop.example%2F%C3%A4%3Fx%3D1%26force%3Dtrue%23f&force=true"]
    assert (answer.source, answer.card.host, answer.warnings) == ("cache", RICH_OPEN.host, ())
    quota = await service.quota()
    assert quota is not None
    assert (quota.left, quota.limit, quota.next_slot) == (7, 10, clock.now + 60)
    other = await service.scan("a.example", ScanOptions(method="v0.2"))
    assert other.warnings == (f"127.0.0.1:{source.port} grades under v0.1 alone.",)
    with pytest.raises(BadValue, match="sets the categories"):
        await service.scan("a.example", ScanOptions(category="Retail"))
    await service.aclose()


async def test_what_was_scanned_is_in_the_list_at_once(source: Source, service: PublishedIndex) -> None:
    card = msgspec.structs.replace(RICH_OPEN, host="new.example")
    source.say["/api/scan"] = Said(body=codec.encode_card(card), fields=JSON)
    before = await hosts(service)
    await service.scan("new.example")
    assert sorted(await hosts(service)) == sorted([*before, "new.example"])
    assert (await service.site("new.example")).card.score == RICH_OPEN.score
    assert source.paths() == ["/api/index.json", "/api/scan?url=new.example"]


async def test_invalid_host_is_reported_in_the_words_of_the_service(source: Source, service: PublishedIndex) -> None:
    source.say["/api/scan"] = Said(400, b'{"detail":"\\u201cx y\\u201d holds a space.","title":"Invalid host"}')
    with pytest.raises(InvalidHost, match="holds a space"):
        await service.scan("x y")
    source.say["/api/scan"] = Said(400, b"")
    with pytest.raises(InvalidHost, match="calls 'x y' an invalid host"):
        await service.scan("x y")
    source.say["/api/scan"] = Said(400, b'{"detail":"force is odd.","allowed":["true","false"]}')
    with pytest.raises(BadValue) as error:
        await service.scan("x y")
    assert error.value.allowed == ("true", "false")


async def test_host_never_leaves_its_place_in_the_address(source: Source, service: PublishedIndex) -> None:
    for host in ("../../admin", "a?b=c", "a#b", "http://x.example:8080", "a\r\nX: y", "ä.example"):
        with pytest.raises(NeverScanned):
            await service.site(host)
    assert all(path.startswith("/api/site/") and path.endswith(".json") for path in source.paths())
    assert not any(mark in path.removeprefix("/api/site/") for path in source.paths() for mark in "/?# ")


async def test_list_and_cards_are_asked_for_once_until_they_shall_be_read_again(
    source: Source, service: PublishedIndex
) -> None:
    for _ in range(3):
        assert await hosts(service) == [row.host for row in INDEX.ranked]
        assert (await service.site(RICH_OPEN.host)).card.score == RICH_OPEN.score
    assert source.paths() == ["/api/index.json", CARD]
    service.refresh()
    assert len((await service.index(Query())).ranked) == 2
    await service.site(RICH_OPEN.host)
    assert source.paths() == ["/api/index.json", CARD] * 2


async def test_a_card_needs_no_list(source: Source, service: PublishedIndex) -> None:
    assert (await service.site(RICH_OPEN.host)).card.host == RICH_OPEN.host
    assert source.paths() == [CARD]
    assert sorted(await hosts(service)) == sorted(row.host for row in INDEX.ranked)


async def test_a_list_that_was_replaced_goes_with_its_last_view(source: Source, tmp_path: Path) -> None:
    tempfile.tempdir, before = str(tmp_path), tempfile.tempdir
    try:
        service = remote(source)
        view = await service.index(Query())
        (first,) = tmp_path.glob("aui-tui-*")
        service.refresh()
        assert await hosts(service) == [row.host for row in INDEX.ranked]
        assert [row.summary.host for row in view.ranked[:]] == [row.host for row in INDEX.ranked]
        assert first.exists()
        del view
        gc.collect()
        assert not first.exists()
        await service.aclose()
    finally:
        tempfile.tempdir = before


async def test_a_source_that_is_gone_is_said(source: Source) -> None:
    service = remote(source)
    source.stop()
    with pytest.raises(Unavailable, match=r"^127\.0\.0\.1:\d+ cannot be reached: the connection is refused\.$"):
        await service.index(Query())
    await service.aclose()
