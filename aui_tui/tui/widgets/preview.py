"""The pane beside the list: follows the cursor."""

from __future__ import annotations

import asyncio
from typing import Final

from textual.content import Content

from aui_tui.records.view import Dossier, Row
from aui_tui.tui import messages
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.panes.preview import preview
from aui_tui.tui.widgets.lines import Lines, nothing

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
