"""``backup``: a copy of the index while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aui_tui.cli import streams
from aui_tui.cli.command import Run, command
from aui_tui.cli.services import local_of, only_local
from aui_tui.cli.tally import counted
from aui_tui.text import clean


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "backup", example="aui-tui backup index-2026-11-20.db")
    def backup(
        run: Run,
        file: Annotated[str, typer.Argument(metavar="FILE", help="The copy; it can be used as index.db.")],
        force: Annotated[bool, typer.Option("--force", help="Replace FILE when it is there.")] = False,
    ) -> None:
        """Copy the index to a file, also while scans and crawls go on."""
        only_local(run, "A backup")
        from aui_tui.store.backup import backup as copied

        service = local_of(run)
        try:
            with counted("Copying", quiet=run.quiet) as told:
                size = copied(service.reports, Path(file).expanduser(), overwrite=force, progress=told)
            streams.say(f"wrote {clean(file, 200)}, {size / 1e6:.1f} MB")
        finally:
            run.wait(service.aclose())
