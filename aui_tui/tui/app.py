"""The application: owns the state that all screens share, runs the scans, restores the terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec.structs import replace
from textual import events
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.reactive import reactive
from textual.screen import Screen
from textual.worker import Worker, WorkerCancelled

from aui_tui.errors import InvalidHost, PrivateHost, RateLimited
from aui_tui.model.labels import address, web_address
from aui_tui.model.observations import ProbeEvent
from aui_tui.model.options import ScanOptions
from aui_tui.model.query import Query
from aui_tui.model.tasks import TaskEvent
from aui_tui.model.view import HostReport, Quota
from aui_tui.service.protocol import HasStamp, KnowsOwnHosts, Service
from aui_tui.text import clean, count
from aui_tui.tui import messages
from aui_tui.tui.bindings import APP, checked, written
from aui_tui.tui.context import (
    Context,
    Exporter,
    ExportJob,
    Feed,
    Preferences,
    TypeAhead,
    attempt,
    hint,
    start,
    start_beside,
)
from aui_tui.tui.glyphs import CRITICAL, WARN
from aui_tui.tui.preferences import PreferringApp
from aui_tui.tui.scans import Scan, TaskRun, changed, ended_words
from aui_tui.tui.screens.index import IndexScreen
from aui_tui.tui.themes import UNUSABLE
from aui_tui.tui.widgets.filters import AsciiFilter, NoColorFilter

if TYPE_CHECKING:
    from textual.command import Provider

FEED_PAUSE: Final = 0.4
"""Seconds between two readings of a list that is being filled."""
AGING: Final = 20.0
"""Seconds between two looks at the clock: ages grow, and a scan of the hour may have come free."""
LOOK_EVERY: Final = 3.0
"""Seconds between two looks whether another program has changed the index."""
AT_ONCE: Final = 3
"""Scans of marked hosts that run at the same time."""
LAST: Final = 3
"""Scans left at which one that skips the cache is asked about first."""
SHOWN_FOR: Final = {"error": 8.0, "warning": 8.0, "information": 4.0}
"""Seconds that a notification stays, by its severity."""
KEPT_SCANS: Final = 20
"""Scans of this session that are remembered for the scan log."""


def _provider(name: str) -> type[Provider]:
    from aui_tui.tui import commands

    found: type[Provider] = getattr(commands, name)
    return found


FOUND: Final = ("KeyCommands", "SettingCommands", "ViewCommands", "HostCommands", "ThemeCommands", "TermCommands")
"""What the command palette finds."""


class AuiApp(PreferringApp):
    """Screens watch ``scans``, ``quota``, ``stored`` (how often something was stored) and ``aged`` (time passes)."""

    CSS_PATH = "app.tcss"
    TITLE = "aui-tui"
    BINDINGS: ClassVar[list[BindingType]] = [*APP]
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (66, "-narrow"), (110, "-wide")]  # noqa: RUF012  # declared by Textual
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {
        partial(_provider, name) for name in FOUND
    }

    scans: reactive[tuple[Scan, ...]] = reactive((), init=False, repaint=False)
    quota: reactive[Quota | None] = reactive(None, init=False, repaint=False)
    task_run: reactive[TaskRun | None] = reactive(None, init=False, repaint=False)
    aged: reactive[int] = reactive(0, init=False, repaint=False)
    fed: reactive[int] = reactive(-1, init=False, repaint=False)
    """Scans of the feed that have ended; -1 while none is under way."""

    def __init__(
        self,
        context: Context,
        folders: Sequence[Path] = (),
        *,
        theme: str = "",
        ascii: bool = False,  # noqa: A002  # the name of the option
        start_host: str = "",
        query: Query | None = None,
    ) -> None:
        no_color = bool(os.environ.get("NO_COLOR"))
        self._own_filters = [*([NoColorFilter()] if no_color else ()), *([AsciiFilter()] if ascii else ())]
        super().__init__(context, folders, theme, no_color=no_color)
        self.no_color = no_color
        self.feed = context.feed
        self.set_reactive(AuiApp.fed, -1 if context.feed is None else 0)
        self._query = query or Query()
        self._start_host = start_host
        self._typed = TypeAhead(self)
        self._scan_workers: dict[int, Worker[bool]] = {}
        self._numbers = 0
        self._stamp: str | None = None

    def get_key_display(self, binding: Binding) -> str:
        """Return how the key of a binding is written."""
        return binding.key_display or written(binding.key)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters that were asked for, without NO_COLOR also Textual's."""
        return self._own_filters if self.no_color else [*super().get_line_filters(), *self._own_filters]

    def get_default_screen(self) -> Screen[None]:
        """Return the index, which lies under every other screen, styled for the width from the first layout on."""
        screen = IndexScreen(self.context, self._query, offer=not self._start_host)
        screen.add_class(next(name for least, name in self.HORIZONTAL_BREAKPOINTS[::-1] if self.size.width >= least))
        return screen

    async def on_event(self, event: events.Event) -> None:
        """Let a key act only when those before it have."""
        if not self._typed.keeps(event):
            await super().on_event(event)

    async def on_mount(self) -> None:
        """Open the card of the start host over the index."""
        self._catch_signals()
        self.app_resume_signal.subscribe(self, lambda _app: self.call_later(self.screen.refresh, layout=True))
        self.call_after_refresh(self._after_first_frame)
        if self._start_host:
            from aui_tui.tui.screens.card import CardScreen

            await self.push_screen(CardScreen(self.context, self._start_host))
        if self.theme_problems:
            words = "\n".join((f"{WARN} {UNUSABLE}", *self.theme_problems))
            self.notify(words, severity="warning", markup=False, timeout=30)
        self.check_contrast()

    def _after_first_frame(self) -> None:
        """Do what the first frame need not wait for."""
        self.read_quota()
        self.set_interval(AGING, self._age)
        self.set_interval(LOOK_EVERY, partial(start, self, "stamp", self._look_for_changes))
        for sentence in getattr(self.context.service, "warnings", ()):
            self.notice(sentence, "warning")
        if self.feed is not None:
            self._fill_from(self.feed)

    def _fill_from(self, feed: Feed) -> None:
        self.feed = feed
        start(self, "feed", self._feed, feed)

    def fill_from_starter(self) -> None:
        """Scan the packaged list of known sites in the background."""
        if self.context.starter is not None and self.fed < 0:
            self._fill_from(self.context.starter)

    async def _feed(self, feed: Feed) -> None:
        """Fill the index, showing what has come every now and then."""
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

    def stop_feed(self) -> bool:
        """Stop the scans that fill the index, keeping what has come; return whether there were any."""
        running = [worker for worker in self.workers if worker.group == "feed" and not worker.is_finished]
        for worker in running:
            worker.cancel()
        return bool(running)

    async def _look_for_changes(self) -> None:
        """Have the lists read again when another program has changed the index."""
        service = self.context.service
        if not isinstance(service, HasStamp):
            return
        stamp, _ = await attempt(service.stamp())
        before, self._stamp = self._stamp, stamp
        idle = self.fed < 0 and not any(scan.running for scan in self.scans)
        if before and stamp and before != stamp and idle:
            self.stored += 1

    def _age(self) -> None:
        """Let ages grow, and ask again for the scans left once the next one has come free."""
        self.aged += 1
        quota = self.quota
        if quota is not None and 0 < quota.next_slot <= self.context.clock():
            self.read_quota()

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and os.name == "posix":
                loop.add_signal_handler(number, partial(self.exit, return_code=128 + number))

    # Scans

    def read_quota(self) -> None:
        """Ask for the scans left."""
        start(self, "quota", self._ask_quota)

    async def _ask_quota(self) -> None:
        self.quota, _ = await attempt(self.context.service.quota())

    def on_scan_requested(self, message: messages.ScanRequested) -> None:
        """Start a scan, unless the host is being scanned already."""
        if any(scan.running and scan.concerns(message.url) for scan in self.scans):
            self.notice("This host is being scanned already.")
        elif message.force and self.quota is not None and 0 < self.quota.left <= LAST:
            from aui_tui.tui.screens.windows import confirm

            title = f"{count(self.quota.left, 'scan is', 'scans are')} left this hour. Scan again?"
            window = confirm(title, f"Scan ({self.quota.left} left)", "Cancel")
            self.push_screen(window, lambda answer: self._scan_wanted(message) if answer else None)
        else:
            self._scan_wanted(message)

    def _scan_wanted(self, message: messages.ScanRequested) -> None:
        asker = self.screen if message.show else None
        self._begin(message.url, force=message.force, listed=message.listed, asker=asker)

    def on_many_scans_requested(self, message: messages.ManyScansRequested) -> None:
        """Start several scans, a few at a time."""
        start_beside(self, "many", self._scan_many, message.hosts, force=message.force)

    def _begin(self, url: str, *, force: bool, listed: bool, quiet: bool = False, asker: object = None) -> Worker[bool]:
        self._numbers += 1
        number = self._numbers
        scan = Scan.begin(number, url, self.context.clock(), listed=listed, quiet=quiet, asker=asker)
        self.did(f"scan of {scan.url}", " ".join(["aui-tui scan", quote(scan.url), *(["--force"] if force else [])]))
        self.scans = (*self.scans, scan)[-KEPT_SCANS:]
        worker = start_beside(self, "scan", self._scan, number, url, force=force, listed=listed)
        self._scan_workers[number] = worker
        return worker

    async def address_of(self, host: str) -> str:
        """Return the address under which ``host`` was scanned last, itself where the source does not keep it."""
        report, _ = await attempt(self.context.service.site(host))
        return address(host, report.observations) if report is not None else host

    async def _scan(self, number: int, url: str, *, force: bool, listed: bool) -> bool:
        """Scan and report how it ended; the result is whether the quota was used up."""

        def progress(event: ProbeEvent) -> None:
            self.post_message(messages.ScanProgressed(number, event))

        limited = invalid = own = False
        service = self.context.service

        async def ask() -> HostReport:
            nonlocal limited, invalid, own
            try:
                asked = await self.address_of(url) if listed else url
                own = isinstance(service, KnowsOwnHosts) and await service.owns(asked)
                return await service.scan(asked, ScanOptions(force=force or own), progress=progress)
            except RateLimited:
                limited = True
                raise
            except PrivateHost as error:
                invalid = True
                raise InvalidHost(f"{error} If it is yours, start aui-tui with --allow-private.") from None
            except InvalidHost:
                invalid = True
                raise

        try:
            answer, problem = await attempt(ask())
        except asyncio.CancelledError:
            self.post_message(messages.ScanEnded(number))
            raise
        kept = (await attempt(service.site(answer.card.host)))[0] if answer is not None and not invalid else None
        before = kept.previous if kept is not None else None
        self.post_message(messages.ScanEnded(number, answer, problem, invalid, before, limited and own))
        return limited

    async def _scan_many(self, hosts: tuple[str, ...], *, force: bool) -> None:
        asked = 0
        while asked < len(hosts):
            group = hosts[asked : asked + AT_ONCE]
            asked += len(group)
            workers = [self._begin(host, force=force, listed=True, quiet=True) for host in group]
            ends = await asyncio.gather(*(worker.wait() for worker in workers), return_exceptions=True)
            if any(end is True or isinstance(end, WorkerCancelled) for end in ends):
                break
        self.notice(f"{asked} of {len(hosts)} marked hosts were asked for.")

    # The tasks

    def on_tasks_requested(self, message: messages.TasksRequested) -> None:
        """Run the tasks on a host, one run at a time."""
        service = self.context.service
        if not service.is_local:
            self.notice("Tasks run in a browser on this machine, for its own index alone.", "warning")
        elif self.task_run is not None and self.task_run.running:
            self.notice(f"The tasks are being tried on {self.task_run.host}; esc on its card stops them.")
        else:
            self.task_run = TaskRun(message.host)
            self.did(f"tasks on {message.host}", f"aui-tui scan {quote(message.host)} --tasks")
            start(self, "tasks", self._run_tasks, service, message.host)

    async def _run_tasks(self, service: Service, host: str) -> None:
        def live(event: TaskEvent) -> None:
            self.post_message(messages.TaskProgressed(host, event))

        try:
            url = await self.address_of(host)
            answer, problem = await attempt(service.scan(url, ScanOptions(tasks=True), live=live))
            self.notice(problem if answer is None else _points_of(answer), "error" if problem else "information")
        finally:
            if self.task_run is not None:
                self.task_run = replace(self.task_run, running=False)
            self.stored += 1
            self.read_quota()

    def on_task_progressed(self, message: messages.TaskProgressed) -> None:
        """Share the progress of a run."""
        run = self.task_run
        if run is not None and run.host == message.host:
            self.task_run = replace(run, events=(*run.events, message.event))

    def stop_tasks(self, host: str) -> bool:
        """Stop a run on ``host``, keeping the tasks that had ended; return whether there was one."""
        run = self.task_run
        if run is None or not run.running or run.host != host:
            return False
        for worker in self.workers:
            if worker.group == "tasks":
                worker.cancel()
        return True

    def on_scan_stopped(self, message: messages.ScanStopped) -> None:
        """Cancel a running scan."""
        worker = self._scan_workers.get(message.number)
        if worker is not None:
            worker.cancel()

    def on_scan_progressed(self, message: messages.ScanProgressed) -> None:
        """Share the progress of a scan."""
        now = self.context.clock()
        self.scans = changed(self.scans, message.number, lambda scan: scan.moved(message.event, now))

    def on_scan_ended(self, message: messages.ScanEnded) -> None:
        """Share the end of a scan, tell it, and have the lists read again."""
        self._scan_workers.pop(message.number, None)
        scan = next((scan for scan in self.scans if scan.number == message.number), None)
        if scan is None:
            return
        answer, now = message.answer, self.context.clock()
        state, words = ended_words(scan, answer, message.error, message.before)
        self.scans = changed(self.scans, scan.number, lambda known: known.closed(state, words, now, answer))
        if message.own:
            self._offer_unlimited(scan)
        elif message.invalid and not scan.listed:
            self._ask_again(scan, words)
        elif state != "done" or not scan.quiet:
            self.notice(words, "error" if state == "failed" else "information")
        for warning in answer.warnings if answer is not None else ():
            self.notice(warning, "warning")
        self.read_quota()
        if answer is not None or state == "cancelled":
            self.stored += 1
        if answer is not None and scan.asker is self.screen:
            self._show_scanned(answer.card.host)

    def _show_scanned(self, host: str) -> None:
        """Open the card of a scan on the screen where it was asked for."""
        from aui_tui.tui.screens.card import CardScreen
        from aui_tui.tui.screens.first import FirstScreen

        screen = self.screen
        if isinstance(screen, FirstScreen):
            screen.dismiss()
        elif not isinstance(screen, IndexScreen):
            return
        self.push_screen(CardScreen(self.context, host), self._back_from_card)

    def _ask_again(self, scan: Scan, problem: str) -> None:
        from aui_tui.tui.screens.first import FirstScreen

        if isinstance(self.screen, FirstScreen):
            self.screen.refuse(problem)
        else:
            self.post_message(messages.AddressRequested(scan.url, problem))

    def _offer_unlimited(self, scan: Scan) -> None:
        """Offer to scan a host of the user's own without the limit of the hour until the program ends."""
        from aui_tui.tui.screens.windows import confirm

        service = self.context.service

        def lift(answer: str | None) -> None:
            if answer and isinstance(service, KnowsOwnHosts):
                service.lift_limit(scan.url)
                self._begin(scan.url, force=True, listed=scan.listed, asker=scan.asker)

        title = f"All scans of this hour are used. {scan.url} is your own"
        self.push_screen(confirm(title, "Scan it without the limit", "Cancel"), lift)

    # Notifications

    def on_notification(self, message: messages.Notification) -> None:
        """Show one sentence."""
        text, seconds = clean(message.text, 400), SHOWN_FOR[message.severity]
        sign = {"error": CRITICAL, "warning": WARN}.get(message.severity, "")
        self.notify(f"{sign} {text}".strip(), severity=message.severity, markup=False, timeout=seconds)

    def on_copy_requested(self, message: messages.CopyRequested) -> None:
        """Put the text on the clipboard of the terminal (OSC 52) and say what and how long it is."""
        self.copy_to_clipboard(message.text)
        self.on_notification(messages.Notification(f"Copied {message.what}."))

    def on_browse_requested(self, message: messages.BrowseRequested) -> None:
        """Open a site; nothing but http and https is handed to the browser."""
        start_beside(self, "browse", self._browse, message.host)

    async def _browse(self, host: str) -> None:
        url = web_address(await self.address_of(host))
        if not url:
            self.notice(f"{host} is not a web address.", "warning")
        elif has_browser(os.environ):
            self.open_url(url)
        else:
            self.copy_to_clipboard(url)
            self.notice(f"There is no browser on this screen; {url} is copied.")

    def on_address_requested(self, message: messages.AddressRequested) -> None:
        """Ask for an address and scan it."""
        from aui_tui.tui.screens.windows import AddressScreen

        self.push_screen(AddressScreen(message.text, message.problem), self._scan_typed)

    def _scan_typed(self, text: str | None) -> None:
        if text:
            self.post_message(messages.ScanRequested(text))

    # Writing

    def on_export_requested(self, message: messages.ExportRequested) -> None:
        """Ask where to, and hand the job to the writer."""
        from aui_tui.tui.screens.windows import AskScreen

        job = message.job
        window = AskScreen(f"Export the {job.kind}", hint(job.kind), job.path, doubt=already_there)
        self.push_screen(window, partial(self._export_to, job))

    def _export_to(self, job: ExportJob, path: str | None) -> None:
        if path:
            self.export(replace(job, path=path, replace=bool(already_there(path))))

    # Keys without effect

    def on_key(self, event: events.Key) -> None:
        """Say why a key does nothing here."""
        active = self.screen.active_bindings.get(event.key)
        if active is None or not active.enabled:
            why = getattr(self.screen, "why_not", None)
            held = (b for b in type(self.screen).BINDINGS if isinstance(b, Binding) and event.key in b.key.split(","))
            reasons = [why(binding.id or "") for binding in held] if callable(why) else []
            unknown = f"{written(event.key)} does nothing here. ? lists the keys that do."
            self.notice(next(filter(None, reasons), unknown))

    # Screens

    def on_card_requested(self, message: messages.CardRequested) -> None:
        """Open a report card, over the list it was chosen from when it was."""
        from aui_tui.tui.screens.card import CardScreen

        host, screen = message.row.summary.host, self.screen
        if isinstance(screen, IndexScreen) and message.index >= 0:
            state = screen.state
            card = CardScreen(self.context, host, state.window, message.index, state.query.words())
        else:
            card = CardScreen(self.context, host)
        self.push_screen(card, self._back_from_card)

    def _back_from_card(self, host: str | None) -> None:
        screen = self.screen
        if isinstance(screen, IndexScreen) and host:
            screen.return_to(host)

    def on_view_requested(self, message: messages.ViewRequested) -> None:
        """Show another list, leaving the screens over it."""
        while len(self.screen_stack) > 1 and not isinstance(self.screen, IndexScreen):
            self.pop_screen()
        screen = self.screen
        if isinstance(screen, IndexScreen):
            screen.view(message.query, matrix=message.matrix, unreachable=message.unreachable)

    def action_explain(self) -> None:
        """Explain the method of the card on show, else the usual one."""
        from aui_tui.tui.screens.windows import MethodScreen

        report = self.card_on_show.report if self.card_on_show is not None else None
        self.push_screen(MethodScreen(report.card.method if report is not None else ""))


