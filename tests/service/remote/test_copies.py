"""Copies of what a source said: asked about again by their tag, shown offline, damaged, linked."""

from __future__ import annotations

from pathlib import Path

import pytest

from aui_tui.errors import (
    Unavailable,
)
from aui_tui.records.query import Query
from aui_tui.service.remote import client as remote_client
from tests.cards import INDEX, RICH_OPEN, WALLED
from tests.service.remote.reader import BODY, CARD, JSON, Clock, hosts, remote
from tests.service.remote.scripted import Said, Source


async def test_list_is_fetched_once_and_asked_about_again_by_its_tag(source: Source) -> None:
    source.say["/api/index.json"] = lambda fields: (
        Said(304) if fields.get("if-none-match") == '"one"' else Said(body=BODY, fields={**JSON, "ETag": '"one"'})
    )
    clock = Clock()
    service = remote(source, clock=clock)
    for _ in range(3):
        assert await hosts(service) == [row.host for row in INDEX.ranked]
    assert len(source.asked) == 1
    clock.now += remote_client.FRESH + 1
    view = await service.index(Query())
    assert (view.notice, len(view.ranked)) == ("", 2)
    assert [fields.get("if-none-match") for _, fields in source.asked] == [None, '"one"']
    await service.aclose()


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


async def test_offline_the_last_copy_is_shown_with_its_age(source: Source, tmp_path: Path) -> None:
    clock = Clock()
    service = remote(source, folder=tmp_path, clock=clock)
    await service.index(Query())
    await service.site(RICH_OPEN.host)
    source.stop()
    clock.now += 3 * 3600
    view = await service.index(Query())
    assert len(view.ranked) == 2
    assert view.notice == (
        f"127.0.0.1:{source.port} cannot be reached: the connection is refused. Shown is the copy of 3 h ago."
    )
    await service.aclose()
    clock.now += 5 * 86400
    later = remote(source, folder=tmp_path, clock=clock)
    assert "the copy of 5 days ago" in (await later.index(Query())).notice
    dossier = await later.site(RICH_OPEN.host)
    assert dossier.card.host == RICH_OPEN.host
    assert "the copy of 5 days ago" in dossier.notice
    with pytest.raises(Unavailable, match="cannot be reached"):
        await later.site(WALLED.host)
    await later.aclose()
    without = remote(source)
    with pytest.raises(Unavailable, match=r"^127\.0\.0\.1:\d+ cannot be reached: the connection is refused\.$"):
        await without.index(Query())
    await without.aclose()


async def test_a_source_that_falls_ill_shows_the_copy_and_recovers(source: Source) -> None:
    clock = Clock()
    service = remote(source, clock=clock)
    await service.index(Query())
    for said in (Said(500), Said(200, b"<!doctype html><title>Login</title>"), Said(200, b'{"ranked":'), Said(429)):
        source.say["/api/index.json"] = said
        clock.now += remote_client.FRESH + 1
        view = await service.index(Query())
        assert len(view.ranked) == 2
        assert "Shown is the copy of" in view.notice
    source.say["/api/index.json"] = Said(body=BODY, fields=JSON)
    clock.now += remote_client.FRESH + 1
    assert (await service.index(Query())).notice == ""
    await service.aclose()


@pytest.mark.parametrize("damage", [b"", b"\x80\x04\x95", b"{}\n", b'{"url":"x"}\n{}', b"A" * 40_000])
async def test_damaged_copies_are_as_if_absent(source: Source, tmp_path: Path, damage: bytes) -> None:
    first = remote(source, folder=tmp_path)
    await first.index(Query())
    await first.aclose()
    (copy,) = tmp_path.glob("*.copy")
    copy.write_bytes(damage)
    second = remote(source, folder=tmp_path)
    assert len((await second.index(Query())).ranked) == 2
    assert "if-none-match" not in source.asked[-1][1]
    await second.aclose()


async def test_a_copy_that_is_a_link_is_not_followed(source: Source, tmp_path: Path) -> None:
    first = remote(source, folder=tmp_path / "copies")
    await first.index(Query())
    await first.aclose()
    (copy,) = (tmp_path / "copies").glob("*.copy")
    copy.rename(tmp_path / "elsewhere")
    copy.symlink_to(tmp_path / "elsewhere")
    second = remote(source, folder=tmp_path / "copies")
    await second.index(Query())
    assert "if-none-match" not in source.asked[-1][1]
    await second.aclose()


async def test_a_folder_that_cannot_be_written_costs_nothing_but_the_copy(source: Source, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    service = remote(source, folder=tmp_path / "file" / "copies")
    assert len((await service.index(Query())).ranked) == 2
    await service.aclose()
