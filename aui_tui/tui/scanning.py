"""The scans of a session: begun, followed, cancelled and reported; every screen sees the same ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from textual.reactive import reactive
from textual.worker import Worker, WorkerCancelled

from aui_tui.errors import InvalidHost, RateLimited
from aui_tui.records.labels import address
from aui_tui.records.observations import ProbeEvent
from aui_tui.records.tasks import TaskEvent
from aui_tui.records.view import Quota, ScanAnswer
from aui_tui.service.protocol import RunsTasks
from aui_tui.text import count
from aui_tui.tui import messages, open_screens
from aui_tui.tui.context import Context, attempt, start, start_beside
from aui_tui.tui.scans import Scan, TaskRun, changed
from aui_tui.tui.themes import ThemedApp


def _points_of(answer: ScanAnswer) -> str:
    """Return what a run of the tasks earned, in one sentence."""
    card = answer.card
    runs = card.task_runs or ()
    if not runs:
        return (answer.warnings or (card.host + ": no task was run.",))[-1]
    got, possible = sum(run.points for run in runs), sum(run.possible for run in runs)
    return " ".join((card.host + ":", str(got), "of", str(possible), "points for tasks; score", str(card.score) + "."))


AT_ONCE: Final = 3
"""Scans of marked hosts that run at the same time."""
LAST: Final = 3
"""Scans left at which one that skips the cache is asked about first."""
KEPT_SCANS: Final = 20
"""Scans of this session that are remembered for the scan log."""


class ScanningApp(ThemedApp):
    """Shares ``scans``, ``quota`` and ``stored`` with the screens that watch them."""

    scans: reactive[tuple[Scan, ...]] = reactive((), init=False, repaint=False)
    quota: reactive[Quota | None] = reactive(None, init=False, repaint=False)
    stored: reactive[int] = reactive(0, init=False, repaint=False)
    task_run: reactive[TaskRun | None] = reactive(None, init=False, repaint=False)

    def __init__(self, context: Context, folders: Iterable[Path], theme: str, *, no_color: bool) -> None:
        super().__init__(folders, theme, no_color=no_color)
        self.context = context
        self._scan_workers: dict[int, Worker[bool]] = {}
        self._numbers = 0

    def read_quota(self) -> None:
        """Ask for the scans left."""
        start(self, "quota", self._ask_quota)

    async def _ask_quota(self) -> None:
        quota, _ = await attempt(self.context.service.quota())
        self.post_message(messages.QuotaReady(quota))

    def on_quota_ready(self, message: messages.QuotaReady) -> None:
        """Share the scans left."""
        self.quota = message.quota

    def on_scan_requested(self, message: messages.ScanRequested) -> None:
        """Start a scan, unless the host is being scanned already."""
        if any(scan.running and scan.concerns(message.url) for scan in self.scans):
            self.post_message(messages.Notification("This host is being scanned already."))
        elif message.force and self.quota is not None and 0 < self.quota.left <= LAST:
            left = count(self.quota.left, "scan is", "scans are")
            window = open_screens.confirm(left + " left this hour. Scan again?", "Scan, it costs one", "Leave it")
            self.push_screen(window, lambda answer: self._confirmed(answer, message))
        else:
            self._begin(message.url, force=message.force, listed=message.listed)

    def _confirmed(self, answer: str | None, message: messages.ScanRequested) -> None:
        if answer:
            self._begin(message.url, force=message.force, listed=message.listed)

    def on_many_scans_requested(self, message: messages.ManyScansRequested) -> None:
        """Start several scans, a few at a time."""
        start_beside(self, "many", self._scan_many, message.hosts, force=message.force)

    def _begin(self, url: str, *, force: bool, listed: bool, quiet: bool = False) -> Worker[bool]:
        self._numbers += 1
        number = self._numbers
        scan = Scan.begin(number, url, self.context.clock(), listed=listed, quiet=quiet)
        self.scans = (*self.scans, scan)[-KEPT_SCANS:]
        worker = start_beside(self, "scan", self._scan, number, url, force=force, listed=listed)
        self._scan_workers[number] = worker
        return worker

    async def address_of(self, host: str) -> str:
        """Return the address under which ``host`` was scanned last, itself where the source does not keep it."""
        dossier, _ = await attempt(self.context.service.site(host))
        return address(host, dossier.observations) if dossier is not None else host

    async def _scan(self, number: int, url: str, *, force: bool, listed: bool) -> bool:
        """Scan and report how it ended; the result is whether the quota was used up."""

        def progress(event: ProbeEvent) -> None:
            self.post_message(messages.ScanProgressed(number, event))

        limited = invalid = False

        async def ask() -> ScanAnswer:
            nonlocal limited, invalid
            try:
                asked = await self.address_of(url) if listed else url
                return await self.context.service.scan(asked, force=force, progress=progress)
            except RateLimited:
                limited = True
                raise
            except InvalidHost:
                invalid = True
                raise

        try:
            answer, problem = await attempt(ask())
        except asyncio.CancelledError:
            self.post_message(messages.ScanEnded(number))
            raise
        self.post_message(messages.ScanEnded(number, answer, problem, invalid))
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
        words = " ".join((str(asked), "of", str(len(hosts)), "marked hosts were asked for."))
        self.post_message(messages.Notification(words))

    # The tasks

    def on_tasks_requested(self, message: messages.TasksRequested) -> None:
        """Run the tasks on a host, one run at a time."""
        service = self.context.service
        if not isinstance(service, RunsTasks):
            words = "Tasks run in a browser on this machine, for its own index alone."
            self.post_message(messages.Notification(words, "warning"))
        elif self.task_run is not None and self.task_run.running:
            words = "The tasks are being tried on " + self.task_run.host + "; esc on its card stops them."
            self.post_message(messages.Notification(words))
        else:
            self.task_run = TaskRun(message.host)
            start(self, "tasks", self._run_tasks, service, message.host)

    async def _run_tasks(self, service: RunsTasks, host: str) -> None:
        def live(event: TaskEvent) -> None:
            self.post_message(messages.TaskProgressed(host, event))

        try:
            url = await self.address_of(host)
            answer, problem = await attempt(service.run_tasks(url, live=live))
            words = "" if answer is None else _points_of(answer)
            self.post_message(messages.Notification(words or problem, "error" if problem else "information"))
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
        state, words = open_screens.ended_words(scan, answer, message.error)
        self.scans = changed(self.scans, scan.number, lambda known: known.closed(state, words, now, answer))
        if message.invalid and not scan.listed:
            self.post_message(messages.AddressRequested(scan.url, words))
        elif state != "done" or not scan.quiet:
            self.post_message(messages.Notification(words, "error" if state == "failed" else "information"))
        for warning in answer.warnings if answer is not None else ():
            self.post_message(messages.Notification(warning, "warning"))
        self.read_quota()
        if answer is not None or state == "cancelled":
            self.stored += 1
