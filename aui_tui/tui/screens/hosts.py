"""What can be done with the host under the cursor of a list, or with the marked ones."""

from __future__ import annotations

from textual.screen import Screen

from aui_tui.tui import doors, messages
from aui_tui.tui.columns import RANKED, cell
from aui_tui.tui.context import Context
from aui_tui.tui.export import ExportJob, list_name
from aui_tui.tui.state import ListState
from aui_tui.tui.widgets.bar import Bar
from aui_tui.tui.widgets.hosttable import HostTable


class HostScreen(Screen[None]):
    """A screen with a list of hosts: ``state`` says which, and which of them are marked."""

    def __init__(self, context: Context, state: ListState) -> None:
        super().__init__()
        self.context = context
        self.state = state

    @property
    def table(self) -> HostTable:
        """The list."""
        return self.query_one(HostTable)

    def host(self) -> str:
        """Return the host under the cursor, empty in an empty list."""
        row = self.table.row
        return row.summary.host if row is not None else ""

    def action_mark(self) -> None:
        """Mark the host under the cursor, or no longer, and go on to the next."""
        host = self.host()
        if host:
            self.state = self.state.marked(host)
            self.table.mark(self.state.marks)
            self.table.action_move(1)
            self.query_one("#detail", Bar).refresh()

    def action_compare(self) -> None:
        """Compare the marked hosts side by side, or the one marked with the one under the cursor."""
        hosts = [*sorted(self.state.marks)]
        if len(hosts) < 2 and self.host() not in ("", *hosts):
            hosts.append(self.host())
        if len(hosts) < 2:
            self.post_message(messages.Told("Mark two or more hosts with space to compare them."))
        else:
            self.app.push_screen(doors.compare(self.context, hosts))

    def action_scan(self, force: bool) -> None:
        """Scan the marked hosts, or the one under the cursor, or ask for an address when there is none."""
        if len(self.state.marks) > 1:
            title = " ".join(("Scan", str(len(self.state.marks)), "marked hosts?"))
            window = doors.confirm(title, "Scan them", "Leave them")
            self.app.push_screen(window, lambda answer: self._scan_marked(answer, force))
        elif self.host():
            self.post_message(messages.ScanAsked(self.host(), force=force))
        else:
            self.action_ask_scan()

    def _scan_marked(self, answer: str | None, force: bool) -> None:
        if answer:
            self.post_message(messages.ManyAsked(tuple(sorted(self.state.marks)), force=force))

    def action_ask_scan(self) -> None:
        """Ask for an address and scan it."""
        ask = doors.ask("Scan an address", "A host or an http(s) address. enter scans, esc leaves.", "", "example.com")
        self.app.push_screen(ask, self._scan_typed)

    def _scan_typed(self, text: str | None) -> None:
        if text:
            self.post_message(messages.ScanAsked(text))

    def action_copy(self, what: str) -> None:
        """Copy the host, or the row with its values parted by tabs."""
        row = self.table.row
        if row is not None:
            now = self.context.clock()
            values = "\t".join(cell(column, row, now).text for column in RANKED)
            text, name = (row.summary.host,) * 2 if what == "host" else (values, "the row")
            self.post_message(messages.CopyAsked(text, name))

    def action_export(self) -> None:
        """Write the list, or the marked hosts of it, to a file."""
        state = self.state
        path = list_name(state.query, unreachable=state.unreachable, marked=bool(state.marks))
        hosts = tuple(sorted(state.marks))
        job = ExportJob("list", path, query=state.query, unreachable=state.unreachable, hosts=hosts)
        self.post_message(messages.ExportAsked(job))

    def action_browse(self) -> None:
        """Open the site's page of the index in the browser."""
        row = self.table.row
        if row is not None:
            self.post_message(messages.BrowseAsked(row.summary.url))
