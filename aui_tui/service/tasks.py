"""Runs of the tasks on this machine: a scan first, then the browser; what was found is kept with the card."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.errors import BadValue, NoBrowser, Unavailable
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import GONE, Observations
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import STOPPED, TASKS, TaskEvent, TaskProgress
from aui_tui.process import is_root
from aui_tui.scan.exchanges import redact
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import Target, parse
from aui_tui.tasks.browser import Browser, available
from aui_tui.tasks.run import TaskRunning, TasksStopped, run_tasks

AT_ONCE: Final = max(1, os.cpu_count() or 1)
"""Runs at a time: a page that renders takes a core."""


Keep = Callable[[HostReport, Observations, Target], Awaitable[tuple[ReportCard, tuple[str, ...]]]]
"""Grades a scan of a site with its run, keeps both, and returns the card and what could not be kept."""


class TaskRuns:
    """Runs of one service, with one browser for all of them. ``pictures``: the folder of the last run's pictures."""

    def __init__(self, access: ScanPolicy, keep: Keep, pictures: Path) -> None:
        self._access = access
        self._keep = keep
        self._pictures = pictures
        self._browser = Browser()
        self._places = asyncio.Semaphore(AT_ONCE)

    @staticmethod
    def require_browser() -> None:
        """Raise NoBrowser when none is installed."""
        missing = available()
        if missing:
            raise NoBrowser(missing)

    @staticmethod
    def check(access: ScanPolicy, *, act: bool, own: bool) -> None:
        """Raise NoBrowser when none is installed, BadValue for what is kept to hosts that are the user's ``own``.

        That is to ``act``, and as root to open a page at all: without its sandbox a page that breaks the browser has
        the whole machine.
        """
        TaskRuns.require_browser()
        if act and not own:
            raise BadValue(
                "The setting act presses “add to cart”, so it is for hosts of your own: of this machine, or with "
                "--allow-private or --connect-to."
            )
        if is_root() and not (own or access.root_browser):
            raise BadValue(
                "As root a browser has no sandbox, so it opens hosts of your own only; run this as another user, or "
                "allow it with the setting root_browser (AUI_TUI_ROOT_BROWSER=1)."
            )

    async def run(self, report: HostReport, *, act: bool, live: TaskProgress | None, target: Target) -> HostReport:
        """Return ``report``, a scan of ``target``, with a run of the tasks, kept with its card.

        They start on the page that ``target`` names. Raises BadValue where that does not exist.
        A cached report that has a run is returned as it is. Cancelling keeps the tasks that had ended.
        """
        observations = report.observations
        if observations is None or (report.source == "cache" and _has_run(observations, act=act)):
            return report
        start = target.path
        status = next((page.exchanges[0].status for page in observations.pages if page.path == start), 0)
        if status in GONE:
            raise BadValue(
                f"{start} of {observations.host} is no page: it answers with status {status}. Tasks start on a page."
            )
        if observations.unreachable:
            sentence = f"{observations.host} was not reached, so no tasks were run."
            return msgspec.structs.replace(report, warnings=(*report.warnings, sentence))
        try:
            async with self._places:
                ran = await run_tasks(
                    observations,
                    self._browser,
                    access=self._access.toward(parse(observations.origin, allow_private=True)),
                    act=act,
                    start=start,
                    tell=None if live is None else partial(self._tell, live),
                )
        except TasksStopped as stopped:
            if any(result.reason != STOPPED for result in stopped.ran.report.results):
                await asyncio.shield(self._keep_run(report, observations, stopped.ran, target))
            raise
        except Unavailable as error:
            return msgspec.structs.replace(report, warnings=(*report.warnings, f"No tasks were run. {error}"))
        return await self._keep_run(report, observations, ran, target)

    def _tell(self, live: TaskProgress, event: TaskEvent) -> None:
        """Hand on ``event``; whoever watches is told when the browser runs without its sandbox."""
        if event.state == "browser" and not self._browser.sandboxed:
            note = f"{event.note} without its sandbox, since this is the user root"
            event = msgspec.structs.replace(event, note=note)
        live(event)

    async def _keep_run(
        self, report: HostReport, observations: Observations, run: TaskRunning, target: Target
    ) -> HostReport:
        observations_with_run = redact(observations.with_tasks(run.report, run.rendered), self._access.secrets)
        card, warnings = await self._keep(report, observations_with_run, target)
        if run.pictures:
            await asyncio.to_thread(write_pictures, self._pictures, observations.host, run.pictures)
        notes = (*report.warnings, *warnings)
        return msgspec.structs.replace(report, card=card, observations=observations_with_run, warnings=notes)

    async def aclose(self) -> None:
        """End the browser."""
        await self._browser.aclose()


def _has_run(observations: Observations, *, act: bool) -> bool:
    """Say whether a scan has a complete run of the tasks, with ``act`` one that acted."""
    run = observations.tasks if observations.has_own_tasks else None
    return run is not None and not run.stopped and (run.acted or not act)


def folder_of(pictures: Path, host: str) -> Path:
    """Return where the pictures of ``host`` lie: named by a hash, since a host is somebody else's text."""
    return pictures / hashlib.sha256(host.encode()).hexdigest()[:32]


def write_pictures(pictures: Path, host: str, images: dict[str, bytes]) -> None:
    """Replace the pictures of ``host``; a disk that does not take them loses pictures only."""
    folder = folder_of(pictures, host)
    with suppress(OSError):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        for task, image in images.items():
            (folder / f"{task}.png").write_bytes(image)


def read_pictures(pictures: Path, host: str) -> dict[str, bytes]:
    """Return the pictures of the last run on ``host`` by task, as far as there are any."""
    folder = folder_of(pictures, host)
    images = {}
    for task in TASKS:
        with suppress(OSError):
            images[task.key] = (folder / f"{task.key}.png").read_bytes()
    return images


def drop_pictures(pictures: Path, host: str) -> None:
    """Remove the pictures of ``host``."""
    shutil.rmtree(folder_of(pictures, host), ignore_errors=True)
