"""The preview of the host under the cursor: first from its row, then its whole card once the cursor rests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive

from aui_tui.model import labels
from aui_tui.model.labels import ago
from aui_tui.model.listing import Row
from aui_tui.model.signs import sign
from aui_tui.model.summary import SiteSummary
from aui_tui.text import fit
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.rows import ListEntry, blank, entry, paragraph, text
from aui_tui.tui.state import CardState
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.words import signed

if TYPE_CHECKING:
    from aui_tui.model.report import HostReport

REST_SECONDS: Final = 0.15
"""Seconds that the cursor rests on a row before its whole card is read."""


class PreviewPane(RowList, can_focus=False):
    """Draws a row at once, and the whole card of its host once the cursor rests."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    """Its place comes from the style sheet, so other rows, unlike Textual's own, do not lay out the screen again."""

    def __init__(self, context: Context) -> None:
        super().__init__(id="preview")
        self.border_title = Content("Preview")
        self.border_subtitle = Content("J K scroll · + hides")
        self._dashboard_context = context
        self._row: Row | None = None
        self._report: HostReport | None = None

    def follow(self, row: Row | None) -> None:
        """Show ``row``, None for an empty list; read its card when the cursor has rested."""
        same = row is not None and self._row == row
        self._row = row
        self.set_class(row is None, "-empty")
        if not self.display:
            return
        if not same:
            self._draw(None)
        if row is not None:
            start(self, "preview", self._read_card_after_rest, row.summary.host)

    def on_show(self) -> None:
        self.follow(self._row)

    async def _read_card_after_rest(self, host: str) -> None:
        """Wait REST_SECONDS, then read and draw the card, unless the cursor is on another host by then."""
        await asyncio.sleep(REST_SECONDS)
        report, _ = await attempt(self._dashboard_context.service.site(host))
        if report is not None and self._row is not None and self._row.summary.host == report.card.host:
            self._draw(report)

    def redraw_ages(self) -> None:
        """Draw the ages of the scans anew, as of now."""
        self._draw(self._report, top=False)

    def _draw(self, report: HostReport | None, *, top: bool = True) -> None:
        self._report = report
        self.border_title = Content(self._row.summary.host if self._row is not None else "Preview")
        row, now, tasks = self._row, self._dashboard_context.clock(), self._dashboard_context.service.is_local
        self.show(
            (lambda size: preview(row, report, size, now, tasks=tasks)) if row is not None else lambda _size: (),
            top=top,
        )


def preview(row: Row, report: HostReport | None, size: int, now: float, *, tasks: bool = True) -> list[ListEntry]:
    """Return the pane laid out to ``size`` cells; ``report`` is None until it has been read.

    ``tasks``: this service can run the tasks.
    """
    summary = row.summary
    if report is None:
        return [entry(_stance(row)), _facts(summary, now), blank(), paragraph(summary.top_evidence, size)]
    from aui_tui.tui import cardrows  # not for the first frame

    state = CardState(summary.host, tasks=tasks).with_report(report)
    letter, points, tone = cardrows.grade(report)
    head = entry((f"{points} {letter}".strip(), tone), (f"  {cardrows.basis(report)} points", "muted"))
    change = "" if row.unreachable else signed(row.change)
    moved = [entry((fit("Change", 9), "muted"), f"{change} since the scan before")] if change else []
    past = entry((fit("History", 9), "muted"), cardrows.history(report.history, now, 16))
    answer, evidence = cardrows.answer(state, size, ""), cardrows.evidence(state, report, size)
    rows = (head, _facts(summary, now), blank(), *answer, blank(), *moved, past, blank(), *evidence)
    return [entry(line.content) for line in rows]


def _stance(row: Row) -> Content:
    summary = row.summary
    if row.unreachable:
        return text(("– unreachable, not graded", "warn"))
    stance = sign(summary.stance)
    return text(
        (f"{stance.sign} {summary.stance}", stance.tone), "  ", (labels.score(summary.score, summary.grade), "strong")
    )


def _facts(summary: SiteSummary, now: float) -> ListEntry:
    facts = [summary.name if summary.name != summary.host else "", summary.category, ago(summary.scanned_at, now)]
    return entry((" · ".join(fact for fact in facts if fact), "muted"))
