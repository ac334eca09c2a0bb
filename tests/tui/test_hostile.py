"""A hostile card goes through every screen, pane, toast, title and palette row; nothing of it takes effect."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from aui_tui.model.card import ReportCard
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.tui.app import AuiApp

from .cards import make_card, stamp
from .service import CardService
from .stage import press, settle, stage, strips_of, text_of

PAYLOADS = (
    "[red]RED[/red]",
    "[/nope]",
    "[@click=app.quit]CLICK[/]",
    "[link=https://evil.example]LINK[/link]",
    "Error [Errno 61] at http://[::1]:80/ [/usr/bin]",
    "\x1b]0;TITLE\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31m",
    "\u009b31mC1\u0085\u0090",
    "NUL\x00BEL\x07BS\x08DEL\x7f\r\n\ttab",
    "\u202eBIDI\u2066\u200bZERO\u200d\ufeff\U000e0041",
    "\ud800LONE\udfff",
    "x" * 100_000,
    "界" * 400 + "e" + "\u0301" * 400,
)
FORBIDDEN = frozenset(map(chr, (*range(32), 127, *range(128, 160)))) | set("\u202e\u2066\u200b\u200d\ufeff\ud800\udfff")


def poison(value: Any, payload: str, field: str = "") -> Any:
    """Replace every free string of a record by ``payload``; what the contract pins down stays."""
    if isinstance(value, str):
        pinned = field in ("method", "scanned_at", "grade", "stance", "host", "t", "k")
        return value if pinned else payload
    if isinstance(value, dict):
        keep = field in ("pillars", "pillar_max")
        return {
            (key if keep or field in ("", "semantic", "item") else f"{payload[:300]}{place}"): poison(
                item, payload, key if field in ("", "item") else field
            )
            for place, (key, item) in enumerate(value.items())
        }
    if isinstance(value, list):
        return [poison(item, payload, "item" if isinstance(item, dict) else field) for item in value]
    return value


def hostile_card(payload: str) -> ReportCard:
    raw = json.loads(encode_card(make_card(1)))
    bad = poison(raw, payload)
    bad["agent_access"] = {
        f"{payload[:300]}{n}": {"status": 403, "challenged": True, "title": payload} for n in range(4)
    }
    bad["semantic"] = raw["semantic"]
    bad["detail"] = raw["detail"]
    bad["host"] = payload[:200] + ".example"
    return decode_card(json.dumps(bad).encode("utf-8", "surrogatepass"))


def holds(pilot: Pilot[int]) -> str:
    text = text_of(pilot)
    found = set(text) - {"\n"} & FORBIDDEN
    assert not (set(text) - {"\n"}) & FORBIDDEN, sorted(map(ord, found))
    for style in {s.style for strip in strips_of(pilot) for s in strip if s.style}:
        meta = style.meta
        assert "quit" not in meta.get("@click", ""), "what a site says is no action"
        assert not style.link
    return text


WALK = "end enter 2 3 4 down space 5 d l D escape question_mark escape escape m m space space equals_sign escape v"
"""Keys that lead through every screen of a card and of the list."""


@pytest.mark.slow
@pytest.mark.parametrize("payload", [" ".join(PAYLOADS[:-2]), *PAYLOADS[-2:]], ids=["all", "long", "wide"])
async def test_hostile_card_changes_nothing_but_text(payload: str) -> None:
    card = hostile_card(payload)
    service = CardService([replace(card, scanned_at=stamp(0, back=1)), card, make_card(4)])
    async with stage(service, (140, 40)) as pilot:
        walk = (
            "end enter 2 3 4 down space 5 d l D escape question_mark escape escape m m space space equals_sign escape v"
        )
        for key in ("", *walk.split()):
            await press(pilot, *[key] * bool(key))
            holds(pilot)
        assert pilot.app.is_running


@pytest.mark.ci
async def test_hostile_words_in_toasts_titles_and_palette() -> None:
    cards = [hostile_card(payload) for payload in PAYLOADS]
    service = CardService(cards)
    async with stage(service, (100, 40)) as pilot:
        app = pilot.app
        assert isinstance(app, AuiApp)
        for payload in PAYLOADS:
            app.notice(payload, "error")
        await settle(pilot)
        holds(pilot)
        app.clear_notifications()
        await pilot.press("ctrl+p")
        for char in "example":
            await pilot.press(char)
        await settle(pilot)
        holds(pilot)
        assert app.is_running


@pytest.mark.ci
async def test_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    card = hostile_card("[/nope] [red]RED[/red]")
    async with stage(CardService([card]), (140, 40)) as pilot:
        assert "[/nope] [red]RED[/red].example" in text_of(pilot)
        await pilot.press("enter", "3")
        await settle(pilot)
        assert "[/nope] [red]RED[/red]" in text_of(pilot)
