"""The report card of one host: the answer above, the panes below, one at a time where the screen is narrow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Digits, Static

from aui_tui.model import labels
from aui_tui.model.codec import encode_card
from aui_tui.model.labels import ago
from aui_tui.model.listing import Window
from aui_tui.model.report import HistoryPoint, HostReport
from aui_tui.tui import cardrows
from aui_tui.tui.bindings import CARD, bindings
from aui_tui.tui.cardrows import AGENTS, EVIDENCE, FIXES, NUMBERS, READS, SCAN_LOG, SUMMARY, TASK_RUN, VISITS
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.export import ExportJob, file_name
from aui_tui.tui.rows import ListEntry, paragraph
from aui_tui.tui.scan_panel import Scan, scan_rows
from aui_tui.tui.screens.exchange import opened
from aui_tui.tui.screens.reads import ReadsScreen
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.state import CardState
from aui_tui.tui.widgets.bars import Bar
from aui_tui.tui.widgets.find import FindBar
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.words import day

OPENS: Final = {AGENTS: "Exchange", FIXES: "Steps", SCAN_LOG: "Exchange"}
"""What enter does in the panes where it does not show the whole row."""
COLUMNS: Final = ((AGENTS, EVIDENCE, SUMMARY), (FIXES, READS), (SCAN_LOG, TASK_RUN, VISITS))
"""The panes from top to bottom in the three columns of a very wide screen; a wide one has the last below the second."""
TWO, THREE = 110, 180
"""Cells from which on there are two columns, and three."""
SMALL: Final = 66
"""Cells below which there is no room for the pillars."""
TALL: Final = 34
"""Lines from which on the first column has room for how the score came about."""


class CardScreen(DashboardScreen[str]):
    """Shows a :class:`CardState`; answers with the host on which it was left.

    ``window`` is the list that the card was opened from, ``index`` its place there, ``words`` the list's filters.
    """

    BINDINGS = bindings(CARD)
    SCANS = True
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-low"), (23, "-high")]  # noqa: RUF012  # declared by Textual
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    CardScreen #foot { height: 2; }
    #brief { display: none; }
    #answer { height: auto; max-height: 70%; padding: 0 1; layout: horizontal; }
    #standing { width: 16; height: auto; }
    #digits { height: 3; width: 1fr; }
    #digits Digits { width: auto; padding-right: 2; }
    #points { text-style: bold; }
    #basis { width: 1fr; height: auto; color: $role-muted; }
    #strip { height: auto; width: 1fr; }
    .-below #answer, .-absent #answer { display: none; }
    .-below #brief { display: block; }
    .-short #standing { display: none; }
    .-short #answer { max-height: 80%; }
    .-short #foot { height: 1; }
    .-columns #answer { border: round $role-rest; border-title-color: $primary; }
    .-columns #answer:focus-within { border: round $primary; border-title-style: bold reverse; }
    .-columns #tabs { display: none; }
    #panes, #right { height: 1fr; width: 1fr; layout: vertical; }
    .column, .column .pane { display: none; height: 1fr; width: 1fr; }
    #right { display: none; }
    #right.-shown, .column.-shown, .column .pane.-shown { display: block; }
    .-columns #panes { layout: horizontal; }
    .-columns #column-0, .-columns #right { width: 1fr; }
    .-columns #pane-2 { height: auto; max-height: 45%; }
    .-columns #column-0.-filled #pane-3 { height: auto; max-height: 65%; }
    .-columns #column-1 { height: auto; max-height: 70%; }
    .-columns #pane-4 { height: auto; }
    .-columns.-reading #pane-2 { height: 7; }
    .-columns.-reading #column-0.-filled #pane-3 { height: 12; }
    .-columns.-reading #pane-4 { height: 65%; }
    .-columns #column-1.-filled, .-columns #column-1.-filled #pane-5 { height: 1fr; max-height: 100%; }
    .-columns #column-1.-filled #pane-4 { max-height: 65%; }
    .-three #right { layout: horizontal; width: 2fr; }
    .-three #column-1, .-three #column-2 { height: 1fr; max-height: 100%; width: 1fr; }
    .-three #pane-7, .-three #pane-8 { height: auto; max-height: 40%; }
    """
    SCOPED_CSS = False

    def __init__(self, host: str, window: Window | None = None, index: int = 0, words: str = "") -> None:
        super().__init__()
        self.state = CardState(host)
        self._window = window
        self._index = index
        self._words = words
        self._zoomed = False

    def inside(self) -> ComposeResult:
        yield Bar(lambda size: cardrows.brief(self.state, size), id="brief")
        with Container(id="answer"):
            with Vertical(id="standing"):
                with Horizontal(id="digits"):
                    yield Digits(id="grade")
                    yield Digits(id="points")
                yield Static(id="basis", markup=False)
            yield RowList(opens="Open", id="strip", marks_first=True)
        yield Bar(lambda size: cardrows.tabs(self.state, size), id="tabs")
        with Container(id="panes"):
            yield from self._column(0)
            with Container(id="right"):
                yield from self._column(1)
                yield from self._column(2)
        yield FindBar()

    def _column(self, number: int) -> ComposeResult:
        with Vertical(id=f"column-{number}", classes="column"):
            for place in COLUMNS[number]:
                yield RowList(opens=OPENS.get(place, "Whole row"), id=f"pane-{place}", classes="pane")

    def on_mount(self) -> None:
        follow: dict[str, Callable[[], None]] = {
            "scans": lambda: self._draw(SCAN_LOG),
            "task_run": lambda: self._draw(TASK_RUN),
            "quota": self.draw_lines,
            "stored": self.read,
            "aged": lambda: self.become(self.state),
        }
        for name, act in follow.items():
            self.watch(self.app, name, act, init=False)
        self.query_one("#answer").border_title = Content("1 Summary")
        self.become(replace(self.state, tasks=self.context.service.is_local), top=True)
        self.action_pane(SUMMARY)
        self.read()

    # Reading

    def read(self) -> None:
        """Ask the service for everything known of the host."""
        state = self.state
        start(self, "card", self._read, state.host, state.method, state.at)

    async def _read(self, host: str, method: str, at: str) -> None:
        """Show the report, or why there is none: then a card of the same host stays, with its own method."""
        report, problem = await attempt(self.context.service.site(host, method=method, at=at))
        before = self.state.report
        if report is not None:
            self.become(self.state.with_report(report), top=before is None or before.card.host != report.card.host)
            if report.notice:
                self.app.notice(report.notice, "warning")
        elif before is not None and before.card.host == self.state.host:
            self.state = replace(self.state, method=before.card.method, at="")
            if not before.warnings:  # else it was not stored, and they say so
                self.app.notice(problem, "error")
        else:
            state = replace(self.state, report=None, problem=problem, done=frozenset(), reached=None)
            self.become(state, top=True)
        self.refresh_bindings()

    # What is drawn

    def pane(self, number: int) -> RowList:
        """Return pane ``number``."""
        return self.query_one(f"#pane-{number}", RowList)

    def become(self, state: CardState, *, top: bool = False) -> None:
        """Take another state and draw it; ``top`` scrolls every pane to its first row."""
        marks = state.done != self.state.done
        self.state = state
        if self.has_class("-absent") and state.report is not None:
            self.call_after_refresh(self._focus_pane)  # it was hidden, and what is hidden loses the focus
        for number in NUMBERS:
            self._draw(number, top=top)
        self._draw_answer(top=top)
        if marks or (state.done and state.reached is None):
            self._ask_standing()
        self._redraw()

    def _draw(self, number: int, *, top: bool = False) -> None:
        pane, state = self.pane(number), self.state
        pane.border_title = Content(cardrows.pane_title(number, state, self.context.clock()))
        pane.write_below(partial(cardrows.pane_foot, number, state))
        pane.set_class(cardrows.amount(number, state) == "–", "-idle")
        pane.show(partial(self._rows, number), top=top, at=cardrows.opening(number, state))

    def _rows(self, number: int, size: int) -> list[ListEntry]:
        """Return what pane ``number`` says: what runs now, else what is known; without a card, why there is none."""
        state, scan, run, now = self.state, self.scan, self.app.task_run, self.context.clock()
        if number == SCAN_LOG and scan is not None and scan.state != "done":
            return scan_rows(scan, size, now)
        if number == TASK_RUN and run is not None and run.running and run.host == state.host:
            return run.rows()
        if state.report is not None:
            return cardrows.rows(number, state, state.report, size, now)
        return cardrows.absent(state.host, state.problem, size, self.context.service.can_scan) if state.problem else []

    def _draw_answer(self, *, top: bool = False) -> None:
        """Draw grade, sentence and assistants, and place the panes; without a card its place stays, until it is told
        that there is none."""
        state = self.state
        absent = state.report is None and bool(state.problem)
        columns = self.size.width >= TWO and self.size.height >= 20 and not (self._zoomed or absent)
        three = columns and self.size.width >= THREE
        self.set_class(absent, "-absent")
        self.set_class(state.report is None and not absent, "-reading")
        self.set_class(columns, "-columns")
        self.set_class(three, "-three")
        self.set_class(not columns and not absent and (state.pane != SUMMARY or self._zoomed), "-below")
        self._place(columns=columns, three=three)
        letter, points, tone = cardrows.grade(state.report)
        for name, words in (("#grade", letter), ("#points", points)):
            figure = self.query_one(name, Digits)
            figure.update(words)
            figure.styles.color = self.app.theme_variables[f"role-{tone}"]
            figure.display = not self.context.preferences.ascii  # it draws with lines of boxes
        small = f"{letter} {points}\n" if self.context.preferences.ascii else ""
        self.query_one("#basis", Static).update(Content(small + cardrows.basis(state.report)))
        short = self.size.height < 16 or self.size.width < SMALL
        strip = self.query_one("#strip", RowList)
        strip.show(lambda size: cardrows.answer(self.state, size, brief=short), top=top, at=cardrows.opening(0, state))
        self.query_one("#brief").refresh()

    def _place(self, *, columns: bool, three: bool) -> None:
        """Show the panes that the screen has room for."""
        state = self.state
        shown = {state.pane} if not columns else {AGENTS, EVIDENCE, FIXES, state.turn}
        if three:
            shown |= {READS, SCAN_LOG}
        if columns and (state.ledger or self.size.height >= TALL):
            shown.add(SUMMARY)
        for place in NUMBERS:
            self.pane(place).set_class(place in shown, "-shown")
        for number, column in enumerate(COLUMNS):
            self.query_one(f"#column-{number}").set_class(bool(shown & {*column}), "-shown")
        self.query_one("#column-0").set_class(SUMMARY in shown, "-filled")
        self.query_one("#column-1").set_class(READS in shown, "-filled")
        self.query_one("#right").set_class(bool(shown & {*COLUMNS[1], *COLUMNS[2]}), "-shown")

    def on_resize(self, _event: events.Resize) -> None:
        self.call_after_refresh(lambda: self.become(self.state))

    def _redraw(self) -> None:
        self.draw_lines()

    def on_row_list_moved(self) -> None:
        """Let foot, explanation and the chosen fix follow the cursor."""
        self.query_one("#foot", Bar).refresh()
        self._follow_focus()
        kind, _, key = self.pane(FIXES).key.partition(" ")
        place = next((n for n, fix in enumerate(self.state.fixes) if fix.k == key), None) if kind == "fix" else None
        if place is not None and place != self.state.chosen:
            self.state = replace(self.state, chosen=place)
            self._draw(FIXES)

    def _follow_focus(self) -> None:
        """Take the pane with the focus, as a click gives it, for the one that keys act on."""
        place = (self.focused_list.id or "").removeprefix("pane-")
        number = int(place) if place.isdigit() else SUMMARY
        ledger = place == str(SUMMARY)
        if number != self.state.pane or ledger != self.state.ledger:
            turn = number if number in cardrows.IN_TURN else self.state.turn
            self.state = replace(self.state, pane=number, ledger=ledger, turn=turn)
            self.refresh_bindings()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        report, key = self.state.report, message.key
        if key.startswith("+"):
            self.become(replace(self.state, unfolded=self.state.unfolded | {key[1:]}))
        elif key == cardrows.NEXT:
            self.action_pane(FIXES)
        elif message.listing.id in ("strip", f"pane-{AGENTS}", f"pane-{SCAN_LOG}") and report is not None:
            self.app.push_screen(opened(report, key))
        elif message.listing.id == f"pane-{FIXES}" and self.state.fix is not None:
            fix = self.state.fix
            self.app.push_screen(ReadScreen(fix.title, lambda size: cardrows.steps(fix, size)))
        elif report is not None:
            words = cardrows.finding_text(report, key) or self.focused_list.row_text
            self.app.push_screen(ReadScreen("", lambda size: [paragraph(words, size)]))

    def window_name(self) -> str:
        return self.state.host

    def title_line(self, size: int) -> Content:
        place, total = "", len(self._window or ())
        if total > 1:
            place = f"{self._index + 1:,} of {total:,} {self._words if self.has_class('-wide') else ''}".strip()
        return cardrows.headline(self.state, place, self.app.quota, self.context.clock(), size)

    def foot_line(self, size: int) -> Content:
        return cardrows.foot(self.state, self.focused_list.key, size)

    @property
    def scan(self) -> Scan | None:
        """The newest scan of this host in this session."""
        scans = [scan for scan in self.app.scans if scan.concerns(self.state.host)]
        return scans[-1] if scans else None

    # What if

    def action_tick(self) -> None:
        self.become(self.state.ticked())

    def _ask_standing(self) -> None:
        state = self.state
        if state.done and state.report is not None:
            start(self, "what-if", self._marked_standing, state.host, state.done, state.report.card.method, state.at)

    async def _marked_standing(self, host: str, done: frozenset[str], method: str, at: str) -> None:
        service = self.context.service
        standing, problem = await attempt(service.what_if(host, done, method=method, at=at))
        if standing is None:
            self.app.notice(problem, "error")
            self.become(replace(self.state, done=frozenset()))
        elif done == self.state.done:
            self.become(replace(self.state, reached=standing))

    # Panes

    def lacks(self, need: str) -> bool:
        report = self.state.report
        missing = {
            "card": report is None,
            "agents": self.state.pane != AGENTS,
            "answers": report is not None and report.card.unreachable,
            "fixes": self.state.pane != FIXES,
            "panes": self.size.width < TWO,
            "list": self._window is None,
        }
        return missing.get(need, False) or super().lacks(need)

    def action_pane(self, number: int, ledger: bool = False) -> None:
        self.query_one(FindBar).close()
        turn = number if number in cardrows.IN_TURN else self.state.turn
        self.state = replace(self.state, pane=number, turn=turn, ledger=ledger)
        self._draw_answer()
        self._focus_pane()
        self.refresh_bindings()
        self._redraw()

    def _focus_pane(self) -> None:
        number = self.state.pane
        (self.query_one("#strip") if number == SUMMARY and not self.state.ledger else self.pane(number)).focus()

    def action_next_pane(self, step: int) -> None:
        self.action_pane((self.state.pane - 1 + step) % len(NUMBERS) + 1)

    def action_find(self) -> None:
        self.query_one(FindBar).open(self.focused_list)

    def action_zoom(self) -> None:
        self._zoomed = not self._zoomed
        self._draw_answer()

    def action_crawlers(self) -> None:
        self.become(replace(self.state, crawlers=not self.state.crawlers))

    def action_ledger(self) -> None:
        self.action_pane(SUMMARY, not self.state.ledger)

    def action_changes(self) -> None:
        self.become(replace(self.state, changes=not self.state.changes))
        self.action_pane(EVIDENCE)

    def action_method(self) -> None:
        self.state = replace(self.state, method=self.state.other_method())
        self.read()

    # Earlier scans

    def action_history(self, purpose: str) -> None:
        report, history = self.state.report, self.state.history
        if report is None or len(history) < 2:
            self.app.notice("Only one scan of this host is known here.")
            return
        title = "Compare with the scan of" if purpose == "compare" else "Show the scan of"
        choices = {point.scanned_at: _of_scan(point, self.context.clock()) for point in history[::-1]}
        then = self._compare_with if purpose == "compare" else self._look_at
        self.app.choose(title, choices, then, report.card.scanned_at)

    def _look_at(self, at: str) -> None:
        self.state = replace(self.state, at="" if at == self.state.history[-1].scanned_at else at, against=None)
        self.read()

    def _compare_with(self, at: str) -> None:
        start(self, "other", self._read_other, self.state.host, at)

    async def _read_other(self, host: str, at: str) -> None:
        report, problem = await attempt(self.context.service.site(host, method=self.state.method, at=at))
        if report is None:
            self.app.notice(problem, "error")
        else:
            self.become(replace(self.state, against=report.card, changes=True))
            self.action_pane(EVIDENCE)

    # The host

    def action_scan(self, force: bool) -> None:
        self.state = replace(self.state, at="", against=None)
        self.app.scan(self.state.host, force=force, listed=True)

    def action_tasks(self) -> None:
        self.app.try_tasks(self.state.host)
        self.action_pane(TASK_RUN)

    def action_copy(self, what: str) -> None:
        report, fix = self.state.report, self.state.fix
        if report is None:
            return
        if what == "card":
            self.app.copy(encode_card(report.card).decode(), "the card as JSON")
        elif self.state.pane not in (SUMMARY, FIXES):
            super().action_copy("row")
        elif fix is None:
            self.app.notice("There is no fix to copy.")
        else:
            self.app.copy(fix.code, "the change")

    def action_export(self) -> None:
        report, fix = self.state.report, self.state.fix
        if report is None:
            return
        host, method, at = self.state.host, self.state.method, self.state.at
        if self.state.pane == FIXES and fix is not None:
            job = ExportJob("snippet", file_name(fix.k, "txt"), host=host, text=fix.code)
        else:
            job = ExportJob("card", file_name(host, "json"), host=host, method=method, at=at)
        self.app.export(job)

    def action_browse(self) -> None:
        self.app.browse(self.state.host)

    def action_walk(self, step: int) -> None:
        window, place = self._window or (), self._index + step
        while 0 <= place < len(window) and not window[place : place + 1]:  # a host that has gone since
            place += step
        rows = window[place : place + 1] if place >= 0 else ()
        if not rows:
            self.app.notice(f"This is the {'last' if step > 0 else 'first'} host of the list.")
            return
        self._index = place
        self.state = self.state.to_host(rows[0].summary.host)
        self.app.name_window(self.state.host)
        self.read()

    def action_reads(self) -> None:
        observations = self.state.report.observations if self.state.report is not None else None
        commands = observations.reads.commands if observations is not None and observations.reads is not None else ()
        self.app.push_screen(ReadsScreen(self.state.host, commands))

    def action_reload(self) -> None:
        self.app.notice("Reading again.")
        self.read()

    def action_back(self) -> None:
        scan = self.scan
        run = self.app.task_run
        if run is not None and run.running and run.host == self.state.host:
            self.app.stop("tasks")
        elif scan is not None and scan.running:
            self.app.stop_scan(scan)
        else:
            self.dismiss(self.state.host)

    def command(self) -> str:
        return self.state.command()


def open_card(
    page: Screen[Any],
    host: str,
    window: Window | None = None,
    index: int = 0,
    words: str = "",
    *,
    report: HostReport | None = None,
) -> None:
    """Show the card of ``host`` over ``page``, which comes back when it is left.

    ``report``: what a scan has just answered, for a source that could not store it.
    """
    screen = CardScreen(host, window, index, words)
    if report is not None:
        screen.state = screen.state.with_report(report)
    page.app.push_screen(screen, page.return_to if isinstance(page, DashboardScreen) else None)


def _of_scan(point: HistoryPoint, now: float) -> tuple[str, str]:
    """Return day and age of a kept scan, its score and grade."""
    at = point.scanned_at
    graded = labels.score(point.score, point.grade)
    score = "stopped" if point.incomplete else "no answer" if point.unreachable else graded
    return f"{day(at, now)} {at[11:16]}   {ago(at, now)}", score
