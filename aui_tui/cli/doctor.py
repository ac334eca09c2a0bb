"""``doctor``: whether the index is sound, and mending it."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli import streams, words
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import emit
from aui_tui.cli.services import local_of, only_local
from aui_tui.cli.tally import counted
from aui_tui.store.folder import damaged
from aui_tui.store.reports import Reports
from aui_tui.text import clean

UNSOUND = 1
"""Exit code when something is wrong and was not mended."""


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "doctor", example="aui-tui doctor --repair")
    def doctor(
        run: Run,
        repair: Annotated[
            bool, typer.Option("--repair", help="Remove what cannot be read, make the rest anew.")
        ] = False,
        salvage: Annotated[
            bool, typer.Option("--salvage", help="Bring back what damaged files that were set aside still hold.")
        ] = False,
    ) -> int:
        """Check every kept card of this machine's index; exit code 1 when something is wrong."""
        only_local(run, "The doctor")
        service = local_of(run)
        try:
            if salvage:
                _salvage(run, service.reports)
            if repair:
                _repair(run, service.reports)
            return _examine(run, service.reports)
        finally:
            run.wait(service.aclose())


def _examine(run: Run, reports: Reports) -> int:
    from aui_tui.store.upkeep import examine

    with counted("Reading every card", quiet=run.quiet) as told:
        health = examine(reports, progress=told)
    lines = [
        f"index     {reports.path}",
        f"size      {health.bytes / 1e6:.1f} MB",
        f"hosts     {health.hosts:,}",
        f"scans     {health.scans:,}",
        *(f"set aside {path} (--salvage brings back what it holds)" for path in damaged(reports.path.parent)),
        *(f"problem   {clean(problem, 300)}" for problem in health.problems),
        "sound" if not health.problems else "not sound; --repair mends it",
    ]
    emit((line + "\n" for line in lines), None)
    return UNSOUND if health.problems else 0


def _repair(run: Run, reports: Reports) -> None:
    from aui_tui.store.upkeep import repair

    with counted("Mending", quiet=run.quiet) as told:
        done = repair(reports, progress=told)
    streams.say(
        f"repaired: removed {words.count(done.scans_removed, 'scan')} and {words.count(done.hosts_removed, 'host')}, "
        f"and what was seen in {words.count(done.observations_removed, 'scan')}"
    )


def _salvage(run: Run, reports: Reports) -> None:
    from aui_tui.store.backup import salvage

    for path in damaged(reports.path.parent):
        with counted("Salvaging", quiet=run.quiet) as told:
            done = salvage(path, reports, progress=told)
        streams.say(f"salvaged from {path.name}: {words.count(done.kept, 'scan')} kept, {done.lost:,} lost")
