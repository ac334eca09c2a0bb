"""Scans from the dashboard: which address is asked, what is asked about first, what an invalid address does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from textual.content import Content

from aui_tui.errors import InvalidHost, PrivateHost
from aui_tui.model import labels
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.scan.target import parse
from aui_tui.service.protocol import Feed
from aui_tui.tui import dashboard
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import Context
from aui_tui.tui.screens import index as index_module
from aui_tui.tui.screens.listparts import empty_text
from aui_tui.tui.screens.windows import AskScreen
from aui_tui.tui.state import ListState
from tests.scan.situations import plain

from .cards import NOW, make_card
from .service import CardService
from .stage import press, settle, shows, stage, text_of, until, work_ended

LOCAL = "localhost:8917"


class Remembering(CardService):
    """Knows that its host was scanned over plain http."""

    origin = f"http://{LOCAL}"

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        found = await super().site(host, method=method, at=at)
        seen = replace(plain(), host=host, input_host=host, origin=self.origin, scanned_at=found.card.scanned_at)
        return replace(found, observations=seen)


def remembering() -> Remembering:
    return Remembering([replace(make_card(1), host=LOCAL)])


@pytest.mark.ci
@pytest.mark.parametrize("keys", [("s",), ("enter", "s"), ("enter", "f")], ids=" ".join)
async def test_a_site_is_scanned_at_the_address_it_was_scanned_at(keys: tuple[str, ...]) -> None:
    service = remembering()
    async with stage(service) as pilot:
        await press(pilot, *keys)
        await work_ended(pilot)
        await settle(pilot)
    assert service.scanned == [(f"http://{LOCAL}", keys[-1] == "f")]


@pytest.mark.ci
async def test_marked_hosts_are_scanned_at_the_addresses_they_were_scanned_at() -> None:
    service = Remembering([replace(make_card(n), host=f"localhost:{8000 + n}") for n in (1, 2)])
    async with stage(service) as pilot:
        await press(pilot, "space", "space", "s", "up", "enter")
        await work_ended(pilot)
    assert service.scanned == [(service.origin, False)] * 2


@pytest.mark.parametrize(
    ("origin", "asked"), [("https://shop.example", "shop.example"), ("http://shop.example", "http://shop.example")]
)
def test_https_is_asked_by_the_host_alone(origin: str, asked: str) -> None:
    seen = replace(plain(), origin=origin)
    assert labels.address("shop.example", seen) == asked
    assert labels.address("shop.example", None) == "shop.example"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses handed to the browser."""
    urls: list[str] = []
    monkeypatch.setattr(AuiApp, "open_url", lambda self, url, *, new_tab=True: urls.append(url))
    return urls


@pytest.mark.parametrize("keys", [("o",), ("enter", "o")], ids=" ".join)
async def test_o_opens_the_site_itself(
    keys: tuple[str, ...], opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard, "has_browser", lambda environ: True)
    async with stage(remembering()) as pilot:
        await press(pilot, *keys)
    assert opened == [f"http://{LOCAL}/"]


