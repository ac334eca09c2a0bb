"""Sentences and lists that are made from state: how a scan ended, which keys work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from textual.binding import ActiveBinding
from textual.screen import Screen

from aui_tui.records.view import ScanAnswer
from aui_tui.tui.bindings import TABLES, written
from aui_tui.tui.scans import Scan
from aui_tui.tui.words import signed, span

T = TypeVar("T")
Sections = list[tuple[str, list[tuple[str, str]]]]


def ended_words(scan: Scan, answer: ScanAnswer | None, error: str) -> tuple[str, str]:
    """Return the state in which a scan ended and one sentence on it."""
    if answer is None:
        return ("failed", error) if error else ("cancelled", "Scan of " + scan.url + " cancelled; nothing was stored.")
    card = answer.card
    if card.unreachable:
        result = card.host + " could not be reached: " + card.top_evidence
    else:
        result = " ".join((card.host + ":", str(card.score) + "/100", card.grade, card.stance + "."))
    if answer.source == "cache":
        return "done", " ".join((result, "From the cache,", _old(answer.age) + ";", "f scans anew."))
    return "done", result


def _old(seconds: float) -> str:
    short = span(seconds)
    return "just made" if short == "now" else short + " old"


def change_of(before: int | None, after: int) -> str:
    """Return the signed difference of two scores; empty without an earlier one."""
    return signed(after - before) if before is not None else ""


def help_sections(screen: Screen[Any]) -> Sections:
    """Return the keys that work on a screen, by table, from its live bindings."""
    found: dict[str, dict[str, tuple[list[str], str]]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not active.enabled or binding.id is None:
            continue
        table = _table_of(active)
        keys, _ = found.setdefault(table, {}).setdefault(binding.id, ([], binding.tooltip or binding.description))
        display = written(binding.key)
        if display not in keys:
            keys.append(display)
    return [
        (table.capitalize(), [(" ".join(keys), words) for keys, words in _in_order(table, found[table])])
        for table in TABLES
        if table in found
    ]


def _in_order(table: str, found: Mapping[str, T]) -> list[T]:
    """Return what was found under the ids of a table, in its order."""
    return [found[name] for name in dict.fromkeys(b.id or "" for b in TABLES[table]) if name in found]


def _table_of(active: ActiveBinding) -> str:
    """Return the table that a live binding comes from: one that its widget or screen is made with."""
    own = [binding for kind in type(active.node).__mro__ for binding in vars(kind).get("BINDINGS", ())]
    key = active.binding.id, active.binding.action
    return next(
        (name for name, table in TABLES.items() if table[0] in own and any((b.id, b.action) == key for b in table)), ""
    )


NOTES: Final = {
    (
        "IndexScreen",
        0,
    ): "The hosts that were scanned, best first. ◉ Open: agents get in. ◍ Selective: some do, or robots.txt "
    "keeps some out. ◌ Walled: they are shut out. Δ is the change of the score since the scan before.",
    ("CardScreen", 1): "What the homepage offers to agents. ✓ allowed, ~ in part, ✗ refused while a browser is served, "
    "⊘ told to stay out by robots.txt, # a challenge or block page, · could not be told.",
    ("CardScreen", 2): "What each tested agent got and what robots.txt says of it, with the line that decides. Four "
    "agents are probed live; crawlers are shown but not scored.",
    ("CardScreen", 3): "The findings, worst first: ✗ critical, ! warning, ✓ good. d turns to what changed.",
    ("CardScreen", 4): "What would gain points. Choose with up and down; space supposes a fix done, and the first line "
    "shows the score, grade and rank it would give. y copies the snippet, x writes it to a file.",
    ("CardScreen", 5): "Every request of the scan: its answer, and how long it took. A probe has 12 s in all.",
    ("OverviewScreen", 0): "Figures over the list you came from. Choose a grade, a category, a stance or a check with "
    "the arrow keys and enter, or click it, to see its hosts.",
    ("CompareScreen", 0): "The marked hosts side by side; ▪ stands where they differ.",
}
"""What a screen, or a pane of the report card, shows."""


def note_of(screen: str, pane: int) -> str:
    """Return a sentence or two on a screen, or on its pane; empty for one without."""
    return NOTES.get((screen, pane), "")
