"""The report card of one host: the answer above, the panes below, one at a time where the screen is narrow."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final

from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import Screen

from aui_tui.model.codec import encode_card
from aui_tui.model.points import Standing
from aui_tui.model.query import Query
from aui_tui.model.view import Quota, Window
from aui_tui.tui import messages
from aui_tui.tui.bindings import CARD
from aui_tui.tui.context import Context, ExportJob, attempt, file_name, start
from aui_tui.tui.draw import Line
from aui_tui.tui.panes import card as cardpanes
from aui_tui.tui.panes import verdict
from aui_tui.tui.panes.agents import why
from aui_tui.tui.panes.card import Place, headline_of, tabs_line, what_if_foot
from aui_tui.tui.scans import Scan, TaskRun
from aui_tui.tui.screens.exchange import opened
from aui_tui.tui.screens.windows import ChooseScreen, history_choices
from aui_tui.tui.state import CardState
from aui_tui.tui.widgets.bars import Bar, FindBar, KeyBar, ScanPanel
from aui_tui.tui.widgets.lines import FigureList, FixList, Lines, TextPane

PANES: Final = len(cardpanes.NUMBERS)
OF_CARD: Final = frozenset(
    {"copy", "export", "changes", "ledger", "method", "history", "find", "exchange", "crawlers", "zoom"}
)
"""Actions that there must be a card for."""
COLUMNS: Final = (
    (cardpanes.SUMMARY, cardpanes.AGENTS, cardpanes.EVIDENCE, cardpanes.SCAN_LOG),
    (cardpanes.FIXES, cardpanes.TASKS, cardpanes.VISITS),
)
"""The panes from top to bottom in the two columns of a wide screen."""
LISTS: Final = frozenset({cardpanes.AGENTS, cardpanes.SCAN_LOG})
"""Panes with a cursor from line to line."""


class Answer(FigureList):
    """The answer above the panes; below its last line the keys scroll the pane under it."""

    below: TextPane | None = None

    def action_step(self, step: int) -> None:
        """Go to the outcome above or below, then scroll what stands under the answer."""
        before = self.here
        super().action_step(step)
        if self.here == before and self.below is not None and self.below.display:
            self.below.action_step(step)

    def action_page(self, step: int) -> None:
        """Scroll what stands under the answer."""
        if self.below is not None:
            self.below.action_page(step)


class CardScreen(Screen[str]):
    """Shows a :class:`CardState`; answers with the host on which it was left.

    ``window`` is the list that the card was opened from, ``index`` its place there, ``words`` the list's filters.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*CARD]
    AUTO_FOCUS = ""

    def __init__(
        self, context: Context, host: str, window: Window | None = None, index: int = 0, words: str = ""
    ) -> None:
        super().__init__()
        self.context = context
        self.state = CardState(host)
        self._window = window
        self._index = index
        self._words = words
        self._rank = 0

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Bar(self._title, id="title")
        yield Answer(id="answer")
        yield Bar(self._tabs, id="tabs")
        with Container(id="panes"):
            for number, column in enumerate(COLUMNS):
                with Vertical(id=f"column-{number}", classes="column"):
                    for place in column:
                        kind = FixList if place == cardpanes.FIXES else FigureList if place in LISTS else TextPane
                        yield kind(id=f"pane-{place}", classes="pane")
                        if place == cardpanes.AGENTS:
                            yield Lines(id="why", classes="pane")
        yield FindBar()
        yield ScanPanel(self.context.clock)
        yield Bar(self._foot, id="foot")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Follow the state that all screens share, and read the card."""
        for name in ("scans", "quota"):
            self.watch(self.app, name, getattr(self, f"_{name}"))
        for name in ("stored", "aged", "task_run"):
            self.watch(self.app, name, getattr(self, f"_{name}"), init=False)
        answer, facts = self.query_one(Answer), self.query_one("#pane-1", TextPane)
        answer.below = facts
        answer.border_title = Content("1 Summary")
        self.query_one("#why", Lines).can_focus = facts.can_focus = False
        self.action_pane(1)
        self.read()

    # Reading

    def read(self) -> None:
        """Ask the service for everything known of the host."""
        state = self.state
        start(self, "card", self._read, state.host, state.method, state.at)

    async def _read(self, host: str, method: str, at: str) -> None:
        dossier, problem = await attempt(self.context.service.site(host, method=method, at=at))
        self.post_message(messages.ReportReady(dossier) if dossier is not None else messages.CardFailed(problem))

    def on_report_ready(self, message: messages.ReportReady) -> None:
        """Show the dossier."""
        before, card = self.state.dossier, message.dossier.card
        other = before is None or before.card.host != card.host
        self.become(self.state.with_report(message.dossier), top=other)
        if message.dossier.notice:
            self.post_message(messages.Notification(message.dossier.notice, "warning"))
        self.refresh_bindings()
        if not card.unreachable:
            keys = tuple(fix.k for fix in self.state.fixes)
            start(self, "standings", self._each_standing, self.state.host, keys, card.method, self.state.at)

    async def _each_standing(self, host: str, keys: tuple[str, ...], method: str, at: str) -> None:
        found: dict[str, Standing] = {}
        for key in keys:
            standing, _ = await attempt(self.context.service.what_if(host, frozenset({key}), method=method, at=at))
            if standing is not None:
                found[key] = standing
        self.post_message(messages.StandingsReady(host, found))

    def on_standings_ready(self, message: messages.StandingsReady) -> None:
        """Show what each fix alone would give."""
        if message.host == self.state.host:
            self.become(replace(self.state, standings=message.standings))

    def on_card_failed(self, message: messages.CardFailed) -> None:
        """Say why there is no card; a card of the same host that is shown stays, with the method it is graded under."""
        dossier = self.state.dossier
        if dossier is not None and dossier.card.host == self.state.host:
            self.state = replace(self.state, method=dossier.card.method, at="")
            self.post_message(messages.Notification(message.text, "error"))
        else:
            self.become(self.state.without_card(message.text), top=True)
        self.refresh_bindings()

    def _stored(self, _count: int) -> None:
        self.read()

    def _aged(self, _count: int) -> None:
        self.become(self.state)

    def _task_run(self, _run: TaskRun | None) -> None:
        self._draw(cardpanes.TASKS)

    # What is drawn

    def pane(self, number: int) -> Lines:
        """Return pane ``number``."""
        return self.query_one(f"#pane-{number}", Lines)

    def become(self, state: CardState, *, top: bool = False) -> None:
        """Take another state and draw it; ``top`` scrolls every pane to its first line."""
        marks = state.done != self.state.done
        self.state = state
        was_absent = self.has_class("-absent")
        self.set_class(state.dossier is None, "-absent")
        if was_absent and state.dossier is not None:
            self.call_after_refresh(self._focus_pane)  # it was hidden, and what is hidden loses the focus
        for number in cardpanes.NUMBERS:
            self._draw(number, top=top)
        self._draw_answer(top=top)
        self.pane(cardpanes.FIXES).border_subtitle = Content(what_if_foot(state))
        if marks or (state.done and state.reached is None):
            self._ask_standing()
        self._redraw()

    def _draw(self, number: int, *, top: bool = False) -> None:
        pane = self.pane(number)
        pane.border_title = Content(cardpanes.title(number, self.state))
        if number != cardpanes.FIXES:
            pane.write_below(partial(cardpanes.subtitle, number, self.state))
        state, scan, now, can_scan = self.state, self.scan, self.context.clock(), self.context.service.can_scan
        run = getattr(self.app, "task_run", None)
        run = run if run is not None and run.host == state.host else None
        alone = not self.has_class("-wide") or self.has_class("-zoomed")
        pane.show(lambda size: cardpanes.lines(number, state, scan, now, size, can_scan, run, alone=alone), top=top)

    def _draw_answer(self, *, top: bool = False) -> None:
        state, height = self.state, self.app.size.height
        short = not self.has_class("-wide") and state.pane != cardpanes.SUMMARY
        self.query_one(Answer).show(lambda size: verdict.head(state, size, height, short=short), top=top)

    def on_resize(self, _event: events.Resize) -> None:
        """Lay answer and panes out for the new size."""
        self.call_after_refresh(lambda: self.become(self.state))

    def _redraw(self) -> None:
        for bar in self.query(Bar):
            bar.refresh()
        self._explain()

    def _explain(self) -> None:
        """Say why the agent under the cursor fares as it does."""
        dossier, here = self.state.dossier, self.query_one("#pane-2", FigureList).here
        key = here.action.split("'")[1] if here is not None else ""
        block = self.query_one("#why", Lines)
        if dossier is not None:
            block.border_title = Content("why")
            block.show(lambda size: why(dossier, key, size), top=True)

    def on_figure_list_moved(self) -> None:
        """Let foot and explanation follow the cursor."""
        self.query_one("#foot", Bar).refresh()
        self._explain()

    def _title(self, size: int) -> Line:
        place = Place(self._index + 1, len(self._window), self._words) if self._window is not None else None
        quota = getattr(self.app, "quota", None)
        return headline_of(self.state, place, quota, self._rank, self.context.clock(), size)

    def _tabs(self, size: int) -> Line:
        return tabs_line(self.state, size)

    def _foot(self, size: int) -> Line:
        focused = self.focused
        here = focused.here if isinstance(focused, FigureList) else None
        return cardpanes.card_foot(self.state, here.action if here is not None else "", size)

    @property
    def scan(self) -> Scan | None:
        """The newest scan of this host in this session."""
        found = [scan for scan in getattr(self.app, "scans", ()) if scan.concerns(self.state.host)]
        return found[-1] if found else None

    def _quota(self, _quota: Quota | None) -> None:
        self.query_one("#title", Bar).refresh()

    def _scans(self, scans: tuple[Scan, ...]) -> None:
        narrow = not self.has_class("-wide")
        self.query_one(ScanPanel).show(scans, compact=not narrow or self.app.size.height < 20)
        self._draw(cardpanes.SCAN_LOG)

    # What if

    def on_fix_list_stepped(self, message: FixList.Stepped) -> None:
        """Choose a neighbouring fix."""
        self.become(self.state.choosing(self.state.chosen + message.step))

    def action_choose_fix(self, number: int) -> None:
        """Choose fix ``number`` from 0."""
        self.become(self.state.choosing(number))

    def action_tick(self) -> None:
        """Suppose the chosen fix done, or no longer."""
        self.become(self.state.ticked())

    def _ask_standing(self) -> None:
        state = self.state
        self._rank = 0
        if state.done and state.dossier is not None:
            start(self, "what-if", self._marked_standing, state.host, state.done, state.dossier.card.method, state.at)

    async def _marked_standing(self, host: str, done: frozenset[str], method: str, at: str) -> None:
        service = self.context.service
        standing, problem = await attempt(service.what_if(host, done, method=method, at=at))
        if standing is None:
            self.post_message(messages.Notification(problem, "error"))
            return
        self.post_message(messages.StandingReady(done, standing, 0))
        better = Query.of(line=f"score:>{standing.score}")
        view, _ = await attempt(service.index(better))
        if view is not None:
            self.post_message(messages.StandingReady(done, standing, len(view.ranked) + 1))

    def on_standing_ready(self, message: messages.StandingReady) -> None:
        """Show where the site would stand, unless other fixes are marked meanwhile."""
        if message.done == self.state.done:
            self._rank = message.rank
            self.become(replace(self.state, reached=message.standing))

    # Panes

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Scanning needs a source that scans, exporting a writer, walking a list, and most keys a card."""
        if self.state.dossier is None and action in OF_CARD:
            return False
        if action == "scan":
            return self.context.service.can_scan
        if action == "export":
            return self.context.exporter is not None
        if action == "crawlers":
            return self.state.pane == cardpanes.AGENTS
        return self._window is not None if action == "walk" else True

    def action_pane(self, number: int) -> None:
        """Show a pane on a narrow screen, focus it on a wide one."""
        self.query_one(FindBar).close()
        self.state = replace(self.state, pane=number)
        for place in cardpanes.NUMBERS:
            self.pane(place).set_class(place == number, "-shown")
        for place, column in enumerate(COLUMNS):
            self.query_one(f"#column-{place}").set_class(number in column, "-shown")
        self.query_one("#why").set_class(number == cardpanes.AGENTS, "-shown")
        self._draw_answer()
        self._focus_pane()
        self.refresh_bindings()
        self._redraw()

    def _focus_pane(self) -> None:
        number = self.state.pane
        (self.query_one(Answer) if number == cardpanes.SUMMARY else self.pane(number)).focus()

    def action_next_pane(self, step: int) -> None:
        """Go to a neighbouring pane."""
        self.action_pane((self.state.pane - 1 + step) % PANES + 1)

    def action_find(self) -> None:
        """Find words in the pane that is shown, or has the focus."""
        self.query_one(FindBar).open(self.pane(self.state.pane))

    def action_zoom(self) -> None:
        """Give one pane the whole screen, or share it again."""
        self.toggle_class("-zoomed")
        self._draw(self.state.pane)

    def action_crawlers(self) -> None:
        """Add the crawlers to the agents, or leave them out."""
        self.become(replace(self.state, crawlers=not self.state.crawlers))

    def action_ledger(self) -> None:
        """Turn pane 1 between what the site is made of and how the score came about."""
        self.become(replace(self.state, ledger=not self.state.ledger))
        self.set_class(self.state.ledger, "-ledger")
        self.action_pane(cardpanes.SUMMARY)

    def action_changes(self) -> None:
        """Turn pane 3 between the evidence and what changed since an earlier scan."""
        self.become(replace(self.state, changes=not self.state.changes))
        self.action_pane(cardpanes.EVIDENCE)

    def action_method(self) -> None:
        """Grade the same observations under the other method."""
        self.state = replace(self.state, method=self.state.other_method())
        self.read()

    def action_exchange(self, name: str) -> None:
        """Show what the browser and the probe ``name`` asked and got."""
        dossier = self.state.dossier
        if dossier is not None:
            self.app.push_screen(opened(dossier, name))

    # Earlier scans

    def action_history(self, purpose: str) -> None:
        """Choose an earlier scan: to look at it, or to compare with it."""
        dossier, history = self.state.dossier, self.state.history
        if dossier is None or len(history) < 2:
            self.post_message(messages.Notification("Only one scan of this host is kept."))
            return
        title = "Compare with the scan of" if purpose == "compare" else "Show the scan of"
        choices = history_choices(history[::-1], self.context.clock())
        choose = ChooseScreen(title, choices, dossier.card.scanned_at)
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
        self.post_message(messages.OtherReady(dossier) if dossier else messages.Notification(problem, "error"))

    def on_other_ready(self, message: messages.OtherReady) -> None:
        """Count the changes from the chosen scan."""
        self.become(replace(self.state, against=message.dossier.card, changes=True))
        self.action_pane(cardpanes.EVIDENCE)

    # The host

    def action_scan(self, force: bool) -> None:
        """Scan this host."""
        self.post_message(messages.ScanRequested(self.state.host, force=force, listed=True))

    def action_tasks(self) -> None:
        """Run the tasks on this host, and show their pane."""
        self.post_message(messages.TasksRequested(self.state.host))
        self.action_pane(cardpanes.TASKS)

    def action_copy(self, what: str) -> None:
        """Copy the snippet of the chosen fix, or the whole card as JSON."""
        dossier, fix = self.state.dossier, self.state.fix
        if dossier is None:
            return
        if what == "card":
            self.post_message(messages.CopyRequested(encode_card(dossier.card).decode(), "the card as JSON"))
        elif fix is None:
            self.post_message(messages.Notification("There is no fix to copy."))
        else:
            self.post_message(messages.CopyRequested(fix.code, cardpanes.file_of(fix)))

    def action_export(self) -> None:
        """Write the card, or in the pane of fixes the chosen snippet, to a file."""
        dossier, fix = self.state.dossier, self.state.fix
        if dossier is None:
            return
        host, method, at = self.state.host, self.state.method, self.state.at
        if self.state.pane == cardpanes.FIXES and fix is not None:
            job = ExportJob("snippet", file_name(fix.k, "txt"), text=fix.code)
        else:
            job = ExportJob("card", file_name(host, "json"), host=host, method=method, at=at)
        self.post_message(messages.ExportRequested(job))

    def action_browse(self) -> None:
        """Open the site itself in the browser."""
        self.post_message(messages.BrowseRequested(self.state.host))

    def action_walk(self, step: int) -> None:
        """Go to a neighbouring host of the list."""
        window, place = self._window, self._index + step
        rows = window[place : place + 1] if window is not None and 0 <= place < len(window) else ()
        if not rows:
            words = "This is the last host of the list." if step > 0 else "This is the first host of the list."
            self.post_message(messages.Notification(words))
            return
        self._index = place
        self._rank = 0
        self.state = self.state.to_host(rows[0].summary.host)
        self.read()

    def action_reload(self) -> None:
        """Read the card again."""
        self.read()

    def action_back(self) -> None:
        """Stop a run of the tasks or a scan of this host, else go back to the list."""
        scan = self.scan
        if self.app.stop_tasks(self.state.host):  # type: ignore[attr-defined]  # AuiApp, which imports this module
            return
        if scan is not None and scan.running:
            self.post_message(messages.ScanStopped(scan.number))
        else:
            self.dismiss(self.state.host)

    def command(self) -> str:
        """Return the shell command that prints this card."""
        return self.state.command()
