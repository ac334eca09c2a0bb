"""Pane 4: the fixes with what they gain, the chosen one explained with its snippet."""

from __future__ import annotations

from aui_tui.records.card import Recommendation
from aui_tui.records.view import Dossier
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, paragraph, width

KEY = 10
PILLAR = 9


def fixes(dossier: Dossier, size: int, chosen: int, done: frozenset[str] = frozenset()) -> list[Line]:
    """Return the pane laid out to ``size`` cells: fix number ``chosen`` explained, those in ``done`` ticked."""
    items = dossier.card.recommendations
    if dossier.card.unreachable:
        return paragraph("Nothing was measured, so there is nothing to fix yet.", size, "muted")
    if not items:
        return paragraph("Nothing left to fix: every point that can be measured is earned.", size, "good")
    out = [_row(fix, number == chosen, fix.k in done, size, number) for number, fix in enumerate(items)]
    fix = items[min(max(chosen, 0), len(items) - 1)]
    out += [BLANK, *paragraph(fix.body, size), BLANK]
    out += [cut((Piece("  "), Piece(row, "code")), size) for row in fix.code.split("\n")]
    return out


def _row(fix: Recommendation, chosen: bool, ticked: bool, size: int, number: int) -> Line:
    role = "cursor" if chosen else ""
    action = "choose_fix(" + str(number) + ")"
    parts = (
        Piece((glyphs.CURSOR if chosen else " ") + " ", "accent", action),
        Piece(glyphs.SEVERITY["good"] + " " if ticked else "  ", "good", action),
        Piece(("+" + str(fix.pts)).rjust(3) + " ", role or "good", action),
        Piece(fit(fix.pillar, PILLAR) + " ", role or "muted", action),
        Piece(fit(fix.k, KEY) + " ", role or "accent", action),
        Piece(fix.title, role, action),
    )
    kept = cut(parts, size)
    return (*kept, Piece(" " * (size - width(kept)), role, action))


def file_of(fix: Recommendation) -> str:
    """Return what the snippet of a fix is called when it is copied."""
    names = {"llms": "/llms.txt", "robots": "/robots.txt", "signal": "/robots.txt", "front-door": "/.well-known"}
    return " ".join((names.get(fix.k, fix.k), "snippet"))
