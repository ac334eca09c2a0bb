"""A report card as plain sentences, one after the other: for a screen reader, a mail, a braille line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aui_tui.cli.cardview import facts
from aui_tui.records import labels
from aui_tui.records.card import ReportCard
from aui_tui.records.standing import gain

SEVERITIES: Final = {"critical": "Critical", "warn": "Warning", "good": "Good"}


def lines(card: ReportCard, *, note: str = "") -> Iterator[str]:
    """Yield the lines of ``card``: no symbols, no columns, no colour, every line complete in itself."""
    called = "" if card.name == card.host else f", {card.name}"
    yield f"Report card of {card.host}{called}, category {card.category}."
    provisional = ", provisional" if card.provisional is True else ""
    if card.unreachable:
        yield f"Unreachable, so there is no score. Method {card.method}."
    else:
        yield (
            f"Score {card.score} of 100, grade {card.grade}, stance {card.stance}. Method {card.method}{provisional}."
        )
    yield f"Scanned {labels.moment(card.scanned_at)}{', ' + note if note else ''}."
    for key, value in () if card.unreachable else card.pillars.items():
        shown = "not scored" if value is None else f"{value:g} of {card.pillar_max.get(key) or 0:g} points"
        yield f"Points for {labels.pillar(card.method, key)}: {shown}."
    got = labels.answers(card)
    for key, verdict in () if card.unreachable else card.matrix.items():
        status = f", {got[key]}" if key in got else ""
        yield f"{labels.surface(key)}: {verdict}{status}."
    for label, text in facts(card):
        yield f"{label}: {text}."
    for number, item in enumerate(card.evidence, 1):
        yield f"Finding {number} of {len(card.evidence)}. {SEVERITIES.get(item.t, item.t)}: {item.text}"
    for number, fix in enumerate(() if card.unreachable else card.recommendations, 1):
        yield (f"Fix {number} of {len(card.recommendations)}, {gain(card, fix.k)}, {fix.pillar}: {fix.title}.")
        yield fix.body
