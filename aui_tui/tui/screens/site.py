"""What can be done with one host and its report card: scan, copy, write, browse, look back."""

from __future__ import annotations

from msgspec.structs import replace
from textual.screen import Screen

from aui_tui.records.codec import encode_card
from aui_tui.tui import doors, messages
from aui_tui.tui.cardstate import CardState
from aui_tui.tui.context import Context, attempt
from aui_tui.tui.export import ExportJob, file_name
from aui_tui.tui.panes import cardpanes
from aui_tui.tui.panes.fixes import file_of
from aui_tui.tui.work import start


class SiteScreen(Screen[str]):
    """A screen on one host: ``state`` says which, and what is known of it."""

    def __init__(self, context: Context, state: CardState) -> None:
        super().__init__()
        self.context = context
        self.state = state

    def read(self) -> None:
        """Ask the service for everything known of the host."""
        raise NotImplementedError

    def action_history(self, purpose: str) -> None:
        """Choose an earlier scan: to look at it, or to compare with it."""
        dossier, history = self.state.dossier, self.state.history
        if dossier is None or len(history) < 2:
            self.post_message(messages.Told("Only one scan of this host is kept."))
            return
        title = "Compare with the scan of" if purpose == "compare" else "Show the scan of"
        choose = doors.history(title, history, dossier.card.scanned_at, self.context.clock())
        self.app.push_screen(choose, self._compare_with if purpose == "compare" else self._look_at)

    def _look_at(self, at: str | None) -> None:
        history = self.state.history
        if at is not None and history:
            self.state = replace(self.state, at="" if at == history[-1].scanned_at else at, against=None)
            self.read()

    def _compare_with(self, at: str | None) -> None:
        if at is not None:
            start(self, "other", self._read_other, self.state.host, at)

    async def _read_other(self, host: str, at: str) -> None:
        dossier, problem = await attempt(self.context.service.site(host, method=self.state.method, at=at))
        self.post_message(messages.OtherReady(dossier) if dossier else messages.Told(problem, "error"))

    def action_scan(self, force: bool) -> None:
        """Scan this host."""
        self.post_message(messages.ScanAsked(self.state.host, force=force))

    def action_copy(self, what: str) -> None:
        """Copy the snippet of the chosen fix, or the whole card as JSON."""
        dossier, fix = self.state.dossier, self.state.fix
        if dossier is None:
            return
        if what == "card":
            self.post_message(messages.CopyAsked(encode_card(dossier.card).decode(), "the card as JSON"))
        elif fix is None:
            self.post_message(messages.Told("There is no fix to copy."))
        else:
            self.post_message(messages.CopyAsked(fix.code, file_of(fix)))

    def action_export(self) -> None:
        """Write the card, or in the pane of fixes the chosen snippet, to a file."""
        dossier, fix = self.state.dossier, self.state.fix
        if dossier is None:
            return
        if self.state.pane == cardpanes.FIXES and fix is not None:
            job = ExportJob("snippet", file_name(fix.k, "txt"), text=fix.code)
        else:
            job = ExportJob(
                "card",
                file_name(self.state.host, "json"),
                host=self.state.host,
                method=self.state.method,
                at=self.state.at,
            )
        self.post_message(messages.ExportAsked(job))

    def action_browse(self) -> None:
        """Open the site's page of the index in the browser."""
        if self.state.dossier is not None:
            self.post_message(messages.BrowseAsked(self.state.dossier.card.url))

    def command(self) -> str:
        """Return the shell command that prints this card."""
        return self.state.command()
