"""The lines around a report card: its headline, and the names of its panes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from aui_tui.records.methods import WALLED_CEILING
from aui_tui.records.points import comparable
from aui_tui.records.view import Dossier, Quota
from aui_tui.text import cells
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, line, spread, width
from aui_tui.tui.panes import card as cardpanes
from aui_tui.tui.panes.common import headline, stance
from aui_tui.tui.screens.indexbars import quota_words
from aui_tui.tui.state import CardState
from aui_tui.tui.words import ago, count, day, seconds, signed

TIGHT: Final = 66
"""Cells under which a line tells the score, and little else."""
WIDE: Final = 110
"""Cells from which on a line tells the rest."""


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
    """Return host and headline at the left; place in the list, age and quota at the right as far as they fit."""
    dossier = state.dossier
    if dossier is None:
        words = ("no report card", "warn") if state.problem else ("reading …", "")
        return _fitted(line((state.host, "title")), line("  ", words), [quota_words(quota, full=False)], size)
    card = dossier.card
    wide = size >= WIDE
    name = line((card.host, "title"))
    if wide and card.name != card.host:
        name += line(" · " + card.name + " · " + card.category)
    left = [*line("  ")]
    left += headline(card.score, card.grade, card.stance, card.unreachable, short=size < TIGHT)
    left += what_if_words(state, rank, wide=wide)
    if size >= TIGHT:
        left += line("  ", (card.method, "muted"))
    change = change_words(dossier, now)
    if change and wide:
        left += line("  ", (change, "good" if change.startswith("+") else "critical"))
    facts = [
        place.words(full=wide) if place is not None and place.total > 1 else "",
        " ".join(("scan of", day(card.scanned_at, now))) if state.at else "scanned " + ago(card.scanned_at, now),
        quota_words(quota, full=size >= 140),
    ]
    return _fitted(name, tuple(left), facts, size)


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


def foot_line(state: CardState) -> str:
    """Return the keys of the pane of fixes, and what the marked ones would change."""
    if not state.done or state.dossier is None:
        return "space what if · y copies the snippet" if state.fixes else ""
    words = [count(len(state.done), "fix", "fixes"), "supposed done"]
    if state.reached is not None:
        words[-1] += ":"
        words += ["score", str(state.dossier.card.score), glyphs.ARROW, str(state.reached.score)]
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
    """Return the names of the panes with their digits, the shown one in brackets."""
    out: list[Piece] = [Piece(" ")]
    for number in cardpanes.NUMBERS:
        name = cardpanes.title(number, state) if size >= 66 else cardpanes.short_title(number, state)
        action = "screen.pane(" + str(number) + ")"
        shown = number == state.pane
        text = name if size >= 56 or shown else str(number) + " " + name[2:6].rstrip()
        text = "[" + text + "]" if shown else " " + text + " "
        out.append(Piece(text, "title" if shown else "", action))
    return tuple(out)


def subtitle(dossier: Dossier) -> str:
    """Return where and how long the scan ran, and the change since the one before."""
    card = dossier.card
    parts = [card.vantage, seconds(card.elapsed_ms)]
    if dossier.previous is not None:
        before, now_is = comparable(dossier.previous, card)
        change = now_is - before
        parts.append("score " + (format(change, "+d") if change else "unchanged"))
    return " · ".join(parts)
