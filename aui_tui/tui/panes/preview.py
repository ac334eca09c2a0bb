"""The pane beside the list: at once from the row, then from everything known of the host."""

from __future__ import annotations

from aui_tui.records.agents import by_harm, turned_away
from aui_tui.records.registry import surfaces
from aui_tui.records.view import Dossier, Row
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.columns import verdict_of
from aui_tui.tui.draw import BLANK, Line, Piece, cut, hang, line, paragraph
from aui_tui.tui.panes.common import headline, history_line, maxima, pillar_lines
from aui_tui.tui.panes.verdict import strip
from aui_tui.tui.words import ago, signed

LABEL = 9


def preview(row: Row, dossier: Dossier | None, size: int, now: float) -> list[Line]:
    """Return the pane laid out to ``size`` cells; ``dossier`` is None until it has been read."""
    summary = row.summary
    facts = [summary.name if summary.name != summary.host else "", summary.category, ago(summary.scanned_at, now)]
    out: list[Line] = [cut(_head(row), size), cut(line((" · ".join(fact for fact in facts if fact), "muted")), size)]
    out.append(BLANK)
    if row.rank == 0:
        return [*out, *paragraph(summary.top_evidence, size, "warn")]
    if dossier is None:
        out += _verdicts(row, size)
    else:
        out += [cut(kept, size) for kept in _trimmed(strip(dossier, size + 1))]
    out += [BLANK, *pillar_lines(summary.pillars, maxima(summary.pillars), size)]
    if dossier is not None:
        out += [cut((Piece(fit("History", LABEL + 1)), *history_line(dossier.history, now, 16)), size)]
    return [*out, BLANK, *_fixes(row, dossier, size), BLANK, *_findings(row, dossier, size)]


def _trimmed(lines: list[Line]) -> list[Line]:
    """Return lines without the cell that a cursor would need."""
    return [(row[0]._replace(text=row[0].text[1:], action=""), *row[1:]) if row else row for row in lines]


def _head(row: Row) -> Line:
    summary = row.summary
    head = headline(summary.score, summary.grade, summary.stance, unreachable=row.rank == 0)
    change = signed(row.change)
    if not change or row.rank == 0:
        return head
    return (*head, Piece("  "), Piece(change, "good" if change.startswith("+") else "critical"))


def _verdicts(row: Row, size: int) -> list[Line]:
    """Return one line per surface, from the row alone."""
    out: list[Line] = []
    for surface in surfaces():
        word = verdict_of(row, surface.slug)
        mark = Piece(glyphs.VERDICT.get(word, glyphs.UNKNOWN) + " ", glyphs.role_of(word))
        out.append(cut((mark, Piece(fit(surface.short, 16) + " "), Piece(word, "muted")), size))
    return out


def _findings(row: Row, dossier: Dossier | None, size: int) -> list[Line]:
    if dossier is None:
        return hang((Piece(glyphs.DOT + " ", "muted"),), row.summary.top_evidence, size)
    out: list[Line] = []
    for item in dossier.card.evidence:
        role = glyphs.role_of(item.t)
        out += hang((Piece(glyphs.SEVERITY.get(item.t, glyphs.UNKNOWN) + " ", role),), item.text, size)
    return out


def _fixes(row: Row, dossier: Dossier | None, size: int) -> list[Line]:
    fixes = by_harm(dossier.card)[:4] if dossier is not None else ()
    if not fixes and not row.best_fix:
        return [line(("Nothing left to fix.", "good"))]
    if not fixes:
        return [cut(line(("Next  ", "muted"), row.best_fix, (" +" + str(row.best_points), "good")), size)]
    return [
        cut(line(("Next  " if place == 0 else "      ", "muted"), (fix.title, ""), (" +" + str(fix.pts), "good")), size)
        for place, fix in enumerate(fixes)
    ]


def subtitle(row: Row | None) -> str:
    """Return who does not get in, for the border."""
    if row is None or not row.rank:
        return ""
    word, names = turned_away(row.summary.matrix)
    return " ".join((glyphs.VERDICT[word], ", ".join(names) if names else word))
