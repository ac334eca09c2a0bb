"""The part of the application that all screens share: scans, tasks, files, notifications, and what was chosen."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import msgspec
from msgspec.structs import replace
from textual import events, on
from textual.app import App, ComposeResult
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.reactive import reactive
from textual.screen import Screen, ScreenResultType
from textual.theme import Theme
from textual.worker import Worker, WorkerCancelled

from aui_tui.errors import AuiError, InvalidHost, PrivateHost, RateLimited
from aui_tui.model.labels import address, web_address
from aui_tui.model.options import ScanOptions
from aui_tui.model.signs import ASCII
from aui_tui.text import clean, count
from aui_tui.tui.bindings import NEEDS, needs
from aui_tui.tui.context import Choices, Context, attempt, run_concurrently, sentence, start
from aui_tui.tui.glyphs import CRITICAL, WARN
from aui_tui.tui.themes import ROLES, first, hard_to_read, load, packaged
from aui_tui.tui.widgets.bars import Bar, KeyBar
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.words import local_time, with_keys

if TYPE_CHECKING:
    from aui_tui.model.progress import ProbeEvent
    from aui_tui.model.quota import Quota
    from aui_tui.model.report import HostReport
    from aui_tui.model.tasks import TaskEvent
    from aui_tui.service.protocol import Feed, Service
    from aui_tui.tui.export import ExportJob
    from aui_tui.tui.scan_panel import RunningTasks, Scan
    from aui_tui.tui.state import ListState

FEED_PAUSE: Final = 0.4
"""Seconds between two readings of a list that is being filled."""
AT_ONCE: Final = 3
"""Scans of marked hosts that run at the same time."""
LAST: Final = 3
"""Scans left at which one that skips the cache is asked about first."""
SHOWN_FOR: Final = {"error": 8.0, "warning": 8.0, "information": 4.0}
"""Seconds that a notification stays, by its severity."""
KEPT_SCANS: Final = 20
"""Scans of this session that are remembered for the scan log."""
KEPT_ACTIONS: Final = 200


class LoggedAction(msgspec.Struct, frozen=True):
    """Something that was done: hour and minute, and the command line that does the same."""

    at: str
    command: str


class Dashboard(App[Any]):
    """Screens watch ``scans``, ``quota``, ``task_run``, ``stored`` (how often something was stored) and ``aged``."""

    scans: reactive[list[Scan]] = reactive(list, init=False, repaint=False)
    quota: reactive[Quota | None] = reactive(None, init=False, repaint=False)
    task_run: reactive[RunningTasks | None] = reactive(None, init=False, repaint=False)
    stored: reactive[int] = reactive(0, init=False, repaint=False)
    aged: reactive[int] = reactive(0, init=False, repaint=False)
    """How often time has passed that is worth a look at the clock."""
    fed: reactive[int] = reactive(-1, init=False, repaint=False)
    """Scans of the feed that have ended; -1 while none is under way."""

    def __init__(self, context: Context, folders: Iterable[Path], theme: str, *, no_color: bool) -> None:
        """``theme``: a name, or the default when it is empty; ``folders`` hold the user's own themes.

        Raises ConfigError for an unknown name.
        """
        loaded, name = first(folders, theme, no_color=no_color)
        self._themes, self.theme_problems, self.chosen_theme = loaded.themes, loaded.problems, name
        self.set_reactive(App.theme, name)  # before Textual begins, or it reads its style sheets twice
        super().__init__()
        self.context = context
        self.feed = context.feed
        self.set_reactive(Dashboard.fed, -1 if context.feed is None else 0)
        self.actions: list[LoggedAction] = []
        self._stamp: str | None = None
        self._warned = 0

    def show_list(self, state: ListState) -> None:
        """Show another list, leaving the screens over it."""
        raise NotImplementedError

    # What is said and remembered

    def notice(self, words: str, severity: SeverityLevel = "information") -> None:
        """Show one sentence."""
        sign = {"error": CRITICAL, "warning": WARN}.get(severity, "")
        words = f"{sign} {with_keys(clean(words, 400))}".strip()
        self.notify(words, severity=severity, markup=False, timeout=SHOWN_FOR[severity])

    def confirm(self, question: str, yes: str, no: str, then: Callable[[], None]) -> None:
        """Ask a question, and do ``then`` when the answer is ``yes``."""
        self.choose("", {"yes": yes, "": no}, lambda answer: then() if answer else None, question=question)

    def choose(self, title: str, choices: Choices, then: Callable[[str], None], current: str = "", **how: Any) -> None:
        """Let the user choose, as :class:`ChooseScreen`, and do ``then`` with the value unless the user leaves."""
        from aui_tui.tui.screens.windows import ChooseScreen

        window = ChooseScreen(title, choices, current, **how)
        self.push_screen(window, lambda value: then(value) if value is not None else None)

    def ask(
        self,
        title: str,
        hint: str,
        then: Callable[[str], None],
        *,
        value: str = "",
        example: str = "",
        problem: str = "",
        doubt: Callable[[str], str] | None = None,
    ) -> None:
        """Ask for a line of text, as :class:`AskScreen`, and do ``then`` with it unless the user leaves."""
        from aui_tui.tui.screens.windows import AskScreen

        window = AskScreen(title, hint, value, example, problem=problem, doubt=doubt)
        self.push_screen(window, lambda text: then(text) if text else None)

    def name_window(self, words: str) -> None:
        """Call the window of the terminal so (OSC 2)."""
        if self._driver is not None and not self.is_headless:
            name = " · ".join(filter(None, (clean(words, 80), "aui-tui")))
            shown = name.translate(ASCII) if self.context.preferences.ascii else name
            self._driver.write(f"\x1b]2;{shown}\x1b\\")

    def copy(self, text: str, what: str) -> None:
        """Put ``text`` on the clipboard of the terminal (OSC 52); ``what`` names it. What the mouse selected leads."""
        selected = self.screen.get_selected_text()
        text, what = (selected, "the selected text") if selected else (text, what)
        self.screen.clear_selection()
        self.copy_to_clipboard(text)
        self.notice(f"Copied {what}.")

    def did(self, command: str) -> None:
        """Remember an action by the command line that does the same."""
        command = self.context.shell(command)
        if not self.actions or self.actions[-1].command != command:
            self.actions = [*self.actions, LoggedAction(local_time(self.context.clock()), command)][-KEPT_ACTIONS:]

    def remember(self, *name: str, value: Any, what: str) -> None:
        """Write one setting and say where; ``what`` begins the sentence."""
        preferences = self.context.preferences
        if preferences.write is None:
            self.notice(f"{what} Nothing is remembered here.")
            return
        try:
            preferences.write(name, value)
            now = preferences.settings().get(name[0])
        except (AuiError, OSError) as error:
            self.notice(sentence(error), "error")
            return
        over = now is not None and now.origin not in ("default", preferences.path)
        but = f" {now.origin} overrides it at the start." if now is not None and over else ""
        self.notice(f"{what} Remembered in {preferences.path}.{but}")

    # Themes

    @cached_property
    def available_themes(self) -> dict[str, Theme]:
        """The themes by name, ours and the user's alone."""
        return {**load((packaged(),)).themes, **self._themes}

    def get_theme(self, theme_name: str) -> Theme | None:
        """Return the theme of that name."""
        return self._themes.get(theme_name) or self.available_themes.get(theme_name)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return colours for the roles under a theme that has none."""
        return {"role-" + name: "#808080" for name in ROLES}

    def choose_theme(self, name: str | None) -> None:
        """Use a theme and remember it; without a name, the one that was chosen last."""
        before, self.chosen_theme = self.chosen_theme, name or self.chosen_theme
        self.theme = self.chosen_theme
        if name:
            self.check_contrast()
        if name and name != before:
            self.remember("theme", value=name, what=f"Theme {name}.")

    def check_contrast(self) -> None:
        """Say when the theme that was chosen has text that is hard to read."""
        words = hard_to_read(self.current_theme)
        if words:
            self.notice(words, "warning")

    # What fills the index

    def fill_from(self, feed: Feed | None) -> None:
        """Make the scans of ``feed`` in the background."""
        if feed is not None:
            self.feed = feed
            start(self, "feed", self._feed, feed)

    async def _feed(self, feed: Feed) -> None:
        """Fill the index and refresh the list from time to time."""
        obstacle = await feed.ready() if feed.ready is not None else ""
        if obstacle:
            self.notice(obstacle, "error")
            return
        self.fed = 0
        shown = time.monotonic()

        def scanned(_card: object) -> None:
            nonlocal shown
            self.fed += 1
            if time.monotonic() - shown > FEED_PAUSE:
                shown = time.monotonic()
                self.stored += 1

        try:
            _, problem = await attempt(feed.run(scanned))
            if problem:
                self.notice(problem, "error")
        finally:
            self.fed = -1
            self.stored += 1

    def stop(self, group: str) -> bool:
        """Cancel the workers of ``group``; return whether there were any. What has come is kept."""
        running = [worker for worker in self.workers if worker.group == group and not worker.is_finished]
        for worker in running:
            worker.cancel()
        return bool(running)

    async def look_for_changes(self) -> None:
        """Have the lists read again when another program has changed the index, and say what is wrong with that."""
        stamp, _ = await attempt(self.context.service.stamp())
        warnings = self.context.service.warnings
        for words in warnings[self._warned :]:
            self.notice(words, "warning")
        self._warned = len(warnings)
        before, self._stamp = self._stamp, stamp
        idle = self.fed < 0 and not self.running
        if before and stamp and before != stamp and idle:
            self.stored += 1
            self.read_quota()

    # Scans

    @property
    def running(self) -> list[Scan]:
        """The scans under way."""
        return [scan for scan in self.scans if scan.running]

    def read_quota(self) -> None:
        """Ask for the scans left."""
        start(self, "quota", self._ask_quota)

    async def _ask_quota(self) -> None:
        self.quota, _ = await attempt(self.context.service.quota())

    def scan(self, url: str, *, force: bool = False, listed: bool = False) -> None:
        """Scan ``url`` unless that is under way; ``force`` skips the 24 h cache.

        ``listed``: ``url`` is a host of the index, and the address under which it was scanned last is asked again.
        """
        if any(scan.concerns(url) for scan in self.running):
            self.notice("This host is being scanned already.")
            return
        from aui_tui.tui.scan_panel import Scan

        def begin() -> None:
            self._begin(Scan(url, force=force, listed=listed, page=self.screen))

        if force and self.quota is not None and 0 < self.quota.left <= LAST:
            run_concurrently(self, "few", self._confirm_few, url, self.quota.left, begin)
        else:
            begin()

    async def _confirm_few(self, url: str, left: int, begin: Callable[[], None]) -> None:
        """Ask before one of the last scans is used; a host of this machine uses none."""
        if (await attempt(self.context.service.owns(url)))[0]:
            begin()
        else:
            title = f"{count(left, 'scan is', 'scans are')} left this hour. Scan again?"
            self.confirm(title, f"Scan (uses 1 of {left})", "Cancel", begin)

    def scan_many(self, hosts: tuple[str, ...], *, force: bool) -> None:
        """Scan several hosts of the index, a few at a time, as far as the quota reaches."""
        run_concurrently(self, "many", self._scan_many, hosts, force=force)

    def ask_address(self, text: str = "", problem: str = "") -> None:
        """Ask for an address and scan it; ``text`` was typed before and ``problem`` says what was wrong with it."""
        words = "A host or an http(s) address. enter scans and opens its card, esc leaves."
        example = "example.com, localhost:8000"
        self.ask("Scan an address", words, self.scan, value=text, example=example, problem=problem)

    def _begin(self, scan: Scan) -> Worker[None]:
        self.did(f"aui-tui scan {quote(scan.url)}{' --force' * scan.force}")
        self.scans = [*self.scans, scan][-KEPT_SCANS:]
        scan.worker = run_concurrently(self, "scan", self._scan, scan)
        return scan.worker

    async def address_of(self, host: str) -> str:
        """Return the address under which ``host`` was scanned last, itself where the source does not keep it."""
        report, _ = await attempt(self.context.service.site(host))
        return address(host, report.observations) if report is not None else host

    async def _scan(self, scan: Scan) -> None:
        """Scan and tell how it ended."""
        service = self.context.service

        def progress(event: ProbeEvent) -> None:
            self.call_later(self._progressed, scan, event)

        try:
            address = await self.address_of(scan.url) if scan.listed else scan.url
            answer = await service.scan(address, ScanOptions(force=scan.force, afresh=True), progress=progress)
            report, _ = await attempt(service.site(answer.card.host))
            scan.before, scan.answer = report.previous if report is not None else None, answer
        except Exception as error:  # a source may fail in any way: the screen says so and stays
            scan.problem = error
        finally:
            self.call_later(self._ended, scan)

    async def _scan_many(self, hosts: tuple[str, ...], *, force: bool) -> None:
        from aui_tui.tui.scan_panel import Scan

        started = 0
        while started < len(hosts):
            group = hosts[started : started + AT_ONCE]
            started += len(group)
            scans = [Scan(host, force=force, listed=True, quiet=True) for host in group]
            ends = (self._begin(scan).wait() for scan in scans)
            done = await asyncio.gather(*ends, return_exceptions=True)
            if any(isinstance(scan.problem, RateLimited) for scan in scans) or any(
                isinstance(end, WorkerCancelled) for end in done
            ):
                break
        self.notice(f"{started} of {len(hosts)} marked hosts were asked for.")

    def stop_scan(self, scan: Scan) -> None:
        """Cancel a running scan."""
        if scan.worker is not None:
            scan.worker.cancel()

    def _progressed(self, scan: Scan, event: ProbeEvent) -> None:
        if scan.running:
            scan.follow(event, self.context.clock())
            self.mutate_reactive(Dashboard.scans)

    def _ended(self, scan: Scan) -> None:
        """Share the end of a scan, tell it, and have the lists read again; neither answer nor problem: cancelled."""
        from aui_tui.tui.scan_panel import ended_words

        problem, page, answer = scan.problem, self.screen, scan.answer
        error = sentence(problem) if problem is not None else ""
        if isinstance(problem, PrivateHost):
            error += " If it is yours, start aui-tui with --allow-private."
        scan.state, scan.words = ended_words(scan, error)
        self.mutate_reactive(Dashboard.scans)
        if isinstance(problem, InvalidHost) and not scan.listed:
            (page.refuse if isinstance(page, DashboardScreen) else self.ask_address)(scan.url, scan.words)
        elif scan.state == "cancelled":
            start(self, "cancelled", self._tell_cancelled, scan)
        elif scan.state != "done" or not scan.quiet:
            self.notice(scan.words, "error" if error else "information")
        self.read_quota()
        if answer is not None or not error:
            self.stored += 1
        for warning in answer.warnings if answer is not None else ():
            self.notice(warning, "warning")
        if answer is not None and scan.page is page and isinstance(page, DashboardScreen):
            page.scanned(answer)

    async def _tell_cancelled(self, scan: Scan) -> None:
        """Tell whether a cancelled scan was kept, and in which list."""
        report, _ = await attempt(self.context.service.site(scan.url))
        if report is not None and any(finding.id == "incomplete" for finding in report.card.findings):
            host, where = report.card.host, "unreachable hosts (u)" if report.card.unreachable else "list"
            words = f"Scan of {host} cancelled; what was seen is kept in the {where}, marked incomplete."
        else:
            words = f"Scan of {scan.url} cancelled; nothing was kept, and it used no scan."
        scan.words = words
        self.notice(words)

    # The tasks

    def try_tasks(self, host: str) -> None:
        """Run the tasks on a host, one run at a time."""
        from aui_tui.tui.scan_panel import RunningTasks

        if self.task_run is not None and self.task_run.running:
            self.notice(f"The tasks are being tried on {self.task_run.host}; esc on its card stops them.")
        else:
            self.task_run = RunningTasks(host)
            self.did(f"aui-tui scan {quote(host)} --tasks")
            start(self, "tasks", self._run_tasks, self.context.service, host)

    async def _run_tasks(self, service: Service, host: str) -> None:
        def live(event: TaskEvent) -> None:
            self.call_later(self._tried, host, event)

        try:
            url = await self.address_of(host)
            answer, problem = await attempt(service.scan(url, ScanOptions(tasks=True), live=live))
            self.notice(problem if answer is None else _points_of(answer), "error" if problem else "information")
        finally:
            if self.task_run is not None:
                self.task_run = replace(self.task_run, running=False)
            self.stored += 1
            self.read_quota()

    def _tried(self, host: str, event: TaskEvent) -> None:
        run = self.task_run
        if run is not None and run.host == host:
            self.task_run = replace(run, events=(*run.events, event))

    # Browser, files and logs

    def browse(self, host: str) -> None:
        """Open a site in the user's browser, or copy its address; nothing but http and https is handed over."""
        run_concurrently(self, "browse", self._browse, host)

    async def _browse(self, host: str) -> None:
        url = web_address(await self.address_of(host))
        if not url:
            self.notice(f"{host} is not a web address.", "warning")
        elif has_browser(os.environ):
            self.open_url(url)
        else:
            self.copy_to_clipboard(url)
            self.notice(f"There is no browser on this screen; {url} is copied.")

    def export(self, job: ExportJob) -> None:
        """Ask for a path, write ``job`` there, and tell the result."""
        from aui_tui.tui.export import PICTURE, already_there, hint, picture

        drawn = picture(self.export_screenshot(title="aui-tui", simplify=True))

        def write(path: str) -> None:
            if self.context.exporter is not None:
                named_job = replace(job, path=path, replace=bool(already_there(path)))
                if path.lower().endswith(PICTURE):
                    named_job = replace(named_job, kind="picture", text=drawn)
                else:
                    self.did(named_job.command())
                run_concurrently(self, "export", self._report, self.context.exporter(named_job))

        self.ask(f"Write the {job.kind}", hint(job.kind), write, value=job.path, doubt=already_there)

    async def _report(self, work: Awaitable[str]) -> None:
        """Say what came of ``work``, and have the screens read again what they show."""
        words, problem = await attempt(work)
        self.notice(words or problem, "error" if problem else "information")
        self.stored += not problem

    def ask_visits(self, host: str) -> None:
        """Ask for an access log of a site, and read it."""
        read = self.context.preferences.read_log
        if read is None:
            self.notice("Logs are read for the index of this machine alone.", "warning")
            return
        reader = read

        def chosen(path: str) -> None:
            self.did(f"aui-tui visits {quote(path)} --host {quote(host)}")
            run_concurrently(self, "visits", self._report, reader(host, path))

        words = f"An access log that {host} wrote: nginx, Apache, Caddy, Traefik or a CDN, also compressed."
        self.ask("Read an access log", words, chosen, example="/var/log/nginx/access.log")


