"""Figures over an index as a person reads them: grades, stances per category, the commonest failing checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aui_tui.cli.paint import TINTS, Paint
from aui_tui.engine.checks import BY_FIX
from aui_tui.records.view import Overview
from aui_tui.records.vocabulary import STANCES
from aui_tui.text import fit

NAME: Final = 34
BAR: Final = 20


def lines(figures: Overview, paint: Paint) -> Iterator[str]:
    """Yield the lines of ``figures``, every number with its share of the hosts."""
    if not figures.hosts:
        yield "No host matches, so there is nothing to count."
        return
    yield paint.heading(f"Grades of {figures.hosts:,} {'host' if figures.hosts == 1 else 'hosts'}")
    for grade, number in figures.grades.items():
        yield _row(grade, number, figures.hosts, paint)
    yield ""
    yield paint.heading("Stances per category")
    for category, shares in figures.stances.items():
        if sum(shares.values()):
            parts = [f"{paint.glyph(word)} {word} {shares.get(word, 0):,}" for word in STANCES]
            yield "  " + fit(category, 16) + "   ".join(_tinted(part, paint) for part in parts)
    yield ""
    yield paint.heading("Commonest failing checks")
    failing = sorted(figures.failing.items(), key=lambda item: (-item[1], item[0]))
    for key, number in failing:
        yield _row(BY_FIX[key].lacking if key in BY_FIX else key, number, figures.hosts, paint)
    if not failing:
        yield "  not known to this source"


def _tinted(part: str, paint: Paint) -> str:
    return paint.style(part, TINTS.get(part.split(" ")[1], ""))


def _row(name: str, part: int, whole: int, paint: Paint) -> str:
    bar = paint.bar(part, whole, BAR) + " " if paint.width >= NAME + BAR + 20 else ""
    return f"  {fit(name, NAME)}{bar}{part:>9,} {100 * part / whole:>4.0f} %"