@pytest.mark.parametrize("remote", ["SSH_CONNECTION", "SSH_TTY"])
async def test_o_copies_the_address_where_no_browser_would_be_seen(
    remote: str, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv(remote, "x")
    async with stage(remembering()) as pilot:
        await press(pilot, "o")
        assert pilot.app.clipboard == f"http://{LOCAL}/"
        assert f"http://{LOCAL}/ is copied" in text_of(pilot)
    assert opened == []


@pytest.mark.ci
async def test_the_last_scans_of_the_hour_are_asked_about_before_the_cache_is_skipped() -> None:
    service = CardService.of(3)
    service.left = 3
    async with stage(service) as pilot:
        await press(pilot, "f")
        assert "3 scans are left this hour" in text_of(pilot)
        await press(pilot, "escape")
        assert service.scanned == []
        await press(pilot, "f", "up", "enter")
        await work_ended(pilot)
    assert len(service.scanned) == 1


@pytest.mark.ci
async def test_an_invalid_address_stays_to_be_corrected() -> None:
    service = CardService.of(3)
    async with stage(service) as pilot:
        service.failure = InvalidHost("“exa mple” holds a space; give one host name such as example.com.")
        await press(pilot, "S", *"exa", "enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, AskScreen)
        text = text_of(pilot)
        assert "holds a space" in text
        service.failure = None
        await press(pilot, *"mple.com", "enter")
        await work_ended(pilot)
    assert service.scanned == [("example.com", False)]


@pytest.mark.ci
async def test_an_address_of_ones_own_is_refused_with_the_option_that_allows_it() -> None:
    service = CardService.of(3)
    async with stage(service, (140, 40)) as pilot:
        with pytest.raises(PrivateHost) as refused:
            parse("http://localhost:8917")
        service.failure = refused.value
        await press(pilot, "S", *"http://localhost:8917", "enter")
        await work_ended(pilot)
        await settle(pilot)
        assert "--allow-private" in text_of(pilot)


async def test_a_list_without_ranked_hosts_says_how_many_were_scanned() -> None:
    dead = next(card for card in (make_card(n) for n in range(60)) if card.unreachable)
    async with stage(CardService([dead])) as pilot:
        assert "1 host was scanned, and none could be reached." in text_of(pilot)
        assert "No host has been scanned" not in text_of(pilot)


@pytest.mark.ci
async def test_a_cancelled_scan_keeps_what_was_answered_in_the_log() -> None:
    service = CardService.of(3)
    service.gate = asyncio.Event()
    async with stage(service) as pilot:
        await press(pilot, "enter", "s")
        await shows(pilot, "2/11 probes")
        await press(pilot, "escape", "6")
        await shows(pilot, "cancelled", "200")


def of_feed(service: CardService, gate: asyncio.Event) -> Feed:
    """Scans two hosts, the second one when ``gate`` opens."""

    async def run(on_card: Callable[[object], None]) -> None:
        on_card(await service.scan("first.example"))
        await gate.wait()
        on_card(await service.scan("second.example"))

    return Feed("demo", 2, run)


@pytest.mark.parametrize("stopped", [False, True])
async def test_hosts_stream_into_a_list_that_is_open_and_esc_keeps_what_has_come(
    stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty: set[str] = set()

    def drawn(*given: Any, **named: Any) -> Content:
        shown = empty_text(*given, **named)
        empty.add(shown.plain)
        return shown

    monkeypatch.setattr(index_module, "empty_text", drawn)
    service, gate = CardService(), asyncio.Event()
    app = AuiApp(Context(service, clock=NOW.timestamp, feed=of_feed(service, gate)))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: app.fed == 1)
        await shows(pilot, "demo: 1 of 2 scans")
        if stopped:
            await pilot.press("escape")
        else:
            gate.set()
        await until(lambda: app.fed == -1)
        await settle(pilot)
        text = text_of(pilot)
        assert "first.example" in text
        assert ("second.example" in text) is not stopped
        assert ("AUI  1 site " if stopped else "AUI  2 sites ") in text
    assert empty <= {"The first sites are being asked …"}


async def test_a_feed_that_ends_with_nothing_leaves_the_invitation() -> None:
    async def run(on_card: Callable[[object], None]) -> None:
        await asyncio.sleep(0)

    app = AuiApp(Context(CardService(), clock=NOW.timestamp, feed=Feed("demo", 2, run)))
    assert app.fed == 0
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: app.fed == -1)
        await shows(pilot, "Can AI assistants get into your site?")


def test_unreachable_hosts_are_no_result_while_others_are_asked() -> None:
    dead = next(card for card in (make_card(n) for n in range(60)) if card.unreachable)
    view = asyncio.run(CardService([dead]).index(Query()))
    shown = empty_text(ListState(view=view), True, feeding=True)
    assert shown.plain == "The first sites are being asked …"


class Full(CardService):
    """Cannot store what it scans."""

    async def scan(self, url: str, options: ScanOptions = ORDINARY, **told: Any) -> HostReport:
        report = await super().scan(url, options, **told)
        self.store.forget(url)
        return replace(report, warnings=("This scan is not saved.",))


async def test_a_scan_that_could_not_be_stored_is_shown_and_not_denied() -> None:
    async with stage(Full([make_card(1)])) as pilot:
        assert isinstance(pilot.app, AuiApp)
        pilot.app.scan("new.example")
        await shows(pilot, "new.example", "This scan is not saved.")
        await settle(pilot)
        assert "never been scanned" not in text_of(pilot)


class Damaged(CardService):
    """Finds out while it runs that its index is damaged."""

    found: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.found


async def test_what_goes_wrong_with_the_index_meanwhile_is_said_once() -> None:
    service = Damaged([make_card(1)])
    async with stage(service) as pilot:
        assert isinstance(pilot.app, AuiApp)
        service.found = ("The index was damaged.",)
        for _ in range(2):
            await pilot.app.look_for_changes()
            await shows(pilot, "The index was damaged.")
        await settle(pilot)
        assert text_of(pilot).count("The index was damaged.") == 1
