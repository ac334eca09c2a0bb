"""Pane 1: pillars, matrix, what the homepage is, history, the best fixes."""

from __future__ import annotations

from aui_tui.records.card import ReportCard
from aui_tui.records.standing import gain_of_all
from aui_tui.records.view import Dossier
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, beside, cut, hang, line, paragraph
from aui_tui.tui.panes.common import history_line, matrix_lines, pillar_lines
from aui_tui.tui.words import count

LABEL = 9
"""Cells of a fact's name."""
TWO_COLUMNS = 68
"""From this width on, the matrix stands beside the pillars."""


def summary(dossier: Dossier, size: int, now: float) -> list[Line]:
    """Return the pane laid out to ``size`` cells; ``now`` is epoch seconds."""
    card = dossier.card
    if card.unreachable:
        return _unreachable(dossier, size, now)
    pillars = pillar_lines(card.pillars, card.pillar_max, size // 2 if size >= TWO_COLUMNS else size)
    if card.provisional is True:
        pillars.append(line(("provisional: tasks are not scored yet", "muted")))
    left_width = size * 11 // 20
    if size < TWO_COLUMNS:
        matrix = matrix_lines(card.matrix, size)
        return [*pillars, BLANK, *matrix, BLANK, *_facts(dossier, size, now), BLANK, *_fixes(card, size)]
    matrix = matrix_lines(card.matrix, size - left_width - 2)
    left = [*pillars, BLANK, *_facts(dossier, left_width - 1, now)]
    right = [*matrix, BLANK, *_fixes(card, size - left_width - 2)]
    return beside(left, right, left_width, 2)


def _unreachable(dossier: Dossier, size: int, now: float) -> list[Line]:
    """Return why nothing was measured, and the little that is known."""
    card = dossier.card
    known = ("Robots", "Browser", "Title", "Edge")
    facts = [row for row in _facts(dossier, size, now) if row and row[0].text.strip() in known]
    history = (Piece(fit("History", LABEL), "muted"), *history_line(dossier.history, now, 12))
    return [
        *paragraph(card.top_evidence or "The host could not be reached.", size, "warn"),
        BLANK,
        *paragraph("Nothing was measured, so there is no score, no grade and nothing to fix yet.", size),
        BLANK,
        *facts,
        cut(history, size),
        BLANK,
        *matrix_lines(card.matrix, size),
    ]


def _fact(name: str, text: str, size: int, role: str = "") -> list[Line]:
    return hang((Piece(fit(name, LABEL), "muted"),), text, size, role)


def _facts(dossier: Dossier, size: int, now: float) -> list[Line]:
    card = dossier.card
    robots = " ".join(
        (str(card.robots_status or "no answer") + ",", "names", count(card.robots_ua_rules, "user agent"))
    )
    if card.wildcard_block:
        robots += ", closed to all others"
    title = card.human_title or "none"
    landmarks = card.semantic
    counts = "  ".join(
        " ".join((name, str(value)))
        for name, value in (
            ("main", landmarks.main),
            ("nav", landmarks.nav),
            ("aria", landmarks.aria),
            ("forms", landmarks.forms),
        )
    )
    agents = " ".join(
        (
            str(card.agents_disallowed) + " disallowed,",
            str(card.agents_partial) + " partly, of",
            str(card.agents_total) + ";",
            str(card.live_served) + "/" + str(card.live_total),
            "served",
        )
    )
    crawlers = " ".join((str(card.crawlers_blocked), "blocked of", str(card.crawlers_total), "(not scored)"))
    browser = _browser(card)
    history = (Piece(fit("History", LABEL), "muted"), *history_line(dossier.history, now, 12))
    return [
        *_fact("Robots", robots, size),
        *_fact("Agents", agents, size),
        *_fact("Crawlers", crawlers, size),
        *_fact("Browser", browser, size),
        *_fact("Title", title, size),
        *_fact("Edge", card.edge or "none recognised", size),
        *_fact("Page", counts, size),
        *_fact("JSON-LD", count(card.jsonld, "block") if card.jsonld else "none", size),
        *_fact("Signal", "Content-Signal line present" if card.content_signal else "no Content-Signal line", size),
        *_fact("Scripts", _scripts(card), size),
        *_fact("Files", ", ".join(card.files) or "none", size),
        cut(history, size),
    ]


def _scripts(card: ReportCard) -> str:
    return "nothing readable without them" if card.noscript_shell else "readable without them"


def _browser(card: ReportCard) -> str:
    status = str(card.human_status) if card.human_status else "no answer in 12 s (inconclusive)"
    return status + ", challenged" if card.human_challenged else status


def _fixes(card: ReportCard, size: int) -> list[Line]:
    if not card.recommendations:
        return [line(("Nothing left to fix", "good"))]
    head = line(("Best fixes", "title"), "  ", (gain_of_all(card), "good"))
    rows = [
        cut(
            line((("+" + str(fix.pts)).rjust(3), "good"), " ", (fit(fix.k, 10), "accent"), " ", fix.title),
            size,
        )
        for fix in card.recommendations[:5]
    ]
    more = len(card.recommendations) - len(rows)
    tail = [line((glyphs.DOT + " " + count(more, "more fix", "more fixes"), "muted"))] if more > 0 else []
    return [head, *rows, *tail]