def _points_of(answer: HostReport) -> str:
    """Return what a run of the tasks earned, in one sentence."""
    card = answer.card
    runs = card.task_runs or ()
    if not runs:
        return answer.warnings[-1] if answer.warnings else f"{card.host}: no task was run."
    got, possible = sum(run.points for run in runs), sum(run.possible for run in runs)
    return f"{card.host}: {got} of {possible} points for tasks; score {card.score}."


def already_there(path: str) -> str:
    """Return that there is a file of this name, empty when there is none."""
    try:
        there = Path(path).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return ""
    return f"{Path(path).name} is there already: enter replaces it, esc leaves it." if there else ""


def has_browser(environ: Mapping[str, str]) -> bool:
    """Whether a browser would open where the user sees it: not over ssh, and on Linux only beside a desktop."""
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return False
    return sys.platform != "linux" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def run(
    service: Service,
    *,
    theme: str = "",
    ascii: bool = False,  # noqa: A002  # the name of the option
    mouse: bool = True,
    start_host: str = "",
    keymap: Mapping[str, str] | None = None,
    initial_query: Query | None = None,
    theme_folders: Iterable[Path] = (),
    exporter: Exporter | None = None,
    feed: Feed | None = None,
    starter: Feed | None = None,
    demo: bool = False,
    open_source: Callable[[str], None] | None = None,
    preferences: Preferences | None = None,
) -> int:
    """Run the dashboard on ``service`` and return the exit status; the terminal is restored however it ends.

    0 after quitting, 1 after a crash, 128 and the number of the signal after SIGINT, SIGTERM or SIGHUP, DEMO when the
    user left for the demo, which ``demo`` allows, OTHER for another index, whose address ``open_source`` was given.
    ``theme``: a name, empty for the default. ``keymap``: keys by binding id. ``theme_folders``: more themes, the
    later folder wins. ``exporter`` writes files; without one nothing can be exported.
    ``feed`` fills the index meanwhile, ``starter`` on the user's word. ``preferences``: what was chosen before.

    Raises ConfigError, before the screen is touched, for an unknown theme, binding id or key.
    """
    keys = checked(keymap) if keymap else {}
    app = AuiApp(
        Context(
            service,
            exporter=exporter,
            feed=feed,
            starter=starter,
            demo=demo,
            open_source=open_source,
            preferences=preferences or Preferences(keys=dict(keymap or {})),
        ),
        tuple(theme_folders),
        theme=theme,
        ascii=ascii,
        start_host=start_host,
        query=initial_query,
    )
    app.set_keymap(keys)
    status = app.run(mouse=mouse)
    return status if status is not None else app.return_code or 0
