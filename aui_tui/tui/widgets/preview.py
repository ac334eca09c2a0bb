"""The pane beside the list: what the report card of the row under the cursor says."""

from __future__ import annotations

import asyncio
from typing import Final

from textual.content import Content

from aui_tui.records.agents import by_harm, turned_away
from aui_tui.records.registry import surfaces
from aui_tui.records.view import Dossier, Row
from aui_tui.text import fit
from aui_tui.tui import glyphs, messages
from aui_tui.tui.columns import verdict_of
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import BLANK, Line, Piece, cut, hang, line, paragraph
from aui_tui.tui.panes.common import headline, history_line, maxima, pillar_lines
from aui_tui.tui.panes.verdict import strip
from aui_tui.tui.widgets.lines import Lines, nothing
from aui_tui.tui.words import ago, signed

REST: Final = 0.15
"""Seconds that the cursor rests on a row before its whole card is read."""


class PreviewPane(Lines):
    """Draws a row at once, and everything known of its host when the cursor rests."""

    def __init__(self, context: Context, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.can_focus = False
        self.border_title = Content("Preview")
        self.border_subtitle = Content("J K scroll · + hides")
        self._given = context
        self._row: Row | None = None
        self._dossier: Dossier | None = None

    def follow(self, row: Row | None) -> None:
        """Show another row, None for an empty list."""
        same = row is not None and self._row == row
        self._row = row
        if not self.display:
            return
        if not same:
            self._draw(None)
        if row is not None:
            start(self, "preview", self._rest, row.summary.host)

    def on_show(self) -> None:
        """Catch up with the cursor after being hidden."""
        self.follow(self._row)

    async def _rest(self, host: str) -> None:
        await asyncio.sleep(REST)
        dossier, _ = await attempt(self._given.service.site(host))
        if dossier is not None:
            self.post_message(messages.DossierReady(dossier))

    def on_dossier_ready(self, message: messages.DossierReady) -> None:
        """Fill in what was read, when the cursor is still there."""
        message.stop()
        if self._row is not None and self._row.summary.host == message.dossier.card.host:
            self._draw(message.dossier)

    def age(self) -> None:
        """Draw the ages of this moment."""
        self._draw(self._dossier, top=False)

    def _draw(self, dossier: Dossier | None, *, top: bool = True) -> None:
        self._dossier = dossier
        self.border_title = Content(self._row.summary.host if self._row is not None else "Preview")
        row, now = self._row, self._given.clock()
        self.show((lambda size: preview(row, dossier, size, now)) if row is not None else nothing, top=top)


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
