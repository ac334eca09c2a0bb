"""The pane beside the list: at once from the row, then from everything known of the host."""

from __future__ import annotations

from aui_tui.records import labels
from aui_tui.records.registry import registry
from aui_tui.records.view import Dossier, Row
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, hang, line
from aui_tui.tui.panes.common import (
    headline,
    history_line,
    live_piece,
    matrix_strip,
    maxima,
    pillar_lines,
    status_words,
    verdict,
)
from aui_tui.tui.words import ago, signed

LABEL = 10


def preview(row: Row, dossier: Dossier | None, size: int, now: float) -> list[Line]:
    """Return the pane laid out to ``size`` cells; ``dossier`` is None until it has been read."""
    summary = row.summary
    facts = [summary.name if summary.name != summary.host else "", summary.category, row.method]
    out: list[Line] = [
        cut(line((summary.host, "title")), size),
        cut(line((" · ".join(fact for fact in facts if fact), "muted")), size),
        cut(line(("scanned " + ago(summary.scanned_at, now), "muted")), size),
        BLANK,
        cut(_head(row), size),
        BLANK,
    ]
    if row.rank:
        out += pillar_lines(summary.pillars, maxima(summary.pillars), size)
        out.append(BLANK)
    out += _verdicts(row, dossier, size)
    if dossier is not None:
        out += [BLANK, cut((Piece(fit("History", LABEL), "muted"), *history_line(dossier.history, now, 16)), size)]
    out.append(BLANK)
    return [*out, *_findings(row, dossier, size), *_best(row, dossier, size)]


def _head(row: Row) -> Line:
    summary = row.summary
    head = headline(summary.score, summary.grade, summary.stance, unreachable=row.rank == 0)
    change = signed(row.change)
    if not change or row.rank == 0:
        return head
    return (*head, Piece("  "), Piece(change, "good" if change.startswith("+") else "critical"))


def _verdicts(row: Row, dossier: Dossier | None, size: int) -> list[Line]:
    """Return one line per surface: label, verdict, and what its live probe got."""
    matrix = row.summary.matrix
    live = _live(row, dossier)
    if size < 44:
        return [(Piece(fit("Matrix", LABEL), "muted"), *matrix_strip(matrix))]
    slots = [surface.live for surface in registry().surfaces]
    out: list[Line] = []
    for place, (key, word) in enumerate(matrix.items()):
        got = live.get(slots[place] if place < len(slots) else "", Piece(""))
        sign, text = verdict(word)
        name = Piece(fit(labels.surface(key), 24) + " ")
        out.append(cut((name, sign, text._replace(text=fit(text.text, 15)), got), size))
    return out


def _live(row: Row, dossier: Dossier | None) -> dict[str, Piece]:
    """Return what each live-probed agent got, by its slot."""
    slots = [agent.key for agent in registry().live]
    if dossier is not None:
        got = [live_piece(access.status, access.challenged) for access in dossier.card.agent_access.values()]
    else:
        got = [Piece(status_words(status), "muted") for status in row.live]
    return dict(zip(slots, got, strict=False))


def _findings(row: Row, dossier: Dossier | None, size: int) -> list[Line]:
    if dossier is None:
        return (
            hang((Piece(glyphs.DOT + " ", "muted"),), row.summary.top_evidence, size)
            if row.summary.top_evidence
            else []
        )
    out: list[Line] = []
    for item in dossier.card.evidence[:6]:
        role = glyphs.role_of(item.t)
        out += hang((Piece(glyphs.SEVERITY.get(item.t, glyphs.UNKNOWN) + " ", role),), item.text, size)
    return out


def _best(row: Row, dossier: Dossier | None, size: int) -> list[Line]:
    fixes = dossier.card.recommendations[:4] if dossier is not None else ()
    if not fixes and not row.best_fix:
        return []
    out: list[Line] = [BLANK, line(("Best fixes", "title"))]
    if not fixes:
        return [*out, cut(line((("+" + str(row.best_points)).rjust(4), "good"), " ", row.best_fix), size)]
    return out + [
        cut(line((("+" + str(fix.pts)).rjust(4), "good"), " ", (fit(fix.k, 10), "accent"), " ", fix.title), size)
        for fix in fixes
    ]
