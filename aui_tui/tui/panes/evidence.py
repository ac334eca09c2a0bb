"""Pane 3: the findings, critical first."""

from __future__ import annotations

from collections import Counter

from aui_tui.records.view import Dossier
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import Line, Piece, hang, line

WORDS_FROM = 56
"""From this width on, the kind stands beside its sign."""


def evidence(dossier: Dossier, size: int) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    out: list[Line] = []
    word = 9 if size >= WORDS_FROM else 0
    for item in dossier.card.evidence:
        role = glyphs.role_of(item.t)
        head = (
            Piece(glyphs.SEVERITY.get(item.t, glyphs.UNKNOWN) + " ", role),
            Piece(fit(item.t, word) if word else "", role),
        )
        out.extend(hang(head, item.text, size))
    return out or [line(("The card carries no evidence.", "muted"))]


def counts(dossier: Dossier) -> str:
    """Return the number of findings of each kind with its sign: ``2✗ 2! 3✓``."""
    found = Counter(item.t for item in dossier.card.evidence)
    return " ".join(str(found[kind]) + sign for kind, sign in glyphs.SEVERITY.items() if found[kind])
