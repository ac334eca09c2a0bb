"""A report card, and what access logs say of it, as text: laid out for a terminal, or as plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aui_tui.cli.streams import Paint, tint
from aui_tui.model import labels
from aui_tui.model.card import ReportCard
from aui_tui.model.points import gain, gain_of_all
from aui_tui.model.visits import HEADER, VisitRow, Visits, address, heading, percent, remarks, visit_rows
from aui_tui.model.visits import cells as texts_of
from aui_tui.text import cells, count, fit

BAR: Final = 20
LABEL: Final = 12
VERDICT: Final = 18
"""Cells of a verdict with its glyph and the margin."""
WIDE: Final = 64
"""Cells from which on a line holds verdict and status, score and method."""


def lines(card: ReportCard, paint: Paint, *, note: str = "") -> Iterator[str]:
    """Yield the lines of ``card``; ``note`` says where it came from, such as ``from the cache``."""
    yield from _head(card, paint, note)
    if not card.unreachable:
        yield ""
        yield from _points(card, paint)
        yield ""
        yield from _verdicts(card, paint)
    yield ""
    yield from _facts(card, paint)
    if card.declared:
        yield ""
        yield paint.heading("Declared for agents, not scored")
        for mark, text in labels.declared(card.declared):
            yield from paint.hanging(f"  {paint.glyph(mark)} ", text, style=tint(mark))
    yield ""
    yield paint.heading(f"Evidence, {count(len(card.evidence), 'finding')}")
    for item in card.evidence:
        yield from paint.hanging(f"  {paint.glyph(item.t)} ", item.text, style=tint(item.t))
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
        yield from paint.hanging(f"{paint.glyph(first.t)} ", first.text, style=tint(first.t))


def _method(card: ReportCard) -> str:
    return f"method {labels.method(card)}"


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
    """Yield what the scan saw as label and text; of an unreachable host only the first of it."""
    human = str(card.human_status) if card.human_status else "no answer"
    yield "Browser", human + (", a challenge page" if card.human_challenged else "")
    if card.human_title:
        yield "Title", card.human_title
    status = str(card.robots_status) if card.robots_status else "no answer"
    blocked = ", blocks everybody else by default" if card.wildcard_block else ""
    yield "robots.txt", f"{status}, names {count(card.robots_ua_rules, 'user agent')}{blocked}"
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
        f"{count(card.jsonld, 'JSON-LD block')}, {seen.main} main, {seen.nav} nav, "
        f"{count(seen.aria, 'label')}, {count(seen.forms, 'form')}{shell}",
    )
    yield "Files", ", ".join(card.files) or "none"
    if card.edge:
        yield "Edge", card.edge


SEVERITIES: Final = {"critical": "Critical", "warn": "Warning", "good": "Good"}


def sentences(card: ReportCard, *, note: str = "") -> Iterator[str]:
    """Yield the sentences of ``card``: no symbols, no columns, no colour, every line complete in itself."""
    called = "" if card.name == card.host else f", {card.name}"
    yield f"Report card of {card.host}{called}, category {card.category}."
    if card.unreachable:
        yield f"Unreachable, so there is no score. Method {card.method}."
    else:
        yield (f"Score {card.score} of 100, grade {card.grade}, stance {card.stance}. Method {labels.method(card)}.")
    yield f"Scanned {labels.moment(card.scanned_at)}{', ' + note if note else ''}."
    if not card.unreachable:
        yield from _measured(card)
    for label, text in facts(card):
        yield f"{label}: {text}."
    for _, text in labels.declared(card.declared) if card.declared else ():
        yield f"Declared, not scored: {text}."
    for number, item in enumerate(card.evidence, 1):
        yield f"Finding {number} of {len(card.evidence)}. {SEVERITIES.get(item.t, item.t)}: {item.text}"
    for number, fix in enumerate(() if card.unreachable else card.recommendations, 1):
        yield f"Fix {number} of {len(card.recommendations)}, {gain(card, fix.k)}, {fix.pillar}: {fix.title}."
        yield fix.body


def _measured(card: ReportCard) -> Iterator[str]:
    """Yield a sentence per pillar and per assistant."""
    for key, value in card.pillars.items():
        shown = "not scored" if value is None else f"{value:g} of {card.pillar_max.get(key) or 0:g} points"
        yield f"Points for {labels.pillar(card.method, key)}: {shown}."
    got = labels.answers(card)
    for key, verdict in card.matrix.items():
        status = f", {got[key]}" if key in got else ""
        yield f"{labels.surface(key)}: {verdict}{status}."


def visit_lines(record: Visits, card: ReportCard | None, paint: Paint) -> Iterator[str]:
    """Yield the lines of ``record`` for a terminal."""
    yield paint.heading(f"Visits of agents{' to ' + record.host if record.host else ''}")
    for text in heading(record):
        yield from paint.hanging("", text)
    yield ""
    rows = visit_rows(record, card)
    yield from _visit_table(rows, paint, beside=card is not None)
    said = [row for row in rows if row.sentence and row.agrees is not None]
    if said:
        yield ""
    for row in said:
        mark = "good" if row.gets_in else "critical" if row.gets_in is False else "warn"
        yield from paint.hanging(f"{paint.glyph(mark)} ", row.sentence, style=tint(mark))
    for one in record.visitors[:5]:
        wanted = ", ".join(f"{path.path} {path.requests:,}" for path in one.paths[:5])
        refused = ", ".join(f"{path.path} {path.requests:,}" for path in one.refused_paths[:3])
        yield ""
        yield from paint.hanging(
            f"{one.label}: ", f"most requested {wanted}{'; refused ' + refused if refused else ''}."
        )
    yield ""
    for text in remarks(record):
        yield from paint.hanging("", text)


def visit_sentences(record: Visits, card: ReportCard | None) -> Iterator[str]:
    """Yield ``record`` as plain sentences: no columns, no symbols."""
    for text in heading(record):
        yield f"Access log: {text}"
    for row in visit_rows(record, card):
        if not row.requests:
            yield f"{row.label}: {row.sentence or 'no visits.'}"
            continue
        yield (
            f"{row.label}: {row.requests:,} requests, {percent(row.served)} served, {percent(row.refused)} refused, "
            f"addresses {address(row)}. {row.sentence}".rstrip()
        )
    yield from remarks(record)


def _visit_table(rows: tuple[VisitRow, ...], paint: Paint, *, beside: bool) -> Iterator[str]:
    """Yield the table, as many columns of it as there is room for; those of the probe only ``beside`` a card."""
    body = [texts_of(row) for row in rows]
    chosen = [place for place in range(len(HEADER)) if place < 8 or beside]
    for unneeded in (7, 6, 5, 8, 2):
        if sum(_width(place, body) for place in chosen) <= paint.width:
            break
        chosen = [place for place in chosen if place != unneeded]
    yield paint.style(" ".join(fit(HEADER[p], _width(p, body) - 1, right=1 <= p <= 7) for p in chosen).rstrip(), "dim")
    for row, shown in zip(rows, body, strict=True):
        line = " ".join(fit(shown[p], _width(p, body) - 1, right=1 <= p <= 7) for p in chosen).rstrip()
        yield paint.style(line, "warn") if row.agrees is False else line


def _width(place: int, body: list[tuple[str, ...]]) -> int:
    return 1 + max(cells(text) for text in (HEADER[place], *(row[place] for row in body)))
