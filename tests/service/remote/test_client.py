"""Scans through a published index: asked once, told with what is left and when the next one is free."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import pytest

from aui_tui.errors import BadValue, InvalidHost, NeverScanned, RateLimited, Unavailable
from aui_tui.model import codec
from aui_tui.model.options import ScanOptions
from aui_tui.model.query import Query
from aui_tui.service.remote import client as remote_client
from aui_tui.service.remote.client import RemoteService
from tests.cards import DEAD, INDEX, RICH_OPEN, WALLED
from tests.index.clock import Clock
from tests.service.remote.reader import BODY, CARD, JSON, hosts, remote
from tests.service.remote.scripted import Said, Source


async def test_a_scan_is_asked_once_whatever_happens(source: Source, service: RemoteService) -> None:
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


async def test_a_scan_makes_the_list_be_asked_for_again(source: Source, service: RemoteService) -> None:
    source.say["/api/scan"] = Said(body=codec.encode_card(DEAD), fields=JSON)
    await service.index(Query())
    await service.scan(DEAD.host)
    await service.index(Query())
    assert source.paths().count("/api/index.json?limit=10000") == 2


async def test_invalid_host_is_reported_in_the_words_of_the_service(source: Source, service: RemoteService) -> None:
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


async def test_host_never_leaves_its_place_in_the_address(source: Source, service: RemoteService) -> None:
    for host in ("../../admin", "a?b=c", "a#b", "http://x.example:8080", "a\r\nX: y", "ä.example"):
        with pytest.raises(NeverScanned):
            await service.site(host)
    assert all(path.startswith("/api/site/") and path.endswith(".json") for path in source.paths())
    assert not any(mark in path.removeprefix("/api/site/") for path in source.paths() for mark in "/?# ")


async def test_list_is_fetched_once_and_asked_about_again_by_its_tag(source: Source, clock: Clock) -> None:
    source.say["/api/index.json"] = lambda fields: (
        Said(304) if fields.get("if-none-match") == '"one"' else Said(body=BODY, fields={**JSON, "ETag": '"one"'})
    )
    service = remote(source)
    for _ in range(3):
        assert await hosts(service) == [row.host for row in INDEX.ranked]
    assert len(source.asked) == 1
    clock.now += remote_client.FRESH + 1
    view = await service.index(Query())
    assert (view.notice, len(view.ranked)) == ("", 2)
    assert [fields.get("if-none-match") for _, fields in source.asked] == [None, '"one"']
    service.refresh()
    assert len((await service.index(Query())).ranked) == 2
    assert len(source.asked) == 3
    await service.aclose()


async def test_a_list_that_was_replaced_goes_with_its_last_view(source: Source, tmp_path: Path, clock: Clock) -> None:
    tempfile.tempdir, before = str(tmp_path), tempfile.tempdir
    try:
        service = remote(source, folder=tmp_path / "copies")
        view = await service.index(Query())
        (first,) = tmp_path.glob("aui-tui-*")
        clock.now += remote_client.FRESH + 1
        source.say["/api/index.json"] = Said(body=BODY, fields={**JSON, "ETag": '"two"'})
        assert await hosts(service) == [row.host for row in INDEX.ranked]
        assert [row.summary.host for row in view.ranked[:]] == [row.host for row in INDEX.ranked]
        assert first.exists()
        del view
        gc.collect()
        assert not first.exists()
        await service.aclose()
    finally:
        tempfile.tempdir = before


async def test_copies_outlive_the_program_and_are_asked_about_by_their_tag(source: Source, tmp_path: Path) -> None:
    for number in range(2):
        service = remote(source, folder=tmp_path / "copies")
        await service.index(Query())
        assert (await service.site(RICH_OPEN.host)).card.score == RICH_OPEN.score
        await service.aclose()
        if number == 0:
            source.say["/api/index.json"] = source.say[CARD] = Said(304)
    assert [fields.get("if-none-match") for _, fields in source.asked] == [None, None, '"one"', '"card"']
    assert (tmp_path / "copies").stat().st_mode & 0o777 == 0o700


async def test_offline_the_last_copy_is_shown_with_its_age(source: Source, tmp_path: Path, clock: Clock) -> None:
    service = remote(source, folder=tmp_path)
    await service.index(Query())
    await service.site(RICH_OPEN.host)
    source.stop()
    clock.now += 3 * 3600
    view = await service.index(Query())
    assert len(view.ranked) == 2
    assert view.notice.startswith(f"127.0.0.1:{source.port} cannot be reached: the connection ")
    assert view.notice.endswith(". This is the copy of 3 h ago.")
    await service.aclose()
    clock.now += 5 * 86400
    later = remote(source, folder=tmp_path)
    assert "the copy of 5 days ago" in (await later.index(Query())).notice
    report = await later.site(RICH_OPEN.host)
    assert report.card.host == RICH_OPEN.host
    assert "the copy of 5 days ago" in report.notice
    with pytest.raises(Unavailable, match="cannot be reached"):
        await later.site(WALLED.host)
    await later.aclose()
    without = remote(source)
    with pytest.raises(Unavailable, match=r"^127\.0\.0\.1:\d+ cannot be reached: the connection is refused\.$"):
        await without.index(Query())
    await without.aclose()


async def test_a_source_that_falls_ill_shows_the_copy_and_recovers(source: Source, clock: Clock) -> None:
    service = remote(source)
    await service.index(Query())
    for said in (Said(500), Said(200, b"<!doctype html><title>Login</title>"), Said(200, b'{"ranked":'), Said(429)):
        source.say["/api/index.json"] = said
        clock.now += remote_client.FRESH + 1
        view = await service.index(Query())
        assert len(view.ranked) == 2
        assert "This is the copy " in view.notice
    source.say["/api/index.json"] = Said(body=BODY, fields=JSON)
    clock.now += remote_client.FRESH + 1
    assert (await service.index(Query())).notice == ""
    await service.aclose()


@pytest.mark.parametrize("damage", [b"", b"\x80\x04\x95", b"{}\n", b"A" * 40_000])
async def test_damaged_copies_are_as_if_absent(source: Source, tmp_path: Path, damage: bytes) -> None:
    first = remote(source, folder=tmp_path)
    await first.index(Query())
    await first.aclose()
    (tmp_path / "cache.db").write_bytes(damage)
    second = remote(source, folder=tmp_path)
    assert len((await second.index(Query())).ranked) == 2
    assert "if-none-match" not in source.asked[-1][1]
    await second.aclose()


async def test_a_folder_that_cannot_be_written_costs_nothing_but_the_copy(source: Source, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    service = remote(source, folder=tmp_path / "file" / "copies")
    assert len((await service.index(Query())).ranked) == 2
    await service.aclose()
