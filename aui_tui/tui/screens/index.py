"""The index: the list of hosts with its filters, the preview, and the scans that run."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from aui_tui.model.surfaces import SURFACES
from aui_tui.model.vocabulary import CATEGORIES
from aui_tui.text import count
from aui_tui.tui.bindings import INDEX, bindings
from aui_tui.tui.columns import RANKED, Mode, cell
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.rows import text
from aui_tui.tui.screens.listparts import (
    chips_line,
    column_foot,
    empty_text,
    feed_line,
    legend_lines,
    marks_line,
    row_foot,
    title_line,
)
from aui_tui.tui.state import ListState
from aui_tui.tui.widgets.bars import Bar
from aui_tui.tui.widgets.hosttable import HostTable
from aui_tui.tui.widgets.preview import PreviewPane
from aui_tui.tui.widgets.querybar import QueryLine
from aui_tui.tui.words import local_time

if TYPE_CHECKING:
    from aui_tui.model.listing import IndexView
    from aui_tui.model.query import Query
    from aui_tui.model.report import HostReport

COMPARED: Final = 5
"""Hosts that are compared at most."""
PAUSE: Final = 0.12
"""Seconds without a key after which the choices of the drop-down are counted."""
TOGETHER: Final = 0.03
"""Seconds that a frame waits for the rows that a key asks for, so that both are drawn once."""
SLOW: Final = 0.1
"""Seconds after which the first line says that the list is still being searched for."""
FIRST: Final = 0.25
"""Seconds that the first frame waits for the list, so that it is drawn once; a slow source gets an empty frame."""


class IndexScreen(DashboardScreen[None]):
    """Shows a :class:`ListState`; every key makes another state, a state with another query asks the service."""

    BINDINGS = bindings(INDEX)
    SCANS = True
    AUTO_FOCUS = "HostTable"

    def __init__(self, state: ListState, host: str = "", *, offer: bool = True, classes: str = "") -> None:
        """``host``: the one under the cursor. ``offer``: show the ways to a first list over an empty one."""
        super().__init__(classes=classes)
        self.state = state
        self._host = host
        self._before: tuple[ListState, str, str] = self.state, "", ""
        self._problem = ""
        self._elsewhere = 0
        self._placing = False
        self._ready, self._answered = asyncio.Event(), asyncio.Event()
        self._trail: list[tuple[Query, str]] = []
        """The queries before those that the overview has opened, each with the figure that was chosen there."""
        self._offered = not offer

    def compose(self) -> ComposeResult:
        start(self, "list", self._read, self.state.query, self._host, ExitStack())  # while the widgets are made
        return super().compose()

    def inside(self) -> ComposeResult:
        with Horizontal(id="filters"):
            yield QueryLine(self.state.query.line)
            yield Bar(lambda size: chips_line(self.state, size), id="chips")
        with Horizontal(id="body"):
            yield HostTable(self.context.clock, self.state)
            yield PreviewPane(self.context)

    async def on_mount(self) -> None:
        for name in ("stored", "aged", "fed"):
            self.watch(self.app, name, getattr(self, "_" + name), init=False)
        self.watch(self.app, "quota", self.draw_lines, init=False)
        self.watch(self.line, "value", self._typed, init=False)
        self._ready.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._answered.wait(), FIRST)

    # What is drawn

    @property
    def table(self) -> HostTable:
        """The list."""
        return self.query_one(HostTable)

    def host(self) -> str:
        """Return the host under the cursor, empty in an empty list."""
        row = self.table.row
        return row.summary.host if row is not None else ""

    @property
    def line(self) -> QueryLine:
        """The query line."""
        return self.query_one(QueryLine)

    def title_line(self, size: int) -> Content:
        feed, done = self.app.feed, self.app.fed
        if feed is not None and done >= 0:
            return feed_line(feed.name, done, feed.total, size)
        service = self.context.service
        return title_line(self.state, "" if service.is_local else service.label, self.app.quota, size)

    def foot_line(self, size: int) -> Content:
        problem, typing, unfinished = self._problem, self.line.has_focus, False
        if self.line.value:
            from aui_tui.tui.typed import read_line

            typed = read_line(self.line.value)
            unfinished = typed.open_end
            problem = problem or ("" if unfinished and typing else typed.problem)
        if problem:
            return text(" ", (problem, "critical"))
        if typing:
            words = "typing …" if unfinished else "enter searches as typed · in the shell: aui-tui help query"
            return text(" ", (words, "muted"))
        if self.state.marks:
            return marks_line(self.state.marks, size)
        if self.state.mode == "matrix":
            return Content("\n").join(legend_lines(size))
        column = self.table.column
        if column is None and self.state.view is not None and self.state.view.notice:
            return text(" ", (self.state.view.notice, "warn"))
        if column is None and self.query_one(PreviewPane).display:  # which says of the row what the foot would
            column = self.table.sorted_column
        if column is None:
            return row_foot(self.table.row, size)
        return column_foot(column, size, self.context.shell(self.command()) if self.has_class("-wide") else "")

    @property
    def stale(self) -> bool:
        """Whether the list that was asked for last is not on show, its first rows at least, or its cursor not set."""
        view = self.state.view
        return self._placing or view is None or view.query != self.state.query

    def _redraw(self) -> None:
        rows = len(legend_lines(self.app.size.width)) if self.state.mode == "matrix" and not self.state.marks else 1
        self.query_one("#foot", Bar).styles.height = rows
        self.draw_lines()

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw_lines)  # once the classes of the new width hold

    @property
    def _feeding(self) -> bool:
        """Whether scans fill the index."""
        return self.app.fed >= 0

    def _fed(self, count: int) -> None:
        self.draw_lines()
        if self._is_empty:
            self.refresh_bindings()
            if count >= 0:  # what the last scans left is not known before the list is read again
                self._say_empty()

    def _stored(self, _count: int) -> None:
        untouched = self._feeding and self.table.cursor == 0
        self.reload(keep=not untouched)

    def _aged(self, _count: int) -> None:
        self.table.redraw_ages()
        self.query_one(PreviewPane).redraw_ages()

    # Reading the list

    def reload(self, *, keep: bool, host: str = "") -> None:
        """Ask the service for the list again, the cursor on ``host``; ``keep`` leaves it on its own host."""
        row = self.table.row if keep else None
        cursor_host = host or (row.summary.host if row is not None else "")
        self._placing = bool(cursor_host)
        start(self, "list", self._read, self.state.query, cursor_host, self._one_frame())
        self.set_timer(SLOW, self._say_slow)

    def _say_slow(self) -> None:
        if self.stale:
            self.draw_lines()

    def _one_frame(self) -> ExitStack:
        """Draw nothing until the result is closed, a moment long at most: a key and its rows are one frame.

        The choices of the query line have the next one: the screen is laid out for them, and the rows need not wait.
        """
        frame = ExitStack()
        frame.callback(self.check_idle)
        frame.callback(self.call_after_refresh, self.line.drop_down.draw)
        frame.enter_context(self.app.batch_update())
        self.set_timer(TOGETHER, frame.close)
        return frame

    async def _read(self, query: Query, host: str, frame: ExitStack) -> None:
        """Show the list, its first rows before its counts unless the cursor goes to ``host``."""
        service = self.context.service
        view, problem = (None, "") if host else await attempt(service.first_page(query))
        await self._ready.wait()
        paged = view is not None and view.counting
        if view is not None and view.counting:
            drawn = asyncio.Event()
            self._listed(view, "")
            self.table.call_later(frame.close)
            self.call_after_refresh(drawn.set)
            await drawn.wait()
        if view is None or view.counting:
            view, problem = await attempt(service.index(query))
        self.table.call_later(frame.close)
        if view is None:
            self._answered.set()
            self._problem, self._placing = problem, False
            self._redraw()
            return
        self._listed(view, None if paged else host)

    def _listed(self, view: IndexView, host: str | None) -> None:
        """Show the answer, unless something else was asked for meanwhile; None for ``host`` leaves the cursor."""
        self._answered.set()
        if view.query == self.state.query:
            self.state = self.state.answered(view)
            self._problem, self._placing = "", False
            place = self.state.window.find(host) if host and self.state.window is not None else 0
            self._fill(self.table.cursor if host is None else max(place, 0))

    def _fill(self, cursor: int) -> None:
        if self.state.window is not None:
            self.table.show(self.state, cursor, self.context.preferences.columns)
            self._say_empty()
        self._redraw()
        if self._is_empty and self.context.service.can_scan and not self._feeding and not self._offered:
            self._offered = True
            self.call_after_refresh(self._offer_first)

    def _offer_first(self) -> None:
        """Show the ways to a first list, unless a card was asked for at the start."""
        from aui_tui.tui.screens.first import FirstScreen

        if self.is_current:
            self.app.push_screen(FirstScreen())

    @property
    def _is_empty(self) -> bool:
        """Whether nothing was ever scanned here."""
        view = self.state.view
        if view is None or view.query != self.state.query or self.state.filtered:
            return False
        return not len(view.ranked) and not len(view.unreachable)

    def _say_empty(self) -> None:
        """Show in place of an empty list how it can be filled."""
        window = self.state.window
        empty = window is not None and not len(window)
        if empty is not self.has_class("-nothing"):
            self.refresh_bindings()
        self.set_class(empty, "-nothing")
        self.call_after_refresh(self._focus_list)
        if empty:
            words = empty_text(self.state, self.context.service.can_scan, feeding=self._feeding)
            if not self.query("#empty"):
                self.query_one("#body").mount(Static(id="empty", markup=False), before="#preview")
            self.query_one("#empty", Static).update(words)

    def _focus_list(self) -> None:
        """Give the list the focus that it lost while it was empty, and so hidden."""
        if self.focused is None:
            self.table.focus()

    def become(self, state: ListState, *, keep: bool = True) -> None:
        """Take another state: ask again when its query differs, else only draw."""
        same = state.query == self.state.query
        if (state.mode, state.filtered) != (self.state.mode, self.state.filtered):
            self.refresh_bindings()
        self.state = state
        if same:
            self._fill(self.table.cursor)
        else:
            self._elsewhere = 0
            self.reload(keep=keep)

    def _ask(self, state: ListState) -> None:
        """Take another order or filter: its first rows, or those beside the host to which the cursor was moved."""
        self.become(state, keep=self.table.cursor > 0)

    def view(self, state: ListState) -> None:
        """Show another list."""
        self.line.value = state.query.line
        self.become(replace(self.state, mode=state.mode, query=state.query), keep=False)

    def scanned(self, report: HostReport) -> None:
        """Open the card of a scan that was asked for here."""
        from aui_tui.tui.screens.card import open_card

        open_card(self, report.card.host, report=report)

    def return_to(self, host: str | None) -> None:
        """Put the cursor on ``host`` again after its card was left."""
        if host and self.host() != host:
            self.reload(keep=False, host=host)

    # The table and the query line

    def left(self) -> dict[str, str]:
        """Return the list as it is remembered for the next start."""
        return {**self.state.saved(), **({"host": self._host} if self._host else {})}

    def on_host_table_moved(self) -> None:
        self._host = self.host() if self.table.cursor else ""
        self.query_one("#foot", Bar).refresh()
        self.call_after_refresh(self.query_one(PreviewPane).follow, self.table.row)

    def on_host_table_opened(self) -> None:
        from aui_tui.tui.screens.card import open_card

        self.app.clear_notifications()
        open_card(self, self.host(), self.state.window, self.table.cursor, self.state.query.words())

    def on_host_table_sort_requested(self, message: HostTable.SortRequested) -> None:
        self._ask(self.state.sorted_by(message.key))

    def on_query_line_entered(self) -> None:
        self._before = self.state, self.host(), self.line.value
        self.query_one("#foot", Bar).refresh()

    def _typed(self, line: str) -> None:
        """Filter as the user types; a line that cannot be read leaves the list and says why."""
        if self.focused is not self.line:
            return
        from aui_tui.tui.typed import choices, read_line

        self._problem = ""
        drop_down = self.line.drop_down
        drop_down.offer(choices(line))
        state = self.state.with_line(read_line(line).good)
        if state.query.terms != self.state.query.terms:
            self.become(state, keep=False)
        else:
            self.state = state
            self._redraw()
            drop_down.draw()
        start(self, "choices", self._count_choices, self.state.query)

    async def _count_choices(self, query: Query) -> None:
        """Say how many hosts each choice of the drop-down would leave."""
        from aui_tui.tui.typed import read_line
        from aui_tui.tui.widgets.dropdown import SHOWN

        drop_down = self.line.drop_down
        await asyncio.sleep(PAUSE)
        for choice in drop_down.completions[:SHOWN]:
            reading = read_line(choice.line)
            if not reading.problem and reading.good and not choice.line.endswith((":", "=")):
                view, _ = await attempt(self.context.service.index(query.with_line(reading.good)))
                if view is not None:
                    drop_down.counts[choice.line] = format(len(view.ranked) + len(view.unreachable), ",")
        if drop_down.counts:
            drop_down.draw()

    def on_query_line_left(self, message: QueryLine.Left) -> None:
        """Go back to the list, with the search or as it was before."""
        self._problem = ""
        self.table.focus()
        if not message.keep:
            state, host, self.line.value = self._before
            self.state = replace(self.state, query=state.query)
            self.reload(keep=False, host=host)
        self._fill(self.table.cursor)

    # Keys

    def lacks(self, need: str) -> bool:
        match need:
            case "wide":
                return not self.has_class("-wide")
            case "host":
                return not len(self.table)
        return super().lacks(need)

    def action_search(self) -> None:
        self.line.focus()

    def action_stance(self, stance: str) -> None:
        if not stance and not self.state.query.stance:
            self.app.notice("Hosts of every stance are shown already.")
        self._ask(self.state.asking(stance="" if stance == self.state.query.stance else stance))

    def action_category(self) -> None:
        view = self.state.view
        if view is not None:
            counts = view.facets.category
            every = {"": ("All categories", format(sum(counts.values()), ","))}
            named = {name: (name, format(counts.get(name, 0), ",")) for name in CATEGORIES}
            self.app.choose("Category", every | named, self._categorise, self.state.query.category)

    def _categorise(self, chosen: str) -> None:
        self._ask(self.state.asking(category=chosen))

    def action_other_list(self) -> None:
        self.action_list("ranked" if self.state.mode == "unreachable" else "unreachable")

    def action_list(self, mode: Mode) -> None:
        if "unreachable" in {self.state.mode, mode} and self.state.mode != mode:
            self._elsewhere, cursor = self.table.cursor, self._elsewhere
            self.state = replace(self.state, mode=mode)
            self.refresh_bindings()
            self._fill(cursor)

    def action_matrix(self) -> None:
        self.become(replace(self.state, mode="ranked" if self.state.mode == "matrix" else "matrix"))

    def action_surface(self, number: int) -> None:
        self.become(self.state.sorted_by("matrix." + SURFACES[number - 1].slug), keep=False)

    def action_overview(self) -> None:
        self._open_overview("")

    def _open_overview(self, opened: str, column: str = "") -> None:
        """Show the overview, the cursor on the count of the query ``opened``, or where the ``column`` is counted."""
        from aui_tui.tui.screens.overview import COLUMNS, OverviewScreen

        self.app.did(self.command() + " --overview")
        screen = OverviewScreen(self.state.query, opened, COLUMNS.get(column, 1))
        before = self.state.query

        def chosen(query: Query | None) -> None:
            if query is not None:
                self._trail.append((before, screen.opened))
                self._narrow(query)

        self.app.push_screen(screen, chosen)

    def _narrow(self, query: Query | None) -> None:
        if query is not None:
            self.line.value = query.line
            self.become(replace(self.state, query=query))
            self.app.did(self.command())

    def action_sort(self, step: int) -> None:
        self._ask(self.state.sorted_by(self.table.sort_beside(self.state.query.sort, step)))

    def action_turn(self) -> None:
        column = self.table.column
        unsorted = column is not None and column.sort not in ("", self.state.query.sort)
        self._ask(self.state.sorted_by(column.sort) if column is not None and unsorted else self.state.turned())

    def action_count(self) -> None:
        column = self.table.column or self.table.sorted_column
        self._open_overview("", column.key if column is not None else "")

    def action_tasks(self) -> None:
        if self.host():
            self.app.try_tasks(self.host())

    def action_scroll_preview(self, step: int) -> None:
        pane = self.query_one(PreviewPane)
        if not pane.display:
            self.app.notice("+ shows the preview.")
        pane.scroll_to(y=pane.scroll_offset.y + step, animate=False, immediate=True)

    def action_preview(self) -> None:
        self.query_one(PreviewPane).toggle_class("-off")

    def action_reload(self) -> None:
        self.app.notice("Reading again.")
        self.context.service.refresh()
        self.reload(keep=True)

    def action_back(self) -> None:
        if self._feeding and self.app.stop("feed"):
            return
        running, state = self.app.running, self.state.cleared()
        if running:
            self.app.stop_scan(running[-1])
        elif self._trail:
            query, opened = self._trail.pop()
            self._narrow(query)
            self._open_overview(opened)
        elif state is not None or self.line.value:
            restored = state or self.state
            self.line.value = restored.query.line
            self.become(restored)
        elif self._is_empty and self.context.service.can_scan:
            self._offer_first()
        else:
            self.app.notice("This is the whole list; q leaves the dashboard.")

    def command(self) -> str:
        return self.state.command()

    # The host under the cursor, and the marked ones

    def action_mark(self) -> None:
        host = self.host()
        if host:
            self.become(replace(self.state, marks=self.state.marks ^ {host}))
            self.table.action_move(1)

    def action_compare(self) -> None:
        from aui_tui.tui.screens.compare import CompareScreen

        hosts = sorted(self.state.marks)
        if len(hosts) < 2 and self.host() not in ("", *hosts):
            hosts.append(self.host())
        if len(hosts) < 2:
            self.app.notice("Mark two or more hosts with space to compare them.")
            return
        if len(hosts) > COMPARED:
            self.app.notice(f"Of {len(hosts)} marked hosts the first {COMPARED} are compared.", "warning")
        self.app.push_screen(CompareScreen(tuple(hosts[:COMPARED])))

    def action_scan(self, force: bool) -> None:
        if len(self.state.marks) > 1:
            hosts = tuple(sorted(self.state.marks))
            scan = partial(self.app.scan_many, hosts, force=force)
            self.app.confirm(self._cost(len(hosts)), "Scan them", "Cancel", scan)
        elif self.host():
            self.app.scan(self.host(), force=force, listed=True)
        else:
            self.app.ask_address()

    def _cost(self, number: int) -> str:
        """Return the question before ``number`` scans: what they use, or how many of them will be made."""
        quota = self.app.quota
        if quota is None or quota.left >= number:
            left = f" It uses {number} of {quota.left}." if quota is not None else ""
            return f"Scan {number} marked hosts?{left}"
        when = f"; the next is free at {local_time(quota.next_slot)}" if quota.next_slot else ""
        return f"{count(quota.left, 'scan')} left this hour: {quota.left} of {number} marked hosts will be asked{when}."

    def action_ask_scan(self) -> None:
        self.app.ask_address()

    def action_copy(self, what: str) -> None:
        row = self.table.row
        if row is not None:
            now = self.context.clock()
            values = "\t".join(cell(column, row, now).text for column in RANKED)
            text, name = (row.summary.host,) * 2 if what == "host" else (values, "the row")
            self.app.copy(text, name)

    def action_export(self) -> None:
        from aui_tui.tui.export import ExportJob, list_name

        state = self.state
        hosts, unreachable = tuple(sorted(state.marks)), state.mode == "unreachable"
        path = list_name(state.query, unreachable=unreachable, marked=bool(hosts))
        job = ExportJob("list", path, query=state.query, unreachable=unreachable, hosts=hosts)
        self.app.export(job)

    def action_browse(self) -> None:
        if self.host():
            self.app.browse(self.host())
