"""The lines around a report card: its headline, and the names of its panes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from aui_tui.records.methods import WALLED_CEILING
from aui_tui.records.points import comparable
from aui_tui.records.view import Dossier, Quota
from aui_tui.text import cells, count
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, line, spread, width
from aui_tui.tui.panes import card as cardpanes
from aui_tui.tui.panes.common import stance
from aui_tui.tui.screens.indexbars import quota_words
from aui_tui.tui.state import CardState
from aui_tui.tui.words import ago, day, signed

TIGHT: Final = 66
"""Cells under which a line holds the score, and little else."""
WIDE: Final = 110
"""Cells from which on a line holds the rest."""


SHORTEST: Final = 16
"""Cells that are left of a name at least."""


class Place(NamedTuple):
    """Where a host stands in its list: place from 1, hosts in the list, the list's filters in words."""

    number: int
    total: int
    filters: str

    def words(self, *, full: bool) -> str:
        """Return ``4 of 212 Walled in Retail``, or without the filters."""
        short = " ".join((format(self.number, ","), "of", format(self.total, ",")))
        return " ".join((short, self.filters)).strip() if full else short


def title_line(state: CardState, place: Place | None, quota: Quota | None, rank: int, now: float, size: int) -> Line:
    """Return the host at the left; place in the list, age and quota at the right as far as they fit."""
    dossier = state.dossier
    if dossier is None:
        words = ("no report card", "warn") if state.problem else ("reading …", "")
        return _fitted(line((state.host, "title")), line("  ", words), [quota_words(quota, full=False)], size)
    card = dossier.card
    wide = size >= WIDE
    facts = [
        place.words(full=wide) if place is not None and place.total > 1 else "",
        " ".join(("scan of", day(card.scanned_at, now))) if state.at else "scanned " + ago(card.scanned_at, now),
        quota_words(quota, full=size >= 140),
    ]
    name = line((card.host, "title"))
    rest = what_if_words(state, rank, wide=wide)
    change = change_words(dossier, now)
    if change and wide:
        rest += line("  ", (change, "good" if change.startswith("+") else "critical"))
    if state.method:
        rest += line("  ", (card.method, "muted"))
    more = " · ".join(("", *([card.name] if card.name != card.host else []), card.category))
    if width((*name, *rest)) + cells(more) + cells(" · ".join(fact for fact in facts if fact)) + 4 <= size:
        name = (*name, Piece(more))
    return _fitted(name, rest, facts, size)


def _fitted(name: Line, rest: Line, facts: Iterable[str], size: int) -> Line:
    """Return the name and what is said of it, and facts at the right end, the last of them the most important.

    When not all fit, facts go first, then the end of the name.
    """
    kept = [fact for fact in facts if fact]
    while len(kept) > 1 and cells(" · ".join(kept)) + 3 > size - 1 - width((*name, *rest)):
        kept.pop(-2)
    right = line("  ", (" · ".join(kept), "muted"), " ")
    room = size - 1 - width((*rest, *right))
    if room < min(width(name), SHORTEST):
        right, room = BLANK, size - 1 - width(rest)
    return spread((Piece(" "), *cut(name, max(room, SHORTEST)), *rest), right, size)


def what_if_words(state: CardState, rank: int, *, wide: bool) -> Line:
    """Return score, grade, a changed stance and the rank that the marked fixes would give; nothing without any."""
    if not state.done or state.dossier is None:
        return ()
    lead = line(("  " + glyphs.ARROW + " ", "accent"))
    reached = state.reached
    if reached is None:
        return (*lead, Piece(glyphs.WAIT, "muted"))
    out = [
        *lead,
        Piece(str(reached.score), "strong"),
        Piece(" "),
        Piece(reached.grade, glyphs.role_of(reached.grade[:1])),
    ]
    if reached.stance != state.dossier.card.stance:
        known = stance(reached.stance)
        out += [Piece(" "), known if wide else known._replace(text=known.text[:1])]
    if rank:
        out.append(Piece(" rank " + format(rank, ","), "accent"))
    return tuple(out)


def what_if_foot(state: CardState) -> str:
    """Return the keys of the pane of fixes, and what the marked ones would change."""
    if not state.done or state.dossier is None:
        return "space what if · y copies the snippet" if state.fixes else ""
    words = ["what if", count(len(state.done), "fix", "fixes")]
    if state.reached is not None:
        words[-1] += ":"
        words += [str(state.dossier.card.score), glyphs.ARROW, str(state.reached.score)]
        if state.reached.stance == "Walled" and state.reached.score == WALLED_CEILING:
            words[-1] += ","
            words += ["no more while Walled"]
    return " ".join(words)


def change_words(dossier: Dossier, now: float) -> str:
    """Return the change of the score since the scan before: ``+8 since 11-12``; empty for none."""
    if dossier.previous is None:
        return ""
    before, now_is = comparable(dossier.previous, dossier.card)
    change = signed(now_is - before)
    return " ".join((change, "since", day(dossier.previous.scanned_at, now))) if change else ""


def tabs_line(state: CardState, size: int) -> Line:
    """Return the names of the panes with their digits and what is in them, the shown one in brackets."""
    found = next((out for out in (_tabs(state, room) for room in ("full", "names")) if width(out) <= size), None)
    return found if found is not None else cut(_tabs(state, "digits"), size)


def _tabs(state: CardState, room: str) -> Line:
    out: list[Piece] = []
    for number in cardpanes.NUMBERS:
        shown = number == state.pane
        amount = cardpanes.amount(number, state) if room == "full" else ""
        name = cardpanes.short_title(number, state) if room != "digits" or shown else str(number)
        text = " ".join(part for part in (name, amount) if part)
        action = "screen.pane(" + str(number) + ")"
        out.append(Piece(" [" + text + "]" if shown else " " + text + " ", "title" if shown else "", action))
    return tuple(out)
