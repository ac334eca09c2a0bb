"""A report card as a person reads it in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aui_tui.cli import words
from aui_tui.cli.paint import Paint
from aui_tui.records import labels
from aui_tui.records.card import ReportCard
from aui_tui.records.standing import gain, gain_of_all
from aui_tui.text import cells, fit

BAR: Final = 20
LABEL: Final = 12
VERDICT: Final = 18
"""Cells of a verdict with its glyph and the margin."""
WIDE: Final = 64
"""Cells from which on a line holds verdict and status, score and method."""


def lines(card: ReportCard, paint: Paint, *, note: str = "") -> Iterator[str]:
    """Yield the lines of ``card``; ``note`` says how it came about, such as ``from the cache``."""
    yield from _head(card, paint, note)
    if not card.unreachable:
        yield ""
        yield from _points(card, paint)
        yield ""
        yield from _verdicts(card, paint)
    yield ""
    yield from _facts(card, paint)
    yield ""
    yield paint.heading(f"Evidence, {words.count(len(card.evidence), 'finding')}")
    for item in card.evidence:
        yield from paint.hanging(f"  {paint.glyph(item.t)} ", item.text, style=_tint(item.t))
    if card.recommendations and not card.unreachable:
        yield ""
        yield paint.heading("Fixes")
        yield from paint.hanging("  ", f"All together: {gain_of_all(card)}")
        for fix in card.recommendations:
            yield from paint.hanging(f"  {fit(fix.k, 11)}", f"{fix.title}: {gain(card, fix.k)}")


def _head(card: ReportCard, paint: Paint, note: str) -> Iterator[str]:
    dot = f" {paint.glyph('dot')} "
    named = [card.host] + ([card.name] if card.name != card.host else []) + [card.category]
    yield from paint.hanging("", dot.join(named))
    if card.unreachable:
        score = f"Score {paint.glyph('dash')}   {paint.style('Unreachable', 'bad')}"
    else:
        score = f"Score {card.score}/100   Grade {card.grade}   {paint.marked(card.stance)}"
    yield from [f"{score}   {_method(card)}"] if paint.width >= WIDE else [score, _method(card)]
    took = f"{card.elapsed_ms / 1000:.1f} s"
    yield from paint.hanging("", f"Scanned {labels.moment(card.scanned_at)} in {took}{', ' + note if note else ''}")
    if card.evidence:
        yield ""
        first = card.evidence[0]
        yield from paint.hanging(f"{paint.glyph(first.t)} ", first.text, style=_tint(first.t))


def _method(card: ReportCard) -> str:
    return f"method {card.method}{', provisional' if card.provisional is True else ''}"


def _points(card: ReportCard, paint: Paint) -> Iterator[str]:
    yield paint.heading("Points")
    for key, value in card.pillars.items():
        label = fit(labels.pillar(card.method, key), LABEL)
        shown = labels.points(value, card.pillar_max.get(key))
        if value is None:
            yield f"  {label}{paint.style(shown, 'dim')}"
        else:
            yield f"  {label}{paint.bar(value, card.pillar_max.get(key) or 0, min(BAR, paint.width - 24))} {shown:>7}"


def _verdicts(card: ReportCard, paint: Paint) -> Iterator[str]:
    yield paint.heading("What each assistant gets")
    got = labels.answers(card)
    longest = max((cells(labels.surface(key)) for key in card.matrix), default=0) + 2
    width = min(longest, paint.width - VERDICT)
    for key, verdict in card.matrix.items():
        status = got.get(key, "") if paint.width >= WIDE else ""
        gap = " " * max(16 - len(verdict), 2) if status else ""
        yield f"  {fit(labels.surface(key), width)}{paint.marked(verdict)}{gap}{paint.style(status, 'dim')}"


def _facts(card: ReportCard, paint: Paint) -> Iterator[str]:
    yield paint.heading("What the scan saw")
    for label, text in facts(card):
        yield from paint.hanging(f"  {fit(label, LABEL)}", text)


def facts(card: ReportCard) -> Iterator[tuple[str, str]]:
    """Yield what the scan saw as label and text; of an unreachable host only that nothing usable came."""
    human = str(card.human_status) if card.human_status else "no answer"
    yield "Browser", human + (", a challenge page" if card.human_challenged else "")
    if card.human_title:
        yield "Title", card.human_title
    status = str(card.robots_status) if card.robots_status else "no answer"
    blocked = ", blocks everybody else by default" if card.wildcard_block else ""
    yield "robots.txt", f"{status}, names {words.count(card.robots_ua_rules, 'user agent')}{blocked}"
    if card.unreachable:
        return
    yield (
        "Agents",
        f"{card.live_served} of {card.live_total} served live; robots.txt disallows {card.agents_disallowed} "
        f"and restricts {card.agents_partial} of {card.agents_total}",
    )
    yield "Crawlers", f"{card.crawlers_blocked} of {card.crawlers_total} blocked (reported, not scored)"
    yield "Signal", "Content-Signal line present" if card.content_signal else "no Content-Signal line"
    seen = card.semantic
    shell = ", unreadable without scripts" if card.noscript_shell else ""
    yield (
        "Page",
        f"{words.count(card.jsonld, 'JSON-LD block')}, {seen.main} main, {seen.nav} nav, "
        f"{words.count(seen.aria, 'label')}, {words.count(seen.forms, 'form')}{shell}",
    )
    yield "Files", ", ".join(card.files) or "none"
    if card.edge:
        yield "Edge", card.edge


def _tint(severity: str) -> str:
    return {"critical": "bad", "warn": "warn", "good": "good"}.get(severity, "")