class DashboardScreen(Screen[ScreenResultType]):
    """A screen of the dashboard: title, what ``inside`` yields, a line about the selected row, keys."""

    SCANS: ClassVar = False
    """Whether the running scans have a panel over the foot."""
    _shown_before = False

    @on(events.Mount)
    def _watch_scans(self) -> None:
        if self.SCANS:
            self.watch(self.app, "scans", self._show_scans)

    def _show_scans(self, scans: Sequence[Scan]) -> None:
        """Make the panel once there is a scan to show in it."""
        if any(scan.running for scan in scans):
            from aui_tui.tui.widgets.scans import ScanPanel

            if not self.query(ScanPanel):
                self.mount(ScanPanel(self.context.clock), before="#foot")

    def compose(self) -> ComposeResult:
        yield Bar(self.title_line, id="title")
        yield from self.inside()
        yield Bar(self.foot_line, id="foot")
        yield KeyBar()

    def title_line(self, size: int) -> Content:
        """Return the first line."""
        raise NotImplementedError

    def window_name(self) -> str:
        """Return what the window of the terminal is called while this screen is shown, before the program's name."""
        return ""

    async def on_event(self, event: events.Event) -> None:
        """Pass over the second styling of a screen that was styled when its widgets were made."""
        if isinstance(event, events.ScreenResume) and not self._shown_before:
            self._shown_before, event.refresh_styles = True, False
        await super().on_event(event)

    def on_screen_resume(self) -> None:
        self.app.name_window(self.window_name())

    def inside(self) -> ComposeResult:
        """Yield the widgets."""
        raise NotImplementedError

    def foot_line(self, size: int) -> Content:
        """Return the line above the keys."""
        raise NotImplementedError

    def command(self) -> str:
        """Return the shell command that prints the same, empty for none."""
        return ""

    def draw_lines(self) -> None:
        """Draw the lines anew; the keys follow what can be done by themselves."""
        for bar in self.query(Bar).exclude("KeyBar"):
            bar.refresh()

    @property
    def focused_list(self) -> RowList:
        """The list with the focus, else the first one."""
        focused = self.focused
        return focused if isinstance(focused, RowList) else self.query(RowList).first()

    def action_copy(self, what: str) -> None:
        """Copy the ``row`` under the cursor; a screen may have more to copy."""
        self.app.copy(self.focused_list.row_text, f"the {what}")

    def on_row_list_moved(self) -> None:
        self.query_one("#foot", Bar).refresh()

    @property
    def app(self) -> Dashboard:  # type: ignore[override]  # the application that every screen of ours is shown by
        """The application."""
        return cast("Dashboard", super().app)

    @property
    def context(self) -> Context:
        """The service, the clock, the writer of files."""
        return self.app.context

    def lacks(self, need: str) -> bool:
        """Whether something of NEEDS is missing here now."""
        match need:
            case "scans":
                return not self.context.service.can_scan
            case "own":
                return not self.context.service.is_local
            case "writer":
                return self.context.exporter is None
        return False

    def why_not(self, action: str) -> str:
        """Return why ``action`` cannot be done here now; empty when it can."""
        return next((NEEDS[need] for need in needs(type(self).BINDINGS, action) if self.lacks(need)), "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # a key that another screen was to act on may find this one before it has its widgets
        return self.is_mounted and not self.why_not(action)

    def scanned(self, report: HostReport) -> None:
        """Do what follows a scan that was asked for on this screen; nothing by default."""

    def refuse(self, url: str, problem: str) -> None:
        """Ask again for an address that cannot be scanned."""
        self.app.ask_address(url, problem)

    def return_to(self, host: str | None) -> None:
        """Come back from the card of ``host``."""


def _points_of(answer: HostReport) -> str:
    """Return what a run of the tasks earned, in one sentence."""
    card = answer.card
    runs = card.task_runs or ()
    if not runs:
        return answer.warnings[-1] if answer.warnings else f"{card.host}: no task was run."
    earned, possible = sum(run.points for run in runs), sum(run.possible for run in runs)
    unscored = ", too few to be scored" if card.provisional is True else ""
    return f"{card.host}: {earned} of {possible} points for tasks{unscored}; score {card.score}."


def has_browser(environ: Mapping[str, str]) -> bool:
    """Whether a browser would open where the user sees it: not over ssh, and on Linux only beside a desktop."""
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return False
    return sys.platform != "linux" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
