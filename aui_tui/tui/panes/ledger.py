"""Pane 1, turned: how the score came about, every point traced to its fact."""

from __future__ import annotations

from aui_tui.records.ledger import Entry, Ledger
from aui_tui.records.methods import WALLED_CEILING
from aui_tui.records.view import Dossier
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, hang, line, paragraph
from aui_tui.tui.panes.common import pillar_label, pillar_lines

NAME = 11
FIGURES = 6


def ledger(dossier: Dossier, size: int) -> list[Line]:
    """Return the pane laid out to ``size`` cells; a source that keeps no ledger is told to be one."""
    card = dossier.card
    kept = dossier.ledger
    if kept is None:
        words = "This source does not say how the points came about; the card has only their sums."
        return [*paragraph(words, size, "muted"), BLANK, *pillar_lines(card.pillars, card.pillar_max, size)]
    out: list[Line] = []
    pillar = ""
    for entry in kept.entries:
        if entry.pillar != pillar:
            pillar = entry.pillar
            out += [BLANK] if out else []
            out.append(line((pillar_label(pillar), "title")))
        out += _entry(entry, size)
    return [*out, BLANK, *_sums(kept, size)]


def _entry(entry: Entry, size: int) -> list[Line]:
    figures = (str(entry.earned) + "/" + str(entry.possible)).rjust(FIGURES) if entry.measured else "not".rjust(FIGURES)
    full = entry.earned >= entry.possible
    role = "muted" if not entry.measured else "good" if full else "critical" if entry.earned == 0 else "warn"
    head = (Piece(fit(entry.component, NAME)), Piece(figures + "  ", role))
    words = entry.reason if entry.measured else "not measured: " + entry.reason
    return hang(head, words, size)


def _sums(kept: Ledger, size: int) -> list[Line]:
    sums = " ".join((str(kept.earned), "of", str(kept.possible), "points", glyphs.ARROW, str(kept.raw) + "/100"))
    out = [line(("Sum ", "strong"), sums, "  grade ", (kept.grade, glyphs.role_of(kept.grade[:1])))]
    if kept.capped:
        words = " ".join(("A walled site scores at most", str(WALLED_CEILING) + ":", "so", str(kept.score) + "."))
        out += paragraph(words, size, "warn")
    return out
